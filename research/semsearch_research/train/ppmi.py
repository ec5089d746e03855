"""Word vectors from counts: the positive pointwise mutual information of near words, and its singular vectors.

    PMI(w, c) = log [ p(w, c) / (p(w) p(c)) ]      M = max(PMI, 0)
    M ≈ U_d Σ_d V_d^T                              vectors = U_d, each of length one

Levy, Goldberg, Dagan 2015, TACL 3, "Improving Distributional Similarity with Lessons Learned from Word Embeddings".
In a symmetric window of L words a pair at distance δ counts for L - δ + 1, the number out of L that word2vec would give
it on average, which draws each word's window from 1 to L ("dynamic context windows", section 3.1). Where they draw by
chance, here the expectation is counted, in whole units, so that parts add up exactly. They raise #(c) to the power
0.75; under the weights of SIF, which keep frequent words small already, 1 was better. Vectors are of length one for the
same reason: how much a word counts is for the weights to say.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from semsearch.arrays.randomised_svd import decompose, orthonormal, signs
from semsearch.arrays.types import Float32, Int64
from semsearch.arrays.vectors import unit_rows
from semsearch.errors import UsageError
from semsearch.text.ragged import Ragged
from semsearch.word_vectors.table import Dtype, VectorTable
from semsearch_research.train.corpus import Corpus, Skipped, Stages, read_corpus
from semsearch_research.word_tables.table_writer import TableWriter

MOST_PAIRS = 1 << 26  # distinct pairs in memory: 0.8 GB, and about eight times as much while they become vectors
_BATCH = 10_000_000  # pairs counted at a time
_log = logging.getLogger(__name__)


class PairCounter:
    """Counts pairs of V words in texts, some texts at a time.

    If more than `most` distinct pairs are found, the rarest are left out; `dropped_` is the largest count of those.
    """

    def __init__(self, size: int, *, window: int, most: int = MOST_PAIRS) -> None:
        self.size = size
        self.window = window
        self.most = most
        self.dropped_ = 0
        self._waiting: list[Ragged] = []
        self._words = 0  # that wait
        self._parts: list[csr_array] = []

    def add(self, texts: Ragged) -> None:
        """Count the pairs of some texts, in which the id -1 is a word without a vector."""
        self._waiting.append(texts)
        self._words += len(texts.ids)
        if self._words * self.window >= _BATCH:
            self._count()

    def finish(self) -> csr_array:
        """Return the counts of all pairs of ids i <= j, in units of 1/L. (V, V) int64"""
        self._count()
        while len(self._parts) > 1:
            self._merge()
        if self.dropped_:
            _log.warning(
                "more than %s different pairs of words; the rarest, up to a count of %s/%s, were left out",
                f"{self.most:,}", self.dropped_, self.window,
            )  # fmt: skip
        return self._parts[0]

    def _count(self) -> None:
        self._parts.append(count_pairs(Ragged.concatenate(self._waiting), self.size, window=self.window))
        self._waiting, self._words = [], 0
        while len(self._parts) > 1 and 2 * self._parts[-1].nnz > self._parts[-2].nnz:  # each is copied a few times
            self._merge()
        if sum(part.nnz for part in self._parts) > self.most:
            while len(self._parts) > 1:
                self._merge()
            if self._parts[0].nnz > self.most:
                self._drop()

    def _merge(self) -> None:
        last = self._parts.pop()
        self._parts[-1] = self._parts[-1] + last

    def _drop(self) -> None:
        """Drop the rarest pairs, so that at most three quarters of `most` remain."""
        (pairs,) = self._parts
        rank = pairs.nnz - 3 * self.most // 4
        rarest = int(np.partition(pairs.data, rank)[rank])
        pairs.data[pairs.data <= rarest] = 0
        pairs.eliminate_zeros()
        self.dropped_ = max(self.dropped_, rarest)


def count_pairs(texts: Ragged, size: int, *, window: int) -> csr_array:
    """Count the pairs of texts at once, in units of 1/L, the smaller id first. -> (V, V) int64"""
    rows = np.repeat(np.arange(len(texts)), texts.lengths)
    keys = [np.zeros(0, dtype=np.int64)]
    for distance in range(1, window + 1):
        left, right = texts.ids[:-distance], texts.ids[distance:]
        near = np.flatnonzero((rows[:-distance] == rows[distance:]) & (left >= 0) & (right >= 0))
        first, second = left[near].astype(np.int64), right[near].astype(np.int64)
        pair = np.minimum(first, second) * size + np.maximum(first, second)
        keys.append(pair * window + (window - distance))
    return _summed(np.concatenate(keys), size, window)


def _summed(keys: Int64, size: int, window: int) -> csr_array:
    """Add up the units of equal pairs: sorting the keys, each of a pair and its units, brings them together."""
    keys.sort()
    pairs, units = np.divmod(keys, window)
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    sums = np.add.reduceat(units + 1, starts) if len(starts) else np.zeros(0, dtype=np.int64)
    rows, columns = np.divmod(pairs[starts], size)
    indptr = np.searchsorted(rows, np.arange(size + 1))
    return csr_array((sums, columns.astype(np.int32), indptr.astype(np.int32)), shape=(size, size))


# -- Singular vectors --------------------------------------------------------------------------------------------------


_MORE = 32  # dimensions computed beyond those kept, and
_ROUNDS = 3  # times M M^T is applied: enough for the last dimensions kept to be near the true ones
_NOTHING = 1e-5  # of the largest singular value: below it, rounding


def singular_vectors(
    matrix: csr_array, dimension: int, *, seed: int = 0, rounds: int = _ROUNDS, progress: Stages | None = None
) -> tuple[Float32, Float32]:
    """The left singular vectors of M (V, V) float32 -> (V, d), largest first, and the singular values (d,).

    Each column's sign is fixed (semsearch.arrays.randomised_svd). If the rank is lower than d, the last columns are 0.
    Columns of the same singular value may be rotated among themselves on another processor; their span is the same.
    """
    shape: Any = matrix.shape
    width = min(dimension + _MORE, shape[0])
    start = np.random.default_rng(seed).standard_normal((shape[1], width), dtype=np.float32)
    report = partial(progress, "singular vectors") if progress else None
    found = decompose(matrix, orthonormal(matrix @ start), dimension, rounds=rounds, progress=report)
    left = found.basis @ found.rotation
    left[:, found.values <= _NOTHING * found.values[0]] = 0
    return (left * signs(left)).astype(np.float32), found.values.astype(np.float32)


# -- Training ----------------------------------------------------------------------------------------------------------


def train_ppmi(
    paths: Sequence[Path],
    target: Path,
    *,
    dimension: int = 300,
    window: int = 5,
    size: int = 50_000,
    min_count: int = 5,
    seed: int = 0,
    dtype: Dtype = "int8",
    licence: str = "unknown",
    skipped: Skipped = lambda _path, _reason: None,
    progress: Stages | None = None,
) -> VectorTable:
    """Make a folder of word vectors at `target` from files and folders of text.

    `skipped(path, reason)` is called for a file that cannot be read. The same text and settings give the same table on
    the same machine. Memory is bounded by the vocabulary and the pairs kept, not by the length of the text.
    Raises VectorsError if `target` exists, SourceError if a path does not, UsageError for
    a text with too few words; all before the long work.
    """
    with TableWriter(target, dtype=dtype) as writer:
        corpus = read_corpus(
            paths, size=size, min_count=min_count, dimension=dimension, skipped=skipped, progress=progress
        )
        counter = _count(corpus, window, progress)
        matrix = ppmi(counter.finish())
        if not matrix.nnz:
            raise UsageError("no two words occur together more often than by chance; give more text")
        left, _ = singular_vectors(matrix, dimension, seed=seed, progress=progress)
        writer.add(corpus.words, unit_rows(left))
        settings = {"dimension": dimension, "window": window, "size": size, "min count": min_count, "seed": seed}
        card = {
            "source": f"{corpus.described}: the {len(corpus.words)} most frequent words, positive pointwise mutual "
            f"information within {window} words, {dimension} singular vectors",
            "licence": licence,
            "algorithm": "ppmi",
            "settings": settings,
            "counted words": corpus.total,
            **({"pairs left out": f"up to a count of {counter.dropped_}/{window}"} if counter.dropped_ else {}),
            "command": f"semsearch vectors train {corpus.arguments} --algorithm ppmi --dimension {dimension} "
            f"--window {window} --size {size} --min-count {min_count} --seed {seed} --dtype {dtype}",
        }
        return writer.finish(corpus.frequencies, card=card)


def ppmi(pairs: csr_array) -> csr_array:
    """The positive PMI of words, from counts of pairs i <= j (V, V): -> (V, V) float32, without entries that are 0."""
    counts: Any = (pairs + pairs.T).astype(np.float64).tocsr()  # SciPy's types differ between its versions
    marginals = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # a word that occurs near no other has no entries
        of_word = np.log(marginals)
        of_context = np.log(marginals / marginals.sum())
    counts.data = np.log(counts.data) - np.repeat(of_word, np.diff(counts.indptr)) - of_context[counts.indices]
    positive: csr_array = counts.astype(np.float32)
    positive.data = np.maximum(positive.data, 0)
    positive.eliminate_zeros()
    return positive


def _count(corpus: Corpus, window: int, progress: Stages | None) -> PairCounter:
    counter = PairCounter(len(corpus.words), window=window)
    done = 0
    for texts in corpus.paragraphs():
        counter.add(texts)
        done += len(texts.ids)
        if progress:
            progress("counting pairs", done, corpus.total)
    return counter
