"""A vector store in partitions of Milvus. Every segment is a partition that is written once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.scan_plan import ScanOptions
from semsearch.dense.store import Questions
from semsearch.storage.segments import LARGEST, Kind, Segment
from semsearch.stores.engine import Engine, StoreLocation
from semsearch.stores.milvus.collection_address import CollectionAddress, located, parsed
from semsearch.stores.milvus.index_collections import Collections, claim, release
from semsearch.stores.milvus.milvus_server import MilvusServer
from semsearch.stores.milvus.partition_reader import (
    PartitionDigest,
    PartitionReader,
    PartitionsOfCollection,
    check_partitions,
)

if TYPE_CHECKING:
    from semsearch.stores.milvus.partition_writer import PartitionWriter

_GRAPH_FROM = 1 << 15  # vectors: fewer are compared in about ten milliseconds
_CHUNK = 1 << 14  # vectors that are read at a time to check them


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

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which a partition has a graph; None if it never has."""
        return None if self.scanning.exact else min(self.scanning.listed, _GRAPH_FROM)

    def has_graph(self, count: int) -> bool:
        """Return whether a partition of so many vectors has a graph."""
        return self.gathering is not None and count >= self.gathering

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> PartitionReader:
        """Open a reader of some segments. Raises FileNotFoundError, StorageError."""
        in_collection: dict[str, list[Segment]] = {}
        for segment in segments:
            in_collection.setdefault(PartitionDigest.of(segment).collection, []).append(segment)
        if segments:
            check_partitions(self.collections, [segment.file for segment in segments])
        for which in in_collection:
            self.collections.load(which)
        parts = [PartitionsOfCollection(self.collections, which, some) for which, some in in_collection.items()]
        return PartitionReader(parts, removed)

    def writer(self, generation: int, *, questions: Questions | None = None) -> PartitionWriter:
        """Make a writer of new partitions, which have no effect until the manifest names them."""
        from semsearch.stores.milvus.partition_writer import PartitionWriter  # start-up time: a search writes nothing

        return PartitionWriter(self, generation, questions)

    def merge(
        self, segments: Sequence[Segment], removed: IdRanges, *, generation: int, questions: Questions | None = None
    ) -> list[Segment]:
        """Merge segments into new partitions, without removed ids."""
        from semsearch.dense.copying import merge_by_copying  # start-up time: a search writes nothing

        return merge_by_copying(self, segments, removed, generation=generation, questions=questions)

    def check(self, segment: Segment) -> list[str]:
        """Check that a partition's numbers are those that were written; its problems. Raises FileNotFoundError."""
        check_partitions(self.collections, [segment.file])
        kept = PartitionDigest.of(segment)
        self.collections.load(kept.collection)
        opened = PartitionsOfCollection(self.collections, kept.collection, [segment])
        digest = hashlib.blake2b(digest_size=16)
        ids = segment.id_ranges.all_ids()
        missing = len(ids) - opened.count()
        for first in range(0, len(ids), _CHUNK):
            found, vectors = opened.fetch(ids[first : first + _CHUNK])
            digest.update(np.ascontiguousarray(vectors[np.argsort(found)], dtype=np.float16).data)
        if missing:
            return [f"{segment.file} lacks {missing} of its {len(ids)} vectors"]
        is_same = digest.hexdigest() == kept.digest
        return [] if is_same else [f"{segment.file} is not as it was written: its digest differs"]

    def names(self) -> Iterable[str]:
        """The names of all partitions of this kind, including unfinished ones; none at a place that is another's."""
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


ENGINE = Engine(open=_open, located=located, claim=claim, release=release)
