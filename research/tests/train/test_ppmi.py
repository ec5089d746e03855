"""Vectors from counts of near words: each step is what the formulas say, written out slowly here."""

from __future__ import annotations

import gzip
import logging
import lzma
import math
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.sparse import csr_array
from small import TOPICS, write_articles

from semsearch.errors import SourceError, UsageError
from semsearch.text.ragged import Ragged
from semsearch.text.tokens import words
from semsearch_research.train import corpus as reading, ppmi as counting
from semsearch_research.train.corpus import Corpus, read_corpus
from semsearch_research.train.ppmi import (
    PairCounter,
    count_pairs,
    ppmi,
    singular_vectors,
    train_ppmi,
)
from semsearch_research.word_tables.nearest_words import neighbours

Texts = list[list[int]]


def never(path: str, reason: str) -> None:
    pytest.fail(f"{path} was skipped: {reason}")


def ragged(texts: Texts) -> Ragged:
    ids = np.array([word for text in texts for word in text], dtype=np.int32)
    return Ragged(ids, np.cumsum([0, *map(len, texts)]).astype(np.int64))


@pytest.fixture
def texts() -> Texts:
    """Forty paragraphs, each of three of seven words and of words without a vector."""
    generator = np.random.default_rng(5)
    chosen = [generator.choice([0, 0, 0, 1, 1, 2, 3, 4, 5, 6], size=3) for _ in range(40)]
    return [generator.choice([-1, *own], size=generator.integers(0, 20)).tolist() for own in chosen]


def literal_counts(texts: Texts, window: int) -> dict[tuple[int, int], int]:
    """word2vec's way, summed over every window from 1 to L that could be drawn: (word, context) in units of 1/L."""
    counts: Counter[tuple[int, int]] = Counter()
    for text in texts:
        for position, word in enumerate(text):
            for drawn in range(1, window + 1):
                for other in range(max(0, position - drawn), min(len(text), position + drawn + 1)):
                    if other != position and word >= 0 and text[other] >= 0:
                        counts[word, text[other]] += 1
    return counts


def literal_ppmi(counts: dict[tuple[int, int], int], size: int) -> npt.NDArray[np.float64]:
    total = sum(counts.values())
    p = [sum(n for (w, _), n in counts.items() if w == word) / total for word in range(size)]
    result = np.zeros((size, size))
    for (w, c), n in counts.items():
        result[w, c] = max(0, math.log(n / total / (p[w] * p[c])))
    return result


@pytest.mark.parametrize("window", [1, 3, 40])
def test_pairs_are_counted_as_the_average_of_word2vecs_windows(texts: Texts, window: int) -> None:
    counts = count_pairs(ragged(texts), 7, window=window)
    found = (counts + counts.T).toarray()
    expected = np.zeros((7, 7))
    for pair, count in literal_counts(texts, window).items():
        expected[pair] = count
    assert np.array_equal(found, expected)
    assert np.array_equal(counts.toarray(), np.triu(counts.toarray()))


@pytest.mark.parametrize("batch", [1, 100, 10**6])
def test_pairs_of_parts_add_up_whatever_is_counted_at_once(
    texts: Texts, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_BATCH", batch)
    counter = PairCounter(7, window=4)
    for text in texts:
        counter.add(ragged([text]))
    assert np.array_equal(counter.finish().toarray(), count_pairs(ragged(texts), 7, window=4).toarray())
    assert counter.dropped_ == 0


def test_where_there_are_too_many_pairs_the_rarest_are_left_out_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(counting, "_BATCH", 400)
    generator = np.random.default_rng(0)
    rows = [(generator.zipf(1.5, size=50) % 60).tolist() for _ in range(40)]
    counter = PairCounter(60, window=3, most=200)
    for row in rows:
        counter.add(ragged([row]))
    with caplog.at_level(logging.WARNING, logger="semsearch"):
        kept = counter.finish().toarray()
    whole = count_pairs(ragged(rows), 60, window=3).toarray()
    assert (whole > 0).sum() > 200 >= (kept > 0).sum() > 100
    assert (kept <= whole).all()
    assert (whole.ravel()[whole.argmax()], kept.ravel()[whole.argmax()]) == (whole.max(), whole.max())
    assert counter.dropped_ > 0
    assert "rarest" in caplog.text


def test_ppmi_is_the_formula(texts: Texts) -> None:
    found = ppmi(count_pairs(ragged(texts), 7, window=3))
    expected = literal_ppmi(literal_counts(texts, 3), 7)
    assert found.toarray() == pytest.approx(expected, abs=1e-5)
    assert found.nnz == (expected > 1e-7).sum() > 0


@pytest.fixture
def matrix() -> csr_array:
    generator = np.random.default_rng(2)
    left = np.linalg.qr(generator.standard_normal((90, 40)))[0] * np.logspace(1, -2, 40)
    return csr_array((left @ np.linalg.qr(generator.standard_normal((90, 40)))[0].T).astype(np.float32))


def test_singular_vectors_are_those_of_the_whole_decomposition_with_fixed_signs(matrix: csr_array) -> None:
    left, values = singular_vectors(matrix, 12)
    whole, expected, _ = np.linalg.svd(matrix.toarray().astype(np.float64))
    assert values == pytest.approx(expected[:12], rel=1e-4)
    assert np.abs((left * whole[:, :12]).sum(axis=0)) == pytest.approx(np.ones(12), abs=1e-4)
    assert (left[np.abs(left).argmax(axis=0), np.arange(12)] > 0).all()
    assert np.array_equal(left, singular_vectors(matrix, 12)[0])


def read(paths: list[Path], *, size: int = 100, min_count: int = 1) -> Corpus:
    return read_corpus(paths, size=size, min_count=min_count, dimension=1, skipped=never)


def paragraphs_of(corpus: Corpus) -> list[list[str]]:
    names = [*corpus.words, "?"]  # the last is of id -1
    return [
        [names[word] for word in texts.ids[texts.indptr[row] : texts.indptr[row + 1]]]
        for texts in corpus.paragraphs()
        for row in range(len(texts))
    ]


def test_a_corpus_has_its_frequent_words_and_their_share_of_all(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A cat, a dog.\n\nA cat's tail")
    corpus = read([tmp_path], size=2)
    assert (corpus.words, corpus.counts.tolist(), corpus.total) == (["a", "cat"], [3, 2], 7)
    assert corpus.frequencies == pytest.approx([3 / 7, 2 / 7])
    assert paragraphs_of(corpus) == [["a", "cat", "a", "?"], ["a", "cat", "?"]]
    assert read([tmp_path], min_count=3).words == ["a"]


@pytest.mark.parametrize("piece", [7, 50, 1 << 22])
@pytest.mark.parametrize("compress", [None, lzma.compress, gzip.compress])
def test_no_word_is_lost_or_cut_where_text_is_streamed(
    tmp_path: Path, piece: int, compress: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_PIECE", piece)
    text = "One paragraph of words.\n\nAnother one,\nof two lines.\n" + "a very long line without an end " * 9
    path = tmp_path / "a.txt"
    path.write_text(text)
    if callable(compress):
        path = path.with_suffix(".txt.xz" if compress is lzma.compress else ".txt.gz")
        path.write_bytes(compress(text.encode()))
    assert [word for texts in paragraphs_of(read([path])) for word in texts] == words(text)


def test_a_file_that_changes_between_the_readings_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("good words")
    corpus = read([path])
    path.write_bytes(b"caf\xe9")
    with pytest.raises(SourceError, match="changed while it was read"):
        list(corpus.paragraphs())


def test_words_of_one_topic_become_neighbours(tmp_path: Path) -> None:
    write_articles(tmp_path / "texts", 60)
    table = train_ppmi([tmp_path / "texts"], tmp_path / "v", dimension=12, skipped=never)
    for topic in ("sea", "music", "garden"):
        members = TOPICS[topic].split()
        nearest = neighbours(table, members[0], 5)
        assert {neighbour.word for neighbour in nearest} <= set(members)
    assert table.verify()
    assert np.linalg.norm(table.rows(np.arange(len(table))), axis=1) == pytest.approx(np.ones(len(table)), abs=0.01)


def test_the_same_text_gives_the_same_vectors_however_it_is_stored(tmp_path: Path) -> None:
    write_articles(tmp_path / "texts", 12)
    text = "\n".join(path.read_text() for path in sorted((tmp_path / "texts").iterdir()))
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "b.txt.xz").write_bytes(lzma.compress(text.encode()))
    tables = [train_ppmi([tmp_path / name], tmp_path / name[0], dimension=5) for name in ("a.txt", "b.txt.xz")]
    assert tables[0].digest == tables[1].digest


def test_a_text_whose_words_never_meet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\ntwo\n\n" * 9)
    with pytest.raises(UsageError, match="by chance"):
        train_ppmi([tmp_path / "a.txt"], tmp_path / "v", dimension=2)
