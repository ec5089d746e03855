"""Counts files are read as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from semsearch.embedding.weights import read_counts
from semsearch_research.word_tables.word_counts import write_counts


@given(counts=st.dictionaries(st.text("abcé9", min_size=1), st.integers(1, 10**12), min_size=1))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int]) -> None:
    path = tmp_path_factory.getbasetemp() / "counts.txt"
    write_counts(counts, path)
    assert read_counts(path) == counts


def test_a_counts_file_is_ordered_by_count_and_then_by_word(tmp_path: Path) -> None:
    write_counts({"b": 2, "c": 5, "a": 2}, tmp_path / "counts.txt")
    assert (tmp_path / "counts.txt").read_bytes() == b"c 5\na 2\nb 2\n"
    assert [path.name for path in tmp_path.iterdir()] == ["counts.txt"]
