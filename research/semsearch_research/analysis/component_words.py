"""Describe the common components by words: those whose vectors point the same way as a direction that is removed.

A singular vector has no sign of its own. Here its sign makes its cosine with the mean word of running text, Σ p(w) v_w,
positive; the words of the opposite direction are shown as well. Rare words are left out: of a hundred thousand words
some lie near any direction by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float64
from semsearch.embedding.components import CommonComponents
from semsearch.errors import UsageError
from semsearch.word_vectors.nearest_words import Neighbour
from semsearch.word_vectors.table import WordVectors

MIN_FREQUENCY = 1e-5  # of words to show: once in a hundred thousand, so ten thousand of the shipped vectors


@runtime_checkable
class NamedWords(WordVectors, Protocol):
    """Word vectors that know the words of their ids."""

    @property
    def words(self) -> list[str]:
        """All words, in the order of their ids. (V,)"""


@dataclass(frozen=True, slots=True)
class Direction:
    """A common component and the words nearest to it.

    `share` is its share of the variance (not centred), `strength` the part of it that is removed, 1 being all.
    """

    number: int  # from 1
    share: float
    strength: float
    nearest: tuple[Neighbour, ...]
    opposite: tuple[Neighbour, ...]

    def to_dict(self) -> dict[str, Any]:
        """The direction and its words as plain values for JSON."""
        return {
            "number": self.number,
            "share": round(self.share, 6),
            "strength": round(self.strength, 6),
            "nearest": [asdict(word) for word in self.nearest],
            "opposite": [asdict(word) for word in self.opposite],
        }


class FrequentWords:
    """The words of a table with p(w) of at least `min_frequency`, as unit vectors, by which directions are described.

    Raises UsageError if there are none, or if the word vectors do not know their words.
    """

    def __init__(self, vectors: WordVectors, *, min_frequency: float = MIN_FREQUENCY) -> None:
        if not 0 <= min_frequency < 1:
            raise UsageError(f"min_frequency must be between 0 and 1, not {min_frequency}")
        if not isinstance(vectors, NamedWords):
            raise UsageError(
                f"the word vectors {vectors.name} have no list of their words; open them with load_vectors"
            )
        p = vectors.frequencies
        self._ids = np.flatnonzero(p >= min_frequency)
        if not len(self._ids):
            raise UsageError(
                f"no word of {vectors.name} has a frequency of {min_frequency:g} or more; the highest is {p.max():g}"
            )
        rows = vectors.rows(self._ids).astype(np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        self._mean: Float64 = p[self._ids] @ rows
        self._units: Float64 = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
        self._words = vectors.words

    def __len__(self) -> int:
        return len(self._ids)

    def directions(self, common: CommonComponents, k: int = 10) -> tuple[Direction, ...]:
        """The components in order, each with its k nearest and k opposite words. Raises UsageError for k below one."""
        if k < 1:
            raise UsageError(f"k must be at least 1, not {k}")
        described = []
        for number, (component, strength, share) in enumerate(
            zip(common.directions, common.strengths, common.shares, strict=True), 1
        ):
            cosines = self.cosines(component)
            nearest, opposite = self._first(-cosines, cosines, k), self._first(cosines, cosines, k)
            described.append(Direction(number, float(share), float(strength), nearest, opposite))
        return tuple(described)

    def cosines(self, component: Float64) -> Float64:
        """The cosine of each word with a direction, whose sign is chosen by the mean word. (d,) -> (n,)"""
        sign = -1 if self._mean @ component < 0 else 1
        return np.asarray(self._units @ component * (sign / np.linalg.norm(component)))

    def ranks(self, component: Float64, words: Sequence[str]) -> dict[str, int | None]:
        """The rank, from 1, of each given word among the frequent words ordered by cosine; None if it is not there."""
        order = {
            self._words[self._ids[index]]: rank for rank, index in enumerate(self._order(-self.cosines(component)), 1)
        }
        return {word: order.get(word) for word in words}

    def _first(self, keys: Float64, cosines: Float64, k: int) -> tuple[Neighbour, ...]:
        chosen = self._order(keys)[:k].tolist()
        return tuple(Neighbour(self._words[self._ids[index]], float(cosines[index])) for index in chosen)

    @staticmethod
    def _order(keys: Float64) -> npt.NDArray[np.intp]:
        return np.argsort(keys, kind="stable")
