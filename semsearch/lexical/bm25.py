"""BM25: how well a passage's words answer a question. Robertson and Zaragoza 2009, with idf as Lucene has it.

    Σ_t q_t · log(1 + (N - n_t + 0.5) / (n_t + 0.5)) · f (k1 + 1) / (f + k1 (1 - b + b · length / mean length))

q_t is how often the question has the term, f how often the passage. N, n_t and the mean length are of the passages that
the index holds now, over all its segments, so that scores do not depend on how they are divided. Where several indexes
are searched as one, N and n_t are of all of them (`with_idf_of`): a word that is rare in one and common in another has
the same weight in both.

This finds passages. They are scored once more with their neighbours: a word of the passage before or after, in
the same document, counts half, for f and for the length. semsearch.tuning has k1 and b.

SQLite's FTS5 could hold the words as well. With the same eight queries over 105,000 passages it took 15 ms each, since
its bm25 visits each passage that has any of the words; here, where a frequent word is one array, it is half a
millisecond.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Bool, Float32, Float64, Int32, Int64, UInt8, UInt64
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.lexical.postings import LexicalSegment
from semsearch.lexical.spelling import SimilarWord
from semsearch.text.languages import ENGLISH
from semsearch.text.terms import Lexicon

_Lists = Sequence[tuple[Int32, UInt8]]  # of one term, by segment
_NUMBERS = re.compile(r"(?<!\w)[\d.,:/_-]*\d[\d.,:/_-]*(?!\w)")


class TermLookup(NamedTuple):
    """The distinct terms of a query (t,), how often it has each (t,), their idf (t,), their postings by segment."""

    terms: UInt64
    times: Int64
    idf: Float64  # 0 for a term that no passage has
    weights: Float64  # (t,) times · idf, where a term that no passage has counts as the rarest
    lists: Sequence[_Lists]
    normalizer: float  # what a passage's BM25 is divided by to be comparable between queries and indexes
    search: WordSearch  # where they were looked up

    @property
    def missing_share(self) -> float:
        """The share of the query's terms, repetitions included, that no passage has."""
        lacks = [not any(len(rows) for rows, _ in of_term) for of_term in self.lists]
        return float(self.times[lacks].sum()) / max(float(self.times.sum()), 1.0)

    @property
    def most(self) -> float:
        """The BM25 that no passage exceeds."""
        return (tuning.TUNING.k1 + 1) * float(self.weights.sum())

    def best(self, n: int, *, allowed: IdRanges | None = None) -> Int64:
        """The ids of the n best passages that share a word with the query, rising; of equal scores the first."""
        return self.search.best(self, n, allowed=allowed)

    def scored(self, rows: PassageRows) -> Float64:
        """The BM25 scores of passages by their rows, neighbours counting half, NaN if no word is shared. (n,)"""
        totals = self.times @ self.search.explain(self, rows).scores
        return np.where(totals > 0, totals, np.nan)


class TermScores(NamedTuple):
    """The terms of a query in passages: their counts in each, in its neighbours, and their scores. (t, n) each"""

    counts: Float64
    neighbours: Float64
    scores: Float64  # of a term that the query has once


class PassageRows(NamedTuple):
    """The rows of passages in the postings, with those of the passages before and after, -1 for none (3, n); their
    lengths, to which the neighbours add half of theirs (n,), and without that (n,)."""

    rows: Int64
    lengths: Float64
    own_lengths: Float64


class WordSearch:
    """BM25 over the postings of a generation. `alive`: for each segment the rows that are not removed, None for all.

    `documents`: the number of documents, from which follows how many pairs of neighbouring passages there are. Rows are
    numbered through all segments.
    """

    def __init__(
        self,
        opened: Sequence[LexicalSegment],
        alive: Sequence[Bool | None],
        *,
        documents: int | None = None,
        languages: Sequence[str] = (ENGLISH,),
    ) -> None:
        self.languages = languages
        self._postings = postings = [segment.postings for segment in opened]
        self._id_ranges = [segment.id_ranges for segment in opened]
        self._alive = alive
        self._federated: Sequence[WordSearch] = ()
        self._tuned = tuning.TUNING
        lengths = [
            segment.lengths if rows is None else segment.lengths[rows]
            for segment, rows in zip(postings, alive, strict=True)
        ]
        self.passages = sum(map(len, lengths))
        words = sum(float(part.sum(dtype=np.float64)) for part in lengths)
        if not 0 <= words < math.inf:
            raise IndexDamaged(
                f"the lexical index is damaged: its passages have {words} words; "
                f"run: {rebuild_command(postings[0].path.parents[1])}"
            )
        mean = words / self.passages if words else 1.0
        pairs = 0 if documents is None else max(self.passages - documents, 0)
        self._mean_with_neighbours = mean * (1 + 2 * self._tuned.neighbour_weight * pairs / max(self.passages, 1))
        k1, b = self._tuned.k1, self._tuned.b
        self._norms: list[Float32] = [(k1 * (1 - b + b * part.lengths / mean)).astype(np.float32) for part in postings]
        self._starts = np.cumsum([0, *map(len, postings)]).tolist()
        self._lengths = np.concatenate([np.zeros(0, dtype=np.float32), *(part.lengths for part in postings)])

    def with_idf_of(self, others: Sequence[WordSearch]) -> WordSearch:
        """The same passages, with the idf of terms over the passages of the others, too."""
        together = copy(self)
        together._federated = others
        return together

    # -- the terms of a query ------------------------------------------------------------------------------------------

    def find(self, terms: UInt64) -> TermLookup:
        """Look up the terms of a query, repetitions included."""
        counted = dict(sorted(Counter(terms.tolist()).items()))
        lists = self._lists([*counted])
        idf, rarest = self._idf([*counted], lists), math.log(1 + (self._total_passages + 0.5) / 0.5)
        times = np.array([*counted.values()], dtype=np.int64)
        weights = times.astype(np.float64) * np.where(idf > 0, idf, rarest)
        normalizer = (self._tuned.k1 + 1) * math.sqrt(max(float(weights.sum()), rarest) * rarest)
        return TermLookup(np.array([*counted], dtype=np.uint64), times, idf, weights, lists, normalizer, self)

    def _lists(self, terms: Sequence[int]) -> list[tuple[tuple[Int32, UInt8], ...]]:
        """The postings of each term, by segment."""
        segment_lists = [postings.of_each(terms) for postings in self._postings]
        return [*zip(*segment_lists, strict=True)] if segment_lists else [()] * len(terms)

    @property
    def _total_passages(self) -> int:
        return self.passages + sum(other.passages for other in self._federated)

    def _idf(self, terms: Sequence[int], lists: Sequence[_Lists]) -> Float64:
        """The idf of each term, given with its postings; 0 if no passage has it, also of federated indexes. (n,)"""
        n = self._passage_counts(lists) + sum(other._passage_counts(other._lists(terms)) for other in self._federated)
        return np.where(n > 0, np.log(1 + (self._total_passages - n + 0.5) / (n + 0.5)), 0.0)

    def _passage_counts(self, lists: Sequence[_Lists]) -> Int64:
        """How many passages have each term, n_t, given its postings in each segment. (n,)"""
        counts = (
            sum(
                len(rows) if alive is None else int(np.count_nonzero(alive[rows]))
                for (rows, _), alive in zip(of_term, self._alive, strict=True)
            )
            for of_term in lists
        )
        return np.array([*counts], dtype=np.int64)

    # -- passages ------------------------------------------------------------------------------------------------------

    @property
    def ids(self) -> IdRanges:
        """The ids of all passages."""
        return self._joined([np.arange(len(id_ranges)) for id_ranges in self._id_ranges])

    def passages_with(self, terms: UInt64) -> Int64:
        """The ids of the passages that have all of some terms, in text, title or headings, rising."""
        lists = self.find(terms).lists
        by_segment = ([term_lists[number][0] for term_lists in lists] for number in range(len(self._id_ranges)))
        return self._joined([*map(_intersection, by_segment)]).all_ids()

    def best(self, lookup: TermLookup, n: int, *, allowed: IdRanges | None = None) -> Int64:
        """The ids of the n best passages that share a word with a query, rising; of equal scores the first."""
        ids: list[Int64] = [np.zeros(0, dtype=np.int64)]
        scores: list[Float32] = [np.zeros(0, dtype=np.float32)]
        for id_ranges, part in zip(self._id_ranges, self.score_all(lookup), strict=True):
            counted = part if allowed is None else np.where(id_ranges.rows_in(allowed), part, 0)
            rows = _largest(counted, n)
            ids.append(id_ranges.ids(rows))
            scores.append(counted[rows])
        if len(self._id_ranges) == 1:
            return np.sort(ids[1])
        candidates = np.concatenate(ids)
        order = np.argsort(candidates)  # which of equal ones are taken must not depend on the segments
        return candidates[order][np.sort(_largest(np.concatenate(scores)[order], n))]

    def score_all(self, lookup: TermLookup) -> list[Float32]:
        """The score of every row of every segment, 0 for a row that has no term or is removed. (R,) each"""
        result: list[Float32] = [np.zeros(len(norms), dtype=np.float32) for norms in self._norms]
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

    def locate(self, ids: Int64, before: Bool, after: Bool) -> PassageRows:
        """Find the rows of passages, and of those `before` and `after` them, which the document has or not. (n,)"""
        wanted = np.stack((ids, np.where(before, ids - 1, -1), np.where(after, ids + 1, -1)))
        rows = np.full(wanted.shape, -1)
        for number, id_ranges in enumerate(self._id_ranges):
            inside = id_ranges.has(wanted)
            rows[inside] = self._global_rows(number, id_ranges.below(wanted[inside]))
        lengths, earlier, later = map(self._lengths_of, rows)
        weight = self._tuned.neighbour_weight
        return PassageRows(rows, lengths + weight * earlier + weight * later, lengths)

    def explain(self, lookup: TermLookup, passages: PassageRows) -> TermScores:
        """Score each term of a query in each of the passages (n,); zeros for a passage that is not there."""
        counts = self._counts(lookup, passages.rows.ravel()).reshape(len(lookup.terms), *passages.rows.shape)
        inside, neighbours = counts[:, 0], counts[:, 1] + counts[:, 2]
        f = inside + self._tuned.neighbour_weight * neighbours
        k1, b = self._tuned.k1, self._tuned.b
        norms = k1 * (1 - b + b * passages.lengths / self._mean_with_neighbours)
        weights = lookup.idf * (k1 + 1)
        return TermScores(inside, neighbours, np.asarray(weights[:, None] * f / (f + norms)))

    def _counts(self, lookup: TermLookup, rows: Int64) -> Float64:
        """Count each term in each row; 0 for the row -1. (n,) -> (t, n)"""
        term_counts: UInt8 = np.zeros((len(lookup.terms), len(rows)), dtype=np.uint8)
        for segment, start in enumerate(self._starts[:-1]):
            wanted = (rows - start).astype(np.int32)  # of another segment's rows this one has none
            for counts_of_term, lists in zip(term_counts, lookup.lists, strict=True):
                rows_of_term, times = lists[segment]
                if len(rows_of_term):
                    at = rows_of_term.searchsorted(wanted)
                    counts_of_term += times.take(at, mode="clip") * (rows_of_term.take(at, mode="clip") == wanted)
        return term_counts.astype(np.float64)

    def _lengths_of(self, rows: Int64) -> Float64:
        """The length of each row in words; 0 for the row -1. (n,) -> (n,)"""
        if not len(self._lengths):
            return np.zeros(len(rows))
        return np.where(rows < 0, 0.0, self._lengths.take(rows, mode="clip").astype(np.float64))

    def _global_rows(self, segment: int, rows: Int64) -> Int64:
        """Convert rows of one segment to rows over all segments; -1 for removed ones. (n,) -> (n,)"""
        alive = self._alive[segment]
        global_rows = rows + self._starts[segment]
        return global_rows if alive is None else np.where(alive[rows], global_rows, -1)

    def _joined(self, rows: Sequence[Int64]) -> IdRanges:
        """The ids at rows of each segment, without removed ones."""
        ids = [np.zeros(0, dtype=np.int64)]
        for number, (segment_rows, id_ranges) in enumerate(zip(rows, self._id_ranges, strict=True)):
            ids.append(id_ranges.ids(segment_rows[self._global_rows(number, segment_rows) >= 0]))
        return IdRanges.of_ids(np.sort(np.concatenate(ids)))

    # -- words ---------------------------------------------------------------------------------------------------------

    def similar_words(self, word: str, edits: int) -> list[tuple[SimilarWord, int]]:
        """The words of the passages that so many edits make of a word of four letters or more, with their terms."""
        return [
            (similar, int(postings.terms[similar.number]))
            for postings in self._postings
            for similar in postings.spelled.similar(word, edits)
        ]

    def characteristic_terms(self, headings: Sequence[str], texts: Sequence[str], n: int) -> UInt64:
        """The n most characteristic terms of some texts with their headings; of equal terms, those with lower hashes.

        A term weighs Σ idf · f (k1 + 1) / (f + k1) over the texts that have it f times: of a whole document, terms
        that recur in it win. Words of headings count double, as in the index. Numbers are left out: figures and
        lists are everywhere.
        """
        lexicon = Lexicon(keeps_spellings=False)
        weighted = [[_NUMBERS.sub(" ", text) for text in part] for part in (headings, headings, texts)]
        terms_by_language = [[lexicon.in_language(part, language) for part in weighted] for language in self.languages]
        size = max(lexicon.numbering.count, 1)
        pairs, counts = _largest_counts(
            [np.concatenate([part.texts * size + part.numbers for part in parts]) for parts in terms_by_language]
        )
        order = np.argsort(lexicon.terms)
        k1 = self._tuned.k1
        shares = np.bincount(pairs % size, weights=counts * (k1 + 1) / (counts + k1), minlength=lexicon.numbering.count)
        terms = lexicon.terms.tolist()
        idf = self._idf(terms, self._lists(terms))
        weights = (idf * shares)[order]
        return lexicon.terms[order[np.argsort(-weights, kind="stable")[:n]]]


def _largest_counts(of_each: Sequence[Int64]) -> tuple[Int64, Int64]:
    """The distinct numbers in some arrays, and how often each is in the one that has it most often."""
    counted = [np.unique(numbers, return_counts=True) for numbers in of_each]
    together = np.unique(np.concatenate([numbers for numbers, _ in counted]))
    most = np.zeros(len(together), dtype=np.int64)
    for numbers, counts in counted:
        at = np.searchsorted(together, numbers)
        most[at] = np.maximum(most[at], counts)
    return together, most


def _intersection(lists: Sequence[Int32]) -> Int64:
    """The rows that all of some lists of rising rows have."""
    common, *others = sorted(lists, key=len)
    for other in others:
        at = np.searchsorted(other, common)
        common = common[other.take(at, mode="clip") == common] if len(other) else common[:0]
    return common.astype(np.int64)


_SAMPLED = 32  # scores for each that is wanted


def _largest(scores: Float32, n: int) -> Int64:
    """The positions of the n largest scores above zero; of equal ones at the edge, the first. (m,) -> (≤ n,)"""
    some, least = scores[:: max(1, len(scores) // (_SAMPLED * n))], np.float32(0)
    if n < len(some) < len(scores):  # the n-th largest of some is no larger than that of all
        least = np.partition(some, len(some) - n)[len(some) - n]
    positions = (scores >= least if least > 0 else scores > 0).nonzero()[0]
    if len(positions) <= n:
        return positions
    counted = scores[positions]
    edge = np.partition(counted, len(counted) - n)[len(counted) - n]
    above = positions[counted > edge]
    return np.concatenate((above, positions[counted == edge][: n - len(above)]))
