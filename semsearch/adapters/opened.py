"""The index that a user gives to an adapter: an opened one, or the path or address by which it is opened.

An adapter that was given a path or an address can be written down and made again elsewhere, which frameworks do. All
that name one index share it while any of them is in use.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakValueDictionary

from semsearch import Index, Searchable
from semsearch.errors import IndexNotFound, UsageError

if TYPE_CHECKING:
    from semsearch import RemoteIndex

IndexLike: TypeAlias = Searchable | str | Path
_ADDRESSES = ("http://", "https://")
_opening = threading.Lock()
_indexes: WeakValueDictionary[str, Index] = WeakValueDictionary()
_servers: WeakValueDictionary[str, RemoteIndex] = WeakValueDictionary()


def searchable(given: IndexLike) -> Searchable:
    """Open what can be searched. Raises UsageError for anything else, IndexNotFound, IndexDamaged, VectorsMismatch."""
    if isinstance(given, str) and given.startswith(_ADDRESSES):
        return _connected(given)
    if isinstance(given, str | Path):
        return _opened(given, create=False)
    if not callable(getattr(given, "search", None)) or not callable(getattr(given, "similar", None)):
        raise UsageError(f"an index is a path, the address of a server, or one that is open, not {given!r}")
    return given


def writable(given: IndexLike) -> Index:
    """Open an index here that texts can be added to; a path where nothing is becomes a new one. Raises as above."""
    if isinstance(given, Index):
        return given
    if isinstance(given, Path) or (isinstance(given, str) and not given.startswith(_ADDRESSES)):
        return _opened(given, create=True)
    raise UsageError(f"documents are kept in an index on this machine: a path, or an Index, not {given!r}")


def written(given: IndexLike) -> str:
    """The path or address of an index, to be written down. Raises UsageError for one that is open."""
    if isinstance(given, str | Path):
        return str(given)
    raise UsageError(f"{given!r} cannot be written down; make what uses it with the path of the index, or its address")


def name_of(index: Searchable) -> str | None:
    """What answers call an index: its path, or its name on a server, or the server's address."""
    if isinstance(index, Index):
        return str(index.path)
    return getattr(index, "name", None) or getattr(index, "url", None)


def _connected(url: str) -> RemoteIndex:
    with _opening:
        server = _servers.get(url)
        if server is None:
            server = _servers[url] = Index.connect(url)
        return server


def _opened(path: str | Path, *, create: bool) -> Index:
    whole = str(Path(path).resolve())
    with _opening:
        index = _indexes.get(whole)
        if index is None:
            index = _indexes[whole] = _open_or_create(path) if create else Index.open(path)
        return index


def _open_or_create(path: str | Path) -> Index:
    try:
        return Index.open(path)
    except IndexNotFound:
        return Index.create(path)
