"""Rank passages for queries: a result list of the best k for each, where near-duplicates count as one.

Near-duplicates. Fold the passages of a ranking that say the same into groups (semsearch.text.near_duplicates).

At most so many of each document. At most so many passages of each document in an answer.

Ranking. Rank passages for queries: a page of the best k for each, where passages that say the same count as one.

found by either half ─ score by both ─ fuse ─ add nearness to the best ─ order ─ fold what says the same

Many queries are ranked together, since the passages that they share are then read, decoded and compared once; but
only
so many at a time that their passages stay few.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges, distinct
from semsearch.arrays.types import Float64, Int64, UInt64
from semsearch.results.options import Mode, Origin, SearchOptions, Weights
from semsearch.search.index_reader import IndexReader
from semsearch.search.make_hits import Ranked
from semsearch.search.query import Query
from semsearch.search.scoring import Candidates, Pool, beyond_doubt, fuse_each, nearness, relevance, score, weigh
from semsearch.system import clock
from semsearch.text.near_duplicates import first_alike, marks_of

if TYPE_CHECKING:
    import sqlite3

# -- Near-duplicates ---------------------------------------------------------------------------------------------------

ReadTexts = Callable[[Sequence[int]], Mapping[int, str]]  # of passages, by id

_BEYOND = 20  # passages beyond the page that are always compared too


def deduplicated(read: ReadTexts, rankings: Sequence[Int64], k: int) -> list[list[list[int]]]:
    """Group the positions in each ranking whose passages say the same; groups are in the order of their first ones.

    A ranking is compared beyond its beginning only if passages of the beginning say the same, which most answers' do
    not.
    """
    beginning = k + max(_BEYOND, k // 4)
    beginnings = [ids[:beginning] for ids in rankings]
    together = distinct(np.concatenate([np.zeros(0, dtype=np.int64), *beginnings]))
    texts = read(together.tolist())
    suspects = _suspects(list(texts), marks_of(list(texts.values())))
    return [_deduplicated(read, ids.tolist(), beginning, texts, suspects) for ids in rankings]


def _suspects(ids: Sequence[int], marks: UInt64) -> dict[int, list[int]]:
    """The ids of passages that share a mark with another one, with their marks. (n,), (n, 3)"""
    order = np.argsort(marks, axis=None)
    rising = marks.ravel()[order]
    same = np.flatnonzero(rising[1:] == rising[:-1])
    positions = np.concatenate((order[same], order[same + 1])) // marks.shape[1]
    return {ids[position]: marks[position].tolist() for position in positions.tolist()}


def _deduplicated(
    read: ReadTexts,
    ids: Sequence[int],
    beginning: int,
    texts: Mapping[int, str],
    suspects: Mapping[int, Sequence[int]],
) -> list[list[int]]:
    """Fold one ranking. `texts` has those of its beginning, `suspects` the marks of passages that may say the same."""
    firsts = list(range(min(len(ids), beginning)))
    positions = [position for position in firsts if ids[position] in suspects]
    marks = [mark for position in positions for mark in suspects[ids[position]]]
    if len(set(marks)) == len(marks):
        return [[position] for position in firsts]
    for position, first in zip(positions, first_alike([texts[ids[position]] for position in positions]), strict=True):
        firsts[position] = positions[first]
    if len(ids) > beginning and len(set(firsts)) < beginning:
        every = read(ids)
        firsts = first_alike([every[id_] for id_ in ids])
    groups: dict[int, list[int]] = {}
    for position, first in enumerate(firsts):
        groups.setdefault(first, []).append(position)
    return list(groups.values())


# -- At most so many of each document ----------------------------------------------------------------------------------

_DOCUMENTS = "SELECT id, document_id FROM passages WHERE id IN (SELECT value FROM json_each(?))"


def best_of_each(db: sqlite3.Connection, ids: Int64, orders: Sequence[Int64], most: int) -> list[Int64]:
    """The first `most` passages of each document in each order. `orders`: positions among ids (p,), best first."""
    owner = dict(db.execute(_DOCUMENTS, (json.dumps(sorted(set(ids.tolist()))),)).fetchall())
    return [_first(order, [owner[id_] for id_ in ids[order].tolist()], most) for order in orders]


def _first(order: Int64, documents: Sequence[int], most: int) -> Int64:
    seen: Counter[int] = Counter()
    kept = np.ones(len(order), dtype=np.bool_)
    for position, document in enumerate(documents):
        seen[document] += 1
        kept[position] = seen[document] <= most
    return order[kept]


# -- Ranking -----------------------------------------------------------------------------------------------------------


_AT_ONCE = 100_000  # pairs of a query and a passage: some ten megabytes
_DEEPER_FOR_BOOSTS = 4  # times as many candidates: one that a boost brings forward may be far down
_ALONE: dict[Mode, Weights] = {"dense": Weights(1.0, 0.0), "lexical": Weights(0.0, 1.0)}


@dataclass(frozen=True, slots=True)
class RankedPassages:
    """The page of one query: its passages, best first, and how their scores became one."""

    ranked: list[Ranked]
    weights: Weights
    models: Int64  # ids of the passages that nearness is to; empty if nearness does not count

    def origin(self, query: str, mode: Mode, generation: int, *, text: str | None = None) -> Origin:
        """The origin that hits of this page carry. `text`: what was compared, where it is not the query."""
        said = None if text is None or text == query else text
        return Origin(query, mode, generation, self.weights, tuple(self.models.tolist()), text=said)


@dataclass(frozen=True, slots=True)
class Rankings:
    """Candidates with their fused scores, and for each query the positions of those that answer it, best first."""

    candidates: Candidates
    scores: Float64  # (p,)
    orders: list[Int64]
    weights: list[Weights]
    models: list[Int64]
    relevance: Float64  # (p,) how likely they answer, NaN where it cannot be told
    shares: Float64 | None = None  # of boosts, (b, p)


def pages(
    db: sqlite3.Connection, reader: IndexReader, queries: Sequence[Query], options: SearchOptions
) -> list[RankedPassages]:
    """Rank the passages of an index for each query; the page of each."""
    allowed = None
    if options.filters or options.passages is not None:
        from semsearch.search.filter_sql import (
            allowed_passages,  # start-up time: most searches have none
            warn_unmatched,  # start-up time, as above
        )

        if options.filters:
            reader.check_documents(db)
        allowed = allowed_passages(db, options.filters, options.passages)
        warn_unmatched(db, options.filters, reader.filters_told)
    depth = max(tuning.TUNING.depth, tuning.TUNING.depth_per_hit * options.k)
    if options.boosts:
        from semsearch.search.boosts import warn_unmatched_boosts  # start-up time: few searches have any

        reader.check_documents(db)
        warn_unmatched_boosts(db, options.boosts, reader.filters_told)
        depth *= _DEEPER_FOR_BOOSTS
    if all(each.syntax is None for each in queries):
        return _pages(db, reader, queries, options, allowed, depth, [0] * len(queries))
    from semsearch.search.query_syntax import allowed_by_phrases  # start-up time: most queries have only words

    found = list[RankedPassages]()
    for each in queries:  # each has passages of its own that may answer
        own = allowed if each.syntax is None else allowed_by_phrases(db, reader.lexical, each.syntax, allowed)
        found += _pages(db, reader, [each], options, own, depth, [0])
    return found


def _pages(
    db: sqlite3.Connection,
    reader: IndexReader,
    queries: Sequence[Query],
    options: SearchOptions,
    allowed: IdRanges | None,
    depth: int,
    before: Sequence[int],
) -> list[RankedPassages]:
    """The pages of queries, ranked from `depth` candidates. `before`: how many each had at the last, smaller depth."""
    most = depth + max(depth, 0 if allowed is None else min(len(allowed), tuning.TUNING.few_allowed))
    block, found = max(1, _AT_ONCE // most), list[RankedPassages]()
    for first in range(0, len(queries), block):
        part = slice(first, first + block)
        found += _block(db, reader, queries[part], options, allowed, depth, before[part])
    return found


def _block(
    db: sqlite3.Connection,
    reader: IndexReader,
    queries: Sequence[Query],
    options: SearchOptions,
    allowed: IdRanges | None,
    depth: int,
    before: Sequence[int],
) -> list[RankedPassages]:
    """The pages of queries that are few enough to be ranked together.

    A query whose candidates say the same so often that its page is not full is ranked again from more candidates, until
    the page is full or there are no more.
    """
    rankings = _rank(db, reader, queries, options, allowed, depth)
    ids, many = rankings.candidates.pool.ids, [len(order) for order in rankings.orders]
    if options.per_document is not None:
        rankings.orders[:] = best_of_each(db, ids, rankings.orders, options.per_document)
    if options.duplicates:
        groups = [[[position] for position in range(min(options.k, len(order)))] for order in rankings.orders]
    else:
        groups = deduplicated(partial(reader.read_rows.texts, db), [ids[order] for order in rankings.orders], options.k)
    found = _paged(rankings, [each[: options.k] for each in groups])
    counts = np.diff(rankings.candidates.pool.bounds).tolist()
    short = [
        number
        for number, (each, found_first) in enumerate(zip(groups, many, strict=True))
        if len(each) < options.k <= found_first and depth < tuning.TUNING.deepest and counts[number] != before[number]
    ]
    if short:
        depth *= tuning.TUNING.deeper
        deeper = _pages(db, reader, [queries[n] for n in short], options, allowed, depth, [counts[n] for n in short])
        for number, page in zip(short, deeper, strict=True):
            found[number] = page
    return found


def _rank(
    db: sqlite3.Connection,
    reader: IndexReader,
    queries: Sequence[Query],
    options: SearchOptions,
    allowed: IdRanges | None,
    depth: int,
) -> Rankings:
    """Find the candidates of all queries, score and order them."""
    terms = [each.terms for each in queries if each.terms is not None]
    known = iter(reader.lexical.scores_each(terms) if terms else [])
    lexical = [None if each.terms is None else next(known) for each in queries]
    found = _scan(reader, queries, depth, allowed)
    for number, (each, words) in enumerate(zip(queries, lexical, strict=True)):
        if words is not None:
            more = words.best(depth + len(each.hidden), allowed=allowed)
            found[number] = np.concatenate((found[number], more))
        if len(each.hidden):
            found[number] = found[number][~np.isin(found[number], each.hidden)]
    pool = Pool.of(found)
    titles = next((each.titles for each in queries if each.titles is not None), None)  # the same for all of a search
    candidates = score(db, reader, pool, [each.vector for each in queries], lexical, titles)
    weights = _weights(candidates, queries, options.mode)
    scores = fuse_each(candidates.dense, candidates.lexical, weights, pool.owners)
    models = [pool.ids[:0]] * len(queries)
    if any(each.near for each in weights):
        orders = _orders(scores, pool, None)
        most = tuning.TUNING.near_models
        models = [pool.ids[order[: most if own.near else 0]] for order, own in zip(orders, weights, strict=True)]
        near = nearness(reader, pool, models, groups=candidates.groups)
        scores = scores + np.array([each.near for each in weights])[pool.owners] * near
    shares = None
    if options.boosts:
        shares = _shares(db, options, candidates)
        scores = scores + _points(options) @ shares
    orders = _orders(scores, pool, options.min_score)
    return Rankings(candidates, scores, orders, weights, models, _relevance(reader, candidates, queries), shares)


def _relevance(reader: IndexReader, candidates: Candidates, queries: Sequence[Query]) -> Float64:
    """How likely each candidate answers, NaN where too few words of its query are known to tell. (p,)"""
    known = np.array([each.is_known for each in queries], dtype=np.bool_)[candidates.pool.owners]
    if not known.any():
        return np.full(len(known), np.nan)  # by words alone an index answers without its topics
    told = relevance(candidates.dense, candidates.covered)
    return np.where(known, told if reader.topics is not None else beyond_doubt(told), np.nan)


def _shares(db: sqlite3.Connection, options: SearchOptions, candidates: Candidates) -> Float64:
    """Each candidate's share of each boost. (b, p)"""
    from semsearch.search.boosts import parse_boost, shares_of  # start-up time: few searches have any

    groups = candidates.groups
    found = shares_of(db, [parse_boost(text) for text in options.boosts], groups.ids, clock.now())
    return np.stack([groups.to_pool(row) for row in found])


def _points(options: SearchOptions) -> Float64:
    """The points of each boost. (b,)"""
    from semsearch.search.boosts import parse_boost  # start-up time, as above

    return np.array([parse_boost(text).points for text in options.boosts])


def _weights(candidates: Candidates, queries: Sequence[Query], mode: Mode) -> list[Weights]:
    """Choose the weights of each query: how the scores of its candidates become one."""
    if mode in _ALONE:
        return [_ALONE[mode]] * len(queries)
    pool = candidates.pool
    known = pool.largest(np.where(np.isnan(candidates.dense), 0.0, 1.0), least=0.0).tolist()
    best = pool.largest(candidates.lexical, least=0.0).tolist()
    return [
        weigh(is_dense=is_dense > 0, best=largest, near=each.near, known=each.share_known)
        for each, is_dense, largest in zip(queries, known, best, strict=True)
    ]


def _scan(reader: IndexReader, queries: Sequence[Query], depth: int, allowed: IdRanges | None) -> list[Int64]:
    """The ids of the passages that meaning finds for each query; where few are allowed, all of these. q arrays (n,)"""
    found: list[Int64] = [np.zeros(0, np.int64)] * len(queries)
    having = [number for number, each in enumerate(queries) if each.vector is not None]
    if not having:
        return found
    if allowed is not None and len(allowed) <= tuning.TUNING.few_allowed:
        rows = [allowed.all_ids()] * len(having)
    else:
        vectors = np.stack([each.vector for each in queries if each.vector is not None])
        depth += max(len(each.hidden) for each in queries)
        rows = [ids[ids >= 0] for ids in reader.scan(vectors, depth, allowed=allowed).ids]
    for number, ids in zip(having, rows, strict=True):
        found[number] = ids
    return found


def _orders(scores: Float64, pool: Pool, min_score: float | None) -> list[Int64]:
    """The positions in the pool of each query's answer, best first, equal scores by their ids. (p,) -> q arrays"""
    least, orders = -np.inf if min_score is None else min_score, list[Int64]()
    for pairs in pool.slices:
        own = scores[pairs]
        order = np.argsort(-own, kind="stable")
        orders.append(pairs.start + order[own[order] >= least])  # never true of NaN
    return orders


def _paged(rankings: Rankings, groups: Sequence[Sequence[Sequence[int]]]) -> list[RankedPassages]:
    """The page of each query, from groups of positions in its order: the first of each, the others as duplicates."""
    candidates, orders = rankings.candidates, [order.tolist() for order in rankings.orders]
    ids = candidates.pool.ids
    leading = [order[group[0]] for order, own in zip(orders, groups, strict=True) for group in own]
    columns = (ids, rankings.scores, candidates.dense, candidates.lexical, candidates.best, rankings.relevance)
    rows = zip(*(column[leading].tolist() for column in columns), strict=True)
    found: list[RankedPassages] = []
    for order, own, weights, models in zip(orders, groups, rankings.weights, rankings.models, strict=True):
        ranked: list[Ranked] = []
        for group, (id_, points, dense, lexical, best, likely) in zip(own, rows):  # noqa: B905  # rows go on for the next
            others = tuple(ids[[order[position] for position in group[1:]]].tolist()) if group[1:] else ()
            boosted = () if rankings.shares is None else tuple(rankings.shares[:, order[group[0]]].tolist())
            halves = _number(dense), _number(lexical)
            ranked.append(Ranked(id_, points, *halves, best, others, boosted, _number(likely)))
        found.append(RankedPassages(ranked, weights, models))
    return found


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
