"""Fuse the answers of several indexes to one ranking: make their scores comparable, and order all hits by them. Pure.

In hybrid mode an index divides BM25 by the best one that it has for the query, and adds nearness to its own best
passage. So an index that has nothing to the point gives to the best of its poor passages what a good one gets. Both are
put right from what hits know of their scores (`Origin`), without asking again:

    cosine         as it is: each index has its own fit, but cosines remain comparable
    BM25 / best    the best of all indexes
    nearness       times the square of the share that the best passage of the index has of the best of all's score

In the other modes scores are compared as they are. docs/research/measurements.md has what was measured: better than
ranks, scores as they are, or scoring the union anew, and about as good as nearness to the very best passage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from semsearch.results.hits import Hit, Mode
from semsearch.results.origin import Fused, Origin, Weights
from semsearch.search.ranking.fusion import fuse, weigh

Float = npt.NDArray[np.float64]
Answers = Mapping[str, Sequence[Hit]]  # by the name of the index, in one order


def fuse_answers(answers: Answers, mode: Mode) -> list[Hit]:
    """All hits of a query, best first, each with the name of its index, and an origin that explains the new score.

    Of equal scores, the index that was named first comes first. Ranks are still those of each index.
    """
    origins = {name: hits[0].origin for name, hits in answers.items() if hits and hits[0].origin is not None}
    weights = _common([origin.weights for origin in origins.values()]) if mode == "hybrid" and origins else None
    bests = {name: _best(hits, weights) for name, hits in answers.items() if hits} if weights else {}
    top = max(bests.values(), default=0.0)
    found: list[Hit] = []
    for name, hits in answers.items():
        share = _share(bests.get(name, 0.0), top)
        found += [_comparable(replace(hit, index=name), tuple(answers), weights, share) for hit in hits]
    return sorted(found, key=lambda hit: -hit.score)


def fuse_alike(answers: Answers, mode: Mode, *, boosted: bool = False) -> list[Hit]:
    """Like `fuse_answers`, for hits of `similar`, whose scores have no nearness, and which know no origin.

    What boosts have added, if there are any, is what a score has beyond that of its parts in its own index.
    """
    found = [replace(hit, index=name) for name, hits in answers.items() for hit in hits]
    if mode == "hybrid":
        scores = _of_both_halves(found)
        if boosted:
            scores += np.concatenate([_scores(hits) - _of_both_halves(hits) for hits in answers.values()])
        found = [replace(hit, score=score) for hit, score in zip(found, scores.tolist(), strict=True)]
    return sorted(found, key=lambda hit: -hit.score)


def _of_both_halves(hits: Sequence[Hit]) -> Float:
    """The scores of hits by their meaning and words alone. (n,)"""
    dense, lexical = (
        np.array([np.nan if score is None else score for score in scores], dtype=np.float64)
        for scores in ([hit.dense for hit in hits], [hit.lexical for hit in hits])
    )
    return fuse(dense, lexical)


def _scores(hits: Sequence[Hit]) -> Float:
    return np.array([hit.score for hit in hits], dtype=np.float64)


def _common(each: Sequence[Weights]) -> Weights:
    """The weights for the hits of all indexes: those of an index where both halves know something, if there is one."""
    best = max(weights.best if weights.lexical else 0.0 for weights in each)
    both = next((weights for weights in each if weights.lexical and weights.dense), None)
    if both is not None:
        return replace(both, best=best)
    return weigh(is_dense=any(weights.dense for weights in each), best=best)


def _best(hits: Sequence[Hit], weights: Weights) -> float:
    return max(_without_near(hit, weights) for hit in hits)


def _without_near(hit: Hit, weights: Weights) -> float:
    return weights.dense * (hit.dense or 0.0) + weights.lexical * (hit.lexical or 0.0) / weights.best


def _share(best: float, top: float) -> float:
    return min(max(best / top, 0.0), 1.0) ** 2 if top > 0 else 1.0


def _comparable(hit: Hit, indexes: tuple[str, ...], common: Weights | None, share: float) -> Hit:
    """The hit with the score that the common weights give it; as it is, if they are its own, or in another mode."""
    origin = hit.origin
    if origin is None:
        return hit
    own = origin.weights
    weights = own if common is None else replace(common, near=own.near * share)
    score = hit.score if weights == own else hit.score + _gained(hit, origin, weights, share)
    fused = Fused(indexes, hit.score, own.best, share if own.near else 1.0)
    return replace(hit, score=score, origin=replace(origin, weights=weights, fused=fused))


def _gained(hit: Hit, origin: Origin, weights: Weights, share: float) -> float:
    """What a hit's score gains, or loses, by other weights."""
    own, before = origin.weights, _without_near(hit, origin.weights)
    rerank = 0.0 if origin.rerank is None else origin.rerank.points
    boosted = sum(each.points for each in origin.boosts or ())
    near = hit.score - rerank - boosted - before if own.near else 0.0
    return _without_near(hit, weights) - before + near * (share - 1)
