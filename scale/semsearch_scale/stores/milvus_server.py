"""A Milvus server: calls with deadlines, its errors, and the collections of an index.

pymilvus repeats a call for as long as it may take, and the last attempt may begin at the very end, so each gets half of
the time. It also writes each error to stderr with a traceback; this is turned off, since the error is raised.

One collection names the owner in its description; it has no vectors and is never loaded. The vectors of each dimension
have one more, made when it is first needed, whose name begins with its name: `..._hnsw_256` has graphs,
`..._exact_256` compares all vectors.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from semsearch.errors import MissingExtra, StorageError, UsageError
from semsearch_scale.stores.addresses import MilvusAddress, milvus_address

# -- Milvus server -----------------------------------------------------------------------------------------------------

Result = TypeVar("Result")

PATIENCE = 10.0  # times the time of a query, for a change: Milvus flushes a collection once in ten seconds
_RECONNECTING = {  # milliseconds: by default a server that was away is not tried again for up to two minutes
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1000,
}
_UNCONNECTED = "Fail connecting to server"
_AGAIN = 0.1  # seconds until a connection is tried again
_LOGGERS = ("pymilvus", "pymilvus.milvus_client")
_FULL = ("quota", "memory", "disk", "no space", "rate limit")
_DENIED = ("unauthenticated", "auth check", "permission")


class MilvusServer:
    """A Milvus server, connected to when it is first needed. Threads may share it."""

    def __init__(self, address: MilvusAddress) -> None:
        self.address = address
        self._connecting = Lock()
        self._client: Any = None

    def ask(self, work: Callable[[Any, float], Result]) -> Result:
        """Do work with a client and the seconds that each call may take. Raises StorageError, MissingExtra."""
        return self._do(work, self.address.seconds)

    def change(self, work: Callable[[Any, float], Result]) -> Result:
        """Do work that may take longer than a query. Raises StorageError, MissingExtra."""
        return self._do(work, self.address.seconds * PATIENCE)

    def schema(self, dimension: int, *, description: str) -> Any:
        """The schema of a collection of vectors: our own ids, and single-precision numbers."""
        pymilvus = _pymilvus()
        schema = pymilvus.MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False, description=description)
        schema.add_field("id", pymilvus.DataType.INT64, is_primary=True)
        schema.add_field("vector", pymilvus.DataType.FLOAT_VECTOR, dim=dimension)
        return schema

    def _do(self, work: Callable[[Any, float], Result], seconds: float) -> Result:
        pymilvus, grpc, end = _pymilvus(), _grpc(), time.monotonic() + seconds / 2
        while True:
            try:
                return work(self._connected(seconds / 2), seconds / 2)
            except (pymilvus.MilvusException, grpc.RpcError, grpc.FutureTimeoutError) as error:
                if _UNCONNECTED not in str(error) or time.monotonic() > end:
                    raise StorageError(self._explained(error, seconds)) from error
                time.sleep(_AGAIN)  # pymilvus gives up after one failed attempt to connect
            except ValueError as error:
                if "closed channel" not in str(error):
                    raise
                self._client = None  # the next call connects again
                raise StorageError(self._explained(error, seconds)) from error

    def _connected(self, seconds: float) -> Any:
        with self._connecting:
            if self._client is None:
                self._client = _pymilvus().MilvusClient(
                    self.address.server,
                    token=os.environ.get("MILVUS_TOKEN", ""),
                    db_name=self.address.database,
                    timeout=seconds,
                    grpc_options=_RECONNECTING,
                )
            return self._client

    def _explained(self, error: BaseException, seconds: float) -> str:
        details = error.details() if hasattr(error, "details") else getattr(error, "message", None)
        text = " ".join(str(details or error).split())
        low = text.lower()
        where = f"Milvus at {self.address.server}"
        if any(word in low for word in _DENIED):
            return f"{where} refused the request: {text[:300]}; set MILVUS_TOKEN to user:password or to a key"
        if any(word in low for word in _FULL):
            return f"{where} is out of space: {text[:300]}; make room and try again"
        return (
            f"{where} failed or did not answer within {seconds:g} seconds: {text[:300]}; check that it runs "
            "and can be reached, or allow more time with timeout=SECONDS in the address"
        )


def _pymilvus() -> Any:
    try:
        import pymilvus  # an optional package, and 0.6 s
    except ImportError as error:
        raise MissingExtra("pymilvus", "milvus", distribution="./scale") from error
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return pymilvus


def _grpc() -> Any:
    import grpc  # an optional package, which pymilvus brings

    return grpc


# -- Index collections -------------------------------------------------------------------------------------------------

FIRST = "_default"  # the partition that each collection has: it stays empty
GRAPH: dict[str, dict[str, int]] = {"exact": {}, "hnsw": {"M": 16, "efConstruction": 200}}
_TYPES = {"exact": "FLAT", "hnsw": "HNSW"}
_OWNED = "the vectors of a semsearch index, owner "
_NO_VECTORS = 2  # numbers of the vectors that the first collection could have: the least that Milvus allows


class Collections:
    """The collections of an index in Milvus, and the partitions in them. What fails raises StorageError."""

    def __init__(self, server: MilvusServer) -> None:
        self.server = server
        self.name = server.address.collection

    def owner(self) -> str | None:
        """The owner of the collections: "" if another program's, None if there is none."""

        def work(client: Any, seconds: float) -> str | None:
            if not client.has_collection(self.name, timeout=seconds):
                return None
            told = str(client.describe_collection(self.name, timeout=seconds).get("description", ""))
            return told.removeprefix(_OWNED) if told.startswith(_OWNED) else ""

        return self.server.ask(work)

    def check_owner(self, owner: str) -> None:
        """Check the owner before a change. Raises StorageError if it is another by now."""
        if self.owner() != owner:
            raise StorageError(
                f"{self.server.address.place} no longer belongs to this index: another index claimed it, or it was "
                "deleted; run: semsearch index --rebuild --store URI"
            )

    def claim(self, owner: str) -> None:
        """Claim the collections for an owner, if they have none or are empty. Raises UsageError."""
        before = self.owner()
        if before == owner:
            return
        if before == "" or self.partitions():
            raise self._taken()
        if before is not None:
            self._drop_all()
        schema = self.server.schema(_NO_VECTORS, description=_OWNED + owner)
        try:
            self.server.change(
                lambda client, seconds: client.create_collection(self.name, schema=schema, timeout=seconds)
            )
        except StorageError:
            if self.owner() in (None, owner):
                raise
        if self.owner() != owner:  # two claimed them at the same time
            raise self._taken()

    def release(self, owner: str) -> None:
        """Delete all that an owner has, and its claim."""
        if self.owner() == owner:
            self._drop_all()

    def make(self, which: str, *, owner: str) -> None:
        """Make a collection of vectors, such as exact_256, unless it exists."""
        kind, dimension = which.rsplit("_", 1)
        schema, name = self.server.schema(int(dimension), description=_OWNED + owner), f"{self.name}_{which}"

        def work(client: Any, seconds: float) -> None:
            if not client.has_collection(name, timeout=seconds):
                client.create_collection(name, schema=schema, num_shards=1, timeout=seconds)
            if not client.list_indexes(name, timeout=seconds):
                index = client.prepare_index_params()
                index.add_index("vector", index_type=_TYPES[kind], metric_type="IP", params=GRAPH[kind])
                client.create_index(name, index, timeout=seconds)
            client.load_collection(name, timeout=seconds)

        self.server.change(work)

    def load(self, which: str) -> None:
        """Load a collection for searching, until it is released."""
        name = f"{self.name}_{which}"

        def work(client: Any, seconds: float) -> None:
            if client.get_load_state(name, timeout=seconds)["state"].name != "Loaded":
                client.load_collection(name, timeout=seconds)

        self.server.change(work)

    def partitions(self) -> dict[str, str]:
        """The collection of each partition, such as exact_256, by the partition's name."""
        return self.server.ask(
            lambda client, seconds: {
                partition: which
                for which in self._of_vectors(client, seconds)
                for partition in client.list_partitions(f"{self.name}_{which}", timeout=seconds)
                if partition != FIRST
            }
        )

    def drop(self, partition: str) -> None:
        """Delete a partition."""
        if which := self.partitions().get(partition):
            name = f"{self.name}_{which}"

            def work(client: Any, seconds: float) -> None:
                client.release_partitions(name, [partition], timeout=seconds)
                client.drop_partition(name, partition, timeout=seconds)

            self.server.change(work)

    def _of_vectors(self, client: Any, seconds: float) -> list[str]:
        names = client.list_collections(timeout=seconds)
        return [match[1] for name in names if (match := re.fullmatch(rf"{self.name}_((?:exact|hnsw)_\d+)", name))]

    def _drop_all(self) -> None:
        def work(client: Any, seconds: float) -> None:
            for which in self._of_vectors(client, seconds):
                client.drop_collection(f"{self.name}_{which}", timeout=seconds)
            client.drop_collection(self.name, timeout=seconds)  # last: an interrupted release can be repeated

        self.server.change(work)

    def _taken(self) -> UsageError:
        return UsageError(
            f"{self.server.address.place} belongs to another index or program; choose another with collection=NAME in "
            "the address"
        )


def claim(uri: str, owner: str) -> None:
    """Claim the collections at a URI for an owner. Raises UsageError if they are another's, StorageError."""
    Collections(MilvusServer(milvus_address(uri))).claim(owner)


def release(uri: str, owner: str) -> None:
    """Delete all that an owner has at a URI, and its claim. Raises StorageError."""
    Collections(MilvusServer(milvus_address(uri))).release(owner)
