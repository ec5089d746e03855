"""Compare the weights of words by their frequency: figure 1 of the SIF paper, section 3.1.

SIF's a / (a + p), word2vec's subsampling, which keeps a word with probability min(1, √(t / p)), and uSIF's
a / (p + a/2), which is twice SIF's weight with a/2 in place of a. The paper's claim is that the first two are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch import VectorTable, load_vectors
from semsearch.embedding.weights import sif_weights, usif_a, usif_weights
from semsearch.results.codec import Record, digits
from semsearch_research.evaluate.inputs import check_positive, counts_in, ids_of_words
from semsearch_research.evaluate.published import published_figures
from semsearch_research.evaluate.sts_cosines import USIF_N
from semsearch_research.word_tables.word_counts import probabilities, read_counts, shares

Float64 = npt.NDArray[np.float64]
LOWEST = -10  # the axis of figure 1: from 1e-10 to 1
_RANKS = tuple(10**i for i in range(7))  # of the words that are shown if none are named


@dataclass(frozen=True, slots=True)
class WeightRow(Record):
    """The weights of a frequency, or of a word."""

    word: str | None
    p: float
    sif: float
    word2vec: float
    usif: float


@dataclass(frozen=True, slots=True)
class WeightsReport(Record):
    """The weights over the frequencies of figure 1, and of some words.

    `farthest` is the frequency at which SIF and word2vec differ most; `correlation` is Pearson's r of their weights
    over the words of the vectors.
    """

    vectors: str
    frequencies: str
    a: float
    sample: float
    usif_a: float
    curve: tuple[WeightRow, ...]
    words: tuple[WeightRow, ...]
    farthest: WeightRow
    correlation: float = field(metadata=digits(6))


def word2vec_weights(p: npt.NDArray[np.floating[Any]], sample: float) -> Float64:
    """The probability that word2vec keeps a word: min(1, √(t / p)). (n,) -> (n,)"""
    return np.asarray(np.minimum(1.0, np.sqrt(sample / np.maximum(p.astype(np.float64), np.finfo(np.float64).tiny))))


def evaluate_weights(
    words: Sequence[str] = (),
    *,
    a: float | None = None,
    sample: float | None = None,
    vectors: str | Path | VectorTable = "english",
    frequencies: str | Path = "vectors",
) -> WeightsReport:
    """Compare weights at each power of ten from 1e-10 to 1, and of words: by default of ranks 1, 10, 100, ...

    `a` and `sample` (word2vec's t) are figure 1's unless given; uSIF's a follows from the words of the vectors, or of
    the file of word counts that `frequencies` may be, and n = 11. Raises UsageError, VectorsError.
    """
    published = {figure.row: figure.value for figure in published_figures("sif", "figure 1")}
    a = published["SIF"] if a is None else a
    sample = published["word2vec"] if sample is None else sample
    check_positive(a=a, sample=sample)
    table = vectors if isinstance(vectors, VectorTable) else load_vectors(vectors)
    frequencies = counts_in(frequencies)
    if frequencies == "vectors":
        counted = p = table.frequencies.astype(np.float64)
    else:
        counts = read_counts(Path(frequencies))
        counted, p = shares(counts), probabilities(counts, table).astype(np.float64)
    weigh = _Weighing(a, sample, usif_a(counted, USIF_N))
    ids = np.array(ids_of_words(words, table)) if words else _at_ranks(p)
    fine: Float64 = np.logspace(LOWEST, 0, 1001, dtype=np.float64)
    differences = np.abs(sif_weights(fine, a) - word2vec_weights(fine, sample))
    return WeightsReport(
        table.name,
        str(frequencies),
        a,
        sample,
        weigh.usif_a,
        weigh.rows(np.logspace(LOWEST, 0, 1 - LOWEST, dtype=np.float64)),
        weigh.rows(np.asarray(p[ids]), [table.words[number] for number in ids.tolist()]),
        weigh.rows(fine[[differences.argmax()]])[0],
        float(np.corrcoef(sif_weights(p, a), word2vec_weights(p, sample))[0, 1]),
    )


@dataclass(frozen=True, slots=True)
class _Weighing:
    a: float
    sample: float
    usif_a: float

    def rows(self, p: Float64, words: Sequence[str | None] = ()) -> tuple[WeightRow, ...]:
        """The weights of frequencies (n,), which may be those of words."""
        columns = (p, sif_weights(p, self.a), word2vec_weights(p, self.sample), usif_weights(p, self.usif_a))
        names = words or (None,) * len(p)
        return tuple(WeightRow(name, *map(float, values)) for name, *values in zip(names, *columns, strict=True))


def _at_ranks(p: Float64) -> npt.NDArray[np.intp]:
    """The words of ranks 1, 10, 100, ... by frequency, as far as there are any."""
    order = np.argsort(-p, kind="stable")
    return order[[rank - 1 for rank in _RANKS if rank <= len(p)]]
