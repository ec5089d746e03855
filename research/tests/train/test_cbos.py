"""Continuous bag of sentences: loss and gradient are what the paper says, written out slowly here."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from small import TOPICS, sentence

from semsearch.text.ragged import Ragged
from semsearch_research.train import cbos
from semsearch_research.train.cbos import (
    CbosSettings,
    Sentences,
    batch_of,
    loss_and_gradient,
    read_sentences,
    start,
    train_cbos,
    train_round,
)
from semsearch_research.train.corpus import read_corpus

Floats = npt.NDArray[np.floating]
FILES = [[[0, 1], [2, 2, 3], [1], [4, 0]], [[5]], [[3, 1, 0], [2]]]  # sentences as word ids, file by file
WORDS, DIMENSION = 6, 4


@pytest.fixture
def sentences() -> Sentences:
    lengths = [len(text) for file in FILES for text in file]
    ids = np.array([word for file in FILES for text in file for word in text], dtype=np.int32)
    texts = Ragged(ids, np.cumsum([0, *lengths, 0]))
    return Sentences(texts, np.repeat(np.arange(3, dtype=np.int32), [len(file) for file in FILES]))


@pytest.fixture
def vectors() -> Floats:
    return np.random.default_rng(1).standard_normal((WORDS, DIMENSION)).astype(np.float32)


CHOSEN = np.array([0, 1, 3, 4, 6])
OTHERS = np.array([[4, 2], [1, 5], [0, 0], [1, 2], [3, 5]])


def literal_loss(vectors: Floats, chosen: list[int], others: list[list[int]], k: int) -> float:
    """Equations (4) to (7), one sentence after the other."""
    flat = [(number, position) for number, file in enumerate(FILES) for position in range(len(file))]

    def vector(number: int, position: int) -> Floats:
        total = np.zeros(vectors.shape[1])
        if 0 <= position < len(FILES[number]):
            for word in FILES[number][position]:
                total = total + vectors[word]
        return total

    loss = 0.0
    for i, negatives in zip(chosen, others, strict=True):
        number, position = flat[i]
        context = np.zeros(vectors.shape[1])
        for j in range(position - k, position + k + 1):
            if j != position:
                context = context + vector(number, j)
        context = context / (2 * k)
        targets = [vector(number, position), *(vector(*flat[other]) for other in negatives)]
        exponentials = [math.exp(target @ context) for target in targets]
        loss -= math.log(exponentials[0] / sum(exponentials))
    return loss


def literal_gradient(vectors: Floats, chosen: list[int], others: list[list[int]], k: int) -> Floats:
    """By differences."""
    gradient = np.zeros(vectors.shape)
    for position in np.ndindex(*vectors.shape):
        moved = [np.array(vectors, dtype=np.float64) for _ in range(2)]
        moved[0][position] -= 1e-6
        moved[1][position] += 1e-6
        below, above = (literal_loss(one, chosen, others, k) for one in moved)
        gradient[position] = (above - below) / 2e-6
    return gradient


@pytest.mark.parametrize("k", [1, 2, 5])
def test_loss_and_gradient_are_the_papers(sentences: Sentences, vectors: Floats, k: int) -> None:
    batch = batch_of(sentences, CHOSEN, OTHERS, k=k)
    loss, gradient = loss_and_gradient(vectors[batch.words], batch)
    assert loss == pytest.approx(literal_loss(vectors, CHOSEN.tolist(), OTHERS.tolist(), k), rel=1e-5)
    whole = np.zeros(vectors.shape)
    whole[batch.words] = gradient
    assert whole == pytest.approx(literal_gradient(vectors, CHOSEN.tolist(), OTHERS.tolist(), k), abs=1e-4)


def test_neighbours_stay_within_a_file(sentences: Sentences) -> None:
    none = len(sentences)
    assert sentences.neighbours(np.arange(7), 1).tolist() == [
        [none, 1], [0, 2], [1, 3], [2, none], [none, none], [none, 6], [5, none],
    ]  # fmt: skip
    assert sentences.neighbours(np.array([2]), 2).tolist() == [[0, 1, 3, none]]
    assert sentences.any_neighbours
    assert not Sentences(sentences.texts, np.arange(7, dtype=np.int32)).any_neighbours


def test_sentences_are_read_in_order_with_the_words_that_have_a_vector(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A cat sat. Hm! A cat ran.\n\nThe cat slept. " + "cat " * 200)
    (tmp_path / "b.md").write_text("# A cat\n\nCat, a cat.\n")
    corpus = read_corpus([tmp_path], size=2, min_count=1, dimension=1, skipped=lambda *_: None)
    assert corpus.words == ["cat", "a"]
    found = read_sentences(corpus)
    rows = [found.texts.ids[first:last].tolist() for first, last in zip(*_bounds(found), strict=True)]
    assert rows == [[1, 0], [1, 0], [0], [0] * 119, [0] * 81, [1, 0], [0, 1, 0], []]
    assert found.files.tolist() == [0, 0, 0, 0, 0, 1, 1]


def _bounds(sentences: Sentences) -> tuple[list[int], list[int]]:
    indptr = sentences.texts.indptr.tolist()
    return indptr[:-1], indptr[1:]


def test_a_round_uses_each_sentence_once(sentences: Sentences, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []

    def watched(
        sentences: Sentences, chosen: npt.NDArray[np.int64], others: npt.NDArray[np.int64], *, k: int
    ) -> object:
        used.extend(chosen.tolist())
        assert others.shape == (len(chosen), 2)
        return batch_of(sentences, chosen, others, k=k)

    monkeypatch.setattr(cbos, "batch_of", watched)
    state = start(WORDS, DIMENSION, seed=0)
    for _ in range(3):
        train_round(sentences, state, CbosSettings(batch=3), rounds=3)
        assert sorted(used) == list(range(7))
        used.clear()
    assert len(state.losses) == 3


def texts_of_topics(folder: Path) -> Path:
    """One topic a file."""
    folder.mkdir()
    for topic in TOPICS:
        (folder / f"{topic}.txt").write_text(" ".join(sentence(topic, number) for number in range(80)))
    return folder


def test_sums_of_words_are_nearer_within_a_topic_than_between_topics(tmp_path: Path) -> None:
    table = train_cbos([texts_of_topics(tmp_path / "texts")], tmp_path / "v", dimension=16, epochs=8,
                       settings=CbosSettings(batch=20))  # fmt: skip
    members = {topic: [table.id_of(word) for word in text.split()] for topic, text in TOPICS.items()}
    sums = {(topic, half): table.rows(np.array(ids[half::2])).sum(axis=0) for topic, ids in members.items()
            for half in (0, 1)}  # fmt: skip

    def cosine(a: tuple[str, int], b: tuple[str, int]) -> float:
        return float(sums[a] @ sums[b] / np.linalg.norm(sums[a]) / np.linalg.norm(sums[b]))

    for topic in TOPICS:
        assert cosine((topic, 0), (topic, 1)) > max(
            cosine((topic, 0), (other, 1)) for other in TOPICS if other != topic
        )
    assert table.card["algorithm"] == "cbos"
    losses = table.card["mean loss of each round"]
    assert len(losses) == 8
    assert math.log(3) > losses[0] > losses[-1] + 0.1
    assert table.card["command"].startswith("semsearch vectors train texts --algorithm cbos --dimension 16 --window 1")
    assert str(tmp_path) not in str(table.card)
    assert table.verify()
