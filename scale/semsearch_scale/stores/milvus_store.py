"""Vectors in Milvus, which spreads vectors and queries over the machines of a cluster: `milvus:http://host:19530`.

A segment is a partition of a collection, written once: a partition is made and dropped in milliseconds, where a
collection takes seconds. Partitions are searched at the same time. The collection of an index and a dimension has
graphs (HNSW; Malkov and Yashunin 2018), or compares all vectors if the index wants exact search, as for vectors that
are only fetched.

Vectors are rounded to half precision, so that scores are those of an index on one machine, and sent as single
precision. A partition is flushed to the server's storage and its rows are counted before the segment is reported; that
of many vectors is also read back, and its graph measured. Graphs of fewer are searched as deep as any.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Float32, Int64
from semsearch.dense.engines import Engine, StoreLocation
from semsearch.dense.scan_plan import ScanOptions
from semsearch.dense.segments_reader import InThreads, SegmentsReader
from semsearch.dense.vector_store import Questions, SegmentsWriter
from semsearch.errors import SemsearchError, StorageError
from semsearch.storage.segments import Segment, segment_name
from semsearch_scale.publication import in_use
from semsearch_scale.stores.addresses import located_in_milvus, milvus_address
from semsearch_scale.stores.graph_depth import ReadBack, measured, questions_about, read_back
from semsearch_scale.stores.milvus_reader import Partition, PartitionDigest, check_partitions
from semsearch_scale.stores.milvus_server import GRAPH, Collections, MilvusServer, claim, release

logger = logging.getLogger(__name__)

_SENT = 1 << 22  # bytes of vectors in a call
_EF = (16, 32, 64, 128, 256, 512, 1024)  # search depths of a graph, of which the first that reaches the recall is used
_GRAPH_LEAST = 1024  # vectors: Milvus compares all of fewer
_GRAPH_FROM = (
    1 << 15
)  # vectors from which a graph is measured: the deepest search of fewer takes about ten milliseconds
_PAUSE = 0.5  # seconds between two checks of a graph that is being built
_CHUNK = 1 << 14  # vectors that are read at a time to check them
_AT_ONCE = 8  # partitions that are searched in parallel


class GrowingPartition:
    """A partition that is being written."""

    def __init__(self, store: MilvusStore, generation: int, dimension: int, questions: Questions | None) -> None:
        self.count = 0
        self._store = store
        self._questions = questions
        self._which = f"{'exact' if store.gathering is None else 'hnsw'}_{dimension}"
        self._name = Path(segment_name(store.kind, generation)).stem.replace("-", "_")  # as Milvus allows it
        self._collection = f"{store.collections.name}_{self._which}"
        self._dimension = dimension
        self._ids: list[Int64] = []
        self._digest = hashlib.blake2b(digest_size=16)
        self._written = 0
        store.collections.check_owner(store.location.owner)
        store.collections.make(self._which, owner=store.location.owner)
        self._change(lambda client, seconds: client.create_partition(self._collection, self._name, timeout=seconds))

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Send vectors (n, d)."""
        size = max(1, _SENT // (4 * self._dimension))
        for first in range(0, len(ids), size):
            some, rows = ids[first : first + size], vectors[first : first + size].astype(np.float16)
            self._digest.update(rows.tobytes())
            self._written = self._change(partial(_insert, self._collection, self._name, some, rows.astype(np.float32)))
        self._ids.append(ids)
        self.count += len(ids)

    def finish(self) -> Segment:
        """Count and measure what has arrived. Raises StorageError."""
        store, ids, digest = self._store, np.concatenate(self._ids), self._digest.hexdigest()
        self._change(lambda client, seconds: client.flush(self._collection, timeout=seconds))
        size = self.count * (4 * self._dimension + 8)
        kept = PartitionDigest(self._which, self._written, 0 if store.gathering is None else _EF[-1], digest)
        segment = Segment(store.kind, self._name, size, IdRanges.of_ids(ids), kept.text)
        partition = Partition(store.collections, segment)
        if (count := partition.count()) != self.count:
            raise StorageError(
                f"{store.address.place} holds {count} of the {self.count} vectors that were sent, perhaps because the "
                "connection was cut; nothing was changed, try again"
            )
        if store.gathering is None or self.count < store.gathering:
            return segment
        self._change(partial(_await_graph, self._collection))
        asked = questions_about(ids, self._questions, partition.rows)
        written = store.read_back(partition, asked)
        if written.digest != digest:
            raise StorageError(
                f"{store.address.place} returned other vectors than were written to {self._name}; write again"
            )
        scan = measured(
            f"HNSW{GRAPH['hnsw']['M']}",
            _EF,
            lambda queries, n, ef: partition.scan(queries, n, ef=ef),
            asked=asked,
            segment=written,
            target=store.scanning.target_recall,
        )
        kept = PartitionDigest(self._which, self._written, scan.probes, digest)
        return Segment(store.kind, self._name, size, segment.id_ranges, kept.text, scan)

    def discard(self) -> None:
        """Drop the partition, if the server can be reached; else the next writer will."""
        with suppress(SemsearchError):
            self._store.drop(self._name)

    def _change(self, work: Any) -> Any:
        return self._store.collections.server.change(work)


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


class MilvusStore:
    """A store of one kind of vectors in partitions of Milvus. Threads may share it."""

    def __init__(self, location: StoreLocation) -> None:
        self.location = location
        self.address = milvus_address(location.uri)
        self.collections = Collections(MilvusServer(self.address))
        self.kind = location.kind
        self.largest = location.largest
        self.scanning = location.scanning or ScanOptions(exact=True)  # vectors that are only fetched need no graph
        self._together = InThreads(_AT_ONCE, "semsearch-milvus")

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which the graph of a partition is measured; None if there are no graphs."""
        return None if self.scanning.exact else min(self.scanning.listed, _GRAPH_FROM)

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
        partition, size = Partition(self.collections, segment), len(segment.id_ranges)
        if missing := size - partition.count():
            return [f"{missing} of the {size} vectors of {segment.file} are missing"]
        is_same = self.read_back(partition).digest == kept.digest
        return [] if is_same else [f"{segment.file} does not match its digest"]

    def read_back(self, partition: Partition, asked: Float32 | None = None) -> ReadBack:
        """Read all vectors of a partition. Raises FileNotFoundError, IndexDamaged, StorageError."""
        size = len(partition.segment.id_ranges)
        parts = (partition.rows(np.arange(first, min(first + _CHUNK, size))) for first in range(0, size, _CHUNK))
        return read_back(((vectors.astype(np.float16).tobytes(), vectors) for vectors in parts), asked)

    def names(self) -> Iterable[str]:
        """The names of all partitions of this kind, also unfinished ones; none if the collections are another's."""
        if self.collections.owner() != self.location.owner:
            return set()
        return {name for name in self.collections.partitions() if name.startswith(f"{self.kind}_")}

    def drop(self, name: str) -> None:
        """Delete a partition."""
        self.collections.drop(name)


ENGINE = Engine(open=MilvusStore, located=located_in_milvus, claim=claim, release=release, in_use=in_use)
