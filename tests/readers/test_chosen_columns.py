"""Chosen columns of tables and records: what is text, what is metadata, and where each stands in the file."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from cited import check_places
from hypothesis import given, strategies as st

from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.text.passages import passages

TABLE = 'id,Title,body,year,author\n7,Tides,"The moon ""pulls"". It moves.",1999,Ann\n8,Bread,Flour.,,\n9,,,2003,Ben\n'
RECORDS = [
    {"id": 7, "title": "Tides", "body": ["The moon pulls.", "It moves."], "by": {"name": "Ann", "age": 40}, "ok": True},
    {"id": 8, "title": "Bread", "body": "Flour.", "by": {"name": ["Ben", "Cid"]}, "ok": None},
]
LINES = "\n".join(map(json.dumps, RECORDS)) + "\n"


def read(source: str, columns: Columns, name: str = "works.csv") -> Document:
    return read_bytes(source.encode(), name, columns)


def shown(document: Document) -> list[tuple[str | None, str, Any]]:
    return [(block.place, block.text, block.metadata) for block in document.blocks]


def test_text_columns_are_what_is_read_in_their_order_and_without_names() -> None:
    document = read(TABLE, Columns(("body", "title"), ("year", "author")))
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
    document = read(LINES, Columns(("title", "body"), ("by", "id", "ok")), "works.jsonl")
    ann = {"by.name": "Ann", "by.age": 40, "id": 7, "ok": True}
    assert shown(document) == [
        ("record 1", "Tides", ann),
        ("record 1", "The moon pulls.", ann),
        ("record 1", "It moves.", ann),
        ("record 2", "Bread", {"id": 8, "by.name": ["Ben", "Cid"]}),
        ("record 2", "Flour.", {"id": 8, "by.name": ["Ben", "Cid"]}),
    ]
    assert shown(read(LINES, Columns(("title",), ("by.age",)), "works.jsonl"))[0][2] == {"by.age": 40}
    check_places(document)


def test_each_record_is_a_passage_of_its_own_and_has_its_metadata() -> None:
    made = passages(read(TABLE, Columns(("title", "body"), ("year",))))
    assert [(passage.text, passage.metadata) for passage in made] == [
        ('Tides\n\nThe moon "pulls". It moves.', {"year": "1999"}),
        ("Bread\n\nFlour.", {}),
    ]
    assert len(passages(read(TABLE, NO_COLUMNS))) == 1


@pytest.mark.parametrize(
    "columns", [NO_COLUMNS, Columns(("nowhere",)), Columns(("*",)), Columns(("nowhere",), ("id",))]
)
@pytest.mark.parametrize(("source", "name"), [(TABLE, "works.csv"), (LINES, "works.jsonl")])
def test_a_file_of_another_kind_is_read_as_without_columns(source: str, name: str, columns: Columns) -> None:
    assert read(source, columns, name).blocks == read(source, NO_COLUMNS, name).blocks


def test_the_first_row_is_the_columns_names_where_it_has_a_chosen_one() -> None:
    one = "body\nThe moon pulls.\n"
    assert [block.text for block in read(one, NO_COLUMNS).blocks] == ["body", "The moon pulls."]
    assert [block.text for block in read(one, Columns(("body",))).blocks] == ["The moon pulls."]


CELL = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters=";|"), max_size=12)


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=6))
def test_what_is_chosen_comes_once_and_whole_and_nothing_else(rows: list[tuple[str, str, str]]) -> None:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([("one", "two", "three"), *rows])
    document = read(file.getvalue(), Columns(("two",), ("three",)))
    kept = [(two, three) for _, two, three in rows if two.strip()]
    assert [block.text for block in document.blocks] == [two for two, _ in kept]
    assert [block.metadata for block in document.blocks] == [
        {"three": three} if three.strip() else {} for _, three in kept
    ]
