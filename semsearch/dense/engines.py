"""Which engine keeps the vectors of an index: FAISS segments in its folder, unless its database names another.

An engine goes by the scheme of its URI, what stands before the first colon. It is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from semsearch.dense.scan_plan import Scanning
from semsearch.dense.store import VectorStore
from semsearch.errors import IndexDamaged
from semsearch.storage.database import SEGMENTS
from semsearch.storage.segments import LARGEST, VECTORS, Kind

ENGINE = "vector_store"  # the meta row with the URI of the engine; an index without one has FAISS segments
DEFAULT = "faiss:"


@dataclass(frozen=True, slots=True)
class Place:
    """What an engine is asked to keep, and where: vectors of a kind, for the index in a folder."""

    uri: str
    folder: Path
    kind: Kind
    scanning: Scanning | None  # how passages are to be searched; None for what is only fetched
    largest: int  # vectors up to which segments are merged


class Engine(Protocol):
    """Opens the store of a place. Nothing need be there yet."""

    def __call__(self, place: Place, /) -> VectorStore: ...


def register(scheme: str, engine: Engine) -> None:
    """Have an engine keep the vectors of indexes whose URI begins with the scheme."""
    _ENGINES[scheme] = engine


def open_stores(
    uri: str | None, folder: Path, *, scanning: Scanning | None = None, largest: int = LARGEST
) -> Mapping[Kind, VectorStore]:
    """The two stores of an index, by kind. `scanning`: how a writer lays passages out. Raises IndexDamaged."""
    uri = uri or DEFAULT
    engine = _ENGINES.get(uri.partition(":")[0])
    if engine is None:
        raise IndexDamaged(
            f"the vectors of {folder} are kept by {uri!r}, and this semsearch knows only {', '.join(_ENGINES)}; "
            "install what that needs, or a newer semsearch"
        )
    return {
        kind: engine(Place(uri, folder, kind, scanning if kind == "passage" else None, largest)) for kind in VECTORS
    }


def _faiss(place: Place) -> VectorStore:
    from semsearch.dense.faiss_store import FaissStore  # start-up time: a lexical search needs no FAISS

    return FaissStore(place.folder / SEGMENTS, place.kind, scanning=place.scanning, largest=place.largest)


_ENGINES: dict[str, Engine] = {"faiss": _faiss}
