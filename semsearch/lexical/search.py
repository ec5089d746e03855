"""The lexical half of a search: segments of postings, searched as one.

SQLite's FTS5 could hold the words as well. Measured with the same eight queries over 105,000 passages it took 15 ms
each, since its bm25 visits each passage that has any of the words; here, where a frequent word is one array, it is half
a millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges
from semsearch.lexical.bm25 import Bm25, TermLookup
from semsearch.lexical.segment import LexicalSegment
from semsearch.text.languages.rules import ENGLISH
from semsearch.text.terms.lexicon import Lexicon
from semsearch.text.tokens import UInt64

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

_NUMBERS = re.compile(r"(?<!\w)[\d.,:/_-]*\d[\d.,:/_-]*(?!\w)")


@dataclass(frozen=True, slots=True)
class NeighbourFlags:
    """Flags of passages: whether the document has a passage before, and one after. (n,), (n,)"""

    before: Bool
    after: Bool


@dataclass(frozen=True, slots=True)
class TermScores:
    """The terms of a query in passages: their counts in each, in its neighbours, and their scores. (t, n) each"""

    counts: Float64
    neighbours: Float64
    scores: Float64  # of a term that the query has once


@dataclass(frozen=True, slots=True)
class PassageRows:
    """The rows of passages in the postings, with those of the passages before and after, -1 for none (3, n); and their
    lengths, to which the neighbours add half of theirs (n,)."""

    rows: Int64
    lengths: Float64

    def of(self, which: Int64) -> PassageRows:
        """Select passages by their numbers. (m,)"""
        return PassageRows(self.rows[:, which], self.lengths[which])


@dataclass(frozen=True, slots=True)
class ScoredPassages:
    """Passages scored by the words of a query: BM25, NaN if no word is shared, and the share of the query that is
    there, 0 to 1. (n,) each"""

    scores: Float64
    covered: Float64


@dataclass(frozen=True, slots=True)
class WordScores:
    """The BM25 scores of passages for one query."""

    lookup: TermLookup
    search: WordSearch

    @property
    def scores(self) -> list[Float32]:
        """The scores of all passages, an array for each segment, 0 if no word is shared. Computed at each call."""
        return self.search.score_all(self.lookup)

    def best(self, n: int, *, allowed: IdRanges | None = None) -> Int64:
        """The ids of the n best passages that share a word with the query, rising; of equal scores the first."""
        return self.search.best(self.lookup, n, allowed=allowed)

    def of(self, ids: Int64, neighbours: NeighbourFlags) -> Float64:
        """The scores of passages by their ids, neighbours counting half; NaN if no word is shared. (n,)"""
        return self.at(self.search.locate(ids, neighbours))

    def at(self, rows: PassageRows) -> Float64:
        """The scores of passages by their rows, neighbours counting half; NaN if no word is shared. (n,)"""
        return self.scored(rows).scores

    def scored(self, rows: PassageRows) -> ScoredPassages:
        """The scores of passages by their rows, and the share of the query that they have."""
        of_terms = self.search.explain(self.lookup, rows).scores
        totals = self.lookup.times @ of_terms
        return ScoredPassages(np.where(totals > 0, totals, np.nan), self.lookup.share_of(of_terms > 0))


class WordSearch:
    """Searches the postings of a generation. `alive`: for each segment the rows that are not removed, None for all."""

    def __init__(
        self,
        opened: Sequence[LexicalSegment],
        alive: Sequence[Bool | None],
        *,
        documents: int | None = None,
        languages: Sequence[str] = (ENGLISH,),
    ) -> None:
        self.languages = languages
        self._id_ranges = [each.id_ranges for each in opened]
        self._neighbour_weight = tuning.TUNING.neighbour_weight
        self._bm25 = Bm25([each.postings for each in opened], alive, documents=documents)

    def scores(self, terms: UInt64) -> WordScores:
        """Prepare to score passages for the terms of a query, repetitions included."""
        return WordScores(self._bm25.find(terms), self)

    def scores_each(self, queries: Sequence[UInt64]) -> list[WordScores]:
        """Prepare to score passages for each of several queries, given by their terms."""
        return [WordScores(lookup, self) for lookup in self._bm25.find_each(queries)]

    def find(self, terms: UInt64) -> TermLookup:
        """Look up the terms of a query, repetitions included."""
        return self._bm25.find(terms)

    def lacks_most(self, terms: UInt64) -> bool:
        """Return whether no passage has more than half of some terms, repetitions included."""
        lacking = self._bm25.idf(terms) == 0
        return bool(len(terms)) and int(lacking.sum()) > len(terms) / 2

    @property
    def ids(self) -> IdRanges:
        """The ids of all passages."""
        return self._joined([np.arange(len(each)) for each in self._id_ranges])

    def having(self, terms: UInt64) -> Int64:
        """The ids of the passages that have all of some terms, in text, title or headings, rising."""
        lists = self._bm25.find(terms).lists
        rows = [_in_all([each[number][0] for each in lists]) for number in range(len(self._id_ranges))]
        return self._joined(rows).all_ids()

    def _joined(self, rows: Sequence[Int64]) -> IdRanges:
        """The ids at rows of each segment, without those that do not count."""
        ids = [np.zeros(0, dtype=np.int64)]
        for number, (own, id_ranges) in enumerate(zip(rows, self._id_ranges, strict=True)):
            ids.append(id_ranges.ids(own[self._bm25.rows(number, own) >= 0]))
        return IdRanges.of_ids(np.sort(np.concatenate(ids)))

    def score_all(self, lookup: TermLookup) -> list[Float32]:
        """The scores of all passages for a query, an array for each segment, 0 if no word is shared."""
        return self._bm25.scores(lookup)

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
        found = np.concatenate(ids)
        order = np.argsort(found)  # which of equal ones are taken must not depend on the segments
        return found[order][np.sort(_largest(np.concatenate(scores)[order], n))]

    def locate(self, ids: Int64, neighbours: NeighbourFlags) -> PassageRows:
        """Find the rows of passages and of their neighbours. (n,)"""
        wanted = np.stack((ids, np.where(neighbours.before, ids - 1, -1), np.where(neighbours.after, ids + 1, -1)))
        rows = np.full(wanted.shape, -1)
        for number, id_ranges in enumerate(self._id_ranges):
            inside = id_ranges.has(wanted)
            rows[inside] = self._bm25.rows(number, id_ranges.below(wanted[inside]))
        own, before, after = (self._bm25.lengths(each) for each in rows)
        return PassageRows(rows, own + self._neighbour_weight * before + self._neighbour_weight * after)

    def explain(self, lookup: TermLookup, passages: PassageRows) -> TermScores:
        """Score each term of a query in each of the passages (n,); zeros for a passage that is not there."""
        counts = self._bm25.counts(lookup, passages.rows.ravel()).reshape(len(lookup.terms), *passages.rows.shape)
        own, near = counts[:, 0], counts[:, 1] + counts[:, 2]
        together = own + self._neighbour_weight * near
        return TermScores(own, near, self._bm25.with_neighbours(lookup, together, passages.lengths))

    def telling_terms(self, headings: Sequence[str], texts: Sequence[str], n: int) -> UInt64:
        """The n terms that tell most about some texts with their headings; of equal terms, those with lower hashes.

        Terms are summed over the texts, so that for a whole document the terms that recur in it win. Words of headings
        count double, as in the index. Numbers are left out: figures and lists are everywhere.
        """
        lexicon = Lexicon()
        told = [[_NUMBERS.sub(" ", text) for text in part] for part in (headings, headings, texts)]
        found = {each: [lexicon.in_language(part, each) for part in told] for each in self.languages}
        size = max(len(lexicon), 1)
        pairs, counts = _most_often(
            [np.concatenate([part.texts * size + part.numbers for part in parts]) for parts in found.values()]
        )
        order = np.argsort(lexicon.terms)
        weights = self._bm25.tell(lexicon.terms, pairs % size, counts)[order]
        return lexicon.terms[order[np.argsort(-weights, kind="stable")[:n]]]


def _most_often(of_each: Sequence[Int64]) -> tuple[Int64, Int64]:
    """The distinct numbers in some arrays, and how often each is in the one that has it most often."""
    counted = [np.unique(numbers, return_counts=True) for numbers in of_each]
    together = np.unique(np.concatenate([numbers for numbers, _ in counted]))
    most = np.zeros(len(together), dtype=np.int64)
    for numbers, counts in counted:
        at = np.searchsorted(together, numbers)
        most[at] = np.maximum(most[at], counts)
    return together, most


def _in_all(lists: Sequence[Int32]) -> Int64:
    """The rows that all of some lists of rising rows have."""
    found, *others = sorted(lists, key=len)
    for other in others:
        at = np.searchsorted(other, found)
        found = found[other.take(at, mode="clip") == found] if len(other) else found[:0]
    return found.astype(np.int64)


def _largest(scores: Float32, n: int) -> Int64:
    """The positions of the n largest scores above zero; of equal ones at the edge, the first. (m,) -> (≤ n,)"""
    found = np.flatnonzero(scores > 0)
    if len(found) <= n:
        return found
    counted = scores[found]
    edge = np.partition(counted, len(counted) - n)[len(counted) - n]
    above = found[counted > edge]
    return np.concatenate((above, found[counted == edge][: n - len(above)]))
