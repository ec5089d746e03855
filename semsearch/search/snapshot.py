"""One generation, opened for searching: vectors, words, embedder. Nothing is loaded before it is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import Runs
from semsearch.arrays.top_k import Found
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.lexical.search import WordSearch
from semsearch.lexical.segment import Words
from semsearch.storage.database import SEGMENTS
from semsearch.storage.fitted import load_embedder
from semsearch.storage.manifest import get_removed, get_segments
from semsearch.storage.meta import get_count
from semsearch.storage.segments import Kind
from semsearch.topics.joined import Halves
from semsearch.topics.model import Topics, open_topics
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.faiss_segment import Vectors

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
Part = Callable[[Float32], Float32]

_MANY = 32  # queries from which matrix products take less time than a scan for each


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored vectors of some passages or sentences: those of the ids at some places among n. (m,), (m, d)"""

    places: Int64
    rows: Float32
    n: int

    def cosines(self, queries: Float32, owners: Int64, which: Int64, *, part: Part = np.asarray) -> Float64:
        """The cosine of a query and one of the n, or of a part of it, for pairs of both. (q, d), (p,), (p,) -> (p,)

        NaN without a vector, or where either is zero.
        """
        from semsearch.dense.faiss_segment import inner_products  # start-up time: a lexical search needs no FAISS

        result = np.full(len(which), np.nan)
        if not len(self.rows) or not queries.any():
            return result
        rows, numbers = part(self.rows), np.full(self.n, -1)
        numbers[self.places] = np.arange(len(rows))
        of = numbers[which]
        known = np.flatnonzero(of >= 0) if len(rows) < self.n else slice(None)
        of, owners = of[known], owners[known]
        scores = inner_products(queries, owners, rows, of).astype(np.float64)
        silent = np.flatnonzero(scores == 0)
        if len(silent):
            scores[silent[~(rows[of[silent]].any(axis=1) & queries[owners[silent]].any(axis=1))]] = np.nan
        result[known] = scores
        return result


NOTHING_STORED = Stored(np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.float32), 0)


class Snapshot:
    """What a search needs of one generation. Files that the one before had open as well stay open.

    Threads may share one: a file is opened once, by whoever needs it first.

    To be used only in a read transaction that sees this generation. Raises FileNotFoundError where a file has gone:
    the transaction is then older than the grace that a writer gives.
    """

    def __init__(self, db: sqlite3.Connection, folder: Path, before: Snapshot | None = None) -> None:
        self.generation = get_count(db, "generation")
        self._folder = folder / SEGMENTS
        self._segments = get_segments(db)
        self._removed = get_removed(db, "passage")
        self._documents = int(db.execute("SELECT count(*) FROM documents").fetchone()[0])
        self._fit_generation = _fit_generation(db)
        self._embedder: SentenceEmbedder | None = None
        self._opening = threading.RLock()
        self._opened: dict[str, Vectors] = {}
        self._opened_words: dict[str, Words] = {}
        self._opened_topics: dict[str, Topics] = {}
        if before is not None:
            names = {segment.file for segment in self._segments}
            with before._opening:
                self._opened = {file: vectors for file, vectors in before._opened.items() if file in names}
                self._opened_words = {file: words for file, words in before._opened_words.items() if file in names}
                self._opened_topics = {file: topics for file, topics in before._opened_topics.items() if file in names}
                if before._fit_generation == self._fit_generation:
                    self._embedder = before._embedder

    def embedder(self, db: sqlite3.Connection, vectors: Callable[[], WordVectors]) -> SentenceEmbedder | None:
        """The fitted embedder; None in an index without sentences."""
        with self._opening:
            if self._embedder is None and self._fit_generation is not None:
                self._embedder = load_embedder(db, vectors())
            return self._embedder

    @property
    def topics(self) -> Topics | None:
        """What passages' vectors are made of besides the general ones; None where nothing was adapted."""
        for segment in self._segments:
            if segment.kind == "topics":
                with self._opening:
                    if segment.file not in self._opened_topics:
                        self._opened_topics[segment.file] = open_topics(self._folder / segment.file)
                    return self._opened_topics[segment.file]
        return None

    @property
    def halves(self) -> Halves:
        """How to take the vectors of passages apart."""
        return Halves(0 if self.topics is None else self.topics.dimension)

    def scan(self, queries: Float32, n: int, *, allowed: Runs | None = None) -> Found:
        """The n best passages for each query, by cosine, best first; fewer where there are fewer. (q, d) -> (q, ≤ n)"""
        parts: list[Found] = []
        for vectors, alive in zip(self._open("passage"), self._alive, strict=True):
            mask = alive
            if allowed is not None:
                inside = vectors.segment.runs.rows_in(allowed)
                mask = inside if alive is None else inside & alive
            parts.append(_scan(vectors, queries, min(n, len(vectors.segment.runs)), mask))
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return Found(np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64))
        scores = np.concatenate([part.scores for part in parts], axis=1)
        ids = np.concatenate([part.ids for part in parts], axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
        return Found(np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1))

    def stored(self, kind: Kind, ids: Int64) -> Stored:
        """The stored vectors of these ids (n,)."""
        places: list[Int64] = []
        found: list[Float32] = []
        for vectors in self._open(kind):
            runs = vectors.segment.runs
            inside = np.flatnonzero(runs.has(ids))
            if len(inside):
                places.append(inside)
                found.append(vectors.rows(runs.below(ids[inside])))
        if len(found) == 1:
            return Stored(places[0], found[0], len(ids))
        if not found:
            return replace(NOTHING_STORED, n=len(ids))
        return Stored(np.concatenate(places), np.concatenate(found), len(ids))

    def vectors(self, kind: Kind, ids: Int64) -> Float32:
        """The stored vectors of these, without a row for one that has none. (n,) -> (≤ n, d)"""
        return self.stored(kind, ids).rows

    def _open(self, kind: Kind) -> list[Vectors]:
        from semsearch.dense.faiss_segment import Vectors  # start-up time: a lexical search needs no FAISS

        opened: list[Vectors] = []
        for segment in self._segments:
            if segment.kind == kind:
                with self._opening:
                    if segment.file not in self._opened:
                        self._opened[segment.file] = Vectors(self._folder / segment.file, segment)
                    opened.append(self._opened[segment.file])
        return opened

    @cached_property
    def words(self) -> WordSearch:
        """The lexical half."""
        opened: list[Words] = []
        for segment in self._segments:
            if segment.kind == "words":
                with self._opening:
                    if segment.file not in self._opened_words:
                        self._opened_words[segment.file] = Words(self._folder / segment.file, segment)
                    opened.append(self._opened_words[segment.file])
        return WordSearch(opened, self._alive_in("words"), documents=self._documents)

    @cached_property
    def _alive(self) -> list[Bool | None]:
        return self._alive_in("passage")

    def _alive_in(self, kind: Kind) -> list[Bool | None]:
        """For each segment of passages, the rows that are not removed; None where that is all of them."""
        removed = [segment.runs.rows_in(self._removed) for segment in self._segments if segment.kind == kind]
        return [~rows if rows.any() else None for rows in removed]


def _scan(vectors: Vectors, queries: Float32, n: int, allowed: Bool | None) -> Found:
    """The best n rows of one segment for each query; for many queries all at once."""
    if len(queries) < _MANY or not vectors.compares_all:
        return vectors.scan(queries, n, allowed=allowed)
    from semsearch.dense.exact import best_rows  # start-up time: one question needs none of it

    runs = vectors.segment.runs
    best = best_rows(vectors.rows, len(runs), queries, n, allowed=allowed)
    return Found(best.scores, np.where(best.rows < 0, -1, runs.ids(np.maximum(best.rows, 0))))


def _fit_generation(db: sqlite3.Connection) -> int | None:
    row = db.execute("SELECT generation FROM fit").fetchone()
    return None if row is None else int(row[0])
