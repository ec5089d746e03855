"""One generation, opened for searching: vectors, words, embedder. Nothing is loaded before it is needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import Runs
from semsearch.arrays.top_k import Found
from semsearch.dense.engines import ENGINE, open_stores
from semsearch.dense.store import VectorReader
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.lexical.search import WordSearch
from semsearch.lexical.segment import Words
from semsearch.storage.database import SEGMENTS
from semsearch.storage.fitted import load_embedder
from semsearch.storage.manifest import get_removed, get_segments
from semsearch.storage.meta import get_count, get_meta
from semsearch.storage.segments import VECTORS, Kind, Segment
from semsearch.system.opened import Opened
from semsearch.topics.joined import Halves
from semsearch.topics.model import Topics, open_topics
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.stored import Stored

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


class Snapshot:
    """What a search needs of one generation. Threads may share it, each with a connection of its own.

    Snapshots of one index share what they have in common, which `before` passes on: a segment, a store or an embedder
    that the one before has opened is not opened again. To be used only in a read transaction that sees this generation.
    Raises FileNotFoundError where a segment has gone: the transaction is then older than the grace that a writer gives.
    """

    def __init__(self, db: sqlite3.Connection, folder: Path, before: Snapshot | None = None) -> None:
        self.generation = get_count(db, "generation")
        self._segments = get_segments(db)
        self._removed = {kind: get_removed(db, kind) for kind in VECTORS}
        self._documents = int(db.execute("SELECT count(*) FROM documents").fetchone()[0])
        self._fit = _fit_generation(db)
        self._readers: Opened[Kind, VectorReader] = Opened()
        self._searches: Opened[Kind, WordSearch] = Opened()
        engine = get_meta(db, ENGINE)
        shared = None if before is None else before._shared
        self._shared: _Shared = shared if shared is not None and shared.engine == engine else _Shared(folder, engine)
        self._shared.keep(self._segments, self._fit)

    def embedder(self, db: sqlite3.Connection, vectors: Callable[[], WordVectors]) -> SentenceEmbedder | None:
        """The fitted embedder; None in an index without sentences."""
        if self._fit is None:
            return None
        return self._shared.embedders.get(self._fit, lambda: load_embedder(db, vectors()))

    @property
    def topics(self) -> Topics | None:
        """What passages' vectors are made of besides the general ones; None where nothing was adapted."""
        for segment in self._of("topics"):
            return self._shared.topics.get(segment.file, partial(open_topics, self._shared.folder / segment.file))
        return None

    @property
    def halves(self) -> Halves:
        """How to take the vectors of passages apart."""
        return Halves(0 if self.topics is None else self.topics.dimension)

    def scan(self, queries: Float32, n: int, *, allowed: Runs | None = None) -> Found:
        """The n best passages for each query, by cosine, best first; fewer where there are fewer. (q, d) -> (q, ≤ n)"""
        return self._reader("passage").search(queries, n, allowed=allowed)

    def stored(self, kind: Kind, ids: Int64) -> Stored:
        """The stored vectors of these ids (n,)."""
        return self._reader(kind).fetch(ids)

    def vectors(self, kind: Kind, ids: Int64) -> Float32:
        """The stored vectors of these, without a row for one that has none. (n,) -> (≤ n, d)"""
        return self.stored(kind, ids).rows

    @property
    def words(self) -> WordSearch:
        """The lexical half."""
        return self._searches.get("words", self._open_words)

    def _reader(self, kind: Kind) -> VectorReader:
        return self._readers.get(kind, partial(self._open_vectors, kind))

    def _open_vectors(self, kind: Kind) -> VectorReader:
        return self._shared.stores[kind].open(self._of(kind), self._removed[kind])

    def _open_words(self) -> WordSearch:
        segments, removed = self._of("words"), self._removed["passage"]
        opened = [self._shared.words.get(each.file, partial(self._open_segment, each)) for each in segments]
        return WordSearch(opened, [_alive(each, removed) for each in segments], documents=self._documents)

    def _open_segment(self, segment: Segment) -> Words:
        return Words(self._shared.folder / segment.file, segment)

    def _of(self, kind: Kind) -> list[Segment]:
        return [segment for segment in self._segments if segment.kind == kind]


class _Shared:
    """What snapshots of an index have in common, as far as it has been opened."""

    def __init__(self, folder: Path, engine: str | None) -> None:
        self.folder = folder / SEGMENTS
        self.engine = engine
        self.stores = open_stores(engine, folder)
        self.words: Opened[str, Words] = Opened()
        self.topics: Opened[str, Topics] = Opened()
        self.embedders: Opened[int, SentenceEmbedder | None] = Opened()  # by the generation that fitted them

    def keep(self, segments: list[Segment], fit: int | None) -> None:
        """Let go of what these segments and this fit have no use for."""
        names = {segment.file for segment in segments}
        self.words.keep(names)
        self.topics.keep(names)
        self.embedders.keep(() if fit is None else (fit,))


def _alive(segment: Segment, removed: Runs) -> Bool | None:
    """The rows of a segment that are not removed; None where that is all of them."""
    gone = segment.runs.rows_in(removed)
    return ~gone if gone.any() else None


def _fit_generation(db: sqlite3.Connection) -> int | None:
    row = db.execute("SELECT generation FROM fit").fetchone()
    return None if row is None else int(row[0])
