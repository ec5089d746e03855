"""What an engine is: five functions, and the location at which its stores are opened (semsearch.stores.registry)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from semsearch.dense.scan_plan import ScanOptions
from semsearch.dense.vector_store import VectorStore
from semsearch.errors import UsageError
from semsearch.frozen import dataclass
from semsearch.storage.segments import Kind


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """The location of a store: an engine's URI, the folder of the index and the kind of vectors."""

    uri: str
    folder: Path
    kind: Kind
    scanning: ScanOptions | None  # how passages are searched; None for vectors that are only fetched
    largest: int  # vectors up to which segments are merged
    owner: str = ""  # of the store


def _as_it_is(uri: str, name: str) -> str:
    del name  # the address does not depend on it
    return uri


def _nothing(uri: str, owner: str) -> None:
    """Do nothing with the store at a URI."""


def _no_index_type(scanning: ScanOptions) -> None:
    if scanning.factory is not None:
        raise UsageError(
            f"{scanning.factory} is an index type of FAISS, but another engine keeps the vectors of this index; "
            "leave out --factory, or keep the vectors in the index: --store faiss:"
        )


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine of vectors.

    `open` opens the store at a location. `check` raises UsageError for scan options that the engine does not support,
    by default for each index type of FAISS. `located` completes the URI that a user gave for an index of some name, and
    raises UsageError if it is invalid. `claim` makes an owner the owner of the store at a URI, and raises UsageError if
    it is another's; `release` deletes all that the owner has there, and its claim. Where sentences are not kept, their
    vectors are computed from the text of the few passages that need them.
    """

    open: Callable[[StoreLocation], VectorStore]
    located: Callable[[str, str], str] = _as_it_is
    claim: Callable[[str, str], None] = _nothing
    release: Callable[[str, str], None] = _nothing
    keeps_sentences: bool = False
    check: Callable[[ScanOptions], None] = _no_index_type
