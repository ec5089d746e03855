"""The probability p(w) of each word of a vector table, from word counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.text.tokens import hash_words
from semsearch.text.word_counts import shares
from semsearch.word_vectors.table import WordVectors

Float32 = npt.NDArray[np.float32]

GENERAL_WORDS = 20_000  # see docs/research/measurements.md
MIN_FREQUENCY = 1e-5  # of words to show: once in a hundred thousand, so ten thousand of the shipped vectors


def probabilities(counts: Mapping[str, int], vectors: WordVectors) -> Float32:
    """p(w) of each word of a vector table, by a counts file; a word that it lacks gets its least probability. (V,)"""
    counted = shares(counts)
    ids = vectors.lookup(hash_words(list(counts)).hashes)
    p = np.full(len(vectors), counted.min())
    p[ids[ids >= 0]] = counted[ids >= 0]
    return p.astype(np.float32)


def smoothed(counts: npt.NDArray[np.integer[Any]]) -> Float32:
    """p(w) by the counts (V,) of a corpus; a word that it lacks gets the probability of one occurrence. (V,) -> (V,)"""
    total = max(int(counts.sum()), 1)
    return np.asarray(np.maximum(counts, 1) / total, dtype=np.float32)


def mixed(counts: npt.NDArray[np.integer[Any]], general: Float32) -> Float32:
    """p(w) by the counts (V,) of a corpus to which `GENERAL_WORDS` words of general English p(w) (V,) are added. (V,)

    This is a Dirichlet prior, as used to smooth language models (Zhai and Lafferty 2004): for a few notes p(w) is that
    of general English, for a large corpus its own.
    """
    prior = general.astype(np.float64) / general.sum(dtype=np.float64)
    return np.asarray((counts + GENERAL_WORDS * prior) / (counts.sum() + GENERAL_WORDS), dtype=np.float32)
