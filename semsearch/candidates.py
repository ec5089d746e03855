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
from semsearch.rows import Spans, get_spans
from semsearch.snapshot import NOTHING_STORED, Snapshot, Stored
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
    stored: Stored  # their vectors, where meaning was asked for


def nearness(stored: Stored, models: Stored) -> Float64:
    """The mean inner product of each passage's vector with those of others; 0 for one without a vector. (n,)"""
    if not len(models.rows):
        return np.zeros(stored.n)
    mean = models.rows.sum(axis=0, dtype=np.float32) / np.float32(models.n)
    return np.nan_to_num(stored.cosines(mean))


def score(
    db: sqlite3.Connection, snapshot: Snapshot, ids: Int64, query: Float32 | None, words: WordScores | None
) -> Candidates:
    """Passages (n,), rising, scored by both halves; None for one that was not asked, or knows no word of the query."""
    spans = get_spans(db, ids)
    lexical = np.full(len(ids), np.nan) if words is None else words.of(ids, Beside(spans.before, spans.after))
    if query is None or not len(ids):
        nothing = np.full(len(ids), np.nan)
        return Candidates(ids, nothing, lexical, np.full(len(ids), -1), NOTHING_STORED)
    halves, stored = snapshot.halves, snapshot.stored("passage", ids)
    general = halves.general(query)
    whole = stored.cosines(general, part=halves.general)
    topics = stored.cosines(halves.topics(query), part=halves.topics)
    top, best = _best_sentences(snapshot, spans, general)
    dense = combined(topics, whole, np.where(np.isnan(whole), np.nan, top))
    return Candidates(ids, dense, lexical, np.where(np.isnan(whole), -1, best), stored)


def _best_sentences(snapshot: Snapshot, spans: Spans, query: Float32) -> tuple[Float64, Int64]:
    """The best cosine of a sentence in each passage, and which one it is, of equal ones the first. (n,), (n,)

    0 and -1 for a passage without sentences.
    """
    counts = np.maximum(spans.counts, 0)
    starts = np.cumsum(counts) - counts
    owner = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(owner)) - starts[owner]
    cosines = np.nan_to_num(snapshot.stored("sentence", spans.firsts[owner] + within).cosines(query))
    top, best, filled = np.zeros(len(counts)), np.full(len(counts), -1), np.flatnonzero(counts)
    if len(filled):
        top[filled] = np.maximum.reduceat(cosines, starts[filled])
    places = np.flatnonzero(cosines == top[owner])[::-1]  # backwards, so that the first of equals stays
    best[owner[places]] = within[places]
    return top, best
