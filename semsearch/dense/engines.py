"""The registry of engines, which keep the vectors of an index: FAISS segments, unless its database names another.

An engine is named by the scheme of its URI, the part before the first colon. It is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from semsearch.dense.scan_plan import ScanOptions
from semsearch.dense.store import VectorStore
from semsearch.errors import IndexDamaged
from semsearch.storage.database import SEGMENTS
from semsearch.storage.segments import LARGEST, VECTORS, Kind

ENGINE = "vector_store"  # the meta row with the URI of the engine; an index without one has FAISS segments
DEFAULT = "faiss:"


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """The location of a store: an engine's URI, the folder of the index and the kind of vectors."""

    uri: str
    folder: Path
    kind: Kind
    scanning: ScanOptions | None  # how passages are searched; None for vectors that are only fetched
    largest: int  # vectors up to which segments are merged


class Engine(Protocol):
    """The protocol of an engine: a function that opens the store at a location, which may be empty yet."""

    def __call__(self, location: StoreLocation, /) -> VectorStore: ...


def register(scheme: str, engine: Engine) -> None:
    """Register an engine for the vectors of indexes whose URI has a scheme."""
    _ENGINES[scheme] = engine


def open_stores(
    uri: str | None, folder: Path, *, scanning: ScanOptions | None = None, largest: int = LARGEST
) -> Mapping[Kind, VectorStore]:
    """Open the two stores of an index, by kind. `scanning`: how a writer lays out passages. Raises IndexDamaged."""
    uri = uri or DEFAULT
    engine = _ENGINES.get(uri.partition(":")[0])
    if engine is None:
        raise IndexDamaged(
            f"the vectors of {folder} are kept by {uri!r}, and this semsearch knows only {', '.join(_ENGINES)}; "
            "install what that needs, or a newer semsearch"
        )
    return {
        kind: engine(StoreLocation(uri, folder, kind, scanning if kind == "passage" else None, largest))
        for kind in VECTORS
    }


def _faiss(location: StoreLocation) -> VectorStore:
    from semsearch.dense.faiss_store import FaissStore  # start-up time: a lexical search needs no FAISS

    return FaissStore(location.folder / SEGMENTS, location.kind, scanning=location.scanning, largest=location.largest)


_ENGINES: dict[str, Engine] = {"faiss": _faiss}
