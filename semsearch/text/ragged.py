"""Texts as word ids: rows of different lengths in one array, and the out-of-vocabulary (OOV) words of these texts.

The id -1 - i means the i-th OOV word of these texts. Its bytes are kept, so that its vector can be predicted from its
pieces (semsearch.word_vectors.pieces), and its hash, by which an embedder remembers that vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import distinct
from semsearch.arrays.types import Bool, Int32, Int64, UInt8, UInt64
from semsearch.text.tokens import WordChunk, hash_spans


@dataclass(frozen=True, eq=False, slots=True)
class OovWords:
    """u words in their order: word i is data[bounds[i]:bounds[i + 1]], lower-case UTF-8, and has the hash hashes[i]."""

    hashes: UInt64  # (u,)
    data: UInt8
    bounds: Int64  # (u + 1,)

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def words(self) -> list[str]:
        """The words as strings. (u,)"""
        text, bounds = self.data.tobytes(), self.bounds.tolist()
        return [text[bounds[i] : bounds[i + 1]].decode() for i in range(len(self))]

    def take(self, indices: Int64) -> OovWords:
        """The words at the given indices."""
        lengths = np.diff(self.bounds)[indices]
        bounds = _ends(lengths)
        return OovWords(
            self.hashes[indices],
            self.data[np.arange(bounds[-1]) + np.repeat(self.bounds[indices] - bounds[:-1], lengths)],
            bounds,
        )

    def distinct(self) -> tuple[OovWords, Int32]:
        """Each word once, in order of the hashes, and the index among them of each word here. u' ≤ u words, (u,)"""
        _, first, which = np.unique(self.hashes, return_index=True, return_inverse=True)
        return self.take(first), which.reshape(-1).astype(np.int32)

    @staticmethod
    def of(words: Sequence[str]) -> OovWords:
        """Build from words as the tokeniser gives them, or from parts of such words."""
        encoded = [word.encode() for word in words]
        bounds = _ends(np.array([len(word) for word in encoded], dtype=np.int64))
        data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return OovWords(hash_spans(data, bounds[:-1], bounds[1:]), data, bounds)

    @staticmethod
    def in_chunk(chunk: WordChunk, indices: Int64) -> OovWords:
        """The words at the given indices of a chunk, repetitions included."""
        lengths = chunk.ends[indices] - chunk.starts[indices]
        return OovWords(chunk.hashes[indices], chunk.letters(indices), _ends(lengths))

    @staticmethod
    def concatenate(parts: Sequence[OovWords]) -> OovWords:
        """All words of all parts, in order."""
        if not parts:
            return NONE
        lengths = np.concatenate([np.diff(part.bounds) for part in parts])
        return OovWords(
            np.concatenate([part.hashes for part in parts]),
            np.concatenate([part.data for part in parts]),
            _ends(lengths),
        )


def _ends(lengths: Int64) -> Int64:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))


NONE = OovWords(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Ragged:
    """The word ids of n texts: text i has ids[indptr[i]:indptr[i + 1]]. (t,) int32, (n + 1,) int64

    An id below zero is an unknown word: -1 - i is word i of those that come with the texts.
    """

    ids: Int32
    indptr: Int64
    unknown_words: OovWords = NONE

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def lengths(self) -> Int64:
        """The number of words of each text. (n,)"""
        return np.diff(self.indptr)

    def joined(self, starts: Int64) -> Ragged:
        """Join rows starts[i] to starts[i + 1] into one row, as sentences into passages. (m + 1,) -> m rows"""
        return Ragged(
            self.ids[self.indptr[starts[0]] : self.indptr[starts[-1]]],
            self.indptr[starts] - self.indptr[starts[0]],
            self.unknown_words,
        )

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Ragged:
        """The rows with the given numbers, in the order given."""
        lengths = self.lengths[rows]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        positions = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return Ragged(self.ids[positions], indptr, self.unknown_words)

    def part(self, first: int, last: int) -> Ragged:
        """The rows from `first` up to, not including, `last`."""
        start, end = self.indptr[first], self.indptr[last]
        return Ragged(self.ids[start:end], self.indptr[first : last + 1] - start, self.unknown_words)

    def only(self, chosen: Bool) -> Ragged:
        """Keep only the chosen words of each text. (t,) -> n rows"""
        dropped = np.flatnonzero(~chosen)
        return Ragged(self.ids[chosen], self.indptr - np.searchsorted(dropped, self.indptr), self.unknown_words)

    def with_distinct_unknown(self) -> Ragged:
        """The same texts with each of their unknown words once, in order of the hashes, as the tokeniser gives them."""
        is_unknown = self.ids < 0
        words, which = self.unknown_words.take(-1 - self.ids[is_unknown].astype(np.int64)).distinct()
        ids = self.ids.copy()
        ids[is_unknown] = -1 - which
        return Ragged(ids, self.indptr, words)

    def without_repetitions(self) -> Ragged:
        """The distinct words of each text, in order of their ids."""
        rows = np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)
        pairs = distinct(rows << 32 | self.ids.view(np.uint32))
        bounds = np.searchsorted(pairs, np.arange(len(self) + 1, dtype=np.int64) << 32)
        return Ragged((pairs & 0xFFFFFFFF).astype(np.uint32).view(np.int32), bounds, self.unknown_words)

    @staticmethod
    def concatenate(parts: Sequence[Ragged]) -> Ragged:
        """All rows of all parts, in order."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return Ragged(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64))
        lengths = np.concatenate([part.lengths for part in parts])
        before = np.cumsum([0, *(len(part.unknown_words) for part in parts)])
        ids = [np.where(part.ids < 0, part.ids - first, part.ids) for part, first in zip(parts, before, strict=False)]
        return Ragged(
            np.concatenate(ids).astype(np.int32),
            np.concatenate(([0], np.cumsum(lengths))),
            OovWords.concatenate([part.unknown_words for part in parts]),
        )
