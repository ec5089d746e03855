"""The words nearest to what is removed: their order, sign and shares, of data sets and of an index."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from collections_made import pairs, write_pairs
from small import TOPICS, sentence

from semsearch.embedding.methods import METHODS, Method
from semsearch.text.tokens import words
from semsearch.word_vectors.table import VectorTable
from semsearch_research.analysis.removed_directions import PAPERS_WORDS, evaluate_components


def unit_rows(table: VectorTable) -> np.ndarray:
    rows = table.rows(np.arange(len(table))).astype(float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def by_svd(texts: list[str], table: VectorTable, a: float, m: int) -> tuple[np.ndarray, np.ndarray]:
    """SIF's first m singular vectors and their shares of Σσ², from the whole matrix."""
    known = {word: n for n, word in enumerate(table.words)}
    rows = []
    for text in texts:
        found = [known[word] for word in words(text) if word in known]
        weights = a / (a + table.frequencies[found].astype(float))
        rows.append((weights[:, None] * table.rows(np.array(found))).sum(axis=0) / len(found))
    _, sigma, right = np.linalg.svd(np.array(rows), full_matrices=False)
    return right[:m], sigma[:m] ** 2 / (sigma**2).sum()


def test_the_directions_are_the_singular_vectors_of_each_task(tmp_path: Path, small_vectors: VectorTable) -> None:
    for name, seed in (("2012.one.test.tsv", 1), ("2012.two.test.tsv", 2)):
        write_pairs(tmp_path / name, pairs(seed))
    report = evaluate_components([tmp_path], methods=["sif"], vectors=small_vectors, components=2, min_frequency=0)
    assert [(one.name, one.method, one.a) for one in report.removed] == [
        ("2012.one", "sif", 1e-3),
        ("2012.two", "sif", 1e-3),
    ]
    for one, seed in zip(report.removed, (1, 2), strict=True):
        texts = [text for _, *sides in pairs(seed) for text in sides]
        right, shares = by_svd(texts, small_vectors, 1e-3, 2)
        assert one.sentences == len(texts)
        assert [direction.share for direction in one.directions] == pytest.approx(shares, rel=1e-4)
        for direction, vector in zip(one.directions, right, strict=True):
            cosines = np.abs(unit_rows(small_vectors) @ vector)
            assert max(abs(direction.nearest[0].cosine), abs(direction.opposite[0].cosine)) == pytest.approx(
                cosines.max(), abs=1e-4
            )


def test_usif_removes_five_piecewise_and_sif_one_whole(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = write_pairs(tmp_path / "mine.tsv", pairs(1))
    sif, usif = evaluate_components([path], vectors=small_vectors).removed
    assert [direction.strength for direction in sif.directions] == [1]
    assert [direction.number for direction in usif.directions] == [1, 2, 3, 4, 5]
    assert sum(direction.strength for direction in usif.directions) == pytest.approx(1)
    shares = np.array([direction.share for direction in usif.directions])
    assert [direction.strength for direction in usif.directions] == pytest.approx(shares / shares.sum())


def test_a_text_gives_the_same_as_pairs_of_its_sentences(tmp_path: Path, small_vectors: VectorTable) -> None:
    texts = [sentence(topic, number) for topic in TOPICS for number in range(4)]
    (tmp_path / "text.txt").write_text("\n".join(texts), encoding="utf-8")
    rows = [(float(n % 5), one, two) for n, (one, two) in enumerate(zip(texts[::2], texts[1::2], strict=True))]
    report = evaluate_components(
        [tmp_path / "text.txt", write_pairs(tmp_path / "mine.tsv", rows)], methods=["sif"], vectors=small_vectors
    )
    text, task = report.removed
    assert (text.name, text.sentences) == ("text.txt", task.sentences)
    assert [w.word for w in text.directions[0].nearest] == [w.word for w in task.directions[0].nearest]
    assert text.directions[0].share == pytest.approx(task.directions[0].share)


def test_only_sif_on_sick_stands_beside_the_papers_words(tmp_path: Path, small_vectors: VectorTable) -> None:
    for name in ("sick.test.tsv", "stsb.test.tsv"):
        write_pairs(tmp_path / name, pairs(1))
    compared = {
        (one.name, one.method): one.papers_words
        for one in evaluate_components([tmp_path], vectors=small_vectors).removed
    }
    assert [name for name, found in compared.items() if found] == [("sick", "sif")]
    assert list(compared["sick", "sif"]) == list(PAPERS_WORDS)
    assert compared["sick", "sif"]["one"] is not None
    assert compared["sick", "sif"]["just"] is None


def test_sentences_without_known_words_have_no_directions(tmp_path: Path, small_vectors: VectorTable) -> None:
    (tmp_path / "text.txt").write_text("Xyzzy plugh.\nQwerty.\n", encoding="utf-8")
    for one in evaluate_components([tmp_path / "text.txt"], vectors=small_vectors).removed:
        assert (one.sentences, one.directions) == (0, ())


def test_a_method_of_ones_own_may_be_shown(tmp_path: Path, small_vectors: VectorTable) -> None:
    method = Method("three", "sif", normalise=False, components=3, piecewise=True)
    report = evaluate_components(
        [write_pairs(tmp_path / "mine.tsv", pairs(1))], methods=[method, METHODS["sif"]], vectors=small_vectors
    )
    assert [len(one.directions) for one in report.removed] == [3, 1]
