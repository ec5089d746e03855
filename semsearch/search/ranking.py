"""Questions to their pages: the best k passages of each, those that say the same as one.

found by either half ─ score by both ─ fuse ─ add nearness to the best ─ order ─ fold what says the same

Many questions are ranked together, for what they have in common is then read, decoded and compared once; so many at a
time that their passages stay few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.arrays.id_ranges import Runs
from semsearch.results.options import SearchOptions
from semsearch.results.origin import Mode, Origin, Weights
from semsearch.search.folding import folded
from semsearch.search.fusion import fuse_each, weigh
from semsearch.search.hits import Ranked
from semsearch.search.pool import Pool
from semsearch.search.query import Query
from semsearch.search.scoring import Candidates, nearness, score
from semsearch.search.snapshot import Snapshot
from semsearch.system.working_folder import working_folder

if TYPE_CHECKING:
    import sqlite3

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

_AT_ONCE = 100_000  # pairs of a question and a passage: some ten megabytes
_ALONE: dict[Mode, Weights] = {"dense": Weights(1.0, 0.0), "lexical": Weights(0.0, 1.0)}


@dataclass(frozen=True, slots=True)
class Page:
    """The passages of an answer, best first, and how their scores became one."""

    ranked: list[Ranked]
    weights: Weights
    models: Int64  # the passages that others are near to, if that counts

    def origin(self, query: str, mode: Mode, generation: int) -> Origin:
        """The origin that hits of this page carry."""
        return Origin(query, mode, generation, self.weights, tuple(self.models.tolist()))


@dataclass(frozen=True, slots=True)
class Rankings:
    """Candidates with their scores, and the places of those that answer each question, best first."""

    candidates: Candidates
    scores: Float64  # (p,)
    orders: list[Int64]
    weights: list[Weights]
    models: list[Int64]


def pages(db: sqlite3.Connection, snapshot: Snapshot, asked: Sequence[Query], options: SearchOptions) -> list[Page]:
    """The page of each question."""
    allowed = _allowed(db, options.filters) if options.filters else None
    depth = max(tuning.TUNING.depth, tuning.TUNING.depth_per_hit * options.k)
    return _pages(db, snapshot, asked, options, allowed, depth, [0] * len(asked))


def _pages(
    db: sqlite3.Connection,
    snapshot: Snapshot,
    asked: Sequence[Query],
    options: SearchOptions,
    allowed: Runs | None,
    depth: int,
    before: Sequence[int],
) -> list[Page]:
    """Pages of candidates from a depth. `before`: how many there were of each when it last was looked less deep."""
    most = depth + max(depth, 0 if allowed is None else min(len(allowed), tuning.TUNING.few_allowed))
    block, found = max(1, _AT_ONCE // most), list[Page]()
    for first in range(0, len(asked), block):
        part = slice(first, first + block)
        found += _block(db, snapshot, asked[part], options, allowed, depth, before[part])
    return found


def _block(
    db: sqlite3.Connection,
    snapshot: Snapshot,
    asked: Sequence[Query],
    options: SearchOptions,
    allowed: Runs | None,
    depth: int,
    before: Sequence[int],
) -> list[Page]:
    """The pages of queries that are few enough to be ranked together.

    Where so many say the same that there are fewer than k, it looks deeper, until it is enough or there is no more.
    """
    rankings = _rank(db, snapshot, asked, options, allowed, depth)
    ids = rankings.candidates.pool.ids
    if options.duplicates:
        groups = [[[place] for place in range(min(options.k, len(order)))] for order in rankings.orders]
    else:
        groups = folded(db, [ids[order] for order in rankings.orders], options.k)
    found = _paged(rankings, [each[: options.k] for each in groups])
    counts = np.diff(rankings.candidates.pool.bounds).tolist()
    short = [
        number
        for number, (each, order) in enumerate(zip(groups, rankings.orders, strict=True))
        if len(each) < options.k <= len(order) and depth < tuning.TUNING.deepest and counts[number] != before[number]
    ]
    if short:
        depth *= tuning.TUNING.deeper
        deeper = _pages(db, snapshot, [asked[n] for n in short], options, allowed, depth, [counts[n] for n in short])
        for number, page in zip(short, deeper, strict=True):
            found[number] = page
    return found


def _rank(
    db: sqlite3.Connection,
    snapshot: Snapshot,
    asked: Sequence[Query],
    options: SearchOptions,
    allowed: Runs | None,
    depth: int,
) -> Rankings:
    """Candidates of all questions, scored and ordered."""
    terms = [each.terms for each in asked if each.terms is not None]
    known = iter(snapshot.words.scores_each(terms) if terms else [])
    lexical = [None if each.terms is None else next(known) for each in asked]
    found = _scan(snapshot, asked, depth, allowed)
    for number, (each, words) in enumerate(zip(asked, lexical, strict=True)):
        if words is not None:
            more = words.best(depth + len(each.hidden), allowed=allowed)
            found[number] = np.concatenate((found[number], more))
        if len(each.hidden):
            found[number] = found[number][~np.isin(found[number], each.hidden)]
    pool = Pool.of(found)
    candidates = score(db, snapshot, pool, [each.vector for each in asked], lexical)
    weights = _weights(candidates, asked, options.mode)
    scores = fuse_each(candidates.dense, candidates.lexical, weights, pool.owners)
    models = [pool.ids[:0]] * len(asked)
    if any(each.near for each in weights):
        orders = _orders(scores, pool, None)
        most = tuning.TUNING.near_models
        models = [pool.ids[order[: most if own.near else 0]] for order, own in zip(orders, weights, strict=True)]
        near = nearness(snapshot, pool, models, visits=candidates.visits)
        scores = scores + np.array([each.near for each in weights])[pool.owners] * near
    return Rankings(candidates, scores, _orders(scores, pool, options.min_score), weights, models)


def _weights(candidates: Candidates, asked: Sequence[Query], mode: Mode) -> list[Weights]:
    """How the scores of each question's candidates become one."""
    if mode in _ALONE:
        return [_ALONE[mode]] * len(asked)
    pool = candidates.pool
    known = pool.largest(np.where(np.isnan(candidates.dense), 0.0, 1.0), least=0.0).tolist()
    best = pool.largest(candidates.lexical, least=0.0).tolist()
    return [
        weigh(is_dense=is_dense > 0, best=largest, near=each.near)
        for each, is_dense, largest in zip(asked, known, best, strict=True)
    ]


def _scan(snapshot: Snapshot, asked: Sequence[Query], depth: int, allowed: Runs | None) -> list[Int64]:
    """The passages that meaning finds for each question; where few are allowed, simply these. q arrays (n,)"""
    found: list[Int64] = [np.zeros(0, np.int64)] * len(asked)
    having = [number for number, each in enumerate(asked) if each.vector is not None]
    if not having:
        return found
    if allowed is not None and len(allowed) <= tuning.TUNING.few_allowed:
        rows = [allowed.all_ids()] * len(having)
    else:
        queries = np.stack([each.vector for each in asked if each.vector is not None])
        depth += max(len(each.hidden) for each in asked)
        rows = [ids[ids >= 0] for ids in snapshot.scan(queries, depth, allowed=allowed).ids]
    for number, ids in zip(having, rows, strict=True):
        found[number] = ids
    return found


def _orders(scores: Float64, pool: Pool, min_score: float | None) -> list[Int64]:
    """The places of what answers each question, best first, equal ones in the order of the index. (p,) -> q arrays"""
    least, orders = -np.inf if min_score is None else min_score, list[Int64]()
    for places in pool.slices:
        own = scores[places]
        order = np.argsort(-own, kind="stable")
        orders.append(places.start + order[own[order] >= least])  # never true of NaN
    return orders


def _paged(rankings: Rankings, groups: Sequence[Sequence[Sequence[int]]]) -> list[Page]:
    """The page of each question, of groups of places in its order: the first of each, with the others as duplicates."""
    candidates, orders = rankings.candidates, [order.tolist() for order in rankings.orders]
    ids = candidates.pool.ids
    leading = [order[group[0]] for order, own in zip(orders, groups, strict=True) for group in own]
    columns = (ids, rankings.scores, candidates.dense, candidates.lexical, candidates.best)
    rows = zip(*(column[leading].tolist() for column in columns), strict=True)
    found: list[Page] = []
    for order, own, weights, models in zip(orders, groups, rankings.weights, rankings.models, strict=True):
        ranked: list[Ranked] = []
        for group, (id_, points, dense, lexical, best) in zip(own, rows):  # noqa: B905  # rows go on for the next
            others = tuple(ids[[order[place] for place in group[1:]]].tolist()) if group[1:] else ()
            ranked.append(Ranked(id_, points, _number(dense), _number(lexical), best, others))
        found.append(Page(ranked, weights, models))
    return found


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _allowed(db: sqlite3.Connection, filters: Sequence[str]) -> Runs:
    """The ids of the passages whose documents pass all filters."""
    from semsearch.search.filters import FUNCTIONS, condition, parse  # start-up time: most searches have none

    where = condition([parse(text) for text in filters], here=working_folder().as_posix())
    for name, (arguments, function) in FUNCTIONS.items():
        db.create_function(name, arguments, function, deterministic=True)
    ranges = "SELECT first_passage, passages FROM documents LEFT JOIN roots ON roots.id = documents.root_id WHERE "
    return Runs.of(db.execute(ranges + where.sql, where.parameters))  # the SQL is ours, what was typed is in parameters
