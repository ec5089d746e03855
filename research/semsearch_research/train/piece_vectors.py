"""Learn the vectors of word pieces from words whose vectors are known; word_vectors/pieces.py has the formula.

    min Σ_w ‖v_w - B·b(w) - E·e(w) - 1/√n Σ u(piece)‖² + λ Σ ‖u‖² + μ (‖B‖² + ‖E‖²)

Ridge regression, by conjugate gradients on the normal equations. The penalty shrinks the vectors of rare pieces: a
piece that was seen a few times says little, and a word made of such pieces gets a short vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from semsearch.arrays.hash_table import HashIndex
from semsearch.arrays.types import Float32, Int64, UInt64
from semsearch.text.ragged import OovWords
from semsearch.word_vectors.pieces import Parts, find_parts, inside
from semsearch.word_vectors.table import VectorTable
from semsearch_research.word_tables.table_writer import PieceFiles, TableWriter, quantise

NUMBER = 12_000  # pieces: with 256 dimensions some 4 MB
_LAMBDA, _MU = 0.5, 50.0  # chosen on words held out; see docs/research/measurements.md
_ROUNDS = 25
_CHUNK = 8192  # words at a time
_OF_ONE_TABLE = ("format", "name", "words", "dimension", "dtype", "tokeniser", "digest", "pieces")  # keys of its card


@dataclass(frozen=True, eq=False, slots=True)
class PieceVectors:
    """N pieces, their vectors u (N, d), and Bᵀ and Eᵀ as (2, d, d)."""

    pieces: OovWords
    vectors: Float32
    maps: Float32


def learn_pieces(
    words: Sequence[str],
    vectors: Float32,
    *,
    number: int = NUMBER,
    progress: Callable[[int, int], None] | None = None,
) -> PieceVectors:
    """Choose pieces of words (V,) and learn their vectors from those of the words (V, d). Deterministic."""
    unknown_words = OovWords.of(words)
    pieces = choose_pieces(unknown_words, number)
    word_index, index = _index_of(unknown_words), _index_of(pieces)
    parts = find_parts(unknown_words, word_index.look_up, index.keys, index.values)
    u, maps = solve(parts, vectors, len(pieces), progress=progress)
    return PieceVectors(pieces, u, maps)


def choose_pieces(words: OovWords, number: int) -> OovWords:
    """Choose the parts of words with the greatest occurrences · (length in bytes - 1), greatest first."""
    hashes: UInt64 = np.zeros(0, dtype=np.uint64)
    counts: Int64 = np.zeros(0, dtype=np.int64)
    names = OovWords.of([])
    for first in range(0, len(words), _CHUNK):
        found = inside(words.take(np.arange(first, min(first + _CHUNK, len(words)))))
        spans = found.pieces
        here, first_here, times = np.unique(spans.hashes, return_index=True, return_counts=True)
        together = np.concatenate((hashes, here))
        first_all, which = (np.unique(together, return_index=True, return_inverse=True))[1:]
        counts = np.bincount(which.reshape(-1), weights=np.concatenate((counts, times))).astype(np.int64)
        lengths = (spans.ends - spans.starts)[first_here]
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        letters = found.data[np.arange(bounds[-1]) + np.repeat(spans.starts[first_here] - bounds[:-1], lengths)]
        names = OovWords.concatenate([names, OovWords(here, letters, bounds)]).take(first_all)
        hashes = names.hashes
    value = counts * (np.diff(names.bounds) - 1)
    return names.take(np.lexsort((hashes, -value))[:number])


def add_pieces(
    table: VectorTable, target: Path, *, number: int = NUMBER, progress: Callable[[int, int], None] | None = None
) -> VectorTable:
    """Make a new table at `target`: the words and vectors of a table, and pieces learned from them.

    Raises VectorsError if `target` exists.
    """
    vectors = table.rows(np.arange(len(table)))
    with TableWriter(target, dtype=table.card["dtype"]) as writer:
        writer.add(table.words, vectors)
        learned = learn_pieces(table.words, vectors, number=number, progress=progress)
        card = {key: value for key, value in table.card.items() if key not in _OF_ONE_TABLE}
        return writer.finish(table.frequencies, card=card, pieces=piece_files(learned))


def piece_files(learned: PieceVectors) -> PieceFiles:
    """Learned pieces as the files of a table have them."""
    rows, scales = quantise(learned.vectors)
    index = _index_of(learned.pieces)
    arrays: dict[str, npt.NDArray[Any]] = {
        "pieces": rows,
        "piece_scales": scales,
        "piece_keys": index.keys,
        "piece_slots": index.values,
        "piece_maps": learned.maps.astype(np.float16),
    }
    return PieceFiles(learned.pieces.words, arrays)


def _index_of(words: OovWords) -> HashIndex:
    """A hash table from words to their numbers."""
    index = HashIndex(expected=len(words))
    index.insert(words.hashes, np.arange(len(words), dtype=np.int32))
    return index


def solve(
    parts: Parts,
    vectors: Float32,
    number: int,
    *,
    rounds: int = _ROUNDS,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Float32, Float32]:
    """Solve for u (number, d) and Bᵀ, Eᵀ (2, d, d), given the parts of words and the words' vectors (V, d)."""
    d = vectors.shape[1]
    lengths = parts.pieces.lengths
    shares = np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths).astype(np.float32)
    sparse = csr_array((shares, parts.pieces.ids, parts.pieces.indptr), shape=(len(lengths), number))
    transposed = sparse.T.tocsr()
    padded = np.concatenate((vectors, np.zeros((1, d), dtype=np.float32)))
    dense = np.concatenate((padded[parts.beginnings], padded[parts.endings]), axis=1)  # -1 is the last row, zero
    penalties = np.repeat([_LAMBDA, _MU], [number, 2 * d]).astype(np.float32)[:, None]

    def forth(x: Float32) -> Float32:
        return np.asarray(sparse @ x[:number] + dense @ x[number:], dtype=np.float32)

    def back(y: Float32) -> Float32:
        return np.asarray(np.concatenate((transposed @ y, dense.T @ y)), dtype=np.float32)

    squares: Any = transposed.power(2)
    scale = np.asarray(squares.sum(axis=1), dtype=np.float32).reshape(-1, 1) + np.float32(_LAMBDA)
    gram = np.linalg.inv(dense.T @ dense + np.float32(_MU) * np.eye(2 * d, dtype=np.float32))

    def precondition(r: Float32) -> Float32:
        return np.concatenate((r[:number] / scale, gram @ r[number:]))

    x = np.zeros((number + 2 * d, d), dtype=np.float32)
    rest = back(vectors)
    step = precondition(rest)
    direction, size = step, (rest * step).sum(axis=0)
    for done in range(rounds):
        image = back(forth(direction)) + penalties * direction
        length = size / np.maximum((direction * image).sum(axis=0), 1e-30)
        x += length * direction
        rest = np.asarray(rest - length * image, dtype=np.float32)
        step = precondition(rest)
        before, size = size, (rest * step).sum(axis=0)
        direction = step + size / np.maximum(before, 1e-30) * direction
        if progress:
            progress(done + 1, rounds)
    return x[:number], x[number:].reshape(2, d, d)
