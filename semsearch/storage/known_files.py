"""The files that an index knows: its roots, the files below them that were read, and those that could not be read."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from semsearch.readers.registry import Columns
from semsearch.sources.roots import ADDED, Root, RootPart, covers
from semsearch.sources.unchanged import FilePair, KnownDocument, Skip, reading_label
from semsearch.storage.checksums import damaged_index
from semsearch.storage.document_rows import documents_changing

# -- Roots -------------------------------------------------------------------------------------------------------------

_ROOTS = "SELECT id, path, single, include, exclude, text_columns, metadata_columns, options FROM roots ORDER BY id"


def get_roots(db: sqlite3.Connection) -> list[Root]:
    """Read the roots of an index."""
    roots = []
    for id_, path, single, include, exclude, text, metadata, options in db.execute(_ROOTS):
        columns = Columns(tuple(json.loads(text)), tuple(json.loads(metadata)))
        globs = tuple(json.loads(include)), tuple(json.loads(exclude))
        roots.append(Root(id_, path, bool(single), *globs, columns=columns, options=options))
    return roots


def set_root(db: sqlite3.Connection, root: Root) -> None:
    """Write a root, in place of an earlier one with its id."""
    lists = root.include, root.exclude, root.columns.text, root.columns.metadata
    db.execute(
        "INSERT OR REPLACE INTO roots VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (root.id, root.path, int(root.single), *map(json.dumps, lists), root.options),
    )


def delete_roots(db: sqlite3.Connection, roots: Iterable[Root]) -> None:
    """Delete roots; documents of theirs must have been deleted or moved."""
    db.executemany("DELETE FROM roots WHERE id = ?", [(root.id,) for root in roots])


def get_root_addresses(db: sqlite3.Connection) -> list[str]:
    """Read the paths of the roots; of those in stores the URIs with which they are reached."""
    return [place for (place,) in db.execute("SELECT path || options FROM roots ORDER BY id")]


# -- Documents ---------------------------------------------------------------------------------------------------------

_KNOWN = "SELECT id, path, size, mtime_ns, checked_ns, digest, format, reader FROM documents WHERE root_id = ?"
_COUNTED = """SELECT (SELECT count(*) FROM documents INDEXED BY documents_by_path WHERE root_id >= 0),
    (SELECT count(*) FROM documents NOT INDEXED)"""


def get_known_documents(db: sqlite3.Connection, root: Root, parts: Iterable[RootPart] = ()) -> list[KnownDocument]:
    """Read the documents of a root; or of some parts of it: of each the file there, or those in the folder there."""
    rows = list[Any]()
    paths = [unicodedata.normalize("NFC", part.path) for part in parts]
    for path in paths:
        below = f"{path}/", f"{path}0"  # 0 comes after /
        rows += db.execute(f"{_KNOWN} AND (path = ? OR (path > ? AND path < ?))", (root.id, path, *below))
    if not paths:
        rows = db.execute(_KNOWN, (root.id,)).fetchall()
    canonical_paths = root.canonical_paths([row[1] for row in rows])
    return [
        KnownDocument(id_, root.id, path, canonical, *state)
        for (id_, path, *state), canonical in zip(rows, canonical_paths, strict=True)
    ]


def count_documents(db: sqlite3.Connection, root: Root) -> int:
    """The number of documents of a root."""
    return int(db.execute("SELECT count(*) FROM documents WHERE root_id = ?", (root.id,)).fetchone()[0])


def check_documents_by_path(db: sqlite3.Connection) -> None:
    """Check that as many documents are found by their root as there are: the file of another would seem to be new.

    Raises IndexDamaged.
    """
    by_path, documents = db.execute(_COUNTED).fetchone()
    if by_path != documents:
        raise damaged_index(db, f"it finds {by_path} of {documents} documents by their paths")


def documents_with_other_readers(db: sqlite3.Connection, roots: Iterable[Root]) -> set[int]:
    """Find the documents that were read by another version of their reader or splitter than today's, or with other
    columns than those of these roots.
    """
    by_id = {root.id: root for root in roots}
    outdated: set[int] = set()
    labels = db.execute("SELECT DISTINCT root_id, format, reader FROM documents WHERE root_id != ?", (ADDED,))
    for root_id, format, reader in labels.fetchall():
        if root_id in by_id and reader != reading_label(format, by_id[root_id].columns, instead=reader):
            rows = db.execute(
                "SELECT id FROM documents WHERE root_id = ? AND format = ? AND reader = ?", (root_id, format, reader)
            )
            outdated.update(id_ for (id_,) in rows)
    return outdated


def get_omissions(db: sqlite3.Connection) -> dict[int, str]:
    """The omissions of documents that have some, as JSON, by their ids."""
    return dict(db.execute("SELECT document_id, omissions FROM readings WHERE omissions != '[]'"))


# -- Documents whose files have moved, or have another time ------------------------------------------------------------


def move_documents(db: sqlite3.Connection, pairs: Sequence[FilePair], *, checked_ns: int) -> None:
    """Write the path and state of files whose documents have not changed, and when they were checked."""
    rows = []
    for pair in pairs:
        file = pair.present
        place = file.root_id, file.path, file.file if file.file != file.path else None
        rows.append((*place, file.size, file.mtime_ns, checked_ns, pair.known.document_id))
    with documents_changing(db, [row[-1] for row in rows]):
        db.executemany(
            "UPDATE documents SET root_id = ?, path = ?, file = ?, size = ?, mtime_ns = ?, checked_ns = ? WHERE id = ?",
            rows,
        )


def move_root(db: sqlite3.Connection, inner: Root, outer: Root) -> None:
    """Make the documents of a root documents of another, in which it lies."""
    below = inner.path.removeprefix(outer.path.rstrip("/") + "/")
    prefix = below.removesuffix(PurePosixPath(below).name) if inner.single else below + "/"
    ids = [id_ for (id_,) in db.execute("SELECT id FROM documents WHERE root_id = ?", (inner.id,))]
    with documents_changing(db, ids):
        db.execute(
            "UPDATE documents SET root_id = ?, path = ? || path, file = ? || coalesce(file, path) WHERE root_id = ?",
            (outer.id, unicodedata.normalize("NFC", prefix), prefix, inner.id),
        )


# -- Files that could not be read --------------------------------------------------------------------------------------

_SKIP_COLUMNS = "path, size, mtime_ns, checked_ns, max_bytes, reason, reader, lasting"


def get_skips(db: sqlite3.Connection) -> dict[str, Skip]:
    """Read which files could not be read, by canonical path."""
    rows = db.execute(f"SELECT {_SKIP_COLUMNS} FROM unread")
    return {path: Skip(*state) for path, *state in rows}


def set_skips(db: sqlite3.Connection, skips: Mapping[str, Skip]) -> None:
    """Write which files below the roots could not be read, in place of all earlier ones."""
    roots, known = get_roots(db), get_skips(db)
    skips = {path: skip for path, skip in skips.items() if any(covers(root, path) for root in roots)}
    db.executemany("DELETE FROM unread WHERE path = ?", [(path,) for path in known if path not in skips])
    db.executemany(
        f"INSERT OR REPLACE INTO unread ({_SKIP_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(path, *skip) for path, skip in skips.items() if known.get(path) != skip],
    )
