"""The documents and roots that some paths name: files, folders, whole roots, and added texts by their ids."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.sources.roots import ADDED, Root, covers
from semsearch.storage.roots import get_known, get_roots
from semsearch.system.uris import uri_scheme

if TYPE_CHECKING:
    import sqlite3


@dataclass(frozen=True, slots=True)
class NamedDocuments:
    """Documents by their ids, rising, and roots that lie at or below one of the paths."""

    document_ids: tuple[int, ...]
    roots: tuple[Root, ...]

    def __bool__(self) -> bool:
        return bool(self.document_ids or self.roots)


def find_named(db: sqlite3.Connection, paths: Sequence[str | Path]) -> NamedDocuments:
    """Find the documents and roots that paths and ids name; a path that has gone names what was indexed from it."""
    roots = get_roots(db)
    texts = {document.path: document.document_id for document in get_known(db, [Root(ADDED, "")])}
    given = [str(path) for path in paths]
    named = [Root(-1, unicodedata.normalize("NFC", whole)) for path in given if (whole := _resolved(path))]
    ids = {texts[path] for path in given if path in texts}
    ids |= {file.document_id for file in get_known(db, roots) if any(covers(each, file.canonical) for each in named)}
    below = [root for root in roots if any(covers(each, root.canonical("")) for each in named)]
    return NamedDocuments(tuple(sorted(ids)), tuple(below))


def _resolved(path: str) -> str:
    """The absolute path, links resolved; "" for an empty path, an id that is no path, or links that lead round."""
    if not path:
        return ""
    if uri_scheme(path):
        return path.rstrip("/")
    try:
        return Path(path).resolve().as_posix()
    except (OSError, RuntimeError, ValueError):
        return ""
