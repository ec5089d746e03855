"""The passages that may answer a question, with their two scores. What is found by one half is scored by the other too.

dense     the best passages by cosine; score: mean of the passage's and its best sentence's cosine; where the index has
          topics, four tenths of it are theirs (semsearch.joint)
lexical   the best passages by bm25, words in title and headings counting double; score: the same with the passages
          before and after, whose words count half
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch.joint import combined
from semsearch.rows import get_spans
from semsearch.snapshot import Snapshot
from semsearch.words import Beside, WordScores

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Passages by id (n,), their scores (n,), NaN where a half knows nothing, and best sentences (n,) or -1."""

    ids: Int64
    dense: Float64
    lexical: Float64
    best: Int64


def nearness(snapshot: Snapshot, ids: Int64, models: Int64) -> Float64:
    """The mean inner product of each passage's vector with those of others; 0 for one without a vector. (n,) -> (n,)"""
    vectors = snapshot.vectors("passage", models)
    if not len(vectors):
        return np.zeros(len(ids))
    mean = vectors.sum(axis=0, dtype=np.float32) / np.float32(len(models))
    return np.nan_to_num(snapshot.cosines("passage", ids, mean))


def score(
    db: sqlite3.Connection, snapshot: Snapshot, ids: Int64, query: Float32 | None, words: WordScores | None
) -> Candidates:
    """Passages (n,), rising, scored by both halves; None for one that was not asked, or knows no word of the query."""
    spans = get_spans(db, ids)
    lexical = np.full(len(ids), np.nan) if words is None else words.of(ids, Beside(spans.before, spans.after))
    dense: Float64 = np.full(len(ids), np.nan)
    best = np.full(len(ids), -1, dtype=np.int64)
    if query is not None and len(ids):
        halves = snapshot.halves
        general = halves.general(query)
        whole = snapshot.cosines("passage", ids, general, part=halves.general)
        topics = snapshot.cosines("passage", ids, halves.topics(query), part=halves.topics)
        counts = np.maximum(spans.counts, 0)
        starts = np.cumsum(counts) - counts
        owner = np.repeat(np.arange(len(ids)), counts)
        within = np.arange(len(owner)) - starts[owner]
        cosines = np.nan_to_num(snapshot.cosines("sentence", spans.firsts[owner] + within, general))
        top = np.full(len(ids), -np.inf)
        np.maximum.at(top, owner, cosines)
        places = np.flatnonzero(cosines == top[owner])[::-1]  # backwards, so that the first of equals stays
        best[owner[places]] = within[places]
        dense = combined(topics, whole, np.where(np.isnan(whole), np.nan, np.where(np.isfinite(top), top, 0)))
        best[np.isnan(whole)] = -1
    return Candidates(ids, dense, lexical, best)
