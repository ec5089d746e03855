"""The door to pymilvus: calls of a Milvus server with deadlines, and its errors in our words.

pymilvus tries a call again for as long as it may take, and the last attempt may begin at the very end, so each is given
half of the time. It also writes each error to stderr with its traceback, and that is turned off: the error is raised.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from semsearch.errors import MissingExtra, StorageError
from semsearch.stores.milvus.collection_address import CollectionAddress

Result = TypeVar("Result")

PATIENCE = 10.0  # times as long as a question may a change take: Milvus flushes a collection once in ten seconds
_RECONNECTING = {  # milliseconds: else a server that was away for long is not tried again for up to two minutes
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

    def __init__(self, address: CollectionAddress) -> None:
        self.address = address
        self._connecting = Lock()
        self._client: Any = None

    def ask(self, work: Callable[[Any, float], Result]) -> Result:
        """Do work with a client and the seconds that each call may take. Raises StorageError, MissingExtra."""
        return self._do(work, self.address.seconds)

    def change(self, work: Callable[[Any, float], Result]) -> Result:
        """Do work that may take longer than a question. Raises StorageError, MissingExtra."""
        return self._do(work, self.address.seconds * PATIENCE)

    def schema(self, dimension: int, *, description: str) -> Any:
        """The schema of a collection of vectors: ids that we give, and single-precision numbers."""
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
                    raise StorageError(self._told(error, seconds)) from error
                time.sleep(_AGAIN)  # pymilvus gives up at the first attempt to connect that fails
            except ValueError as error:
                if "closed channel" not in str(error):
                    raise
                self._client = None  # the next call connects again
                raise StorageError(self._told(error, seconds)) from error

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

    def _told(self, error: BaseException, seconds: float) -> str:
        details = error.details() if hasattr(error, "details") else getattr(error, "message", None)
        text = " ".join(str(details or error).split())
        low = text.lower()
        where = f"Milvus at {self.address.server}"
        if any(word in low for word in _DENIED):
            return f"{where} refuses: {text[:300]}; set MILVUS_TOKEN to user:password or to a key"
        if any(word in low for word in _FULL):
            return f"{where} has no room: {text[:300]}; give it more, and try again"
        return (
            f"{where} did not do what was asked, for which it has {seconds:g} seconds: {text[:300]}; see that it runs "
            "and can be reached, and try again, or give it longer by timeout=SECONDS in the address"
        )


def _pymilvus() -> Any:
    try:
        import pymilvus  # an optional package, and 0.6 s
    except ImportError as error:
        raise MissingExtra("pymilvus", "milvus") from error
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return pymilvus


def _grpc() -> Any:
    import grpc  # an optional package, which pymilvus brings

    return grpc
