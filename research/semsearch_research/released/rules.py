"""The rules of SIF's released program, each to be taken singly: words, unknown words, weights, components, idf.

    white_space          words are what stands between white space, in lower case, without a leading #; the data that it
                         was run on had its punctuation parted from words before
    last_for_unknown     a word without a vector gets that of the word UUUNKKK or, without one, the table's last
    uncounted_weigh_one  a word that has a vector, but no count, weighs 1: in GloVe's case punctuation, digits, names
    each_side            the first sentences of all pairs have one component removed, and the second ones another
    occurrences          idf is log2((N + 2) / (1 + n_w)), n_w the occurrences of a word, not the sentences that have it
    nearly_unweighted    "unweighted" is a = 1, the weight 1 / (1 + p(w))

Without any of them it is what the SIF paper says (algorithm 1, equation 7), with this package's words; p(w) is from a
file of counts, and a word that it lacks has its least probability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from semsearch import VectorTable
from semsearch.arrays.vectors import row_lengths, to_unit
from semsearch.embedding.components import CommonComponents, SentenceSums
from semsearch.embedding.weighted_sums import average
from semsearch.text.ragged import Ragged
from semsearch.text.tokens import words
from semsearch_research.evaluate.sentence_pairs import Task

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
UNKNOWN = "UUUNKKK"


@dataclass(frozen=True, slots=True)
class ReleasedRules:
    """The rules that are taken from the released program."""

    white_space: bool = False
    last_for_unknown: bool = False
    uncounted_weigh_one: bool = False
    each_side: bool = False
    occurrences: bool = False
    nearly_unweighted: bool = False


def released_words(text: str) -> list[str]:
    """The words of a text by the released program."""
    found = text.lower().split()
    return [word.replace("#", "") if len(word) > 1 and word.startswith("#") else word for word in found]


@dataclass(frozen=True)
class RuledSentences:
    """Sentences of tasks, their words and weights by some rules. `counts` are those of words, for p(w)."""

    vectors: VectorTable
    counts: Mapping[str, int]
    rules: ReleasedRules

    def ids(self, texts: Sequence[str]) -> Ragged:
        """The ids of the words of each text; of unknown words none, or that of the word for them."""
        split = released_words if self.rules.white_space else words
        found = [[self._id(word) for word in split(text)] for text in texts]
        known = [[number for number in row if number >= 0] for row in found]
        flat = np.array([number for row in known for number in row], dtype=np.int32)
        return Ragged(flat, np.cumsum([0, *map(len, known)], dtype=np.int64))

    def sif_weights(self, a: float) -> Float64:
        """a / (a + p(w)) of each word of the table. (V,)"""
        weights = a / (a + self._p)
        return np.where(self._has_count, weights, 1.0) if self.rules.uncounted_weigh_one else weights

    def equal_weights(self) -> Float64:
        """1, or 1 / (1 + p(w)), of each word of the table. (V,)"""
        return self.sif_weights(1.0) if self.rules.nearly_unweighted else np.ones(len(self.vectors))

    def idf(self, texts: Sequence[Ragged]) -> Float64:
        """log((1 + N) / (1 + N_w)) of each word of the table, over N texts in all, or by occurrences. (V,)"""
        total, occurrences = sum(map(len, texts)), np.zeros(len(self.vectors))
        for part in texts:
            ids = part.ids if self.rules.occurrences else _once_a_text(part)
            occurrences += np.bincount(ids, minlength=len(occurrences))
        if self.rules.occurrences:
            return np.asarray(np.log2((total + 2) / (1 + occurrences)))
        return np.asarray(np.log((1 + total) / (1 + occurrences)))

    def cosines(self, texts: Ragged, weights: Float64, *, components: int) -> Float32:
        """The cosines of row i with row n + i of 2n texts, without some common components. -> (n,)"""
        rows = average(texts, self._table * weights[:, None].astype(np.float32))
        halves = np.split(rows, 2)
        if components and self.rules.each_side:
            rest = np.concatenate([_without(half, components) for half in halves])
        else:
            rest = _without(rows, components) if components else rows
        scaled = rest * to_unit(rest, scale=row_lengths(rows))[:, None]
        first, second = np.split(np.asarray(scaled, dtype=np.float32), 2)
        return np.asarray(np.einsum("ij,ij->i", first, second))

    def _id(self, word: str) -> int:
        return self._numbers.get(word, self._instead)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.vectors.words)}

    @cached_property
    def _instead(self) -> int:
        """The number for unknown words, -1 for none."""
        return self._numbers.get(UNKNOWN, len(self.vectors) - 1) if self.rules.last_for_unknown else -1

    @cached_property
    def _table(self) -> Float32:
        return self.vectors.rows(np.arange(len(self.vectors)))

    @cached_property
    def _p(self) -> Float64:
        """p(w) of each word of the table; one without a count has the least probability. (V,)"""
        least = min(self.counts.values())
        found = np.array([self.counts.get(word, least) for word in self.vectors.words], dtype=np.float64)
        return found / sum(self.counts.values())

    @cached_property
    def _has_count(self) -> npt.NDArray[np.bool_]:
        return np.array([word in self.counts for word in self.vectors.words])


def sides(task: Task) -> list[str]:
    """The first sentences of all pairs, then the second ones."""
    return [*task.first, *task.second]


def _without(rows: Float32, components: int) -> Float32:
    return CommonComponents.of(SentenceSums.of(rows, 0), components, piecewise=False).remove(rows)


def _once_a_text(texts: Ragged) -> npt.NDArray[np.int64]:
    """The ids of the different words of each text, one text after the other."""
    owners = np.repeat(np.arange(len(texts)), texts.lengths)
    return np.asarray(np.unique(np.stack([owners, texts.ids]), axis=1)[1])
