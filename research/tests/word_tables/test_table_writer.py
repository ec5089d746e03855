"""Tables of word vectors are written whole or not at all, quantised well, and a word has neighbours in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small import TOPICS

from semsearch.errors import StorageError, UsageError, VectorsError
from semsearch.word_vectors.table import VectorTable, load_vectors
from semsearch_research.word_tables.nearest_words import neighbours
from semsearch_research.word_tables.table_writer import TableWriter, quantise


def made_up(number: int) -> list[str]:
    return [f"w{i:x}" for i in range(number)]


def write(folder: Path, words: list[str]) -> VectorTable:
    vectors = np.random.default_rng(len(words)).standard_normal((len(words), 4)).astype(np.float32)
    return TableWriter(folder, dtype="float32").write(words, vectors, np.full(len(words), 0.1), card={})


def test_quantising_errs_by_half_a_step_at_most() -> None:
    vectors = np.random.default_rng(2).standard_normal((200, 16)) * np.logspace(-6, 6, 200)[:, None]
    numbers, scales = quantise(vectors)
    assert (np.abs(numbers * scales[:, None].astype(np.float64) - vectors) <= 0.5001 * scales[:, None]).all()
    assert (np.abs(numbers.astype(int)).max(axis=1) == 127).all()


def test_a_zero_vector_stays_zero() -> None:
    numbers, scales = quantise(np.zeros((1, 3)))
    assert not numbers.any()
    assert scales.tolist() == [0]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_rows_added_in_parts_and_overwritten_give_the_same_table(tmp_path: Path, dtype: Any) -> None:
    vectors = np.random.default_rng(3).standard_normal((7, 5)).astype(np.float32)
    p = np.full(7, 1 / 7)
    whole = TableWriter(tmp_path / "whole", dtype=dtype).write(made_up(7), vectors, p, card={})
    with TableWriter(tmp_path / "parts", dtype=dtype) as writer:
        writer.add(made_up(7)[:3], vectors[:3])
        writer.add(made_up(7)[3:], vectors[3:] * np.array([[1], [9], [1], [1]]))
        writer.overwrite(4, vectors[4])
        writer.overwrite(0, vectors[0])
        parts = writer.finish(p, card={})
    assert parts.digest == whole.digest


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cat", "dog", "cat"], "'cat' occurs twice"),
        (["cat", "hot dog"], "'hot dog' is not one word"),
        (["cat", "-"], "'-' is not one word"),
        ([], "no words"),
    ],
)
def test_a_vocabulary_that_cannot_be_looked_up_is_refused_and_leaves_nothing(
    tmp_path: Path, words: list[str], said: str
) -> None:
    with pytest.raises(VectorsError, match=said):
        write(tmp_path / "v", words)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_not_written_over_unless_asked(tmp_path: Path) -> None:
    write(tmp_path / "v", ["cat"])
    with pytest.raises(VectorsError, match="exists"):
        write(tmp_path / "v", ["dog"])
    with TableWriter(tmp_path / "v", replace=True) as writer:
        writer.add(["dog"], np.ones((1, 2)))
        assert load_vectors(tmp_path / "v").words == ["cat"]
        writer.finish(np.ones(1), card={})
    assert load_vectors(tmp_path / "v").words == ["dog"]
    assert [path.name for path in tmp_path.iterdir()] == ["v"]


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        write(tmp_path / "file" / "v", ["cat"])


def test_neighbours_are_of_the_same_topic(small_vectors: VectorTable) -> None:
    found = neighbours(small_vectors, "Ship", 5)
    assert len(found) == 5
    assert {neighbour.word for neighbour in found} <= set(TOPICS["sea"].split())
    cosines = [neighbour.cosine for neighbour in found]
    assert cosines == sorted(cosines, reverse=True)
    assert -1 <= cosines[-1] <= cosines[0] <= 1.0001


@pytest.mark.parametrize(
    ("word", "k", "said"), [("xyzzy", 3, "not among"), ("two words", 3, "one word"), ("ship", 0, "k")]
)
def test_a_question_without_neighbours_is_said(small_vectors: VectorTable, word: str, k: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        neighbours(small_vectors, word, k)
