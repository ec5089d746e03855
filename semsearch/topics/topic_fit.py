"""Learn topics from the postings of an index, by truncated singular value decomposition; the topic vectors of passages.

Of many passages an even sample is decomposed: it has the terms that matter.

Postings are ordered by term, but passages are embedded one after the other. So the vectors of all passages of a segment
are made at once, and kept in an unnamed temporary file in the order of their ids: memory is needed for one segment of
postings, not for the corpus. Pages of files that were mapped are given back after each.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array, csr_array

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.randomised_svd import decompose, signs
from semsearch.arrays.types import Float32, Int32, Int64, UInt8, UInt64
from semsearch.lexical.postings import LexicalSegment
from semsearch.system.memory import release_pages
from semsearch.topics.topic_model import Topics, log_counts

DIMENSION = 192
SAMPLE = 10_000  # passages
LEAST = 200  # passages: fewer teach nothing
MOST_TERMS = 37_000  # 8 MB
_MORE = 16  # dimensions computed beyond those kept
_ROUNDS = 4  # of multiplying by A Aᵀ
_AT_ONCE = 1 << 22  # postings looked through at a time
_NOTHING = 1e-4  # of the largest singular value: below it, rounding


def fit_topics(segments: Sequence[LexicalSegment], removed: IdRanges) -> Topics | None:
    """Learn topics from the passages that are not removed, at most one topic for every two passages.

    None if there are fewer passages than LEAST, or no term distinguishes any of them from the others. The result does
    not depend on how passages are divided among segments.
    """
    held = [segment.id_ranges.without(removed).all_ids() for segment in segments]
    ids = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *held]))
    if len(ids) < LEAST:
        return None
    size = min(SAMPLE, len(ids))
    weighed = _weighed(segments, removed, ids, size)
    if weighed is None:
        return None
    names, idf, matrix = weighed
    loadings = right_singular_vectors(matrix, min(DIMENSION, size // 2))
    rising = np.argsort(names)
    return Topics.of(names[rising], idf[rising], loadings[rising], size)


def _weighed(
    segments: Sequence[LexicalSegment], removed: IdRanges, ids: Int64, size: int
) -> tuple[UInt64, Float32, csr_array] | None:
    """The terms (t,) to learn from, frequent ones first, their idf (t,); `size` passages by weights, of length one."""
    terms, passages, counts = _draw(segments, ids[np.arange(size) * len(ids) // size])
    names, columns = np.unique(terms, return_inverse=True)
    having = _having(segments, removed, names)
    order = np.argsort(-having, kind="stable")
    order = order[having[order] < len(ids)][:MOST_TERMS]  # a term that all passages have says nothing
    if not len(order):
        return None
    idf = np.log(len(ids) / having[order]).astype(np.float32)
    places = np.full(len(names), -1)
    places[order] = np.arange(len(order))
    columns = places[columns]
    entries = np.flatnonzero(columns >= 0)
    rows, columns = passages[entries], columns[entries]
    weights = log_counts(counts[entries]) * idf[columns]
    weights /= np.sqrt(np.bincount(rows, weights**2))[rows]
    return names[order], idf, csr_array(coo_array((weights, (rows, columns)), shape=(size, len(order))))


def right_singular_vectors(matrix: csr_array, k: int) -> Float32:
    """The right singular vectors of A: (n, t) -> V (t, ≤ k), those of the largest singular values first.

    There are fewer if the rank is lower. Each has a fixed sign (semsearch.arrays.randomised_svd). Those of the same
    singular value may be rotated among themselves on another processor; their span is the same.
    """
    width = min(k + _MORE, *matrix.shape)
    start = np.random.default_rng(0).standard_normal((matrix.shape[0], width), dtype=np.float32)
    svd = decompose(matrix, start, k, rounds=_ROUNDS)
    real = svd.values > _NOTHING * svd.values[:1]
    right = svd.projected @ (svd.rotation[:, real] / svd.values[real]).astype(np.float32)
    right *= signs(right)
    return np.asarray(right)


def _draw(segments: Sequence[LexicalSegment], chosen: Int64) -> tuple[UInt64, Int32, UInt8]:
    """How often passages with the chosen ids, which rise, have each term: terms, numbers of passages, counts. (p,)"""
    parts: list[tuple[UInt64, Int32, UInt8]] = []
    for segment in segments:
        postings, inside = segment.postings, np.flatnonzero(segment.id_ranges.has(chosen))
        number = np.full(len(postings), -1, dtype=np.int32)
        number[segment.id_ranges.below(chosen[inside])] = inside
        postings.check()
        for first in range(0, len(postings.rows), _AT_ONCE):
            numbers = number[postings.rows[first : first + _AT_ONCE]]
            held = np.flatnonzero(numbers >= 0)
            owners = np.searchsorted(postings.bounds, first + held, side="right") - 1
            parts.append((postings.terms[owners], numbers[held], postings.counts[first + held]))
        postings.release()
    terms, numbers, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    return terms, numbers, counts


def _having(segments: Sequence[LexicalSegment], removed: IdRanges, terms: UInt64) -> Int64:
    """Count the passages that are not removed and have each of some terms, which rise. (t,) -> (t,)"""
    total = np.zeros(len(terms), dtype=np.int64)
    for segment in segments:
        postings, gone = segment.postings, segment.id_ranges.rows_in(removed)
        bounds = postings.bounds
        if gone.any():
            bounds = bounds - np.searchsorted(np.flatnonzero(gone[postings.rows]), bounds)
            postings.release()
        positions = postings.positions(terms)
        held = np.flatnonzero(positions >= 0)
        total[held] += np.diff(bounds)[positions[held]]
    return total


# -- Passages ----------------------------------------------------------------------------------------------------------


class TopicVectors:
    """The topic vectors of the passages of some segments of postings, by id."""

    def __init__(self, topics: Topics, segments: Sequence[LexicalSegment], folder: Path) -> None:
        ids = [segment.id_ranges.all_ids() for segment in segments]
        self._ids = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *ids]))
        shape = (max(len(self._ids), 1), topics.dimension)
        with tempfile.TemporaryFile(dir=folder) as file:
            self._vectors = np.memmap(file, dtype=np.float16, mode="w+", shape=shape)
        for segment, segment_ids in zip(segments, ids, strict=True):
            rows = np.searchsorted(self._ids, segment_ids)
            for part in topics.of_postings(segment.postings):
                self._vectors[rows[: len(part)]] = part
                rows = rows[len(part) :]
            segment.postings.release()
            self._release()

    def of(self, ids: Int64) -> Float32:
        """The topic vectors of passages by id; zero for a passage in none of the segments. (n,) -> (n, k)"""
        rows = np.searchsorted(self._ids, ids)
        held = np.flatnonzero(rows < len(self._ids))
        held = held[self._ids[rows[held]] == ids[held]]
        result = np.zeros((len(ids), self._vectors.shape[1]), dtype=np.float32)
        result[held] = self._vectors[rows[held]]
        self._release()
        return result

    def _release(self) -> None:
        release_pages(getattr(self._vectors, "_mmap", None))
