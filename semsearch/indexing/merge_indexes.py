"""Merge indexes: copy the documents and roots of other indexes into one, without reading any file again.

A root that lies in a root of another index becomes a part of it. A file, or a text with the same id, that is in more
than one index is taken from the first.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from semsearch.indexing.generation import Generation
from semsearch.indexing.intake import DocumentSource
from semsearch.indexing.read_files import Prepared
from semsearch.sources.roots import ADDED, Root, covers
from semsearch.storage.catalogue import get_roots, set_root
from semsearch.storage.database import IndexDatabase
from semsearch.storage.document_rows import KeptDocument, each_kept, kept_ids

if TYPE_CHECKING:
    import sqlite3


@dataclass(frozen=True, slots=True)
class JoinedDocuments:
    """The number of documents taken in, and of those left out because an earlier index has them."""

    taken: int
    known: int


def join(generation: Generation, others: Sequence[IndexDatabase]) -> JoinedDocuments:
    """Take in the documents of other indexes, into one that is empty."""
    roots = _roots(others)
    for root in roots:
        set_root(generation.db, root)
    seen: set[tuple[int, str]] = set()
    known = 0
    for other in others:
        with other.reading() as db:
            for source, document in _placed(db, roots):
                if (source.root_id, source.path) in seen:
                    known += 1
                    continue
                seen.add((source.root_id, source.path))
                generation.intake.take(source, _prepared(document))
    generation.intake.flush()
    return JoinedDocuments(len(seen), known)


def _prepared(document: KeptDocument) -> Prepared:
    """A kept document as the intake takes one that was read."""
    return Prepared(
        title=document.columns.title,
        format=document.columns.format,
        metadata=document.columns.metadata,
        records=document.passages,
        reading=(document.characters, document.omissions),
    )


def _roots(others: Sequence[IndexDatabase]) -> list[Root]:
    """The roots of all indexes that lie in no other, numbered from 1 on."""
    roots: list[Root] = []
    for other in others:
        with other.reading() as db:
            roots += get_roots(db)
    roots.sort(key=lambda root: len(root.path))  # an outer one before what lies in it; of two with one path, the first
    outer: list[Root] = []
    for root in roots:
        if not any(covers(outer_root, root.path) for outer_root in outer):
            outer.append(replace(root, id=len(outer) + 1))
    return outer


def _placed(db: sqlite3.Connection, roots: Sequence[Root]) -> Iterator[tuple[DocumentSource, KeptDocument]]:
    """The documents of an index, each with its path below the merged roots."""
    own_roots = {root.id: root for root in get_roots(db)}
    outer = {
        id_: next(outer_root for outer_root in roots if covers(outer_root, root.path))
        for id_, root in own_roots.items()
    }
    for document in each_kept(db, kept_ids(db)):
        columns = document.columns
        root = own_roots.get(columns.root_id)
        path, file, root_id = columns.path, document.file, ADDED
        if root is not None:
            around = outer[root.id]
            file, root_id = _below(around, root, file), around.id
            path = unicodedata.normalize("NFC", _below(around, root, path))
        state = columns.digest, columns.size, columns.mtime_ns, columns.checked_ns
        yield DocumentSource(root_id, path, file, *state, reader=columns.reader), document


def _below(outer: Root, inner: Root, path: str) -> str:
    """A path below an inner root as a path below the outer one."""
    between = inner.path[len(outer.path.rstrip("/")) :].strip("/")
    if not between:
        return path
    return between if inner.single else f"{between}/{path}"
