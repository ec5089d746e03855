"""Open what a question is for: an index here, several that are searched as one, or those on a server."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, cast

from semsearch.cli.naming import find_asked
from semsearch.cli.reranking_choice import chosen_reranker, refuse_for_server
from semsearch.errors import UsageError

if TYPE_CHECKING:
    from typing import TypeAlias

    from semsearch.index import Index
    from semsearch.multi_index import MultiIndex
    from semsearch.remote_index import RemoteIndex

    Asked: TypeAlias = Index | RemoteIndex | MultiIndex


def open_asked(
    named: Sequence[str] | None,
    indexes: Path | None,
    *,
    server: str | None = None,
    vectors: str | None = None,
    rerank: str | None = None,
    rerank_seconds: float | None = None,
) -> Asked:
    """Open the index that is named, or the only one there is; several that are named are searched as one.

    The model `rerank` reads the first hits again, if one is named.
    """
    if server:
        refuse_for_server(rerank)
        return _on_server(server, named, vectors)
    found = [find_asked(name, indexes) for name in named or (None,)]
    folders = list({_spelled(folder): folder for folder in reversed(found)}.values())[::-1]
    if len(folders) == 1:
        from semsearch.index import Index  # start-up time: an index that is missing is reported before

        return Index.open(folders[0], vectors=vectors, reranker=chosen_reranker(rerank, rerank_seconds))
    from semsearch.multi_index import MultiIndex  # start-up time: most ask one

    return MultiIndex.open(*folders, vectors=vectors, reranker=chosen_reranker(rerank, rerank_seconds))


def _spelled(found: Path | str) -> str:
    """A folder or URI, always spelled alike."""
    return os.path.realpath(found) if isinstance(found, Path) else found


def is_remote(opened: Asked) -> TypeGuard[RemoteIndex]:
    """Whether a server is asked."""
    return hasattr(opened, "url")  # the class would have to be imported, and takes long


def is_several(opened: Asked) -> TypeGuard[MultiIndex]:
    """Whether several indexes here are asked as one."""
    return hasattr(opened, "indexes")  # likewise


def indexes_of(opened: Asked) -> Mapping[str, Index]:
    """The indexes here that are asked, by the names that their hits have: "" if it is one. None of a server's."""
    if is_several(opened):
        return opened.indexes
    return {} if is_remote(opened) else {"": cast("Index", opened)}


def names_of(opened: Asked) -> Sequence[str]:
    """The names of the indexes that are asked as one; none if it is one."""
    if is_remote(opened):
        return opened.name if isinstance(opened.name, tuple) else ()
    return [name for name in indexes_of(opened) if name]


def _on_server(server: str, named: Sequence[str] | None, vectors: str | None) -> RemoteIndex:
    if vectors is not None:
        raise UsageError("--vectors is for an index here, not for one on a server")
    from semsearch.remote_index import RemoteIndex  # start-up time: an index here needs no HTTP

    return RemoteIndex(server, index=named or None, token=os.environ.get("SEMSEARCH_TOKEN"))
