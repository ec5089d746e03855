"""Predict the vector of an out-of-vocabulary word from its pieces and from known words that it begins or ends with.

    v(w) = B·b(w) + E·e(w) + 1/√n Σ_{i≤n} u(piece_i of w)

b(w) and e(w) are the vectors of the longest beginning and of the longest ending of w, shorter than w, that are words of
the table: a word with an ending, and both parts of a compound. The pieces are all parts of "<w>" of 2 to 8 bytes, the
marks included, that the table knows as pieces. B, E and u are learned by `semsearch vectors pieces`.

Vectors from character n-grams with boundary marks are from Bojanowski et al. 2017; learning them afterwards, as a
regression on finished word vectors, is from Zhao et al. 2018. B, E and the root of n are ours.

    pieces.txt         N pieces, one per line
    pieces.npy         (N, d) int8: u, a row is pieces[i] · piece_scales[i]
    piece_scales.npy   (N,) float32
    piece_keys.npy     (slots,) uint64 and
    piece_slots.npy    (slots,) int32: from hashes to pieces, as for words
    piece_maps.npy     (2, d, d) float16: Bᵀ and Eᵀ
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from semsearch.arrays.hash_table import HashIndex, look_up
from semsearch.arrays.types import Bool, Float32, Float64, Int32, Int64, UInt8, UInt64
from semsearch.text.ragged import OovWords, Ragged
from semsearch.text.tokens import hash_spans

if TYPE_CHECKING:
    from semsearch.word_vectors.table import WordVectors

SHORTEST, LONGEST = 2, 8  # bytes of a piece, with its marks
SHORTEST_PART = 3  # bytes of a beginning or ending that is looked up as a word
LONGEST_WORD = 64  # bytes: anything longer is hardly a word, and gets no vector
_FEW = 4096  # pieces: below, no sparse product is loaded
_CHUNK = 8192  # words at a time


class PieceSpans(NamedTuple):
    """Parts of words, in the order of the words: part i is data[starts[i]:ends[i]] of word owners[i]."""

    starts: Int64
    ends: Int64
    owners: Int64
    hashes: UInt64


class Inside(NamedTuple):
    """The parts of words that may be pieces, and the beginnings and endings that may be words, as spans of `data`."""

    data: UInt8
    pieces: PieceSpans
    beginnings: PieceSpans
    endings: PieceSpans


def inside(words: OovWords) -> Inside:
    """Cut words into all parts that may be pieces or known words. A word above `LONGEST_WORD` has no parts."""
    lengths = np.diff(words.bounds)
    kept = np.flatnonzero(lengths <= LONGEST_WORD)
    letters, lengths = words.take(kept).data, lengths[kept] + 2
    ends = np.cumsum(lengths)
    starts = ends - lengths
    data = np.full(int(lengths.sum()), ord("<"), dtype=np.uint8)
    data[ends - 1] = ord(">")
    positions = np.arange(len(data))
    word = np.repeat(np.arange(len(kept)), lengths)
    data[(positions > starts[word]) & (positions < ends[word] - 1)] = letters
    opens = np.append((data & 0xC0) != 0x80, True)  # whether a character begins here; no part may cut one

    def spans(first: Int64, last: Int64, owner: Int64) -> PieceSpans:
        whole = opens[first] & opens[last]
        first, last, owner = first[whole], last[whole], owner[whole]
        return PieceSpans(first, last, kept[owner], hash_spans(data, first, last))

    grid = positions[:, None] + np.arange(SHORTEST, LONGEST + 1)  # every position with every length
    row, column = np.nonzero(grid <= ends[word][:, None])
    inner_start, inner_end = starts[word] + 1, ends[word] - 1
    before = np.flatnonzero((positions - inner_start >= SHORTEST_PART) & (positions < inner_end))
    after = np.flatnonzero((inner_end - positions >= SHORTEST_PART) & (positions > inner_start))
    return Inside(
        data,
        spans(row, grid[row, column], word[row]),
        spans(inner_start[before], before, word[before]),
        spans(after, inner_end[after], word[after]),
    )


class Parts(NamedTuple):
    """The known parts of n words: their pieces, and the ids (n,) of the words they begin and end with, -1 for none."""

    pieces: Ragged
    beginnings: Int32
    endings: Int32

    @property
    def known(self) -> Bool:
        """Flags of the words that have a known part. (n,)"""
        return np.asarray((self.pieces.lengths > 0) | (self.beginnings >= 0) | (self.endings >= 0))


class Pieces:
    """The pieces of a table of word vectors, which predict the vectors of out-of-vocabulary words."""

    def __init__(self, vectors: npt.NDArray[np.int8], scales: Float32, keys: UInt64, slots: Int32, maps: Any) -> None:
        self._vectors = vectors
        self._scales = scales
        self._keys = keys
        self._slots = slots
        self._maps = maps

    def __len__(self) -> int:
        return len(self._vectors)

    def oov_rows(self, words: OovWords, table: WordVectors) -> Float32:
        """Guess the vectors v(w) of words of a table; zero for a word without known parts. (u,) -> (u, d)"""
        result = np.zeros((len(words), self._vectors.shape[1]), dtype=np.float32)
        for first in range(0, len(words), _CHUNK):
            part = words.take(np.arange(first, min(first + _CHUNK, len(words))))
            parts = find_parts(part, table.lookup, self._keys, self._slots)
            result[first : first + _CHUNK] = self._oov_rows(parts, table)
        return result

    def _oov_rows(self, parts: Parts, table: WordVectors) -> Float32:
        """In double precision: a word's vector is then the same to the last digit, whatever words are given with it."""
        pieces, lengths = parts.pieces, parts.pieces.lengths
        result: Float64 = np.zeros((len(pieces), self._vectors.shape[1]))
        if len(pieces.ids) <= _FEW:
            filled = np.flatnonzero(lengths)
            if len(filled):
                rows = self._vectors[pieces.ids] * self._scales[pieces.ids][:, None].astype(np.float64)
                result[filled] = np.add.reduceat(rows, pieces.indptr[filled], axis=0)
        else:
            from scipy.sparse import csr_array  # SciPy is large, and a query needs no sparse product

            ones = np.ones(len(pieces.ids))
            matrix = csr_array((ones, pieces.ids, pieces.indptr), shape=(len(pieces), len(self)))
            result += np.asarray(matrix @ self._rows)
        result /= np.sqrt(np.maximum(lengths, 1))[:, None]  # the mean times the root of their number
        for ids, transposed in ((parts.beginnings, self._beginning), (parts.endings, self._ending)):
            there = np.flatnonzero(ids >= 0)
            distinct, which = np.unique(ids[there], return_inverse=True)  # many words begin and end alike
            result[there] += (table.rows(distinct).astype(np.float64) @ transposed)[which]
        return np.asarray(result, dtype=np.float32)

    @cached_property
    def _rows(self) -> Float64:
        return np.asarray(self._vectors * self._scales[:, None].astype(np.float64))

    @cached_property
    def _beginning(self) -> Float64:
        return np.asarray(self._maps[0], dtype=np.float64)

    @cached_property
    def _ending(self) -> Float64:
        return np.asarray(self._maps[1], dtype=np.float64)


Lookup = Callable[[UInt64], Int32]  # word hashes to ids, -1 for unknown words


def find_parts(words: OovWords, lookup: Lookup, keys: UInt64, slots: Int32) -> Parts:
    """Find the pieces of words by a hash table (`keys`, `slots`), and the known words that they begin and end with."""
    cut_words = inside(words)
    ids = look_up(keys, slots, cut_words.pieces.hashes)
    known = ids >= 0
    counts = np.bincount(cut_words.pieces.owners[known], minlength=len(words))
    pieces = Ragged(ids[known], np.concatenate(([0], np.cumsum(counts))))
    return Parts(
        pieces, _longest(cut_words.beginnings, lookup, len(words)), _longest(cut_words.endings, lookup, len(words))
    )


def _longest(spans: PieceSpans, lookup: Lookup, n: int) -> Int32:
    """The id of the longest span of each of n words that the table has as a word, -1 for none. -> (n,)"""
    ids = lookup(spans.hashes)
    known = np.flatnonzero(ids >= 0)
    longest = np.zeros(n, dtype=np.int64)
    np.maximum.at(longest, spans.owners[known], spans.ends[known] - spans.starts[known])
    best = known[(spans.ends - spans.starts)[known] == longest[spans.owners[known]]]
    result = np.full(n, -1, dtype=np.int32)
    result[spans.owners[best]] = ids[best]
    return result


class RememberedRows:
    """A row of numbers for each word, computed once for the first `most` words. Threads may share it."""

    def __init__(self, compute: Callable[[OovWords], npt.NDArray[Any]], width: int, dtype: Any, *, most: int) -> None:
        self._compute = compute
        self._index = HashIndex()
        self._rows = np.empty((most, width), dtype=dtype)  # takes memory as it is filled
        self._lock = Lock()

    def of(self, words: OovWords) -> npt.NDArray[Any]:
        """The rows of words. (u,) -> (u, width)"""
        with self._lock:
            places = self._index.look_up(words.hashes)
            result = self._rows[places]
        new = np.flatnonzero(places < 0)
        if len(new):
            distinct, which = words.take(new).distinct()
            rows = self._compute(distinct).astype(self._rows.dtype)  # by several threads at once: some words twice
            result[new] = rows[which]
            with self._lock:
                first = self._index.count
                fresh = np.flatnonzero(self._index.look_up(distinct.hashes) < 0)[: len(self._rows) - first]
                self._rows[first : first + len(fresh)] = rows[fresh]
                self._index.insert(distinct.hashes[fresh], np.arange(first, first + len(fresh), dtype=np.int32))
        return result
