"""The read path: a question to hits, in one read transaction.

question ─ embed ─ scan passages ┐
                                 ├─ score each by both ─ fuse ─ the best k ─ rows ─ hits
question ─ BM25 ─────────────────┘
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import SupportsFloat, SupportsIndex, get_args

import numpy as np
import numpy.typing as npt

from semsearch.answers import Ranked, make_hits
from semsearch.candidates import Candidates, score
from semsearch.errors import IndexDamaged, UsageError, rebuild_command
from semsearch.filters import FUNCTIONS, Filter, condition
from semsearch.fusion import fuse
from semsearch.hits import Hit, Mode
from semsearch.rows import get_count
from semsearch.runs import Runs
from semsearch.snapshot import Snapshot
from semsearch.store import Store
from semsearch.tokens import words
from semsearch.vectors.table import WordVectors

logger = logging.getLogger(__name__)
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

DEPTH = 50  # passages that each half hands on to be scored by both; 300 gave the same ranking
_DEPTH_PER_HIT = 5  # and for each hit asked for
_FEW = 2000  # allowed passages that are all scored, without a scan
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, checked. Raises UsageError where it cannot be meant."""

    queries: Sequence[str]
    k: int
    mode: Mode
    min_score: float | None
    filters: tuple[Filter, ...]
    context: int

    def __post_init__(self) -> None:
        for query in self.queries:
            if not isinstance(query, str) or not words(query):
                raise UsageError(f"the query {query!r} has no words; ask with at least one")
        for name, number in (("k", self.k), ("context", self.context)):
            if not isinstance(number, SupportsIndex):
                raise UsageError(f"{name} must be a whole number, not {number!r}")
        if self.k < 1:
            raise UsageError(f"k must be at least 1, not {self.k}")
        if self.context < 0:
            raise UsageError(f"context must not be negative, not {self.context}")
        if self.min_score is not None and not (
            isinstance(self.min_score, SupportsFloat) and self.min_score == self.min_score
        ):
            raise UsageError(f"min_score must be a number, not {self.min_score!r}")
        if self.mode not in get_args(Mode):
            raise UsageError(f"there is no mode {self.mode!r}; expected one of {', '.join(get_args(Mode))}")


class Searcher:
    """Answers questions about one index. Keeps the newest generation open between them."""

    def __init__(self, store: Store, vectors: Callable[[], WordVectors]) -> None:
        self._store = store
        self._vectors = vectors
        self._snapshot: Snapshot | None = None

    def answer(self, question: Question) -> list[list[Hit]]:
        """Hits for each query, best first. A generation swept while it was being opened is left for the next one."""
        for _ in range(_ATTEMPTS):
            try:
                with self._store.reading() as db:
                    return self._answer(db, question)
            except FileNotFoundError as error:
                self._snapshot, missing = None, error
        cure = rebuild_command(self._store.folder)
        raise IndexDamaged(f"{missing.filename} is missing; run: {cure}") from missing

    def _answer(self, db: sqlite3.Connection, question: Question) -> list[list[Hit]]:
        snapshot = self._current(db)
        allowed = _allowed(db, question.filters) if question.filters else None
        depth = max(DEPTH, _DEPTH_PER_HIT * question.k)
        embedded = self._embed(db, snapshot, question)
        nothing: Int64 = np.zeros(0, np.int64)
        found = None if embedded is None else _scan(snapshot, embedded, depth, allowed)
        answers: list[list[Hit]] = []
        for number, query in enumerate(question.queries):
            vector, passages, lexical = None, nothing, None
            if embedded is not None and found is not None and embedded[number].any():
                vector, passages = embedded[number], found[number]
            if question.mode != "dense":
                lexical = snapshot.words.scores(query)
                passages = np.concatenate((passages, lexical.best(depth, allowed=allowed)))
            candidates = score(db, snapshot, np.unique(passages), vector, lexical)
            answers.append(make_hits(db, query, _ranked(candidates, question), context=question.context))
        return answers

    def _current(self, db: sqlite3.Connection) -> Snapshot:
        if self._snapshot is None or self._snapshot.generation != get_count(db, "generation"):
            self._snapshot = Snapshot(db, self._store.folder, self._snapshot)
        return self._snapshot

    def _embed(self, db: sqlite3.Connection, snapshot: Snapshot, question: Question) -> Float32 | None:
        """The questions' vectors (q, d); None where meaning is not asked for, or where nothing is indexed."""
        if question.mode == "lexical":
            return None
        embedder = snapshot.embedder(db, self._vectors)
        if embedder is None:
            return None
        vectors = embedder.transform(question.queries)
        for query, vector in zip(question.queries, vectors, strict=True):
            if not vector.any():
                instead = "only its words were looked for" if question.mode == "hybrid" else "nothing can be found"
                logger.warning("no word of %r is among the word vectors: %s", query, instead)
        return vectors


def _scan(snapshot: Snapshot, queries: Float32, depth: int, allowed: Runs | None) -> Sequence[Int64]:
    """The passages that meaning finds for each query; where few are allowed, simply these."""
    if allowed is not None and len(allowed) <= _FEW:
        return [allowed.all_ids()] * len(queries)
    return [ids[ids >= 0] for ids in snapshot.scan(queries, depth, allowed=allowed).ids]


def _ranked(candidates: Candidates, question: Question) -> list[Ranked]:
    """The best k, equal ones in the order of the index."""
    scores = {"dense": candidates.dense, "lexical": candidates.lexical}.get(question.mode)
    if scores is None:
        scores = fuse(candidates.dense, candidates.lexical)
    least = -np.inf if question.min_score is None else question.min_score
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[: question.k]
    return [
        Ranked(
            int(candidates.ids[place]),
            float(scores[place]),
            _number(candidates.dense[place]),
            _number(candidates.lexical[place]),
            int(candidates.best[place]),
        )
        for place in order
        if scores[place] >= least  # never true of NaN
    ]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _allowed(db: sqlite3.Connection, filters: Sequence[Filter]) -> Runs:
    """The ids of the passages whose documents pass all filters."""
    for name, (arguments, function) in FUNCTIONS.items():
        db.create_function(name, arguments, function, deterministic=True)
    where = condition(filters, here=Path.cwd().as_posix())
    ranges = "SELECT first_passage, passages FROM documents LEFT JOIN roots ON roots.id = documents.root_id WHERE "
    return Runs.of(db.execute(ranges + where.sql, where.parameters))  # the SQL is ours, what was typed is in parameters
