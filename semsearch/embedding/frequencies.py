"""p(w), how probable each word is: from word counts, mapped to the words of a vector table."""

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


def probabilities(counts: Mapping[str, int], vectors: WordVectors) -> Float32:
    """p(w) of each word of the vectors; words that were not counted get the least probability of all. (V,)"""
    counted = shares(counts)
    ids = vectors.lookup(hash_words(list(counts)).hashes)
    p = np.full(len(vectors), counted.min())
    p[ids[ids >= 0]] = counted[ids >= 0]
    return p.astype(np.float32)


def smoothed(counts: npt.NDArray[np.integer[Any]]) -> Float32:
    """p(w) from the counts (V,) of an indexed corpus; words that it lacks get the probability of one occurrence."""
    total = max(int(counts.sum()), 1)
    return np.asarray(np.maximum(counts, 1) / total, dtype=np.float32)


def mixed(counts: npt.NDArray[np.integer[Any]], general: Float32) -> Float32:
    """p(w) of a corpus by its counts (V,), as if `GENERAL_WORDS` words of general English p(w) (V,) stood beside it.

    A Dirichlet prior, as language models are smoothed (Zhai and Lafferty 2004): a few notes count words as general
    English does, a large corpus as it does itself.
    """
    prior = general.astype(np.float64) / general.sum(dtype=np.float64)
    return np.asarray((counts + GENERAL_WORDS * prior) / (counts.sum() + GENERAL_WORDS), dtype=np.float32)
