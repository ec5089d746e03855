"""The passages that may answer questions, with their two scores. What is found by one half is scored by the other too.

dense     the best passages by cosine; score: mean of the passage's and its best sentence's cosine; where the index has
          topics, four tenths of it are theirs (semsearch.topics.joined)
lexical   the best passages by bm25, words in title and headings counting double; score: the same with the passages
          before and after, whose words count half
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.lexical.search import Beside, WordScores
from semsearch.search.pool import Pool, Visits
from semsearch.search.snapshot import Snapshot
from semsearch.storage.catalogue import Spans, get_spans
from semsearch.topics.joined import combined

if TYPE_CHECKING:
    import sqlite3

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

_AT_ONCE = 4096  # stored vectors that are decoded at a time: a few megabytes


@dataclass(frozen=True, slots=True)
class Candidates:
    """A pool's scores (p,), NaN where a half knows nothing, and best sentences (p,) or -1."""

    pool: Pool
    visits: Visits
    dense: Float64
    lexical: Float64
    best: Int64


def score(
    db: sqlite3.Connection,
    snapshot: Snapshot,
    pool: Pool,
    queries: Sequence[Float32 | None],
    words: Sequence[WordScores | None],
) -> Candidates:
    """Passages scored by both halves of q questions; None for a half that was not asked, or knows no word of one."""
    visits = pool.by_passage()
    spans = get_spans(db, visits.ids)
    lexical = np.full(len(pool.ids), np.nan)
    if any(each is not None for each in words):
        standing = snapshot.words.stand(visits.ids, Beside(spans.before, spans.after))
        which = visits.to_pool(np.arange(len(visits.ids)))
        for own, places in zip(words, pool.slices, strict=True):
            if own is not None:
                lexical[places] = own.at(standing.of(which[places]))
    dense, best = np.full(len(pool.ids), np.nan), np.full(len(pool.ids), -1)
    having = [query for query in queries if query is not None]
    if having:
        nothing = np.zeros_like(having[0])
        vectors = np.stack([nothing if query is None else query for query in queries])
        dense[visits.order], best[visits.order] = _meaning(snapshot, visits, pool.owners[visits.order], spans, vectors)
    return Candidates(pool, visits, dense, lexical, best)


def nearness(snapshot: Snapshot, pool: Pool, models: Sequence[Int64], *, visits: Visits | None = None) -> Float64:
    """The mean inner product of each passage's vector with those of its question's models. (p,), q arrays -> (p,)

    0 for a passage without a vector. `visits`: those of the pool, where they are known.
    """
    visits = visits or pool.by_passage()
    counts = np.array([len(ids) for ids in models])
    stored = snapshot.stored("passage", np.concatenate(models))
    if not len(stored.rows):
        return np.zeros(len(pool.ids))
    means: Float32 = np.zeros((len(models), stored.rows.shape[1]), dtype=np.float32)
    np.add.at(means, np.repeat(np.arange(len(models)), counts)[stored.places], stored.rows)
    means /= np.maximum(counts, 1).astype(np.float32)[:, None]
    near, owners = np.zeros(len(pool.ids)), pool.owners[visits.order]
    for passages, pairs in visits.parts(np.ones(len(visits.ids), dtype=np.int64), _AT_ONCE):
        stored = snapshot.stored("passage", visits.ids[passages])
        near[visits.order[pairs]] = stored.cosines(means, owners[pairs], visits.which[pairs] - passages.start)
    near[np.isnan(near)] = 0
    return near


def _meaning(
    snapshot: Snapshot, visits: Visits, owners: Int64, spans: Spans, queries: Float32
) -> tuple[Float64, Int64]:
    """The dense score of each pair of a query (q, d + k) and a passage, and its best sentence or -1. (p,), (p,)

    In the order of the visits; `owners`: whose each of these is.
    """
    dense, best = np.full(len(owners), np.nan), np.full(len(owners), -1)
    halves = snapshot.halves
    general, topics = halves.general(queries), halves.topics(queries)
    counts = np.maximum(spans.counts, 0)
    for passages, pairs in visits.parts(counts + 1, _AT_ONCE):
        asking, which = owners[pairs], visits.which[pairs] - passages.start
        stored = snapshot.stored("passage", visits.ids[passages])
        whole = stored.cosines(general, asking, which, part=halves.general)
        about = stored.cosines(topics, asking, which, part=halves.topics)
        top, number = _best_sentences(snapshot, spans.firsts[passages], counts[passages], general, asking, which)
        dense[pairs] = combined(about, whole, np.where(np.isnan(whole), np.nan, top))
        best[pairs] = np.where(np.isnan(whole), -1, number)
    return dense, best


def _best_sentences(
    snapshot: Snapshot, firsts: Int64, counts: Int64, queries: Float32, owners: Int64, which: Int64
) -> tuple[Float64, Int64]:
    """The best cosine of a query and a sentence of a passage, and which one it is, of equal ones the first. (p,), (p,)

    Passages by their first sentence and how many they have (u,), pairs by both numbers (p,). 0 and -1 for a passage
    without sentences.
    """
    begins = np.cumsum(counts) - counts
    stored = snapshot.stored("sentence", np.repeat(firsts - begins, counts) + np.arange(counts.sum()))
    lengths = counts[which]
    starts = np.cumsum(lengths) - lengths
    pairs = np.repeat(np.arange(len(which)), lengths)
    within = np.arange(len(pairs)) - starts[pairs]
    cosines = stored.cosines(queries, owners[pairs], begins[which][pairs] + within)
    cosines[np.isnan(cosines)] = 0
    top, best, filled = np.zeros(len(which)), np.full(len(which), -1), np.flatnonzero(lengths)
    if len(filled):
        top[filled] = np.maximum.reduceat(cosines, starts[filled])
    places = np.flatnonzero(cosines == top[pairs])[::-1]  # backwards, so that the first of equals stays
    best[pairs[places]] = within[places]
    return top, best
