"""Unknown words: words that a table of word vectors does not have, carried along with the texts in which they occur.

When texts become word ids, the id -1 - i means the i-th unknown word of these texts. Their bytes are kept, so that
their vectors can be guessed from their pieces (semsearch.word_vectors.pieces), and their hashes, by which an embedder
finds those that have a vector from their contexts (semsearch.embedding.induced_words).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch.text.tokens import UInt64, WordChunk, hash_spans

Bytes = npt.NDArray[np.uint8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class UnknownWords:
    """u words in their order: word i is data[bounds[i]:bounds[i + 1]], lower-case UTF-8, and has the hash hashes[i]."""

    hashes: UInt64  # (u,)
    data: Bytes
    bounds: Int64  # (u + 1,)

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def words(self) -> list[str]:
        """The words as strings. (u,)"""
        text, bounds = self.data.tobytes(), self.bounds.tolist()
        return [text[bounds[i] : bounds[i + 1]].decode() for i in range(len(self))]

    def take(self, indices: Int64) -> UnknownWords:
        """The words at the given indices."""
        lengths = np.diff(self.bounds)[indices]
        bounds = _ends(lengths)
        return UnknownWords(
            self.hashes[indices],
            self.data[np.arange(bounds[-1]) + np.repeat(self.bounds[indices] - bounds[:-1], lengths)],
            bounds,
        )

    def distinct(self) -> tuple[UnknownWords, Int32]:
        """Each word once, in order of the hashes, and the index among them of each word here. u' ≤ u words, (u,)"""
        _, first, which = np.unique(self.hashes, return_index=True, return_inverse=True)
        return self.take(first), which.reshape(-1).astype(np.int32)

    @staticmethod
    def of(words: Sequence[str]) -> UnknownWords:
        """Build from words as the tokeniser gives them, or from parts of such words."""
        encoded = [word.encode() for word in words]
        bounds = _ends(np.array([len(word) for word in encoded], dtype=np.int64))
        data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return UnknownWords(hash_spans(data, bounds[:-1], bounds[1:]), data, bounds)

    @staticmethod
    def in_chunk(chunk: WordChunk, indices: Int64) -> UnknownWords:
        """The words at the given indices of a chunk, repetitions included."""
        lengths = chunk.ends[indices] - chunk.starts[indices]
        return UnknownWords(chunk.hashes[indices], chunk.letters(indices), _ends(lengths))

    @staticmethod
    def concatenate(parts: Sequence[UnknownWords]) -> UnknownWords:
        """All words of all parts, in order."""
        if not parts:
            return NONE
        lengths = np.concatenate([np.diff(part.bounds) for part in parts])
        return UnknownWords(
            np.concatenate([part.hashes for part in parts]),
            np.concatenate([part.data for part in parts]),
            _ends(lengths),
        )


def _ends(lengths: Int64) -> Int64:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))


NONE = UnknownWords(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64))
