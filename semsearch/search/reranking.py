"""Rerank the first hits: the scores that a reranker gives become a component of theirs.

    score + σ · (said - μ') / σ'

μ' and σ' are mean and standard deviation of the reranker's scores, σ that of the hits' own. So hits are ordered by the
sum of both z-scores, in which both count equally, whatever their scale. The other score components stay as they are,
but the points for exact words are given anew: a reranker orders the hits that have these, and the others behind them.

A reranker that reads only the first hits (`Readings`) is compared over these. The others get the least component of
all, so that they come after them, in their order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, pstdev

from semsearch.errors import UsageError
from semsearch.rerankers.reranker import Readings, Reranker
from semsearch.results.hits import Hit, Hits
from semsearch.results.origin import Rerank
from semsearch.search.exact_words import exact_first, without_points


def rerank(reranker: Reranker, query: str, hits: Hits) -> Hits:
    """Order hits by both scores. The reranker gets the query without its syntax.

    Raises UsageError for a reranker that does not give a finite number for each hit.
    """
    origin = hits[0].origin if hits else None
    compared = query if origin is None or origin.text is None else origin.text  # without its syntax
    readings = _readings(reranker, compared, hits)
    points = _points_of(readings, [*map(without_points, hits)])
    notices = (*hits.notices, readings.notice) if readings.notice else hits.notices
    reranked = exact_first([_with(hit, of_hit) for hit, of_hit in zip(hits, points, strict=True)])
    return hits.instead(reranked, notices=notices)


def _points_of(readings: Readings, scores: Sequence[float]) -> list[Rerank | None]:
    """The points that a reranker's scores add to the hits' own; None for each if all its scores are the same.

    If the hits' own scores are all the same, the reranker's z-scores are added as they are.
    """
    said = readings.said
    deviation = pstdev(said) if said else 0.0
    if not deviation:
        return [None] * len(scores)
    weight, mean = pstdev(scores[: len(said)]) or 1.0, fmean(said)
    alone = [None] * len(said) if readings.alone is None else readings.alone

    def part(score: float, alone: float | None, *, unread: bool | None = None) -> Rerank | None:
        points = weight * (score - mean) / deviation
        return Rerank(points, weight, score, mean, deviation, model=readings.model, alone=alone, unread=unread)

    unread = [part(min(said), None, unread=True)] * (len(scores) - len(said))
    return [*map(part, said, alone), *unread]


def _with(hit: Hit, rerank: Rerank | None) -> Hit:
    if rerank is None or hit.origin is None:
        return hit
    origin = replace(hit.origin.with_points(rerank=rerank.points), rerank=rerank)
    return replace(hit, score=hit.score + rerank.points, origin=origin)


def _readings(reranker: Reranker, query: str, hits: Sequence[Hit]) -> Readings:
    """The reranker's score of each hit, or of the first ones if it says so."""
    answer = reranker(query, hits) if hits else []
    readings = answer if isinstance(answer, Readings) else Readings(answer)
    try:
        said = [float(score) for score in readings.said]
    except (TypeError, ValueError) as error:
        raise UsageError(f"the reranker must give a number for each hit, not {answer!r}") from error
    if len(said) > len(hits) or (readings is not answer and len(said) < len(hits)):
        raise UsageError(f"the reranker gave {len(said)} numbers for {len(hits)} hits; it must give one for each")
    if not all(map(math.isfinite, said)):
        raise UsageError("the reranker gave a number that is not finite; it must give one that can be compared")
    return readings._replace(said=said)
