"""The support of a passage by its document: other good passages of the same document, and its length.

A question in a person's words often meets no passage clearly. Of passages that are about equally good, the one whose
document has more good passages is more often the answer. And the best of many passages is high by chance: a reference
page, a changelog or a list of plug-ins, of a hundred passages, has a good one for any question.

    points = u · (w · mean(e_2, ..., e_(m+1)) - v · min(log10(n / n_0), l)), the latter 0 for n < n_0

e_2 is by how much the document's second best passage is above half of the best score of all, 0 if it is below; n is the
number of the document's passages; u is one, but falls to zero where the best score comes near one: a question that a
passage meets word for word needs no support. All passages of a document get the same points, and keep their order.

A passage that lists sources or contents (semsearch.text.listings) has the words of many subjects and says nothing about
them: it loses as many points as tuning says, before feedback, unless the question names a year or asks for sources.

Only passages below a heading count and get points by their document: sections of a guide support each other. In texts
without headings, such as news, support only favours the longer ones: nDCG@10 of Time falls by .014, of SciFact by .012
(docs/research/measurements.md, "Questions over documentation"). semsearch.tuning has w, m, v, n_0 and l.

The functions of a file of source code are no sections that support each other. And since code repeats the words of its
guide, only shorter, all code loses the same points: where there is a guide too, its passages answer first. Tests
lose more, for they use the words of what they test.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Bool, Float64, Int64
from semsearch.results.options import Support, Weights


class Owners(NamedTuple):
    """The documents of passages: their ids and numbers of passages, and what the passage is. (n,)"""

    documents: Int64
    passages: Int64
    below_heading: Bool
    code: Int64  # 1 if it is source code, 2 if that is a test, else 0

    def of(self, which: Int64 | slice) -> Owners:
        """Select passages by their positions. (m,)"""
        return Owners(self.documents[which], self.passages[which], self.below_heading[which], self.code[which])


@dataclass(frozen=True, slots=True)
class DocumentSupport:
    """What decides the support of any passage for one query."""

    share: float  # u, 0 to 1
    others: Mapping[int, float]  # of documents, by id: the mean excess of their next best passages
    listings: Collection[int] = frozenset()  # ids of passages that list sources or contents
    counts_code: bool = False  # whether source code loses points

    def parts(self, ids: Int64, owners: Owners) -> list[Support | None]:
        """The support of passages; None where it adds nothing. (n,), (n,)"""
        weight, lengths = self.share * tuning.TUNING.support_weight, (self.share * _lengths(owners.passages)).tolist()
        found: list[Support | None] = []
        is_section = (owners.below_heading & (owners.code == 0)).tolist()
        columns = ids.tolist(), owners.documents.tolist(), lengths, is_section, self._of_code(owners).tolist()
        for id_, document, length, is_one, off in zip(*columns, strict=True):
            listing = tuning.TUNING.listing if id_ in self.listings else None
            others = self.others.get(document, 0.0) if is_one and weight else 0.0
            off += length if is_one and weight else 0.0
            points = weight * others - off - (listing or 0.0)
            found.append(Support(points, weight, others, off, listing) if others or off or listing else None)
        return found

    def points(self, ids: Int64, owners: Owners) -> Float64:
        """The points of passages. (n,), (n,)"""
        others = np.array([self.others.get(document, 0.0) for document in owners.documents.tolist()], dtype=np.float64)
        points = self.share * (tuning.TUNING.support_weight * others - _lengths(owners.passages))
        points = np.where(owners.code > 0, -self._of_code(owners), np.where(owners.below_heading, points, 0.0))
        if self.listings:
            points -= tuning.TUNING.listing * np.isin(ids, list(self.listings))
        return points

    def _of_code(self, owners: Owners) -> Float64:
        """What is taken off for source code. (n,)"""
        off = np.array([0.0, tuning.TUNING.code_deduction, tuning.TUNING.code_deduction + tuning.TUNING.test_deduction])
        return np.asarray(off[owners.code] * self.counts_code)


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
    first = first[owners.below_heading[first] & (owners.code[first] == 0) & (scores[first] > best / 2)]
    for document, value in zip(owners.documents[first].tolist(), scores[first].tolist(), strict=True):
        excesses.setdefault(document, []).append(value - best / 2)
    counted = tuning.TUNING.support_passages
    others = {document: sum(each[1 : counted + 1]) / counted for document, each in excesses.items() if len(each) > 1}
    share = min(max((1 - best / most) / tuning.TUNING.support_least, 0.0), 1.0)
    return DocumentSupport(share, others, counts_code=True)


def _lengths(passages: Int64) -> Float64:
    """What is taken off for a document of so many passages. (n,) -> (n,)"""
    tuned = tuning.TUNING
    if not len(passages) or passages.max() <= tuned.length_from:
        return np.zeros(len(passages))
    powers = np.log10(np.maximum(passages, 1) / tuned.length_from)
    return np.asarray(tuned.length_weight * np.clip(powers, 0.0, tuned.length_most))
