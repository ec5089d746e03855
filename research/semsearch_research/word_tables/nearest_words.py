"""The words nearest to a word in a table of word vectors, for inspection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semsearch.arrays.types import Float32
from semsearch.errors import UsageError
from semsearch.text.ragged import OovWords
from semsearch.text.tokens import normalise
from semsearch.word_vectors.table import VectorTable

_CHUNK = 1 << 14  # rows in memory at a time


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A word, and the cosine of its vector with the one that it is compared to."""

    word: str
    cosine: float


def neighbours(table: VectorTable, word: str, k: int = 10) -> list[Neighbour]:
    """The k words whose vectors have the greatest cosine with that of `word`, which is left out. Scans the table.

    A word that the table does not have gets its vector from its pieces. Raises UsageError if none of these is known,
    if `word` is not a single word, or if k is below one.
    """
    if k < 1:
        raise UsageError(f"k must be at least 1, not {k}")
    normal = one_word(word)
    asked = table.id_of(normal)
    query = table.rows(np.array([asked]))[0] if asked >= 0 else table.oov_rows(OovWords.of([normal]))[0]
    if asked < 0 and not query.any():
        pieces = "" if table.pieces is None else ", and none of its pieces is known"
        raise UsageError(f"{normal!r} is not among the {len(table)} words of {table.name}{pieces}")
    cosines = np.concatenate(
        [_cosines(table, first, min(first + _CHUNK, len(table)), query) for first in range(0, len(table), _CHUNK)]
    )
    nearest = np.argsort(-cosines, kind="stable")
    nearest = nearest[nearest != asked][:k]
    return [Neighbour(table.words[number], float(cosines[number])) for number in nearest.tolist()]


def is_guessed(table: VectorTable, word: str) -> bool:
    """Return whether the table lacks the word, so that its vector is predicted from its pieces.

    Raises UsageError if `word` is not a single word.
    """
    return table.id_of(one_word(word)) < 0


def one_word(word: str) -> str:
    """Normalise a word. Raises UsageError for a text that is not a single word."""
    normal = normalise(word)
    if not normal or " " in normal:
        raise UsageError(f"{word!r} is not one word; give one word without spaces or signs")
    return normal


def _cosines(table: VectorTable, first: int, last: int, query: Float32) -> Float32:
    """The cosines of the table's rows from `first` to `last` with a vector, 0 if either is zero. -> (last - first,)"""
    rows = table.rows(np.arange(first, last))
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
    return np.asarray((rows @ query) / np.where(lengths > 0, lengths, 1), dtype=np.float32)
