"""The probability p(w) of each word of a vector table, from word counts, and the files that keep counts.

A counts file has a line per word, most frequent first: the word, a space, its count. The SIF and uSIF releases use the
same form, so their files can be given as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float32, Float64
from semsearch.errors import VectorsError
from semsearch.text.tokens import hash_words, normalise
from semsearch.word_vectors.table import WordVectors


def read_counts(path: Path) -> Counter[str]:
    """Read a counts file. Words are normalised as in texts; counts of words that become equal are added.

    Words that the tokeniser would split cannot occur and are left out.
    Raises VectorsError, which names the line, if a line is not a word and a whole number, or if there are no lines.
    """
    counts: Counter[str] = Counter()
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                word, _, count = line.rstrip("\n").rpartition(" ")
                if not word or not (count.isascii() and count.isdigit()):
                    line_start = line.rstrip()[:60]
                    raise VectorsError(
                        f"{path}, line {number}: expected a word, a space and a count, found {line_start!r}"
                    )
                normal = normalise(word)
                if normal and " " not in normal:
                    counts[normal] += int(count)
    except (OSError, UnicodeDecodeError) as error:
        raise VectorsError(f"{path} cannot be read as a file of word counts: {error}") from error
    if not counts.total():
        raise VectorsError(f"{path} has no counts; expected lines of a word, a space and a count")
    return counts


def shares(counts: Mapping[str, int]) -> Float64:
    """p(w) of each counted word, in the order of the counts. (n,)"""
    numbers = np.fromiter(counts.values(), dtype=np.float64, count=len(counts))
    return np.asarray(numbers / numbers.sum())


# -- Probabilities -----------------------------------------------------------------------------------------------------


GENERAL_WORDS = 20_000  # see docs/research/measurements.md


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
