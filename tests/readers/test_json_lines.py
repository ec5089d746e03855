"""JSON Lines: what records say, and the line of each."""

from __future__ import annotations

import json

from cited import places
from hypothesis import given, strategies as st

from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes


def read(source: str) -> Document:
    return read_bytes(source.encode(), "log.jsonl")


def test_a_record_is_its_fields_line_by_line() -> None:
    records = [
        {"id": 7, "text": "The moon pulls.\nThe sea moves.", "by": {"name": "Ann", "tags": ["a", "b"]}, "no": None},
        {"text": "", "by": {}},
        "Only a string.",
    ]
    document = read("\r\n".join(map(json.dumps, records)) + "\r\n")
    assert places(document) == [
        ("record 1", "id: 7\ntext: The moon pulls.\nThe sea moves.\nby.name: Ann\nby.tags: a\nby.tags: b"),
        ("record 3", "Only a string."),
    ]
    assert (document.title, document.format) == ("log", "jsonl")


def test_a_line_that_is_no_json_is_text() -> None:
    assert places(read('{"a": "One."}\nNot this.\n\n{"a": "tw')) == [
        ("record 1", "a: One."),
        ("record 2", "Not this."),
        ("record 4", '{"a": "tw'),
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)


def leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return [text] if text.strip() else []


@given(st.lists(VALUES, max_size=4), st.booleans())
def test_every_value_comes_once_and_in_order(records: list[object], ascii_only: bool) -> None:
    source = "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in records)
    document = read_bytes(source.encode(), "log.jsonl")
    wanted = [leaf for record in records for leaf in leaves(record)]
    text = "\n".join(block.text for block in document.blocks)
    for leaf in wanted:
        assert leaf in text
        text = text[text.index(leaf) + len(leaf) :]
