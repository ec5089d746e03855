"""Vectors in tables of Lance, in a folder or an object store: any number of readers, and no server.

Lance (https://lance.org, Apache-2.0) is a columnar format with vector indexes, made for object stores. Of its two
Python packages this uses pylance, the format's own, not LanceDB, which wraps it.

Each segment is a table, written once, piece by piece. It is read whole by the first query, and held in memory, where
FAISS compares all of it: Lance would read it again for every query. Tables are read in parallel. The table
`owner.lance` names the index that owns the folder or bucket; however many write it at once, only one creates it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Bool, Float16, Float32, Int64
from semsearch.dense.engines import Engine, StoreLocation
from semsearch.dense.faiss_store import scanned
from semsearch.dense.faiss_writer import plain_index
from semsearch.dense.vector_store import OpenedSegment, RunInThreads, SegmentsReader, SegmentsWriter, TopKResult
from semsearch.errors import IndexDamaged, StorageError, UsageError
from semsearch.storage.segments import LARGEST, Kind, Segment, segment_name
from semsearch_scale.publication import in_use
from semsearch_scale.stores.lance_tables import PACE, SUFFIX, LancePlace, lance_package, located

# -- Ownership ---------------------------------------------------------------------------------------------------------

OWNER = f"owner{SUFFIX}"
_FASTER = ("already exists", "commit conflict")  # Lance's messages when another process has written the owner meanwhile


def claim(uri: str, owner: str) -> None:
    """Make an owner the owner of the folder or bucket at a URI, if it is empty.

    Raises UsageError if it is another's or has other files, StorageError.
    """
    place = LancePlace(uri)
    if place.folder is not None:
        try:
            place.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{place.base} cannot be created: {error.strerror}") from error
    if owner_of(place) is None:
        if place.entries() - {OWNER}:
            raise UsageError(f"{place.base} contains other files; choose an empty or new folder")
        _write_owner(place, owner)
    if owner_of(place) != owner:
        raise UsageError(f"{place.base} holds the vectors of another index; choose another folder or bucket")


def release(uri: str, owner: str) -> None:
    """Delete all tables of an owner at a URI, and its claim; nothing if it is another's or does not exist."""
    place = LancePlace(uri)
    if owner_of(place) != owner:
        return
    for name in sorted(place.entries() - {OWNER}):
        if name.endswith(SUFFIX):
            place.drop(name)
    place.drop(OWNER)
    if place.folder is not None:
        with suppress(OSError):  # another file was put there
            place.folder.rmdir()


def owner_of(place: LancePlace) -> str | None:
    """The owner, who wrote the first version of the owner table; None if there is none."""
    lance = lance_package()
    opened = partial(lance.dataset, place.table(OWNER), version=1, storage_options=place.options)
    try:
        return str(place.ask(lambda: opened().to_table()["owner"][0].as_py(), name=OWNER))
    except FileNotFoundError:
        return None


def _write_owner(place: LancePlace, owner: str) -> None:
    import pyarrow  # an optional package

    table, write = pyarrow.table({"owner": [owner]}), lance_package().write_dataset
    try:
        place.ask(partial(write, table, place.table(OWNER), storage_options=place.options))
    except StorageError as error:
        if not any(each in str(error) for each in _FASTER):
            raise
    place.flush(OWNER)


# -- Writer ------------------------------------------------------------------------------------------------------------


COLUMN = "vector"
_CHUNK = 1 << 16  # vectors held until they are written


class GrowingTable:
    """A table that is being written, piece by piece."""

    def __init__(self, store: LanceStore, generation: int) -> None:
        self.count = 0
        self._store = store
        self._name = segment_name(store.kind, generation).rpartition(".")[0] + SUFFIX
        self._table: Any = None
        self._ids: list[Int64] = []
        self._held: list[Float16] = []
        self._digest = hashlib.blake2b(digest_size=16)
        self._size = 0

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Append vectors (n, d)."""
        self._ids.append(ids)
        self.count += len(ids)
        while len(vectors):
            room = _CHUNK - sum(map(len, self._held))
            self._held.append(vectors[:room].astype(np.float16))
            vectors = vectors[room:]
            if sum(map(len, self._held)) == _CHUNK:
                self._write_held()

    def discard(self) -> None:
        """Drop the table; if the store fails, the next writer does."""
        if self._table is not None:
            with suppress(StorageError):
                self._store.drop(self._name)

    def _write_held(self) -> None:
        """Append the vectors held so far to the table."""
        import pyarrow

        rows = np.concatenate(self._held)
        vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(rows.ravel()), rows.shape[1])
        place = self._store.place
        write = partial(
            lance_package().write_dataset,
            pyarrow.table({COLUMN: vectors}),
            place.table(self._name) if self._table is None else self._table,
            mode="create" if self._table is None else "append",
            storage_options=place.options,
        )
        self._table = place.ask(write, times=1 + rows.nbytes / PACE)
        self._digest.update(rows.data)
        self._size += rows.nbytes
        self._held = []

    def finish(self) -> Segment:
        """Write the last vectors, and flush the table to the disk."""
        if self._held:
            self._write_held()
        store, ids = self._store, IdRanges.of_ids(np.concatenate(self._ids))
        store.place.flush(self._name)
        return Segment(store.kind, self._name, self._size, ids, self._digest.hexdigest())


# -- Opened segment ----------------------------------------------------------------------------------------------------


class HeldVectors:
    """An opened segment whose vectors FAISS holds in memory, in half precision. Threads may share it."""

    rounding = 2e-3  # the error of a number in half precision, at most

    def __init__(self, segment: Segment, rows: Float16) -> None:
        """Hold a copy of vectors in the order of the segment's ids. (n, d)"""
        self.segment = segment
        self.dimension = rows.shape[1]
        self._index = plain_index(self.dimension, "passage")
        self._index.add_sa_codes(np.ascontiguousarray(rows).view(np.uint8))

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None) -> TopKResult:
        """Find the n allowed rows with the largest inner product with each query. (q, d), (rows,) -> (q, n)"""
        return scanned(self._index, self.segment.id_ranges, queries, n, allowed=allowed)

    def release(self) -> None:
        """All of it stays in memory."""

    def rows(self, rows: Int64) -> Float32:
        """The vectors at given rows. (n,) -> (n, d)"""
        return np.asarray(self._index.reconstruct_batch(rows), dtype=np.float32)


# -- Store -------------------------------------------------------------------------------------------------------------

_AT_ONCE = 16  # segments that are searched in parallel


class LanceStore:
    """A store of one kind of vectors in tables of Lance."""

    gathering = None  # segments are compared whole, however large they are

    def __init__(self, place: LancePlace, kind: Kind, *, largest: int = LARGEST) -> None:
        self.place = place
        self.kind: Kind = kind
        self.largest = largest
        self._opened: dict[str, Future[OpenedSegment]] = {}
        self._lock = Lock()
        self._run_tasks = RunInThreads(_AT_ONCE, "semsearch-lance")

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> SegmentsReader:
        """Open a reader of some segments. Tables that the previous reader had open too stay open."""
        with self._lock:
            self._opened = {
                each.file: self._opened.get(each.file) or self._run_tasks.pool.submit(self._segment, each)
                for each in segments
            }
            opening = [self._opened[each.file] for each in segments]
        try:
            return SegmentsReader([each.result() for each in opening], removed, run_tasks=self._run_tasks)
        except BaseException:
            with self._lock:  # the next reader tries again, instead of waiting for this one's segments
                self._opened = {name: each for name, each in self._opened.items() if _is_open(each)}
            raise

    def writer(self, generation: int) -> SegmentsWriter:
        """Make a writer of new tables, which have no effect until the manifest names them."""
        return SegmentsWriter(lambda _: GrowingTable(self, generation), self.largest)

    def check(self, segment: Segment) -> list[str]:
        """Compare a table with its digest; its problems. Raises FileNotFoundError."""
        digest = hashlib.blake2b(digest_size=16)
        try:
            with self.place.reached(segment.file):
                for vectors in _batches(self.table(segment.file)):
                    digest.update(vectors.data)
        except IndexDamaged as error:
            return [str(error)]
        is_same = digest.hexdigest() == segment.digest
        return [] if is_same else [f"{segment.file} does not match its digest"]

    def names(self) -> Iterable[str]:
        """The names of all tables of this kind, including unfinished ones."""
        return self.place.names(self.kind)

    def drop(self, name: str) -> None:
        """Delete a table."""
        self.place.drop(name)

    def table(self, name: str) -> Any:
        """Open a table. To be used within `place.reached`."""
        return lance_package().dataset(self.place.table(name), storage_options=self.place.options)

    def _segment(self, segment: Segment) -> OpenedSegment:
        return self.place.ask(partial(self._read, segment), name=segment.file, times=1 + segment.size / PACE)

    def _read(self, segment: Segment) -> OpenedSegment:
        table = self.table(segment.file)
        rows = np.concatenate([*_batches(table)])
        is_whole = hashlib.blake2b(rows.data, digest_size=16).hexdigest() == segment.digest
        if not is_whole or table.count_rows() != len(segment.id_ranges):
            raise IndexDamaged(
                f"{segment.file} in {self.place.base} does not match its digest; run: semsearch index --rebuild"
            )
        return HeldVectors(segment, rows)


def _batches(table: Any) -> Iterator[Float16]:
    """The vectors of a table, in its order, some at a time. (n, d)"""
    dimension = table.schema.field(COLUMN).type.list_size
    for batch in table.to_batches(columns=[COLUMN]):
        yield batch.column(COLUMN).flatten().to_numpy(zero_copy_only=True).reshape(-1, dimension)


def _is_open(opening: Future[OpenedSegment]) -> bool:
    return opening.done() and opening.exception() is None


def _open(location: StoreLocation) -> LanceStore:
    return LanceStore(LancePlace(location.uri), location.kind, largest=location.largest)


ENGINE = Engine(open=_open, located=located, claim=claim, release=release, in_use=in_use)
