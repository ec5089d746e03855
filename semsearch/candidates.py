"""The passages that may answer a question, with their two scores. What is found by one half is scored by the other too.

dense     the best passages by cosine; score: mean of the passage's and its best sentence's cosine
lexical   the best passages by bm25, words in title and headings counting double
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch.lexical import expression
from semsearch.rows import get_spans
from semsearch.runs import Runs
from semsearch.snapshot import Snapshot

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

_BEST_WORDS = "SELECT rowid, -bm25(passages_fts, 2.0, 2.0, 1.0) AS score FROM passages_fts WHERE passages_fts MATCH ? "


@dataclass(frozen=True, slots=True)
class Matches:
    """Passages by id with a score each, best first. (n,), (n,)"""

    ids: Int64
    scores: Float64


@dataclass(frozen=True, slots=True)
class Candidates:
    """Passages by id (n,), their scores (n,), NaN where a half knows nothing, and best sentences (n,) or -1."""

    ids: Int64
    dense: Float64
    lexical: Float64
    best: Int64


def find_words(db: sqlite3.Connection, query: str, n: int, *, allowed: Runs | None = None) -> Matches:
    """The n best passages by bm25 that share a word with the question."""
    asked = expression(query)
    if not asked or (allowed is not None and not len(allowed)):
        return Matches(np.zeros(0, np.int64), np.zeros(0))
    if allowed is None:
        rows = db.execute(_BEST_WORDS + "ORDER BY score DESC LIMIT ?", (asked, n)).fetchall()
    else:
        rows = db.execute(_BEST_WORDS + "AND rowid BETWEEN ? AND ?", (asked, *_bounds(allowed))).fetchall()
    ids, scores = np.array([row[0] for row in rows], np.int64), np.array([row[1] for row in rows], np.float64)
    if allowed is not None:
        inside = np.flatnonzero(allowed.has(ids))
        order = inside[np.argsort(-scores[inside], kind="stable")[:n]]
        ids, scores = ids[order], scores[order]
    return Matches(ids, scores)


def _bounds(allowed: Runs) -> tuple[int, int]:
    return int(allowed.first[0]), int(allowed.first[-1] + allowed.count[-1] - 1)


def score(
    db: sqlite3.Connection, snapshot: Snapshot, query: Float32 | None, passages: Int64, words: Matches
) -> Candidates:
    """All that either half found, scored by both. `query` (d,) is None where meaning is not asked for or not known."""
    ids = np.union1d(passages, words.ids).astype(np.int64)
    lexical = np.full(len(ids), np.nan)
    lexical[np.searchsorted(ids, words.ids)] = words.scores
    dense, best = np.full(len(ids), np.nan), np.full(len(ids), -1, dtype=np.int64)
    if query is not None and len(ids):
        spans = get_spans(db, ids)
        whole = snapshot.cosines("passage", ids, query)
        counts = np.maximum(spans.counts, 0)
        starts = np.cumsum(counts) - counts
        owner = np.repeat(np.arange(len(ids)), counts)
        within = np.arange(len(owner)) - starts[owner]
        cosines = np.nan_to_num(snapshot.cosines("sentence", spans.firsts[owner] + within, query))
        top = np.full(len(ids), -np.inf)
        np.maximum.at(top, owner, cosines)
        places = np.flatnonzero(cosines == top[owner])[::-1]  # backwards, so that the first of equals stays
        best[owner[places]] = within[places]
        dense = (whole + np.where(np.isfinite(top), top, 0)) / 2
        best[np.isnan(dense)] = -1
    return Candidates(ids, dense, lexical, best)
