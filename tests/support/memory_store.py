"""A vector store in memory: all that the contract of tests/laws/test_vector_store.py asks for, and nothing else.

Vectors are kept as half-precision floats, those of sentences rounded to bytes before, as FAISS segments keep them: an
index over either gives the same hits.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.vectors import from_bytes, to_bytes
from semsearch.dense.engines import Engine, StoreLocation
from semsearch.dense.vector_store import SegmentsWriter, StoredVectors, TopKResult, VectorStore
from semsearch.errors import UsageError
from semsearch.storage.segments import LARGEST, Kind, Segment, segment_name

Float16 = npt.NDArray[np.float16]
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]


def memory_engine(*, keeps_sentences: bool = True) -> Engine:
    """An engine whose stores live as long as it does, so that a location can be opened again."""
    stores: dict[tuple[str, Kind], MemoryStore] = {}
    owners: dict[str, str] = {}

    def opened(location: StoreLocation) -> VectorStore:
        assert owners[location.uri] == location.owner
        return stores.setdefault((location.uri, location.kind), MemoryStore(location.kind))

    def claim(uri: str, owner: str) -> None:
        if owners.setdefault(uri, owner) != owner:
            raise UsageError(f"{uri} has the vectors of another index; choose another place")

    def release(uri: str, owner: str) -> None:
        if owners.get(uri) == owner:
            del owners[uri]
            for place in [place for place in stores if place[0] == uri]:
                del stores[place]

    return Engine(opened, claim=claim, release=release, keeps_sentences=keeps_sentences)


class MemoryStore:
    """Vectors of one kind, by the names of their segments."""

    largest = LARGEST
    gathering = None

    def __init__(self, kind: Kind = "passage") -> None:
        self.kind: Kind = kind
        self.held: dict[str, Float16] = {}

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> MemoryReader:
        ids = np.concatenate([np.zeros(0, dtype=np.int64), *(segment.id_ranges.all_ids() for segment in segments)])
        rows = [self._rows(segment) for segment in segments]
        kept = ~removed.has(ids)
        return MemoryReader(ids[kept], np.concatenate(rows)[kept] if rows else np.zeros((0, 0), np.float16))

    def writer(self, generation: int) -> SegmentsWriter:
        return SegmentsWriter(lambda _: MemorySegment(self, generation), self.largest)

    def check(self, segment: Segment) -> list[str]:
        is_same = _digest(self._rows(segment)) == segment.digest
        return [] if is_same else [f"{segment.file} does not match its digest"]

    def names(self) -> Iterable[str]:
        return set(self.held)

    def drop(self, name: str) -> None:
        self.held.pop(name, None)

    def _rows(self, segment: Segment) -> Float16:
        if segment.file not in self.held:
            raise FileNotFoundError(errno.ENOENT, "no such segment", segment.file)
        return self.held[segment.file]


class MemorySegment:
    def __init__(self, store: MemoryStore, generation: int) -> None:
        self._store = store
        self._generation = generation
        self.count = 0
        self._ids: list[Int64] = []
        self._rows: list[Float16] = []

    def add(self, ids: Int64, vectors: npt.NDArray[Any]) -> None:
        self._ids.append(ids)
        self.count += len(ids)
        if self._store.kind == "sentence":
            self._rows.append(from_bytes(vectors if vectors.dtype == np.uint8 else to_bytes(vectors)))
        else:
            self._rows.append(vectors.astype(np.float16))

    def finish(self) -> Segment:
        name, rows = segment_name(self._store.kind, self._generation), np.concatenate(self._rows)
        self._store.held[name] = rows
        id_ranges = IdRanges.of_ids(np.concatenate(self._ids))
        return Segment(self._store.kind, name, rows.nbytes, id_ranges, _digest(rows))

    def discard(self) -> None:
        """Nothing was written anywhere."""


class MemoryReader:
    rounding = 2e-3

    def __init__(self, ids: Int64, rows: Float16) -> None:
        order = np.argsort(ids)
        self._ids, self._rows = ids[order], rows[order].astype(np.float32)

    def search(self, queries: Float32, n: int, *, allowed: IdRanges | None = None) -> TopKResult:
        if len(self._rows) and (queries.ndim != 2 or queries.shape[1] != self._rows.shape[1]):
            raise UsageError(f"queries of shape {queries.shape} have not {self._rows.shape[1]} numbers")
        inside = np.flatnonzero(np.ones(len(self._ids), np.bool_) if allowed is None else allowed.has(self._ids))
        if not len(inside):
            return TopKResult(np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64))
        scores = queries @ self._rows[inside].T
        best = np.argsort(-scores, axis=1, kind="stable")[:, :n]
        return TopKResult(np.take_along_axis(scores, best, axis=1), self._ids[inside][best])

    def fetch(self, ids: Int64) -> StoredVectors:
        positions = np.flatnonzero(np.isin(ids, self._ids))
        return StoredVectors(positions, self._rows[np.searchsorted(self._ids, ids[positions])], len(ids))

    def release(self) -> None:
        """All of it stays in memory."""


def _digest(rows: Float16) -> str:
    return hashlib.blake2b(rows.tobytes(), digest_size=16).hexdigest()
