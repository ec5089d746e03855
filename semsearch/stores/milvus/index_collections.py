"""The collections of an index in Milvus: one that says whose the place is, and those of its vectors.

The first has no vectors and is never loaded; its description names the owner. The vectors of each dimension have up to
two more, made when they are first needed, whose names begin with its name: `..._exact_256` compares all vectors,
`..._hnsw_256` has graphs.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from semsearch.errors import StorageError, UsageError
from semsearch.stores.milvus.collection_address import parsed
from semsearch.stores.milvus.milvus_server import MilvusServer

FIRST = "_default"  # the partition that each collection has: it stays empty
GRAPH: dict[str, dict[str, int]] = {"exact": {}, "hnsw": {"M": 16, "efConstruction": 200}}
_TYPES = {"exact": "FLAT", "hnsw": "HNSW"}
_OWNED = "the vectors of a semsearch index, owner "
_NO_VECTORS = 2  # numbers of the vectors that the first collection could have: the least that Milvus allows


class Collections:
    """The collections of a place in Milvus, and the partitions in them."""

    def __init__(self, server: MilvusServer) -> None:
        self.server = server
        self.name = server.address.collection

    def owner(self) -> str | None:
        """Whose the place is: "" if another program's, None if nobody's. Raises StorageError."""
        return self.server.ask(self._owner)

    def check_owner(self, owner: str) -> None:
        """Check whose the place is before a change. Raises StorageError if it is another's by now."""
        if self.owner() != owner:
            raise StorageError(
                f"{self.server.address.place} is no longer this index's: another claimed it, or it was deleted; "
                "run: semsearch index --rebuild --store with another place"
            )

    def claim(self, owner: str) -> None:
        """Make the place an owner's, if it is nobody's or nothing is in it. Raises UsageError, StorageError."""
        found = self.owner()
        if found == owner:
            return
        if found == "" or self.partitions():
            raise self._taken()
        if found is not None:
            self._drop_all()
        schema = self.server.schema(_NO_VECTORS, description=_OWNED + owner)
        try:
            self.server.change(
                lambda client, seconds: client.create_collection(self.name, schema=schema, timeout=seconds)
            )
        except StorageError:
            if self.owner() in (None, owner):
                raise
        if self.owner() != owner:  # two claimed it at the same time
            raise self._taken()

    def release(self, owner: str) -> None:
        """Delete all that an owner has at the place, and its claim. Raises StorageError."""
        if self.owner() == owner:
            self._drop_all()

    def make(self, which: str, *, owner: str) -> None:
        """Make a collection of vectors, such as exact_256, unless it is there. Raises StorageError."""
        kind, dimension = which.rsplit("_", 1)
        schema = self.server.schema(int(dimension), description=_OWNED + owner)
        self.server.change(partial(_make, f"{self.name}_{which}", schema, kind))

    def load(self, which: str) -> None:
        """See that a collection can be searched; it is so for as long as nobody releases it. Raises StorageError."""
        self.server.change(partial(_load, f"{self.name}_{which}"))

    def partitions(self) -> dict[str, str]:
        """Which collection each partition is in, such as exact_256, by the partition's name. Raises StorageError."""
        return self.server.ask(self._partitions)

    def drop(self, partition: str) -> None:
        """Delete a partition. Raises StorageError."""
        which = self.partitions().get(partition)
        if which is not None:
            self.server.change(partial(_drop, f"{self.name}_{which}", partition))

    def _owner(self, client: Any, seconds: float) -> str | None:
        if not client.has_collection(self.name, timeout=seconds):
            return None
        told = str(client.describe_collection(self.name, timeout=seconds).get("description", ""))
        return told.removeprefix(_OWNED) if told.startswith(_OWNED) else ""

    def _of_vectors(self, client: Any, seconds: float) -> list[str]:
        form = re.compile(rf"{self.name}_((?:exact|hnsw)_\d+)")
        found = [form.fullmatch(name) for name in client.list_collections(timeout=seconds)]
        return [match[1] for match in found if match]

    def _partitions(self, client: Any, seconds: float) -> dict[str, str]:
        return {
            partition: which
            for which in self._of_vectors(client, seconds)
            for partition in client.list_partitions(f"{self.name}_{which}", timeout=seconds)
            if partition != FIRST
        }

    def _drop_all(self) -> None:
        self.server.change(self._dropped)

    def _dropped(self, client: Any, seconds: float) -> None:
        for which in self._of_vectors(client, seconds):
            client.drop_collection(f"{self.name}_{which}", timeout=seconds)
        client.drop_collection(self.name, timeout=seconds)  # last: a release that was interrupted can be done again

    def _taken(self) -> UsageError:
        return UsageError(
            f"{self.server.address.place} has the vectors of another index, or is of another program; choose another "
            "place, by collection=NAME in the address"
        )


def claim(uri: str, owner: str) -> None:
    """Make the place at a URI an owner's. Raises UsageError if it is another's, StorageError."""
    Collections(MilvusServer(parsed(uri))).claim(owner)


def release(uri: str, owner: str) -> None:
    """Delete all that an owner has at a URI, and its claim. Raises StorageError."""
    Collections(MilvusServer(parsed(uri))).release(owner)


def _make(name: str, schema: Any, kind: str, client: Any, seconds: float) -> None:
    if not client.has_collection(name, timeout=seconds):
        client.create_collection(name, schema=schema, num_shards=1, timeout=seconds)
    if not client.list_indexes(name, timeout=seconds):
        index = client.prepare_index_params()
        index.add_index("vector", index_type=_TYPES[kind], metric_type="IP", params=GRAPH[kind])
        client.create_index(name, index, timeout=seconds)
    client.load_collection(name, timeout=seconds)


def _load(name: str, client: Any, seconds: float) -> None:
    if client.get_load_state(name, timeout=seconds)["state"].name != "Loaded":
        client.load_collection(name, timeout=seconds)


def _drop(name: str, partition: str, client: Any, seconds: float) -> None:
    client.release_partitions(name, [partition], timeout=seconds)
    client.drop_partition(name, partition, timeout=seconds)
