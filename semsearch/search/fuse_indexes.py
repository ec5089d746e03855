"""The answers of several indexes as one.

In hybrid mode an index divides BM25 by the best one that it has for the query, and adds feedback from its own best
passage. So an index that has nothing to the point gives to the best of its poor passages what a good one gets. Both are
put right from what hits know of their scores (`Origin`), without asking again:

    cosine         as it is: each index has its own fit, but cosines remain comparable
    BM25 / best    the best of all indexes
    feedback       times the square of the share that the best passage of the index has of the best of all's score
    words          each word that another index has, and this one has not, halves BM25 and that share: the idfs of a
                   small index are low, and a large one without the rare word gives its points for the others

In the other modes scores are compared as they are. In all modes, hits with exact words get the points for them anew, so
that they come before those of all indexes. docs/research/measurements.md has what was measured: better than
ranks, scores as they are, or scoring the union anew, and about as good as feedback from the very best passage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import get_args

import numpy as np

from semsearch.arrays.types import Float64
from semsearch.results.hits import DuplicatePassage, Hit, Hits, Occurrences, Verdict
from semsearch.results.options import Mode
from semsearch.results.origin import Fused, Weights
from semsearch.search.fusion import fused, weigh
from semsearch.storage.passage_rows import PassageRow
from semsearch.text.near_duplicates import first_alike

Answers = Mapping[str, Sequence[Hit]]  # by the name of the index, in one order
_STEP = 1 << 48  # more than an index has passages, sentences or documents; and neighbours of two indexes never meet


def common(answers: Iterable[Hits]) -> Hits:
    """No hits, with what all indexes say of a query, in the words of the first, what any of them corrected, and the
    best verdict.

    A filter or phrase that one of them knows needs no notice.
    """
    first, *others = answers
    subjects = [{_subject(notice) for notice in hits.notices} for hits in others]
    notices = tuple(notice for notice in first.notices if all(_subject(notice) in of_other for of_other in subjects))
    corrected = dict.fromkeys(correction for hits in (first, *others) for correction in hits.corrected)
    verdicts = {hits.verdict for hits in (first, *others)}
    return Hits(
        verdict=next((verdict for verdict in get_args(Verdict) if verdict in verdicts), None),
        missing=tuple(word for word in first.missing if all(word in hits.missing for hits in others)),
        corrected=tuple(corrected),
        notices=notices,
        total=_sum_of([hits.total for hits in (first, *others) if hits.total is not None]),
    )


def _sum_of(totals: Sequence[Occurrences]) -> Occurrences | None:
    if not totals:
        return None
    return Occurrences(*(sum(getattr(total, field.name) for total in totals) for field in fields(Occurrences)))


def _subject(notice: str) -> str:
    """What a notice is about, whatever an index suggests instead."""
    return notice.partition(";")[0]


def fuse_answers(answers: Answers, mode: Mode) -> list[Hit]:
    """All hits of a query, best first, each with the name of its index, and an origin that explains the new score.

    Of equal scores, the index that was named first comes first. Ranks are still those of each index. In mode "exact"
    the hits of each index follow those of the one before.
    """
    if mode == "exact":
        return [replace(hit, index=name) for name, hits in answers.items() for hit in hits]
    own_weights = [hits[0].origin.weights for hits in answers.values() if hits and hits[0].origin is not None]
    weights = _common(own_weights) if mode == "hybrid" and own_weights else None
    known = _known(answers)
    bests = {
        name: max((sum(_points(hit, weights)) for hit in hits), default=0.0) if weights else 0.0
        for name, hits in answers.items()
    }
    top, all_hits = max(bests.values(), default=0.0), list[Hit]()
    for name, hits in answers.items():
        share = min(max(known[name] * bests[name] / top, 0.0), 1.0) ** 2 if top > 0 else 1.0
        own = None if weights is None else replace(weights, lexical=weights.lexical * known[name])
        all_hits += [_comparable(replace(hit, index=name), tuple(answers), own, share) for hit in hits]
    return sorted(all_hits, key=lambda hit: -hit.score)


def _known(answers: Answers) -> dict[str, float]:
    """By index, a factor for what its words say: half for each word that another index has, and it has not."""
    missing = {name: set(hits.missing) if isinstance(hits, Hits) else set[str]() for name, hits in answers.items()}
    everywhere = set.intersection(*missing.values()) if missing else set()
    return {name: 0.5 ** len(words - everywhere) for name, words in missing.items()}


def fuse_alike(answers: Answers, mode: Mode, *, boosted: bool = False) -> list[Hit]:
    """Like `fuse_answers`, for hits of `similar`, whose scores have no feedback, and which have no origin.

    What boosts have added, if there are any, is what a score has beyond that of its parts in its own index.
    """
    all_hits = [replace(hit, index=name) for name, hits in answers.items() for hit in hits]
    if mode == "hybrid":
        scores = _fused_alone(all_hits)
        if boosted:
            scores += np.array([hit.score for hit in all_hits])
            scores -= np.concatenate([_fused_alone(hits) for hits in answers.values()])
        all_hits = [replace(hit, score=score) for hit, score in zip(all_hits, scores.tolist(), strict=True)]
    return sorted(all_hits, key=lambda hit: -hit.score)


def _fused_alone(hits: Sequence[Hit]) -> Float64:
    """The scores of hits by both retrievers, without boosts. (n,)"""
    dense, lexical = (
        np.array([np.nan if score is None else score for score in scores], dtype=np.float64)
        for scores in ([hit.dense for hit in hits], [hit.lexical for hit in hits])
    )
    best = float(np.fmax.reduce(lexical, initial=0.0))
    return np.asarray(sum(fused(dense, lexical, weigh(is_dense=not np.isnan(dense).all(), best=best))))


def _common(weights_of_indexes: Sequence[Weights]) -> Weights:
    """The weights for the hits of all indexes: those of an index where both retrievers find something, if any."""
    best = max(weights.best if weights.lexical else 0.0 for weights in weights_of_indexes)
    both = next((weights for weights in weights_of_indexes if weights.lexical and weights.dense), None)
    if both is not None:
        return replace(both, best=best)
    return weigh(is_dense=any(weights.dense for weights in weights_of_indexes), best=best)


def _points(hit: Hit, weights: Weights) -> tuple[float, float]:
    """What a hit has of both retrievers by these weights."""
    return weights.dense * (hit.dense or 0.0), weights.lexical * (hit.lexical or 0.0) / weights.best


def _comparable(hit: Hit, indexes: tuple[str, ...], common: Weights | None, share: float) -> Hit:
    """The hit with the score that the common weights give it; as it is, if they are its own, or in another mode."""
    origin = hit.origin
    if origin is None:
        return hit
    own_weights = origin.weights
    weights = own_weights if common is None else replace(common, near=own_weights.near * share)
    fused = Fused(indexes, hit.score, own_weights.best, share if own_weights.near else 1.0)
    origin = replace(origin, weights=weights, fused=fused)
    if weights == own_weights:
        return replace(hit, origin=origin)
    dense, lexical = _points(hit, weights)
    feedback = origin.points.get("feedback", 0.0) * share
    origin = origin.with_points(dense=dense, lexical=lexical, feedback=feedback)
    return replace(hit, score=sum(origin.points.values()), origin=origin)


def deduplicate(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without near-duplicates of a better one, which become its duplicates, with their own."""
    groups: dict[int, list[Hit]] = {}
    for hit, first in zip(hits, first_alike([hit.passage for hit in hits]), strict=True):
        groups.setdefault(first, []).append(hit)
    return [_with_others(best, others) for best, *others in groups.values()]


def _with_others(best: Hit, others: Sequence[Hit]) -> Hit:
    duplicates = [replace(other, index=best.index) for other in best.duplicates]
    for hit in others:
        duplicates += [_as_duplicate(hit), *(replace(other, index=hit.index) for other in hit.duplicates)]
    return replace(best, duplicates=tuple(duplicates)) if duplicates else best


def _as_duplicate(hit: Hit) -> DuplicatePassage:
    """A hit as a duplicate, which stands at the line of the hit's sentence."""
    return DuplicatePassage(**{field.name: getattr(hit, field.name) for field in fields(DuplicatePassage)})


def namespaced(
    hits: Sequence[Hit], passages: Mapping[str, Mapping[int, PassageRow]]
) -> tuple[list[Hit], dict[int, PassageRow]]:
    """Hits of several indexes, and passages by id, with ids of each index from a number of its own on.

    `passages`: by index.
    """
    firsts = {name: _STEP * number for number, name in enumerate(passages)}
    rows = {
        first + id_: replace(
            row, id=first + row.id, document_id=first + row.document_id, first_sentence=first + row.first_sentence
        )
        for first, of_index in zip(firsts.values(), passages.values(), strict=True)
        for id_, row in of_index.items()
    }
    first_of = [firsts[str(hit.index)] for hit in hits]
    moved = [
        replace(hit, passage_id=first + hit.passage_id, sentence_id=first + hit.sentence_id)
        for hit, first in zip(hits, first_of, strict=True)
    ]
    return moved, rows
