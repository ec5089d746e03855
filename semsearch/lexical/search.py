"""The lexical half of an index: segments of postings beside those of vectors, written and searched.

FTS5 could hold the words as well. Measured with the same eight questions over 105,000 passages it took 15 ms each,
for its bm25 visits each passage that has any of the words; here, where a frequent word is one array, it is half a
millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.arrays.id_ranges import Runs
from semsearch.lexical.bm25 import Bm25, Lookup
from semsearch.lexical.segment import Words
from semsearch.text.terms import Lexicon
from semsearch.text.tokens import UInt64

Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

_NUMBERS = re.compile(r"(?<!\w)[\d.,:/_-]*\d[\d.,:/_-]*(?!\w)")


@dataclass(frozen=True, slots=True)
class Beside:
    """Of some passages, whether there is one before and one after in the same document. (n,), (n,)"""

    before: Bool
    after: Bool


@dataclass(frozen=True, slots=True)
class TermScores:
    """Of terms (t,) in passages (n,): how often each has it, how often its neighbours do, what it adds. (t, n)"""

    counts: Float64
    beside: Float64
    scores: Float64  # where it is asked for once


@dataclass(frozen=True, slots=True)
class Standing:
    """Where passages stand in the lexical half: their rows, those before and those after, -1 for none (3, n); how long
    they are, with what stands beside them at half (n,)."""

    rows: Int64
    lengths: Float64

    def of(self, which: Int64) -> Standing:
        """Some of them, by their numbers. (m,)"""
        return Standing(self.rows[:, which], self.lengths[which])


@dataclass(frozen=True, slots=True)
class WordScores:
    """The BM25 scores of passages for one query."""

    asked: Lookup
    search: WordSearch

    @property
    def scores(self) -> list[Float32]:
        """Of every passage, an array a segment, 0 where no word is shared: counted anew, for they are many."""
        return self.search.score_all(self.asked)

    def best(self, n: int, *, allowed: Runs | None = None) -> Int64:
        """The ids of the n best passages that share a word with the question, rising; of equal ones the first."""
        return self.search.best(self.asked, n, allowed=allowed)

    def of(self, ids: Int64, beside: Beside) -> Float64:
        """The scores of passages, with what stands beside them; NaN where no word is shared. (n,)"""
        return self.at(self.search.stand(ids, beside))

    def at(self, standing: Standing) -> Float64:
        """The scores of passages whose rows are known; NaN where no word is shared. (n,)"""
        totals = self.asked.times @ self.search.explain(self.asked, standing).scores
        return np.where(totals > 0, totals, np.nan)


class WordSearch:
    """The lexical half of one generation. `alive`: for each segment the rows that are not removed, None for all."""

    def __init__(self, opened: Sequence[Words], alive: Sequence[Bool | None], *, documents: int | None = None) -> None:
        self._runs = [words.segment.runs for words in opened]
        self._beside_weight = tuning.TUNING.beside_weight
        self._bm25 = Bm25([words.postings for words in opened], alive, documents=documents)

    def scores(self, terms: UInt64) -> WordScores:
        """Ready to score passages for the terms of a question, which may come several times."""
        return WordScores(self._bm25.find(terms), self)

    def scores_each(self, questions: Sequence[UInt64]) -> list[WordScores]:
        """Ready to score passages for each of several queries."""
        return [WordScores(asked, self) for asked in self._bm25.find_each(questions)]

    def find(self, terms: UInt64) -> Lookup:
        """Look up terms, which may come several times."""
        return self._bm25.find(terms)

    def score_all(self, asked: Lookup) -> list[Float32]:
        """The score of every passage for a question, an array a segment, 0 where no word is shared."""
        return self._bm25.scores(asked)

    def best(self, asked: Lookup, n: int, *, allowed: Runs | None = None) -> Int64:
        """The ids of the n best passages that share a word with a question, rising; of equal ones the first."""
        ids: list[Int64] = [np.zeros(0, dtype=np.int64)]
        scores: list[Float32] = [np.zeros(0, dtype=np.float32)]
        for runs, part in zip(self._runs, self.score_all(asked), strict=True):
            counted = part if allowed is None else np.where(runs.rows_in(allowed), part, 0)
            rows = _largest(counted, n)
            ids.append(runs.ids(rows))
            scores.append(counted[rows])
        if len(self._runs) == 1:
            return np.sort(ids[1])
        found = np.concatenate(ids)
        order = np.argsort(found)  # which of equal ones are taken must not depend on the segments
        return found[order][np.sort(_largest(np.concatenate(scores)[order], n))]

    def stand(self, ids: Int64, beside: Beside) -> Standing:
        """Where passages stand, and what is beside them. (n,)"""
        wanted = np.stack((ids, np.where(beside.before, ids - 1, -1), np.where(beside.after, ids + 1, -1)))
        rows = np.full(wanted.shape, -1)
        for place, runs in enumerate(self._runs):
            inside = runs.has(wanted)
            rows[inside] = self._bm25.rows(place, runs.below(wanted[inside]))
        own, before, after = (self._bm25.lengths(each) for each in rows)
        return Standing(rows, own + self._beside_weight * before + self._beside_weight * after)

    def explain(self, asked: Lookup, standing: Standing) -> TermScores:
        """The score of each term in each of the passages (n,); zeros for a passage that is not there."""
        counts = self._bm25.counts(asked, standing.rows.ravel()).reshape(len(asked.terms), *standing.rows.shape)
        own, near = counts[:, 0], counts[:, 1] + counts[:, 2]
        together = own + self._beside_weight * near
        return TermScores(own, near, self._bm25.with_beside(asked, together, standing.lengths))

    def telling(self, headings: Sequence[str], texts: Sequence[str], n: int) -> UInt64:
        """The n terms that say most about some texts with their headings; of equal terms, those with lower hashes.

        What a term says is summed over the texts, so that of a whole document those are taken that run through it.
        Words of headings count double, as in the index. Numbers are left out: figures and lists are everywhere.
        """
        lexicon = Lexicon()
        found = [lexicon.of([_NUMBERS.sub(" ", text) for text in part]) for part in (headings, headings, texts)]
        size = max(len(lexicon), 1)
        pairs = np.concatenate([part.texts * size + part.numbers for part in found])
        pairs, counts = np.unique(pairs, return_counts=True)
        order = np.argsort(lexicon.terms)
        says = self._bm25.tell(lexicon.terms, pairs % size, counts)[order]
        return lexicon.terms[order[np.argsort(-says, kind="stable")[:n]]]


def _largest(scores: Float32, n: int) -> Int64:
    """The places of the n largest scores above zero; of equal ones at the edge, the first. (m,) -> (≤ n,)"""
    found = np.flatnonzero(scores > 0)
    if len(found) <= n:
        return found
    counted = scores[found]
    edge = np.partition(counted, len(counted) - n)[len(counted) - n]
    above = found[counted > edge]
    return np.concatenate((above, found[counted == edge][: n - len(above)]))
