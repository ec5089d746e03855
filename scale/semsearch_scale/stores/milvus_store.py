"""Vectors in Milvus, which spreads vectors and queries over the machines of a cluster: `milvus:http://host:19530`.

A segment is a partition of a collection, written once: a partition is made and dropped in milliseconds, where a
collection takes seconds. Partitions are searched at the same time. There are at most two collections for an index and a
dimension: one compares all vectors, the other, for segments of many vectors, has graphs (HNSW; Malkov and Yashunin
2018).

Vectors are first written to a file, then sent once their number is known. They are rounded to half precision, so that
scores are those of an index on one machine, and sent as single precision. A partition is flushed to the server's
storage, its rows are counted, and its graph is built and measured before the segment is reported. A failed one is left
to the next sweep: the server may be in no state to drop it.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopK
from semsearch.arrays.types import Float16, Float32, Int64
from semsearch.dense.engines import Engine, StoreLocation
from semsearch.dense.scan_plan import EQUAL, FEW, QUESTIONS, K, ScanOptions, evenly, least_step
from semsearch.dense.segments_reader import InThreads, SegmentsReader
from semsearch.dense.vector_store import Questions, SegmentsWriter
from semsearch.errors import StorageError
from semsearch.results.reports import Scan
from semsearch.storage.segments import LARGEST, Kind, Segment, segment_name
from semsearch_scale.publication import in_use
from semsearch_scale.stores.milvus_reader import Partition, PartitionDigest, check_partitions
from semsearch_scale.stores.milvus_server import (
    GRAPH,
    CollectionAddress,
    Collections,
    MilvusServer,
    claim,
    located,
    parsed,
    release,
)

# -- Partition writer --------------------------------------------------------------------------------------------------


logger = logging.getLogger(__name__)

_SENT = 1 << 22  # bytes of vectors in a call
_EF = (16, 32, 64, 128, 256, 512, 1024)  # search depths of a graph, of which the first that reaches the recall is used
_GRAPH_LEAST = 1024  # vectors: Milvus compares all of fewer
_PAUSE = 0.5  # seconds between two checks of a graph that is being built


class GrowingPartition:
    """A partition that is being written: its vectors lie on the disk until their number is known."""

    def __init__(self, store: MilvusStore, generation: int, dimension: int, questions: Questions | None) -> None:
        self._store = store
        self._generation = generation
        self._questions = questions
        self._spool = _Spool(store.folder, dimension)

    @property
    def count(self) -> int:
        """The number of vectors so far."""
        return self._spool.count

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Append vectors (n, d)."""
        self._spool.add(ids, vectors)

    def finish(self) -> Segment:
        """Send the vectors, and count and measure what has arrived. Raises StorageError."""
        store, spool = self._store, self._spool
        store.collections.check_owner(store.owner)
        which = f"{'hnsw' if store.has_graph(spool.count) else 'exact'}_{spool.dimension}"
        store.collections.make(which, owner=store.owner)
        name = Path(segment_name(store.kind, self._generation)).stem.replace("-", "_")  # as Milvus allows it
        segment = self._written(spool, which, name)
        spool.close()
        return segment

    def discard(self) -> None:
        """Delete the vectors on the disk; a partition is left to the next sweep."""
        self._spool.close()

    def _written(self, spool: _Spool, which: str, name: str) -> Segment:
        server, collection = self._store.collections.server, f"{self._store.collections.name}_{which}"
        server.change(lambda client, seconds: client.create_partition(collection, name, timeout=seconds))
        written, digest = 0, hashlib.blake2b(digest_size=16)
        for ids, rows in spool.parts(_SENT // (4 * spool.dimension)):
            digest.update(rows.data)
            written = server.change(partial(_insert, collection, name, ids, rows.astype(np.float32)))
        server.change(lambda client, seconds: client.flush(collection, timeout=seconds))
        kept = PartitionDigest(which, written, _EF[0] if which.startswith("hnsw") else 0, digest.hexdigest())
        size = spool.count * (4 * spool.dimension + 8)
        segment = Segment(self._store.kind, name, size, IdRanges.of_ids(spool.ids), kept.text)
        opened = Partition(self._store.collections, segment)
        if (count := opened.count()) != spool.count:
            raise StorageError(
                f"{self._store.collections.server.address.place} holds {count} of the {spool.count} vectors "
                "that were sent, "
                "perhaps because the connection was cut; nothing was changed, try again"
            )
        if not kept.ef:
            return segment
        server.change(partial(_await_graph, collection))
        ef, scan = self._measured(spool, opened)
        kept = PartitionDigest(which, written, ef, kept.digest)
        return Segment(self._store.kind, name, size, segment.id_ranges, kept.text, scan)

    def _measured(self, spool: _Spool, opened: Partition) -> tuple[int, Scan]:
        """Choose how far the graph is searched with half of the questions, and measure its recall with the others."""
        ids = spool.ids
        asked: Float32 = np.zeros((0, 0), np.float32)
        if self._questions is not None:
            asked = self._questions(ids[evenly(len(ids), QUESTIONS)])
        if len(asked) < FEW:
            asked = spool.rows(evenly(len(ids), QUESTIONS)).astype(np.float32)
        nearest = TopK(len(asked), min(K, len(ids)))
        for some, rows in spool.parts(1 << 14):
            nearest.add(asked @ rows.astype(np.float32).T, some)
        last = nearest.best().scores[:, -1:] - EQUAL  # of the ten best; equal scores are equally good

        def shares(ef: int, part: slice) -> Float32:
            found = opened.scan(asked[part], min(K, len(ids)), ef=ef).scores
            return np.asarray((found >= last[part]).mean(axis=1), dtype=np.float32)

        least = least_step(_EF, shares, self._store.scanning.target_recall)
        scan = Scan(f"HNSW{GRAPH['hnsw']['M']}", len(ids), 0, least.step, least.recall, least.questions)
        return least.step, scan


class _Spool:
    """Vectors on the disk, as half-precision floats, in a file without a name, which leaves nothing behind."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self.dimension = dimension
        self.count = 0
        self._file = TemporaryFile(dir=folder if folder.is_dir() else None)  # noqa: SIM115  # `close` closes it
        self._ids: list[Int64] = []

    def add(self, ids: Int64, vectors: Float32) -> None:
        self._file.write(np.ascontiguousarray(vectors, dtype=np.float16).data)
        self._ids.append(ids)
        self.count += len(ids)

    @property
    def ids(self) -> Int64:
        return np.concatenate(self._ids)

    def parts(self, size: int) -> Iterator[tuple[Int64, Float16]]:
        """The ids and vectors, so many at a time. (n,), (n, d)"""
        ids = self.ids
        for first in range(0, self.count, size):
            some = ids[first : first + size]
            yield some, self.rows(np.arange(first, first + len(some)))

    def rows(self, rows: Int64) -> Float16:
        """The vectors at some rows. (n,) -> (n, d)"""
        self._file.flush()
        mapped = np.memmap(self._file, np.float16, "r", shape=(self.count, self.dimension))
        return np.ascontiguousarray(mapped[rows])

    def close(self) -> None:
        self._file.close()


def _insert(collection: str, name: str, ids: Int64, rows: Float32, client: Any, seconds: float) -> int:
    """Insert vectors; the time by the server's clock, which the client's own `insert` does not return."""
    sent = [{"id": id_, "vector": row} for id_, row in zip(ids.tolist(), rows, strict=True)]
    return int(client._get_connection().insert_rows(collection, sent, partition_name=name, timeout=seconds).timestamp)


def _await_graph(collection: str, client: Any, seconds: float) -> None:
    """Wait until graphs of all that was flushed are built and loaded, as long as more of them are built."""
    left, end = -1, time.monotonic() + seconds
    while time.monotonic() < end:
        flushed = {each.segment_id for each in client.list_persistent_segments(collection, timeout=seconds)}
        loaded = {
            each.segment_id
            for each in client.list_loaded_segments(collection, timeout=seconds)
            if each.index_id or each.num_rows < _GRAPH_LEAST
        }
        pending = int(client.describe_index(collection, "vector", timeout=seconds)["pending_index_rows"])
        if flushed <= loaded:
            return
        if pending != left:
            left, end = pending, time.monotonic() + seconds
        time.sleep(_PAUSE)
    logger.warning("the graphs of %s are not loaded yet; until then, Milvus searches without them", collection)


# -- Partition store ---------------------------------------------------------------------------------------------------

_GRAPH_FROM = 1 << 15  # vectors: fewer are compared in about ten milliseconds
_CHUNK = 1 << 14  # vectors that are read at a time to check them
_AT_ONCE = 8  # partitions that are searched in parallel


class MilvusStore:
    """A store of one kind of vectors in partitions of Milvus. `folder` is where vectors lie until they are sent."""

    def __init__(
        self,
        address: CollectionAddress,
        folder: Path,
        kind: Kind,
        *,
        owner: str,
        scanning: ScanOptions | None = None,
        largest: int = LARGEST,
    ) -> None:
        self.collections = Collections(MilvusServer(address))
        self.folder = folder
        self.kind: Kind = kind
        self.owner = owner
        self.largest = largest
        self.scanning = ScanOptions() if scanning is None else scanning
        self._together = InThreads(_AT_ONCE, "semsearch-milvus")

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which a partition has a graph; None if it never has."""
        return None if self.scanning.exact else min(self.scanning.listed, _GRAPH_FROM)

    def has_graph(self, count: int) -> bool:
        """Return whether a partition of so many vectors has a graph."""
        return self.gathering is not None and count >= self.gathering

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> SegmentsReader:
        """Open a reader of some segments. Raises FileNotFoundError, StorageError."""
        if segments:
            check_partitions(self.collections, [segment.file for segment in segments])
        for which in {PartitionDigest.of(segment).collection for segment in segments}:
            self.collections.load(which)
        opened = [Partition(self.collections, segment) for segment in segments]
        return SegmentsReader(opened, removed, together=self._together)

    def writer(self, generation: int, *, questions: Questions | None = None) -> SegmentsWriter:
        """Make a writer of new partitions, which have no effect until the manifest names them."""
        return SegmentsWriter(lambda d: GrowingPartition(self, generation, d, questions), self.largest)

    def check(self, segment: Segment) -> list[str]:
        """Compare a partition with its digest; its problems. Raises FileNotFoundError."""
        check_partitions(self.collections, [segment.file])
        kept = PartitionDigest.of(segment)
        self.collections.load(kept.collection)
        opened, size = Partition(self.collections, segment), len(segment.id_ranges)
        if missing := size - opened.count():
            return [f"{missing} of the {size} vectors of {segment.file} are missing"]
        digest = hashlib.blake2b(digest_size=16)
        for first in range(0, size, _CHUNK):
            vectors = opened.rows(np.arange(first, min(first + _CHUNK, size)))
            digest.update(np.ascontiguousarray(vectors, dtype=np.float16).data)
        is_same = digest.hexdigest() == kept.digest
        return [] if is_same else [f"{segment.file} does not match its digest"]

    def names(self) -> Iterable[str]:
        """The names of all partitions of this kind, also unfinished ones; none if the collections are another's."""
        if self.collections.owner() != self.owner:
            return set()
        return {name for name in self.collections.partitions() if name.startswith(f"{self.kind}_")}

    def drop(self, name: str) -> None:
        """Delete a partition."""
        self.collections.drop(name)


def _open(location: StoreLocation) -> MilvusStore:
    return MilvusStore(
        parsed(location.uri),
        location.folder,
        location.kind,
        owner=location.owner,
        scanning=location.scanning,
        largest=location.largest,
    )


ENGINE = Engine(open=_open, located=located, claim=claim, release=release, in_use=in_use)
