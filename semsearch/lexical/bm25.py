"""BM25: how well a passage's words answer a question. Robertson and Zaragoza 2009, with idf as Lucene has it.

    Σ_t q_t · log(1 + (N - n_t + 0.5) / (n_t + 0.5)) · f (k1 + 1) / (f + k1 (1 - b + b · length / mean length))

q_t is how often the question has the term, f how often the passage. N, n_t and the mean length are of the passages that
the index holds now, over all its segments, so that scores do not depend on how they are divided.

This finds passages. Those found are scored once more with their neighbours: a word of the passage before or after, in
the same document, counts half, for f and for the length. docs/research/measurements.md has what it brings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.arrays.id_ranges import are_new
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.lexical.postings import Postings
from semsearch.text.tokens import UInt64

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TermLookup:
    """The distinct terms of a query (t,), how often it has each (t,), their idf (t,), their postings by segment."""

    terms: UInt64
    times: Int64
    idf: Float64  # 0 for a term that no passage has
    weights: Float64  # (t,) times · idf, where a term that no passage has counts as the rarest
    lists: Sequence[Sequence[tuple[Int32, UInt8]]]

    def share_of(self, having: Bool) -> Float64:
        """The share of the query that passages have, by the weights of its terms: 0 to 1. (t, n) -> (n,)"""
        return np.asarray(self.weights @ having / max(float(self.weights.sum()), 1e-9))


class Bm25:
    """BM25 over segments of postings. `alive` has, for each segment, the rows that count, or None for all.

    `documents`: the number of documents, from which follows how many pairs of neighbouring passages there are.
    """

    def __init__(
        self, segments: Sequence[Postings], alive: Sequence[Bool | None], *, documents: int | None = None
    ) -> None:
        self._segments = segments
        self._alive = alive
        self._tuned = tuning.TUNING
        kept = [len(s) if a is None else int(np.count_nonzero(a)) for s, a in zip(segments, alive, strict=True)]
        self.passages = sum(kept)
        words = sum(
            float(s.lengths.sum(dtype=np.float64) if a is None else s.lengths[a].sum(dtype=np.float64))
            for s, a in zip(segments, alive, strict=True)
        )
        if not 0 <= words < math.inf:
            raise IndexDamaged(
                f"the lexical index is damaged: its passages have {words} words; "
                f"run: {rebuild_command(segments[0].path.parents[1])}"
            )
        mean = words / self.passages if words else 1.0
        neighbours = 0 if documents is None else max(self.passages - documents, 0)  # pairs of them
        self._mean_with_neighbours = mean * (1 + 2 * self._tuned.neighbour_weight * neighbours / max(self.passages, 1))
        k1, b = self._tuned.k1, self._tuned.b
        self._norms: list[Float32] = [(k1 * (1 - b + b * s.lengths / mean)).astype(np.float32) for s in segments]
        self._starts = np.cumsum([0, *map(len, segments)]).tolist()
        self._lengths = np.concatenate([np.zeros(0, dtype=np.float32), *(s.lengths for s in segments)])

    def find(self, terms: UInt64) -> TermLookup:
        """Look up the terms of a query, repetitions included."""
        return self.find_each([terms])[0]

    def find_each(self, queries: Sequence[UInt64]) -> list[TermLookup]:
        """Look up the terms of several queries, each different term once."""
        known: dict[int, tuple[float, Sequence[tuple[Int32, UInt8]]]] = {}
        found: list[TermLookup] = []
        rarest = math.log(1 + (self.passages + 0.5) / 0.5)
        for terms in queries:
            rising = np.sort(terms)
            heads = np.flatnonzero(are_new(rising))
            different, times = rising[heads], np.append(heads[1:], len(terms)) - heads
            for term in different.tolist():
                if term not in known:
                    lists = [segment.of(term) for segment in self._segments]
                    known[term] = self._idf(lists), lists
            own = [known[term] for term in different.tolist()]
            idf = np.array([idf for idf, _ in own], dtype=np.float64)
            weights = times.astype(np.float64) * np.where(idf > 0, idf, rarest)
            found.append(TermLookup(different, times, idf, weights, [lists for _, lists in own]))
        return found

    def scores(self, lookup: TermLookup) -> list[Float32]:
        """The score of every row of every segment, 0 for a row that has no term or does not count. (R,) each"""
        result: list[Float32] = [np.zeros(len(segment), dtype=np.float32) for segment in self._segments]
        for times, idf, lists in zip(lookup.times.tolist(), lookup.idf.tolist(), lookup.lists, strict=True):
            weight = times * (self._tuned.k1 + 1) * idf
            if not weight:
                continue
            for (rows, counts), norms, scores in zip(lists, self._norms, result, strict=True):
                f = counts.astype(np.float32)
                scores[rows] += np.float32(weight) * f / (f + norms[rows])
        for scores, alive in zip(result, self._alive, strict=True):
            if alive is not None:
                scores[~alive] = 0
        return result

    def counts(self, lookup: TermLookup, rows: Int64) -> Float64:
        """Count each term in each row; 0 for the row -1. Rows are numbered through all segments. (n,) -> (t, n)"""
        found: UInt8 = np.zeros((len(lookup.terms), len(rows)), dtype=np.uint8)
        for segment, start in enumerate(self._starts[:-1]):
            wanted = (rows - start).astype(np.int32)  # of another segment's rows this one has none
            for own, lists in zip(found, lookup.lists, strict=True):
                having, times = lists[segment]
                if len(having):
                    at = having.searchsorted(wanted)
                    own += times.take(at, mode="clip") * (having.take(at, mode="clip") == wanted)
        return found.astype(np.float64)

    def lengths(self, rows: Int64) -> Float64:
        """The length of each row in words; 0 for the row -1. Rows are numbered through all segments. (n,) -> (n,)"""
        if not len(self._lengths):
            return np.zeros(len(rows))
        return np.where(rows < 0, 0.0, self._lengths.take(rows, mode="clip").astype(np.float64))

    def rows(self, segment: int, rows: Int64) -> Int64:
        """Number rows of one segment through all segments; -1 for rows that do not count. (n,) -> (n,)"""
        alive = self._alive[segment]
        through = rows + self._starts[segment]
        return through if alive is None else np.where(alive[rows], through, -1)

    def with_neighbours(self, lookup: TermLookup, counts: Float64, lengths: Float64) -> Float64:
        """Score by counts and lengths in which neighbouring passages count half. (t, n), (n,) -> (t, n)"""
        k1, b = self._tuned.k1, self._tuned.b
        norms = k1 * (1 - b + b * lengths / self._mean_with_neighbours)
        weights = lookup.idf * (k1 + 1)
        return np.asarray(weights[:, None] * counts / (counts + norms))

    def tell(self, terms: UInt64, positions: Int64, counts: Int64) -> Float64:
        """Weigh each term of some texts: Σ idf · f (k1 + 1) / (f + k1) over the texts that have it f times.

        The texts' terms are given by their positions among `terms`. (t,), (p,), (p,) -> (t,)
        """
        shares = counts * (self._tuned.k1 + 1) / (counts + self._tuned.k1)
        return self.idf(terms) * np.bincount(positions, weights=shares, minlength=len(terms))

    def idf(self, terms: UInt64) -> Float64:
        """The idf of each term, 0 for a term that no passage has. (t,) -> (t,)"""
        lists = ([segment.of(term) for segment in self._segments] for term in terms.tolist())
        return np.array([self._idf(postings) for postings in lists], dtype=np.float64)

    def _idf(self, lists: Sequence[tuple[Int32, UInt8]]) -> float:
        """The idf of a term, given by its postings in each segment; 0 if no passage has it."""
        having = sum(
            len(rows) if alive is None else int(np.count_nonzero(alive[rows]))
            for (rows, _), alive in zip(lists, self._alive, strict=True)
        )
        return math.log(1 + (self.passages - having + 0.5) / (having + 0.5)) if having else 0.0
