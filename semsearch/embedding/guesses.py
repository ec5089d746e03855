"""The vectors of unknown words: from their contexts, if those have been learned, or else from their pieces."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from semsearch.embedding.word_memory import WordMemory
from semsearch.text.unknown_words import UnknownWords
from semsearch.word_vectors.reference import VectorsReference
from semsearch.word_vectors.table import Guessing, WordVectors

if TYPE_CHECKING:
    from semsearch.embedding.induced_words import InducedWords

Float32 = npt.NDArray[np.float32]


class Guesses:
    """Gives unknown words their vectors: those `induced` from contexts, or else those of their pieces, or else zero.

    Pickled, it takes the vectors along by reference, and what it remembers stays behind.
    """

    def __init__(self, vectors: WordVectors, induced: InducedWords | None = None) -> None:
        self._vectors = vectors
        self.induced = induced

    def __call__(self, unknown_words: UnknownWords) -> Float32:
        """The vectors of unknown words. (u,) -> (u, d)"""
        if self._by_pieces is None:
            result = np.zeros((len(unknown_words), self._vectors.dimension), dtype=np.float32)
        else:
            result = self._by_pieces(unknown_words)
        if self.induced is not None:
            self.induced.put(unknown_words, result)
        return result

    @cached_property
    def _by_pieces(self) -> WordMemory | None:
        vectors = self._vectors
        return WordMemory(vectors.guess, vectors.dimension) if isinstance(vectors, Guessing) else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _guesses, (VectorsReference.of(self._vectors), self.induced)


def _guesses(vectors: VectorsReference, induced: InducedWords | None) -> Guesses:
    return Guesses(vectors.open(), induced)
