"""The support of a passage by its place: other good passages of its document, lengths, words that stand together.

A question in a person's words often meets no passage clearly. Of passages that are about equally good, the one whose
document has more good passages is more often the answer. And the best of many passages is high by chance: a reference
page, a changelog or a list of plug-ins, of a hundred passages, has a good one for any question.

    points = u · (w · mean(e_2, ..., e_(m+1)) - v · min(log10(n / n_0), l)) - s · max(0, 1 - t / t_0) + p · near

The second term is 0 for n < n_0. e_2 is by how much the document's second best passage is above half of the best score
of all, 0 if it is below, each with its own two last terms; n is the number of the document's passages; u is one, but
falls to zero where the best score comes near one: a question that a passage meets word for word needs no support. All
passages of a document get these points, and keep their order. t is the length of the passage in words, by which BM25
divides: a line below a heading that has a word of the question is high by that alone, and answers little, unless the
document is short itself, as a note is.

near is the share of the query's pairs of adjacent words that stand together in the passage, in any order. A pair counts
the idf of its more frequent word, divided by the root of the distance, and nothing beyond three words:

    near = Σ_i min(idf_i, idf_(i+1)) / √d_i  /  Σ_i min(idf_i, idf_(i+1))

A passage that lists sources or contents (semsearch.text.listings) has the words of many subjects and says nothing about
them: it loses as many points as tuning says, before feedback, unless the question names a year or asks for sources.

Only passages below a heading count and get points by their place: sections of a guide support each other. In texts
without headings, such as news, support only favours the longer ones: nDCG@10 of Time falls by .014, of SciFact by .012
(docs/research/measurements.md, "Questions over documentation"). semsearch.tuning has all numbers.

The functions of a file of source code are no sections that support each other. And since code repeats the words of its
guide, only shorter, all code loses the same points: where there is a guide too, its passages answer first. Tests
lose more, for they use the words of what they test.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Bool, Float64, Int64, UInt64
from semsearch.frozen import dataclass
from semsearch.results.options import Support, Weights
from semsearch.text.languages import RULES
from semsearch.text.terms import QuestionTerms, as_english

if TYPE_CHECKING:
    from semsearch.lexical.bm25 import TermLookup


class Owners(NamedTuple):
    """The documents of passages: their ids and numbers of passages, and what the passage is. (n,)"""

    documents: Int64
    passages: Int64
    below_heading: Bool
    code: Int64  # 1 if it is source code, 2 if that is a test, else 0
    lengths: Float64  # of the passages in words, as BM25 counts them; NaN if they are not known

    def of(self, which: Int64 | slice) -> Owners:
        """Select passages by their positions. (m,)"""
        own = self.documents[which], self.passages[which], self.below_heading[which], self.code[which]
        return Owners(*own, self.lengths[which])

    @property
    def are_sections(self) -> Bool:
        """Whether each passage is a section, or a part of one, that is not source code. (n,)"""
        return np.asarray(self.below_heading & (self.code == 0))


@dataclass(frozen=True, slots=True)
class ByTexts:
    """What the texts of passages decide for one query."""

    listings: Collection[int] = frozenset()  # ids of passages that list sources or contents
    near: Mapping[int, float] = field(default_factory=dict)  # of passages, by id: the share of pairs of words

    def of_proximity(self, ids: Int64) -> Float64:
        """The points for words that stand together. (n,)"""
        shares = np.array([self.near.get(id_, 0.0) for id_ in ids.tolist()], dtype=np.float64)
        return tuning.TUNING.proximity_weight * shares


@dataclass(frozen=True, slots=True)
class DocumentSupport:
    """What decides the support of any passage for one query."""

    share: float  # u, 0 to 1
    others: Mapping[int, float]  # of documents, by id: the mean excess of their next best passages
    by_texts: ByTexts = field(default_factory=ByTexts)
    counts_kinds: bool = False  # whether source code and short passages lose points

    def parts(self, ids: Int64, owners: Owners) -> list[Support | None]:
        """The support of passages; None where it adds nothing. (n,), (n,)"""
        weight, close = self.share * tuning.TUNING.support_weight, self.by_texts.of_proximity(ids).tolist()
        found: list[Support | None] = []
        columns = ids.tolist(), owners.documents.tolist(), owners.are_sections.tolist(), self._off(owners).tolist()
        for id_, document, is_section, off, near in zip(*columns, close, strict=True):
            listing = tuning.TUNING.listing if id_ in self.by_texts.listings else None
            others = self.others.get(document, 0.0) if is_section and weight else 0.0
            points = weight * others - off - (listing or 0.0) + near
            has_any = others or off or listing or near
            found.append(Support(points, weight, others, off, listing, near or None) if has_any else None)
        return found

    def points(self, ids: Int64, owners: Owners) -> Float64:
        """The points of passages. (n,), (n,)"""
        others = np.array([self.others.get(document, 0.0) for document in owners.documents.tolist()], dtype=np.float64)
        points = np.where(owners.are_sections, self.share * tuning.TUNING.support_weight * others, 0.0)
        points += self.by_texts.of_proximity(ids) - self._off(owners)
        if self.by_texts.listings:
            points -= tuning.TUNING.listing * np.isin(ids, list(self.by_texts.listings))
        return points

    def _off(self, owners: Owners) -> Float64:
        """What is taken off for lengths and for source code. (n,)"""
        if not self.counts_kinds:
            return np.zeros(len(owners.code))
        tuned = tuning.TUNING
        off = np.array([0.0, tuned.code_deduction, tuned.code_deduction + tuned.test_deduction])[owners.code]
        long = np.where(owners.are_sections, self.share * _of_document(owners.passages), 0.0)
        return np.asarray(off + long - points_of_lengths(owners))


NO_SUPPORT = DocumentSupport(0.0, {})


def supports_of(
    queries: Iterable[slice], scores: Float64, owners: Owners, weights: Sequence[Weights]
) -> list[DocumentSupport]:
    """The support for each of q queries, where both retrievers score candidates.

    `queries`: where each one's candidates are among the scores (p,), NaN if unknown, and their owners (p,).
    """
    return [
        _support_of(scores[pairs], owners.of(pairs), own.dense + own.lexical)
        if own.dense > 0 < own.lexical
        else NO_SUPPORT
        for pairs, own in zip(queries, weights, strict=True)
    ]


def _support_of(scores: Float64, owners: Owners, most: float) -> DocumentSupport:
    """The support for one query, by its candidates' scores, of which `most` is the largest that there can be."""
    first = np.argsort(-scores, kind="stable")[: tuning.TUNING.depth]
    first = first[~np.isnan(scores[first])]
    if not len(first):
        return NO_SUPPORT
    best, excesses = float(scores[first[0]]), dict[int, list[float]]()
    first = first[owners.are_sections[first] & (scores[first] > best / 2)]
    for document, value in zip(owners.documents[first].tolist(), scores[first].tolist(), strict=True):
        excesses.setdefault(document, []).append(value - best / 2)
    counted = tuning.TUNING.support_passages
    others = {document: sum(each[1 : counted + 1]) / counted for document, each in excesses.items() if len(each) > 1}
    share = min(max((1 - best / most) / tuning.TUNING.support_least, 0.0), 1.0)
    return DocumentSupport(share, others, counts_kinds=True)


def points_of_lengths(owners: Owners) -> Float64:
    """The points, zero or less, of passages for being short. (n,)"""
    tuned = tuning.TUNING
    short = np.fmax(1 - owners.lengths / tuned.short_words, 0.0)
    lose = owners.are_sections & (owners.passages >= tuned.short_from)
    return np.where(lose, -tuned.short_weight * short, 0.0)


def _of_document(passages: Int64) -> Float64:
    """What is taken off for a document of so many passages. (n,) -> (n,)"""
    tuned = tuning.TUNING
    if not len(passages) or passages.max() <= tuned.length_from:
        return np.zeros(len(passages))
    powers = np.log10(np.maximum(passages, 1) / tuned.length_from)
    return np.asarray(tuned.length_weight * np.clip(powers, 0.0, tuned.length_most))


# -- Proximity ---------------------------------------------------------------------------------------------------------

_MOST_PASSAGES = 4096  # that are remembered: some ten megabytes

TermsInOrder = Callable[[Sequence[str], str], Sequence[UInt64]]  # of the words of texts in a language


class ProximityFinder:
    """Finds where words of a query stand together in the passages of a generation. Threads may share it.

    It remembers the terms of passages. Where characters are words or words are not parted, the postings have
    terms of two characters and more instead; there it finds nothing.
    """

    def __init__(self, languages: Sequence[str], in_order: TermsInOrder) -> None:
        self._languages = [code for code in languages if not RULES[code].pairs and not RULES[code].sequences]
        self._terms_in_order = in_order
        self._terms: dict[int, list[UInt64]] = {}  # of a passage, in order, for each language
        self._reading = threading.Lock()

    def find(self, query: QuestionTerms, lookup: TermLookup, texts: Mapping[int, str]) -> dict[int, float]:
        """The share of a query's pairs of adjacent words that stand together in each passage, by id; none of 0.

        `lookup`: the query's terms in the postings. `texts`: of passages, by id.
        """
        names = [name for name in dict.fromkeys(query.words) if name.isalnum()]  # no joined ones
        if len(names) < 2 or not self._languages:
            return {}
        number = {name: at for at, name in enumerate(names)}
        named = zip(query.terms.tolist(), query.words, strict=True)
        asked = sorted({term: number[name] for term, name in named if name in number}.items())
        terms, owners = np.array([term for term, _ in asked], dtype=np.uint64), np.array([own for _, own in asked])
        idf = np.zeros(len(names))
        np.maximum.at(idf, owners, lookup.idf[np.searchsorted(lookup.terms, terms)])
        weights = np.minimum(idf[:-1], idf[1:])
        if not weights.any():
            return {}
        found: dict[int, float] = {}
        read = self.read(texts)
        for language in range(len(self._languages)):
            if not any(len(each[language]) for each in read):
                continue
            shares = _together([each[language] for each in read], terms, owners, weights)
            for id_, share in zip(texts, shares.tolist(), strict=True):
                if share > found.get(id_, 0.0):
                    found[id_] = share
        return found

    def read(self, texts: Mapping[int, str]) -> list[list[UInt64]]:
        """The terms of passages, given by their texts, for each language. Those not read lately are read together."""
        if not self._languages:
            return [[] for _ in texts]
        with self._reading:
            kept = self._terms
            lacking = [id_ for id_ in texts if id_ not in kept]
            if lacking:
                if len(kept) + len(lacking) > _MOST_PASSAGES:
                    kept, lacking = {}, [*texts]
                new = [texts[id_] for id_ in lacking]
                parts = [self._in_order(new, language) for language in self._languages]
                kept.update(zip(lacking, map(list, zip(*parts, strict=True)), strict=True))
                self._terms = kept
            return [kept[id_] for id_ in texts]

    def _in_order(self, texts: Sequence[str], language: str) -> Sequence[UInt64]:
        """The terms of each text in a language, in order; none where all are in ASCII and another language has them."""
        if as_english(language, self._languages) and all(map(str.isascii, texts)):
            return [np.zeros(0, dtype=np.uint64)] * len(texts)
        return self._terms_in_order(texts, language)


def _together(passages: Sequence[UInt64], terms: UInt64, owners: Int64, weights: Float64) -> Float64:
    """The share of pairs that stand together in each of n passages, given by their terms in order. (n,)

    `terms`: of the query, rising, with the number of each one's word (t,); `weights`: of pairs of words (w - 1,).
    """
    tuned, all_terms = tuning.TUNING, np.concatenate(passages)
    at = np.minimum(terms.searchsorted(all_terms), len(terms) - 1)
    held = (terms[at] == all_terms).nonzero()[0]
    word = owners[at[held]]
    lengths = np.array([len(each) for each in passages])
    passage = np.repeat(np.arange(len(passages)), lengths)[held]
    nearness = np.zeros((len(passages), len(weights)))
    for step in range(1, tuned.proximity_words + 1):  # so many words that the query has may be between
        distance = held[step:] - held[:-step]
        beside = np.abs(word[step:] - word[:-step]) == 1
        beside &= (distance <= tuned.proximity_words) & (passage[step:] == passage[:-step])
        pairs = np.minimum(word[step:], word[:-step])[beside]
        np.maximum.at(nearness, (passage[step:][beside], pairs), distance[beside] ** -0.5)
    return np.asarray(nearness @ weights / weights.sum())
