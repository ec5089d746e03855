"""The sentence that a hit shows: the one that states the fact, among all good passages of its document.

Its words align best with those of the query (semsearch.search.alignment), and it has what the question asks for: a
number, a name, a command (semsearch.search.answer_kind). What is shown may be more than a sentence: one that leans on
the sentence before with that one, a line that ends in a colon with what follows it, a block of code, a short table from
its header on (semsearch.search.passage_parts). Where another passage of the document states the fact, the two change
places, so that the hit is the passage of its sentence. A hit that tells the number, the default or what the thing is
comes before a first one that does not.

docs/research/measurements.md, "The sentence that states the fact", has what each rule is worth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Bool
from semsearch.search.alignment import AlignedPassage, QueryWords, aligned_passages, read_query_words, word_weights
from semsearch.search.answer_kind import AnswerKind, answer_kind
from semsearch.search.candidates import Candidates, Query, Quote, Ranking
from semsearch.search.index_reader import IndexView
from semsearch.search.passage_parts import Part
from semsearch.text.languages import ENGLISH

BEST = 3  # passages by whose words the verdict is given, too (semsearch.search.relevance)
_COMPARED = 8  # sentences of a hit or document, those with the best alignment, whose kind of answer is examined
_TIMES_BETTER = 2.0  # a hit whose factor is so many times that of the first one comes before it
_REFERS = re.compile(r"(?:This|That|These|Those|They|It|Such|Both|Otherwise|However)\b")  # to the sentence before
_EXTENDED = 1.5  # times its own score that a line may have with what follows it


class Compared(NamedTuple):
    """The passages of an answer whose sentences are compared with the query, word by word."""

    wanted: AnswerKind
    most: float  # the largest factor of a sentence's score
    groups: Sequence[tuple[int, ...]]  # for each hit the positions of the passages from which it is chosen
    query_words: QueryWords
    passages: Mapping[int, AlignedPassage]  # by position
    best: Sequence[int]  # the positions of the best passages


def compare(query: Query, ranking: Ranking, index: IndexView) -> Compared | None:
    """Align the best passages, the hits, and what may be shown instead; None for passages that stand for a query."""
    if query.terms is None:
        return None
    wanted = answer_kind(query.original or query.text, query.language or ENGLISH)
    groups, most = (_groups(ranking), wanted.most) if wanted.rules else ([(at,) for at in ranking.order], 1.0)
    candidates = ranking.candidates
    best = np.argsort(-candidates.scores, kind="stable")[:BEST].tolist()  # however many hits are asked for
    positions = [*dict.fromkeys(chain(best, *groups))]
    query_words = read_query_words(query, index)
    are_short = candidates.spans.passages[positions] <= tuning.TUNING.quote_passages
    aligned = aligned_passages(query_words, candidates.ids[positions].tolist(), are_short, index)
    passages = dict(zip(positions, aligned.values(), strict=True))
    return Compared(wanted, most * _EXTENDED, groups, query_words, passages, best)


def _groups(ranking: Ranking) -> list[tuple[int, ...]]:
    """For each hit the passages from which it is chosen: itself, and for a document's first one its best others.

    As in `support`, only sections of a document and what stands before its first heading change places, and only where
    both retrievers compare them; what has near-duplicates stays with them. Of a short document all take part.
    """
    tuned, candidates, spans = tuning.TUNING, ranking.candidates, ranking.candidates.spans
    scores, documents, may_change, seen = candidates.scores, spans.documents, _of_guides(candidates), set[int]()
    alike = {at for hit, others in ranking.near_duplicates.items() if others for at in (hit, *others)}
    groups = list[tuple[int, ...]]()
    for at in ranking.order:
        document, group = int(documents[at]), (at,)
        is_first = document not in seen and len(seen) < tuned.quote_documents
        if is_first and may_change[at] and at not in alike:
            least = tuned.quote_near * scores[at] if spans.passages[at] > tuned.quote_passages else -np.inf
            same = np.flatnonzero((documents == document) & may_change & (scores >= least))
            best = same[np.argsort(-scores[same], kind="stable")].tolist()
            group += tuple(other for other in best if other != at and other not in alike)[: tuned.quote_passages - 1]
        seen.add(document)
        groups.append(group)
    return groups


def _of_guides(candidates: Candidates) -> Bool:
    """Which passages may change places: those of documents with sections, where both retrievers compare them. (n,)"""
    documents = candidates.spans.documents
    with_sections: Bool = np.isin(documents, documents[candidates.are_sections])
    return np.asarray(with_sections & (candidates.spans.code == 0) & ("support" in candidates.points), dtype=np.bool_)


def quote(compared: Compared | None, ranking: Ranking) -> tuple[Ranking, list[Quote]]:
    """Choose what each hit shows; if a fact is asked for, also which passage of a document is shown first.

    Without a word in common a hit shows the sentence nearest in meaning, as for passages that stand for a query.
    """
    nearest = np.maximum(ranking.candidates.sentences[[*ranking.order]], 0).tolist()
    quotes = {at: Quote(number, number) for at, number in zip(ranking.order, nearest, strict=True)}
    if compared is None or not quotes:
        return ranking, [*quotes.values()]
    exchanged = dict[int, int]()  # the passages that change places
    for group in compared.groups:
        first = group[0]
        if first in exchanged:
            continue
        shown, chosen = _chosen(compared, group)
        if chosen is not None:
            quotes[shown] = chosen
        if shown != first:
            exchanged |= {first: shown, shown: first}
            quotes[first] = _chosen(compared, (first,))[1] or quotes[first]
    order = [exchanged.get(at, at) for at in ranking.order]
    best = _better_answer(compared.wanted, [quotes[at].factor for at in order], order, ranking)
    moved = [order[best], *order[:best], *order[best + 1 :]]
    exchanged |= {at: exchanged.get(old, old) for at, old in zip(moved, order, strict=True) if at != old}
    return (_exchanged(ranking, moved, exchanged) if exchanged else ranking), [quotes[at] for at in moved]


def _better_answer(wanted: AnswerKind, factors: Sequence[float], order: Sequence[int], ranking: Ranking) -> int:
    """Which hit comes first: one with twice the factor of the first one and nearly its score, or four times the factor.

    Only where a number, a default or a definition is asked for, since other pages mention the thing as often as the
    page that answers; among the ten best hits, for a definition thirty, whatever k is. Without it 2 of 236 facts are no
    longer found first, and 4 no longer stated there.
    """
    at, candidates = order[: wanted.reordered], ranking.candidates
    if not at:
        return 0
    may_move, share = _of_guides(candidates)[at], np.array(factors[: len(at)]) / factors[0]
    scores = candidates.scores[ranking.order[: len(at)]]
    near = scores >= tuning.TUNING.quote_near * scores[0]
    is_better = may_move & (share >= np.where(near, _TIMES_BETTER, 2 * _TIMES_BETTER))
    return int(np.where(is_better, share, 1.0).argmax()) if may_move[0] else 0


def _exchanged(ranking: Ranking, order: Sequence[int], exchanged: Mapping[int, int]) -> Ranking:
    """The ranking in another order, where passages take the places of others, with their scores and relevance."""
    candidates = ranking.candidates
    places = [exchanged.get(at, at) for at in range(len(candidates.ids))]
    scores, likely = candidates.scores, candidates.relevance
    candidates.add("exchanged", np.where(np.array(places) == np.arange(len(places)), 0.0, scores[places] - scores))
    if likely is not None:
        candidates.relevance = likely._replace(probability=likely.probability[places], share=likely.share[places])
    alike = {at: ranking.near_duplicates.get(at, ()) for at in order}
    return ranking._replace(order=[*order], near_duplicates=alike)


# -- The choice --------------------------------------------------------------------------------------------------------


def _chosen(compared: Compared, group: Sequence[int]) -> tuple[int, Quote | None]:
    """Which passage of a group is shown, and what of it; the first one, and None, without a word in common."""
    wanted, other, alone = compared.wanted, tuning.TUNING.quote_other, tuning.TUNING.quote_alone
    passages = [compared.passages[at] for at in group]
    weights, scores = passages[0].weights, passages[0].scores
    if len(group) > 1:
        n = sum(len(passage.scores) for passage in passages)
        sums = np.sum([passage.sums for passage in passages], axis=0)
        weights = word_weights(compared.query_words, sums, np.array(n))
        scores = np.concatenate(
            [(passage.similar @ weights) * (other if number else 1) for number, passage in enumerate(passages)]
        )
    places = [(which, at) for which, passage in enumerate(passages) for at in range(len(passage.scores))]
    best, chosen = 0.0, None
    for place in np.argsort(-scores, kind="stable")[: None if wanted.is_definition else _COMPARED].tolist():
        score, (which, number) = float(scores[place]), places[place]
        if score <= 0 or score * compared.most <= best:
            break
        part = passages[which].parts.parts[number]
        if part.header is not None or part.first != part.last:
            rows = [number, part.header] if part.header is not None else [*range(part.first, part.last + 1)]
            score = float(passages[which].similar[rows].max(axis=0) @ weights) * (other if which else 1)
        factor = wanted.factor(part) if wanted.rules else 1.0
        factor *= alone if part.is_alone else 1.0
        if score * factor > best:
            best, chosen = score * factor, (which, part, factor)
    if chosen is None:
        return group[0], None
    which, part, factor = chosen
    heading = passages[which].parts.texts[part.first]
    for at, passage in zip(group, passages, strict=True):  # an entry of the contents gives way to its section
        is_below = at != group[which] and passage.parts.texts[-1] == heading
        if is_below and (section := _chosen(compared, (at,)))[1] is not None:
            return section
    return group[which], _shown(compared, passages[which], part, factor)


def _shown(compared: Compared, passage: AlignedPassage, part: Part, factor: float) -> Quote:
    """The quote of a chosen part of a passage: with the sentence before or after that it needs, if any."""
    wanted, parts = compared.wanted, passage.parts
    if wanted.asks_detail and factor <= 1:
        longer = parts.with_next(part)
        if longer is not None and (of_both := wanted.factor(longer)) > 1:
            part, factor = longer, of_both
    answer = wanted.answer_in(part.text) if wanted.is_date or wanted.counted else None
    if answer is not None:
        idf = np.square(compared.query_words.weights)
        share = passage.similar[part.first : part.last + 1].max(axis=0) @ idf / max(float(idf.sum()), 1e-9)
        answer = answer if share >= tuning.TUNING.quote_sure else None
    needs_context = (passage.similar[part.first] > passage.alone[part.first]).any()  # a word of the query
    whole = (parts.with_before(part) if needs_context or _REFERS.match(part.text) else None) or part
    added = len(whole.text) - len(part.text)
    answer = None if answer is None else (answer[0] + added, answer[1] + added)
    return Quote(whole.first, whole.last, answer, factor)
