"""Score candidates by both halves: a passage that one half found is scored by the other too.

dense     finds the best passages by cosine; score: weighted mean of the cosines of the passage, its best sentence,
          its document's title and, where the index has them, its topics (semsearch.topics.joined)
lexical   finds the best passages by BM25, words in title and headings counting double; score: BM25 with the passages
          before and after, whose words count half
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from semsearch.lexical.search import NeighbourFlags, WordScores
from semsearch.search.ranking.pool import PairGroups, Pool
from semsearch.search.snapshot import Snapshot
from semsearch.storage.catalogue import SentenceSpans, get_spans
from semsearch.topics.joined import combined

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.stored import StoredVectors
    from semsearch.search.title_vectors import TitleVectors

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

_AT_ONCE = 4096  # stored vectors that are decoded at a time: a few megabytes


@dataclass(frozen=True, slots=True)
class Candidates:
    """A pool of candidates with both scores (p,), NaN where one is not known, and best sentences (p,) or -1."""

    pool: Pool
    groups: PairGroups
    dense: Float64
    lexical: Float64
    best: Int64
    covered: Float64  # (p,) the share of the query's words that are there, by their idf; NaN if words are not asked


class _Spans(NamedTuple):
    """The sentences of some passages: the id of the first, and how many there are. (p,) each"""

    firsts: Int64
    counts: Int64


def score(
    db: sqlite3.Connection,
    snapshot: Snapshot,
    pool: Pool,
    queries: Sequence[Float32 | None],
    words: Sequence[WordScores | None],
    titles: TitleVectors | None = None,
) -> Candidates:
    """Score the passages of a pool by both halves of q queries: their vectors, and their words.

    None stands for a half that is not asked, or that knows no word of a query. `titles`: by which the titles of
    documents are compared, None if they do not count.
    """
    groups = pool.by_passage()
    spans = get_spans(db, groups.ids)
    lexical, covered = np.full(len(pool.ids), np.nan), np.full(len(pool.ids), np.nan)
    if any(each is not None for each in words):
        rows = snapshot.lexical.locate(groups.ids, NeighbourFlags(spans.before, spans.after))
        which = groups.to_pool(np.arange(len(groups.ids)))
        for own, pairs in zip(words, pool.slices, strict=True):
            if own is not None:
                found = own.scored(rows.of(which[pairs]))
                lexical[pairs], covered[pairs] = found.scores, found.covered
    dense, best = np.full(len(pool.ids), np.nan), np.full(len(pool.ids), -1)
    having = [query for query in queries if query is not None]
    if having:
        nothing = np.zeros_like(having[0])
        vectors = np.stack([nothing if query is None else query for query in queries])
        documents = None if titles is None else titles.of(db, spans.documents)
        dense[groups.order], best[groups.order] = _meaning(
            db, snapshot, groups, pool.owners[groups.order], spans, vectors, documents
        )
    return Candidates(pool, groups, dense, lexical, best, covered)


def nearness(snapshot: Snapshot, pool: Pool, models: Sequence[Int64], *, groups: PairGroups | None = None) -> Float64:
    """The mean inner product of each passage's vector with those of its query's models. (p,), q arrays -> (p,)

    0 for a passage without a vector. `groups`: the pool's, if they have been made already.
    """
    groups = groups or pool.by_passage()
    counts = np.array([len(ids) for ids in models])
    stored = snapshot.stored("passage", np.concatenate(models))
    if not len(stored.rows):
        return np.zeros(len(pool.ids))
    means: Float32 = np.zeros((len(models), stored.rows.shape[1]), dtype=np.float32)
    np.add.at(means, np.repeat(np.arange(len(models)), counts)[stored.positions], stored.rows)
    means /= np.maximum(counts, 1).astype(np.float32)[:, None]
    near, owners = np.zeros(len(pool.ids)), pool.owners[groups.order]
    for passages, pairs in groups.parts(np.ones(len(groups.ids), dtype=np.int64), _AT_ONCE):
        stored = snapshot.stored("passage", groups.ids[passages])
        near[groups.order[pairs]] = stored.cosines(means, owners[pairs], groups.which[pairs] - passages.start)
    near[np.isnan(near)] = 0
    return near


def _meaning(
    db: sqlite3.Connection,
    snapshot: Snapshot,
    groups: PairGroups,
    owners: Int64,
    spans: SentenceSpans,
    queries: Float32,
    titles: StoredVectors | None,
) -> tuple[Float64, Int64]:
    """The dense score of each pair of a query (q, d + k) and a passage, and its best sentence or -1. (p,), (p,)

    Pairs are in the order of the groups; `owners`: the query of each; `titles`: the vectors of the passages' titles.
    """
    dense, best = np.full(len(owners), np.nan), np.full(len(owners), -1)
    halves = snapshot.halves
    general, topics = halves.general(queries), halves.topics(queries)
    counts = np.maximum(spans.counts, 0)
    for passages, pairs in groups.parts(counts + 1, _AT_ONCE):
        asking, which = owners[pairs], groups.which[pairs] - passages.start
        stored = snapshot.stored("passage", groups.ids[passages])
        whole = stored.cosines(general, asking, which, part=halves.general)
        about = stored.cosines(topics, asking, which, part=halves.topics)
        own = _Spans(spans.firsts[passages], counts[passages])
        sentences = snapshot.sentences(db, groups.ids[passages], own)
        top, number = _best_sentences(sentences, own.counts, general, asking, which)
        title = np.full(len(which), np.nan) if titles is None else titles.cosines(general, asking, groups.which[pairs])
        dense[pairs] = combined(about, whole, *(np.where(np.isnan(whole), np.nan, each) for each in (top, title)))
        best[pairs] = np.where(np.isnan(whole), -1, number)
    return dense, best


def _best_sentences(
    stored: StoredVectors, counts: Int64, queries: Float32, owners: Int64, which: Int64
) -> tuple[Float64, Int64]:
    """The best cosine of a query with a passage's sentences and its sentence's number, of equals the first. (p,), (p,)

    Passages are given by the vectors of all their sentences and the number of each's (u,), pairs by the indices of
    query and passage (p,). 0 and -1 for a passage without sentences.
    """
    begins = np.cumsum(counts) - counts
    lengths = counts[which]
    starts = np.cumsum(lengths) - lengths
    pairs = np.repeat(np.arange(len(which)), lengths)
    within = np.arange(len(pairs)) - starts[pairs]
    cosines = stored.cosines(queries, owners[pairs], begins[which][pairs] + within)
    cosines[np.isnan(cosines)] = 0
    top, best, filled = np.zeros(len(which)), np.full(len(which), -1), np.flatnonzero(lengths)
    if len(filled):
        top[filled] = np.maximum.reduceat(cosines, starts[filled])
    equal = np.flatnonzero(cosines == top[pairs])[::-1]  # backwards, so that the first of equals stays
    best[pairs[equal]] = within[equal]
    return top, best
