"""Figure 1 of the SIF paper: the weights of SIF, word2vec and uSIF over the frequency of a word."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from references import papers as reference

from semsearch.errors import UsageError, VectorsError
from semsearch.word_vectors.table import VectorTable
from semsearch_research.analysis.weighing import evaluate_weights


def test_the_curve_is_the_formulas_at_the_powers_of_ten(small_vectors: VectorTable) -> None:
    report = evaluate_weights(vectors=small_vectors)
    a = reference.usif_a(dict(zip(small_vectors.words, small_vectors.frequencies.tolist(), strict=True)), 11)
    assert (report.a, report.sample, report.usif_a) == (1e-4, 1e-5, pytest.approx(a))
    assert [row.p for row in report.curve] == pytest.approx([10.0**i for i in range(-10, 1)])
    for row in report.curve:
        assert row.sif == pytest.approx(1e-4 / (1e-4 + row.p))
        assert row.word2vec == pytest.approx(min(1, math.sqrt(1e-5 / row.p)))
        assert row.usif == pytest.approx(a / (row.p + a / 2))


def test_words_have_the_weights_of_their_frequencies(small_vectors: VectorTable) -> None:
    report = evaluate_weights(["Ship", "the"], vectors=small_vectors)
    assert [row.word for row in report.words] == ["ship", "the"]
    for row in report.words:
        assert row.p == pytest.approx(small_vectors.frequencies[small_vectors.words.index(row.word or "")])
        assert row.sif == pytest.approx(1e-4 / (1e-4 + row.p))


def test_a_counts_file_gives_p_and_usifs_a(small_vectors: VectorTable, tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text("the 995\nship 4\nother 1\n", encoding="utf-8")
    report = evaluate_weights(["ship", "sail"], vectors=small_vectors, frequencies=path)
    assert [row.p for row in report.words] == pytest.approx([0.004, 0.001])
    assert report.usif_a == pytest.approx(reference.usif_a({"the": 0.995, "ship": 0.004, "other": 0.001}, 11))
    with pytest.raises(VectorsError):
        evaluate_weights(vectors=small_vectors, frequencies=tmp_path / "none.txt")


def test_sif_and_word2vec_are_farthest_apart_where_it_says(small_vectors: VectorTable) -> None:
    far = evaluate_weights(vectors=small_vectors).farthest
    grid = [10 ** (i / 500 - 10) for i in range(5001)]
    most = max(abs(1e-4 / (1e-4 + p) - min(1, math.sqrt(1e-5 / p))) for p in grid)
    assert abs(far.sif - far.word2vec) == pytest.approx(most, abs=1e-4)


@pytest.mark.parametrize("wrong", [{"a": 0.0}, {"sample": -1.0}, {"words": ["xyzzy"]}, {"words": ["two words"]}])
def test_mistakes_are_told(small_vectors: VectorTable, wrong: dict) -> None:
    with pytest.raises(UsageError):
        evaluate_weights(**{"vectors": small_vectors, **wrong})
