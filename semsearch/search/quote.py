"""The sentence that a hit shows: the one that states the fact, among all good passages of its document.

Its words align best with those of the query (semsearch.search.alignment), and it has what the question asks for: a
number, a name, a command (semsearch.search.asked_for). What is shown may be more than a sentence: a line that ends in a
colon with what follows it, a block of code, a short table from its header on. Where another passage of the document
states the fact, the two change places, so that the hit is the passage of its sentence.

Of facts over three guides on which the numbers were chosen, whose right document is among the first five, .58 are
stated in the sentence shown, .37 by alignment within the first passage alone, over three others .73 and .58.
docs/research/measurements.md, "The sentence that states the fact", has what each rule is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float32, Float64
from semsearch.search.alignment import AskedWords, recalled, similarities, word_weights
from semsearch.search.asked_for import AskedFor, asked_for
from semsearch.search.candidates import Query, Quote, Ranking
from semsearch.search.index_reader import IndexView
from semsearch.search.passage_parts import PassageParts
from semsearch.text.languages import ENGLISH
from semsearch.text.tokens import with_parts

_COMPARED = 16  # sentences with the best alignment, of a hit or a document, that are looked at by what is asked for
_EXTENDED = 1.5  # times its own score that a line may have with what follows it; to be sure, more is not looked at


def quote(query: Query, asked: AskedWords | None, ranking: Ranking, index: IndexView) -> tuple[Ranking, list[Quote]]:
    """Choose what each hit shows; where a fact is asked for, also by which of its passages a document is shown first.

    Without a word in common a hit shows the sentence nearest in meaning, as for passages that stand for a query.
    """
    quotes = {at: Quote(number, number) for at, number in zip(ranking.order, ranking.sentences, strict=True)}
    if asked is None or not quotes:
        return ranking, [*quotes.values()]
    wanted = asked_for(query.original or query.text, query.language or ENGLISH)
    groups = _groups(ranking) if wanted.is_fact else [(at,) for at in ranking.order]
    sentences = _Sentences.of([*dict.fromkeys(at for group in groups for at in group)], asked, ranking, index)
    instead = dict[int, int]()  # the passage by which a document is shown first, by the one that ranks first
    for group in groups:
        if group[0] in instead.values():
            continue
        best = _best(group, sentences, asked, wanted)
        if best is not None and best[0]:
            first, other = group[0], group[best[0]]
            instead[first], quotes[other] = other, best[1]
            best = _best((first,), sentences, asked, wanted)
        if best is not None:
            quotes[group[0]] = best[1]
    exchanged = instead | {other: first for first, other in instead.items()}
    order = [exchanged.get(at, at) for at in ranking.order]
    if instead:
        points, scores = np.zeros(len(ranking.candidates.ids)), ranking.candidates.scores
        for at, other in exchanged.items():
            points[at] = scores[other] - scores[at]
        ranking.candidates.add("exchanged", points)
        ranking = replace(
            ranking, order=order, near_duplicates={at: ranking.near_duplicates.get(at, ()) for at in order}
        )
    return ranking, [quotes[at] for at in order]


def _groups(ranking: Ranking) -> list[tuple[int, ...]]:
    """For each hit the passages from which it is chosen: itself, and for a document's first one its best others.

    As in `support`, only sections change places, and only where both retrievers compare them; what has near-duplicates
    stays with them.
    """
    tuned, candidates, documents = tuning.TUNING, ranking.candidates, ranking.candidates.spans.documents
    scores, are_sections, seen = candidates.scores, candidates.are_sections, set[int]()
    alike = {at for hit, others in ranking.near_duplicates.items() if others for at in (hit, *others)}
    groups = list[tuple[int, ...]]()
    for at in ranking.order:
        document, group = int(documents[at]), (at,)
        is_first = document not in seen and len(seen) < tuned.quote_documents
        if is_first and "support" in candidates.points and are_sections[at] and at not in alike:
            same = np.flatnonzero((documents == document) & are_sections & ~np.isnan(scores))
            relevant = candidates.relevance.probability if candidates.relevance is not None else scores
            same = same[relevant[same] >= tuned.quote_relevant * relevant[at]]
            best = same[np.argsort(-scores[same], kind="stable")].tolist()
            group += tuple(other for other in best if other != at and other not in alike)[: tuned.quote_passages - 1]
        seen.add(document)
        groups.append(group)
    return groups


@dataclass(frozen=True, slots=True)
class _Sentences:
    """The N sentences of the passages that are compared, one passage after the other."""

    passages: Mapping[int, int]  # the number of each, by its position among the candidates
    parts: Sequence[PassageParts]
    spans: Sequence[tuple[int, int]]  # of the sentences of each passage
    similar: Float32  # C (N, q)
    sums: Float32  # of C over each passage (p, q)
    scores: Float64  # of each sentence, among those of its passage (N,)
    weights: Float64  # of the words, for each passage by itself (p, q)

    @classmethod
    def of(cls, positions: Sequence[int], asked: AskedWords, ranking: Ranking, index: IndexView) -> _Sentences:
        """Align the sentences of passages, given by their positions among the candidates."""
        reader, ids = index.reader, ranking.candidates.ids[[*positions]].tolist()
        rows = index.passages(ids)
        documents = index.documents_of(rows.values())
        passages = [rows[id_] for id_ in ids]

        def read(lacking: list[int]) -> dict[int, PassageParts]:
            of = {id_: documents[rows[id_].document_id] for id_ in lacking}
            return {id_: PassageParts(rows[id_], of[id_].title, of[id_].format) for id_ in lacking}

        parts = [*reader.memory.parts.of(ids, read).values()]
        texts = [with_parts(text, part.format) for part in parts for text in part.sentences]
        counts = np.array([len(part.sentences) for part in parts])
        languages = np.repeat(index.languages_of(passages), counts).tolist()
        starts = np.cumsum(counts) - counts
        similar = recalled(similarities(asked, texts, languages), np.arange(len(texts)) - np.repeat(starts, counts))
        sums = np.add.reduceat(similar, starts, axis=0)
        weights = word_weights(asked, sums, counts[:, None])
        scores = np.einsum("nq,nq->n", similar, np.repeat(weights, counts, axis=0))
        spans = [*zip(starts.tolist(), (starts + counts).tolist(), strict=True)]
        return cls(dict(zip(positions, range(len(ids)), strict=True)), parts, spans, similar, sums, scores, weights)


def _best(group: Sequence[int], of: _Sentences, asked: AskedWords, wanted: AskedFor) -> tuple[int, Quote] | None:
    """Which passage of a group is shown, and what of it; None without a word in common."""
    passages = [of.passages[at] for at in group]
    spans, weights = [of.spans[passage] for passage in passages], of.weights[passages[0]]
    scores = [of.scores[first:end] for first, end in spans]
    if len(group) > 1:
        count = np.array(sum(end - first for first, end in spans))
        weights = word_weights(asked, of.sums[passages].sum(axis=0), count)
        scores = [of.similar[first:end] @ weights for first, end in spans]
        scores[1:] = [other * tuning.TUNING.quote_other for other in scores[1:]]
    ranked = [(score, which, number) for which, own in enumerate(scores) for number, score in enumerate(own.tolist())]
    ranked.sort(key=lambda sentence: -sentence[0])
    best, chosen, most = 0.0, None, wanted.most * _EXTENDED
    for score, which, number in ranked[:_COMPARED]:
        if score <= 0 or score * most <= best:
            break
        part, first = of.parts[passages[which]].shown(number), spans[which][0]
        if part.header is not None or part.first != part.last:
            rows = [number, part.header] if part.header is not None else [*range(part.first, part.last + 1)]
            score = float(of.similar[first:][rows].max(axis=0) @ weights) * (tuning.TUNING.quote_other if which else 1)
        if (score := score * wanted.factor(part)) > best:
            best, chosen = score, (which, part)
    if chosen is None:
        return None
    which, part = chosen
    if wanted.is_telling and wanted.factor(part) <= 1 and (longer := of.parts[passages[which]].with_next(part)):
        part = longer if wanted.factor(longer) > 1 else part
    first, idf = spans[which][0], np.square(asked.weights)
    share = of.similar[first + part.first : first + part.last + 1].max(axis=0) @ idf / max(float(idf.sum()), 1e-9)
    return which, Quote(part.first, part.last, wanted.answer_in(part) if share >= tuning.TUNING.quote_sure else None)
