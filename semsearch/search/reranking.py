"""A second look at the first hits: what a reranker says of them as a part of their score.

    score + σ · (said - μ') / σ'

μ' and σ' are mean and standard deviation of what the reranker said of these hits, σ that of their scores. So hits are
ordered by the sum of both z-scores: each judge counts half, whatever its scale. The parts that a score had before stay
as they are, and the reranker's is added to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, pstdev

from semsearch.errors import UsageError
from semsearch.results.hits import Hit
from semsearch.results.options import SearchOptions
from semsearch.results.origin import Rerank
from semsearch.results.reranker import Reranker


def rerank(reranker: Reranker, query: str, hits: Sequence[Hit], options: SearchOptions) -> list[Hit]:
    """The best of these hits by both judges, as `options` say. Raises UsageError where the reranker makes no sense."""
    parts = parts_of(_said(reranker, query, hits), [hit.score for hit in hits])
    scored = [_with(hit, part) for hit, part in zip(hits, parts, strict=True)]
    least = -math.inf if options.min_score is None else options.min_score
    best = sorted((hit for hit in scored if hit.score >= least), key=lambda hit: -hit.score)[: options.k]
    return [replace(hit, rank=rank) for rank, hit in enumerate(best, start=1)]


def parts_of(said: Sequence[float], scores: Sequence[float]) -> list[Rerank | None]:
    """The points that a reranker adds to each score; None for all where it gives all of them the same score.

    Where the scores are all the same, its own deviation decides: they are one apart.
    """
    deviation = pstdev(said) if said else 0.0
    if not deviation:
        return [None] * len(said)
    weight, mean = pstdev(scores) or 1.0, fmean(said)
    return [Rerank(weight * (each - mean) / deviation, weight, each, mean, deviation) for each in said]


def _with(hit: Hit, part: Rerank | None) -> Hit:
    if part is None or hit.origin is None:
        return hit
    return replace(hit, score=hit.score + part.points, origin=replace(hit.origin, rerank=part))


def _said(reranker: Reranker, query: str, hits: Sequence[Hit]) -> list[float]:
    """The reranker's score of each hit."""
    given = reranker(query, hits) if hits else []
    try:
        said = [float(each) for each in given]
    except (TypeError, ValueError) as error:
        raise UsageError(f"the reranker must give a number for each hit, not {given!r}") from error
    if len(said) != len(hits):
        raise UsageError(f"the reranker gave {len(said)} numbers for {len(hits)} hits; it must give one for each")
    if not all(map(math.isfinite, said)):
        raise UsageError("the reranker gave a number that is not finite; it must give one that can be compared")
    return said
