"""The engines that can keep the vectors of an index: FAISS in files of the index, unless the index names another.

An engine is named by the scheme of a URI, the part before the first colon: `lance:/data/vectors`. Other distributions
announce theirs by entry points:

    [project.entry-points."semsearch.vector_stores"]
    lance = "semsearch_scale.stores.lance_store:ENGINE"

The index keeps the URI and a random owner id, by which the engine recognises it: a store belongs to one index only,
since each index drops the segments there that it does not name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from semsearch.dense.vector_store import VectorStore
from semsearch.errors import IndexDamaged, UsageError
from semsearch.storage.database import SEGMENTS
from semsearch.storage.schema import StoreAddress
from semsearch.storage.segments import LARGEST, VECTORS, Kind
from semsearch.system import plugins
from semsearch.system.locations import split_uri

GROUP = "semsearch.vector_stores"
DEFAULT = "faiss:"

# -- What an engine is -------------------------------------------------------------------------------------------------


class StoreLocation(NamedTuple):
    """The location of a store: an engine's URI, the folder of the index and the kind of vectors."""

    uri: str
    folder: Path
    kind: Kind
    exact: bool  # every vector is compared with a query, however many there are; also if they are only fetched
    largest: int  # vectors up to which segments are merged
    owner: str = ""  # of the store


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine of vectors.

    `open` opens the store at a location. `located` completes the URI that a user gave for an index of some name, and
    raises UsageError if it is invalid. `claim` makes an owner the owner of the store at a URI, and raises UsageError if
    it is another's; `release` deletes all that the owner has there, and its claim. `in_use` are the names of segments
    and URIs of stores that somebody reads who holds no read transaction of the index in a folder: they stay. Where
    sentences are not kept, their vectors are computed from the text of the few passages that need them.
    """

    open: Callable[[StoreLocation], VectorStore]
    located: Callable[[str, str], str] = lambda uri, name: uri  # noqa: ARG005
    claim: Callable[[str, str], None] = lambda uri, owner: None  # noqa: ARG005
    release: Callable[[str, str], None] = lambda uri, owner: None  # noqa: ARG005
    keeps_sentences: bool = False
    in_use: Callable[[Path], AbstractSet[str]] = lambda folder: frozenset()  # noqa: ARG005


def _open_faiss(location: StoreLocation) -> VectorStore:
    from semsearch.dense.faiss_store import FaissStore  # FAISS is large, and a search by words alone needs none of it

    return FaissStore(location.folder / SEGMENTS, location.kind, exact=location.exact, largest=location.largest)


_FAISS = Engine(_open_faiss, keeps_sentences=True)


def _find(uri: str) -> Engine | None:
    scheme = uri.partition(":")[0]
    return _FAISS if scheme == DEFAULT[:-1] else plugins.load(GROUP, scheme)


def _known() -> str:
    return ", ".join([DEFAULT, *(f"{scheme}:" for scheme in plugins.names(GROUP))])


def _engine(uri: str, of: str | Path = "an index") -> Engine:
    engine = _find(uri)
    if engine is None:
        raise IndexDamaged(
            f"the vectors of {of} are stored at {uri!r}, but this semsearch knows only {_known()}; "
            f"for PostgreSQL and Lance {plugins.SCALE}"
        )
    return engine


# -- Claims, and the stores of an index --------------------------------------------------------------------------------


def complete(uri: str, name: str) -> str | None:
    """Complete the URI of a vector store for an index of some name; None for the index's own folder.

    Raises UsageError for an unknown engine, an invalid address, and a password, which the index would store;
    MissingExtra.
    """
    if uri in (DEFAULT, DEFAULT[:-1]):
        return None
    scheme = uri.partition(":")[0]
    engine = _find(uri)
    if ":" not in uri or engine is None or scheme == DEFAULT[:-1]:
        raise UsageError(
            f"{uri!r} is not the URI of a vector store; its scheme must be one of {_known()}; "
            f"for PostgreSQL and Lance {plugins.SCALE}"
        )
    if split_uri(uri.partition(":")[2] if "://" not in uri[: len(scheme) + 3] else uri).password:
        raise UsageError(
            "the address of a vector store must not contain a password, which the index would store; "
            "set it in the environment, as the engine's page explains (scale/docs/engines.md)"
        )
    return engine.located(uri, name)


def claim_store(uri: str) -> StoreAddress:
    """Claim the store at a complete URI for a new owner. Raises UsageError if it is another index's; StorageError."""
    address = StoreAddress(uri, os.urandom(8).hex())
    _engine(uri).claim(address.uri, address.owner)
    return address


def release(address: StoreAddress) -> None:
    """Delete all vectors at an address. Raises StorageError if the engine cannot be reached."""
    _engine(address.uri).release(address.uri, address.owner)


def in_use(address: StoreAddress, folder: Path) -> AbstractSet[str]:
    """The segments and the URIs of stores that must stay though no read transaction of the index needs them."""
    return _engine(address.uri, folder).in_use(folder)


def keeps_sentences(address: StoreAddress | None) -> bool:
    """Return whether the vectors of sentences are kept at an address, or are computed when they are needed."""
    return address is None or _engine(address.uri).keeps_sentences


def open_stores(
    address: StoreAddress | None,
    folder: Path,
    *,
    exact: bool = True,
    sentences: bool = True,
) -> Mapping[Kind, VectorStore]:
    """Open the stores of an index, by kind. `exact`: a writer makes no codes of passages. Raises IndexDamaged.

    There is one of sentences if the engine keeps their vectors, and `sentences` says that they are wanted.
    """
    uri, owner = (DEFAULT, "") if address is None else (address.uri, address.owner)
    engine = _engine(uri, folder)
    kinds = VECTORS if sentences and engine.keeps_sentences else VECTORS[:1]
    return {
        kind: engine.open(StoreLocation(uri, folder, kind, exact or kind == "sentence", LARGEST, owner))
        for kind in kinds
    }
