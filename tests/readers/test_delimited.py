"""Tables as csv modules and spreadsheets write them."""

from __future__ import annotations

import csv
import io
import tracemalloc
from typing import Any

import pytest
from cited import check_whole, places
from hypothesis import given, strategies as st

from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes
from semsearch.text.passages import passages

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
    source = "tide,harbour,metres,remark\n" + "high,Brest,7.35,calm\n" * 20_000
    tracemalloc.start()
    try:
        assert sum(1 for _ in read(source).blocks) == 20_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(source)
