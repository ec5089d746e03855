"""Tables and JSON Lines: what records say, of which columns, and where each stands in the file."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from typing import Any

import pytest
from cited import check_places, check_whole, passages, places
from hypothesis import given, strategies as st

from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes
from semsearch.readers.registry import NO_COLUMNS, Columns

ROWS = [
    ["title", "text", "year"],
    ["Tides", 'The moon said "pull". The sea, it moves.', "1999"],
    ["Bread", "One line.\nAnother line.", ""],
]


def written(rows: list[list[str]], **dialect: Any) -> str:
    file = io.StringIO()
    csv.writer(file, **dialect).writerows(rows)
    return file.getvalue()


def read(source: str, name: str = "works.csv") -> Document:
    return read_bytes(source.encode(), name)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["works.csv", "works.tsv"])
def test_a_row_is_its_cells_under_their_columns(delimiter: str, name: str) -> None:
    assert places(read(written(ROWS, delimiter=delimiter), name)) == [
        ("row 2", 'title: Tides\ntext: The moon said "pull". The sea, it moves.\nyear: 1999'),
        ("row 3", "title: Bread\ntext: One line.\nAnother line."),
    ]


def test_sentences_are_cited_where_they_stand() -> None:
    document = read(written(ROWS, quoting=csv.QUOTE_ALL))
    check_whole(document, ["The sea, it moves.", "Another line."], names=True)
    block = document.blocks[0]
    for value in ("Tides", "The moon", "pull", "The sea", "1999"):
        assert document.source[block.source_offset(block.text.index(value)) :].startswith(value)
    assert document.source.count("\n", 0, document.blocks[1].start) == 2


CELLS = st.text(st.sampled_from('ab ,;"\r\n\té'), max_size=8)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=5), st.sampled_from(",;\t"))
def test_cells_are_those_of_pythons_csv_module(rows: list[list[str]], delimiter: str) -> None:
    rows = [["first", "second", "third"], ["x"] * 3, ["y"] * 3, ["z"] * 3, ["w"] * 3, ["v"] * 3, ["u"] * 3, *rows]
    source = written(rows, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    document = read(source)
    filled = [row for row in rows[1:] if any(cell.strip() for cell in row)]
    assert [block.text for block in document.blocks] == [
        "\n".join(f"{name}: {cell}" for name, cell in zip(rows[0], row, strict=False) if cell.strip()) for row in filled
    ]
    for block, row in zip(document.blocks, filled, strict=True):
        place = block.source_offset(block.text.index(": ") + 2)
        assert source[place - 1] == '"', row


def test_a_record_of_many_words_shares_no_passage_and_short_ones_do() -> None:
    long = " ".join(["The moon pulls the sea, and so it moves twice a day."] * 3)
    document = read(f"n,what\n1,One.\n2,Two.\n3,{long}\n4,{long}\n5,Five.\n".replace(f",{long}", f',"{long}"'))
    assert [[place for _, place in passage.places] for passage in passages(document)] == [
        ["row 2", "row 3"],
        ["row 4"],
        ["row 5"],
        ["row 6"],
    ]


def test_the_rows_of_a_long_table_are_not_in_memory_together() -> None:
    source = "tide,harbour,metres,remark\n" + "high,Brest,7.35,calm\n" * 10_000
    tracemalloc.start()
    try:
        assert sum(1 for _ in read(source).blocks) == 10_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(source)


# -- JSON Lines --------------------------------------------------------------------------------------------------------


def read_lines(source: str) -> Document:
    return read_bytes(source.encode(), "log.jsonl")


def test_a_record_is_its_fields_line_by_line() -> None:
    records = [
        {"id": 7, "text": "The moon pulls.\nThe sea moves.", "by": {"name": "Ann", "tags": ["a", "b"]}, "no": None},
        {"text": "", "by": {}},
        "Only a string.",
    ]
    document = read_lines("\r\n".join(map(json.dumps, records)) + "\r\n")
    assert places(document) == [
        ("record 1", "id: 7\ntext: The moon pulls.\nThe sea moves.\nby.name: Ann\nby.tags: a\nby.tags: b"),
        ("record 3", "Only a string."),
    ]
    assert (document.title, document.format) == ("log", "jsonl")


def test_a_line_that_is_no_json_is_text() -> None:
    assert places(read_lines('{"a": "One."}\nNot this.\n\n{"a": "tw')) == [
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


# -- Chosen columns ----------------------------------------------------------------------------------------------------

TABLE = 'id,Title,body,year,author\n7,Tides,"The moon ""pulls"". It moves.",1999,Ann\n8,Bread,Flour.,,\n9,,,2003,Ben\n'
RECORDS = [
    {"id": 7, "title": "Tides", "body": ["The moon pulls.", "It moves."], "by": {"name": "Ann", "age": 40}, "ok": True},
    {"id": 8, "title": "Bread", "body": "Flour.", "by": {"name": ["Ben", "Cid"]}, "ok": None},
]
LINES = "\n".join(map(json.dumps, RECORDS)) + "\n"


def read_chosen(source: str, columns: Columns, name: str = "works.csv") -> Document:
    return read_bytes(source.encode(), name, columns)


def shown(document: Document) -> list[tuple[str | None, str, Any]]:
    return [(block.place, block.text, block.metadata) for block in document.blocks]


def test_text_columns_are_what_is_read_in_their_order_and_without_names() -> None:
    document = read_chosen(TABLE, Columns(("body", "title"), ("year", "author")))
    tides = {"year": "1999", "author": "Ann"}
    assert shown(document) == [
        ("row 2", 'The moon "pulls". It moves.', tides),
        ("row 2", "Tides", tides),
        ("row 3", "Flour.", {}),
        ("row 3", "Bread", {}),
    ]
    assert document.columns == ("id", "Title", "body", "year", "author")
    check_places(document)


def test_names_in_json_lead_into_what_is_nested() -> None:
    document = read_chosen(LINES, Columns(("title", "body"), ("by", "id", "ok")), "works.jsonl")
    ann = {"by.name": "Ann", "by.age": 40, "id": 7, "ok": True}
    assert shown(document) == [
        ("record 1", "Tides", ann),
        ("record 1", "The moon pulls.", ann),
        ("record 1", "It moves.", ann),
        ("record 2", "Bread", {"id": 8, "by.name": ["Ben", "Cid"]}),
        ("record 2", "Flour.", {"id": 8, "by.name": ["Ben", "Cid"]}),
    ]
    assert shown(read_chosen(LINES, Columns(("title",), ("by.age",)), "works.jsonl"))[0][2] == {"by.age": 40}
    check_places(document)


def test_each_record_is_a_passage_of_its_own_and_has_its_metadata() -> None:
    made = passages(read_chosen(TABLE, Columns(("title", "body"), ("year",))))
    assert [(passage.text, passage.metadata) for passage in made] == [
        ('Tides\n\nThe moon "pulls". It moves.', {"year": "1999"}),
        ("Bread\n\nFlour.", {}),
    ]
    assert len(passages(read_chosen(TABLE, NO_COLUMNS))) == 1


@pytest.mark.parametrize(
    "columns", [NO_COLUMNS, Columns(("nowhere",)), Columns(("*",)), Columns(("nowhere",), ("id",))]
)
@pytest.mark.parametrize(("source", "name"), [(TABLE, "works.csv"), (LINES, "works.jsonl")])
def test_a_file_of_another_kind_is_read_as_without_columns(source: str, name: str, columns: Columns) -> None:
    assert read_chosen(source, columns, name).blocks == read_chosen(source, NO_COLUMNS, name).blocks


def test_the_first_row_is_the_columns_names_where_it_has_a_chosen_one() -> None:
    one = "body\nThe moon pulls.\n"
    assert [block.text for block in read_chosen(one, NO_COLUMNS).blocks] == ["body", "The moon pulls."]
    assert [block.text for block in read_chosen(one, Columns(("body",))).blocks] == ["The moon pulls."]


CELL = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters=";|"), max_size=12)


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=6))
def test_what_is_chosen_comes_once_and_whole_and_nothing_else(rows: list[tuple[str, str, str]]) -> None:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([("one", "two", "three"), *rows])
    document = read_chosen(file.getvalue(), Columns(("two",), ("three",)))
    kept = [(two, three) for _, two, three in rows if two.strip()]
    assert [block.text for block in document.blocks] == [two for two, _ in kept]
    assert [block.metadata for block in document.blocks] == [
        {"three": three} if three.strip() else {} for _, three in kept
    ]
