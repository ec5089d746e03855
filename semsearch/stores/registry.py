"""The registry of engines, which keep the vectors of an index: FAISS segments, unless the index names another.

An engine is named by the scheme of a URI, the part before the first colon. The index keeps the URI and a random owner
id, by which the engine recognises it: a store belongs to one index only, since each index drops the segments there that
it does not name. An engine is imported when it is first needed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.dense.scan_plan import ScanOptions
from semsearch.dense.vector_store import VectorStore
from semsearch.errors import IndexDamaged, UsageError
from semsearch.frozen import dataclass
from semsearch.storage.database import SEGMENTS
from semsearch.storage.meta import get_meta, set_meta
from semsearch.storage.segments import LARGEST, VECTORS, Kind
from semsearch.stores.engine import Engine, StoreLocation
from semsearch.system.locations import split_uri

if TYPE_CHECKING:
    import sqlite3

    from semsearch.storage.database import IndexDatabase

DEFAULT = "faiss:"
_URI, _OWNER, _LEFT = (
    "vector_store",
    "vector_store_owner",
    "vector_stores_left",
)  # meta rows; an index without them has FAISS segments


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """Where an engine keeps the vectors of an index: a URI, and the random owner id of the index there."""

    uri: str
    owner: str


def register(scheme: str, engine: Callable[[], Engine]) -> None:
    """Register the function that imports and returns the engine of a scheme."""
    _ENGINES[scheme] = engine


def get_address(db: sqlite3.Connection) -> StoreAddress | None:
    """Read where the vectors of an index are kept; None if they are in its folder."""
    uri = get_meta(db, _URI)
    return None if uri is None else StoreAddress(uri, get_meta(db, _OWNER) or "")


def get_own_address(db: sqlite3.Connection, database: IndexDatabase) -> StoreAddress | None:
    """Read where a reader of a database finds the vectors: perhaps by another user or host than the writer."""
    address = get_address(db)
    return None if address is None else replace(address, uri=database.vectors_uri(address.uri))


def set_address(db: sqlite3.Connection, address: StoreAddress | None) -> None:
    """Write where the vectors of an index are kept."""
    if address is None:
        db.execute("DELETE FROM meta WHERE key IN (?, ?)", (_URI, _OWNER))
        return
    set_meta(db, _URI, address.uri)
    set_meta(db, _OWNER, address.owner)


def get_left(db: sqlite3.Connection) -> list[StoreAddress]:
    """Read the vector stores that an index has left and not released yet."""
    return [StoreAddress(uri, owner) for uri, owner in json.loads(get_meta(db, _LEFT) or "[]")]


def set_left(db: sqlite3.Connection, left: Sequence[StoreAddress]) -> None:
    """Write the vector stores that an index has left and not released."""
    set_meta(db, _LEFT, json.dumps([[each.uri, each.owner] for each in left]))


def complete(uri: str, name: str) -> str | None:
    """Complete the URI of a vector store for an index of some name; None for the index's own folder.

    Raises UsageError for an unknown engine, an invalid address, and a password, which the index would store;
    MissingExtra.
    """
    scheme = uri.partition(":")[0]
    if uri in (DEFAULT, DEFAULT[:-1]):
        return None
    if ":" not in uri or scheme not in _ENGINES or scheme == DEFAULT[:-1]:
        raise UsageError(
            f"{uri!r} is not the URI of a vector store; its scheme must be one of "
            f"{', '.join(f'{one}:' for one in _ENGINES)}"
        )
    if split_uri(uri.partition(":")[2] if "://" not in uri[: len(scheme) + 3] else uri).password:
        raise UsageError(
            "the address of a vector store must not contain a password, which the index would store; "
            "set it in the environment, as docs/developers/engines.md explains"
        )
    return _ENGINES[scheme]().located(uri, name)


def check_scanning(uri: str, scanning: ScanOptions) -> None:
    """Check that the engine of a URI supports scan options. Raises UsageError, naming what to leave out."""
    _engine(uri, None).check(scanning)


def claimed(uri: str) -> StoreAddress:
    """Claim the store at a complete URI for a new owner. Raises UsageError if it is another index's; StorageError."""
    address = StoreAddress(uri, os.urandom(8).hex())
    _engine(uri, None).claim(address.uri, address.owner)
    return address


def release(address: StoreAddress) -> None:
    """Delete all vectors at an address. Raises StorageError if the engine cannot be reached."""
    _engine(address.uri, None).release(address.uri, address.owner)


def keeps_sentences(address: StoreAddress | None) -> bool:
    """Return whether the vectors of sentences are kept at an address, or are computed when they are needed."""
    return address is None or _engine(address.uri, None).keeps_sentences


def open_stores(
    address: StoreAddress | None,
    folder: Path,
    *,
    scanning: ScanOptions | None = None,
    largest: int = LARGEST,
    sentences: bool = True,
) -> Mapping[Kind, VectorStore]:
    """Open the two stores of an index, by kind. `scanning`: how a writer arranges passages. Raises IndexDamaged.

    `sentences`: whether vectors of sentences are stored, if the engine keeps any.
    """
    address = address or StoreAddress(DEFAULT, "")
    engine = _engine(address.uri, folder)
    locations = (
        StoreLocation(address.uri, folder, kind, scanning if kind == "passage" else None, largest, owner=address.owner)
        for kind in VECTORS
    )
    if sentences and engine.keeps_sentences:
        return {location.kind: engine.open(location) for location in locations}
    from semsearch.stores.null_store import NullStore  # start-up time: most indexes keep all vectors

    return {"passage": engine.open(next(locations)), "sentence": NullStore()}


def _engine(uri: str, folder: Path | None) -> Engine:
    engine = _ENGINES.get(uri.partition(":")[0])
    if engine is None:
        of = "an index" if folder is None else folder
        raise IndexDamaged(
            f"the vectors of {of} are stored at {uri!r}, but this semsearch supports only {', '.join(_ENGINES)}; "
            "install the engine's package, or a newer semsearch"
        )
    return engine()


def _faiss() -> Engine:
    return Engine(_open_faiss, keeps_sentences=True, check=lambda _: None)


def _open_faiss(location: StoreLocation) -> VectorStore:
    from semsearch.dense.faiss_store import FaissStore  # start-up time: a lexical search needs no FAISS

    return FaissStore(location.folder / SEGMENTS, location.kind, scanning=location.scanning, largest=location.largest)


def _postgres() -> Engine:
    from semsearch.stores.postgres_store import ENGINE  # start-up time

    return ENGINE


def _lance() -> Engine:
    from semsearch.stores.lance_store import ENGINE  # start-up time: few indexes have their vectors there

    return ENGINE


def _milvus() -> Engine:
    from semsearch.stores.milvus_store import ENGINE  # start-up time: few indexes have their vectors there

    return ENGINE


_ENGINES: dict[str, Callable[[], Engine]] = {
    "faiss": _faiss,
    "lance": _lance,
    "postgres": _postgres,
    "postgresql": _postgres,
    "milvus": _milvus,
}
