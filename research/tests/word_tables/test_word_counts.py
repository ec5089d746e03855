"""Counts files are read as they were written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from semsearch.errors import VectorsError
from semsearch.word_vectors.table import VectorTable
from semsearch_research.word_tables.word_counts import probabilities, read_counts, write_counts


@given(counts=st.dictionaries(st.text("abcé9", min_size=1), st.integers(1, 10**12), min_size=1))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int]) -> None:
    path = tmp_path_factory.getbasetemp() / "counts.txt"
    write_counts(counts, path)
    assert read_counts(path) == counts


def test_a_counts_file_is_ordered_by_count_and_then_by_word(tmp_path: Path) -> None:
    write_counts({"b": 2, "c": 5, "a": 2}, tmp_path / "counts.txt")
    assert (tmp_path / "counts.txt").read_bytes() == b"c 5\na 2\nb 2\n"
    assert [path.name for path in tmp_path.iterdir()] == ["counts.txt"]


def test_forms_of_a_word_are_added_and_what_is_not_one_word_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "counts.txt").write_text("The 5\nthe 7\nTHE 1\n, 90\nnew york 3\ndon't 2\n", encoding="utf-8")
    assert read_counts(tmp_path / "counts.txt") == {"the": 13, "don": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the 5\nof\n", "line 2: expected a word, a space and a count, found 'of'"),
        ("the 5\nof 5.0\n", "line 2"),
        ("the 5\nof -5\n", "line 2"),
        ("the ²\n", "line 1"),
        ("the 5\n\nof 2\n", "line 2"),
        ("the\t5\n", "line 1"),
        ("", "no counts"),
        (", 5\n", "no counts"),
        ("the 0\n", "no counts"),
    ],
)
def test_a_broken_counts_file_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "counts.txt").write_text(text, encoding="utf-8")
    with pytest.raises(VectorsError, match=said):
        read_counts(tmp_path / "counts.txt")


def test_probabilities_are_shares_of_all_that_was_counted(small_vectors: VectorTable) -> None:
    p = probabilities({"the": 60, "ship": 30, "unheard": 10}, small_vectors)
    assert p.dtype == np.float32
    assert p[small_vectors.id_of("the")] == pytest.approx(0.6)
    assert p[small_vectors.id_of("ship")] == pytest.approx(0.3)


def test_words_that_were_not_counted_have_the_least_probability(small_vectors: VectorTable) -> None:
    p = probabilities({"the": 60, "ship": 40}, small_vectors)
    others = np.delete(p, [small_vectors.id_of("the"), small_vectors.id_of("ship")])
    assert others == pytest.approx(0.4)
