"""Read and write the rows of roots, and read the documents below them for a sync."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from semsearch.storage.meta import get_meta, set_meta

if TYPE_CHECKING:
    from semsearch.readers.records.columns import Columns
    from semsearch.sources.plan import KnownDocument
    from semsearch.sources.roots import Root, RootPart

_COLUMNS = "columns"  # of meta: JSON
_OPTIONS = "store_options"  # of meta, of roots in stores: JSON

Int32 = npt.NDArray[np.int32]


def get_roots(db: sqlite3.Connection) -> list[Root]:
    """Read the roots of an index."""
    from semsearch.readers.records.columns import NO_COLUMNS  # start-up time: a search reads none
    from semsearch.sources.roots import Root  # start-up time, as above

    columns, options = _columns(db), _options(db)
    return [
        Root(
            id_,
            path,
            bool(single),
            tuple(json.loads(include)),
            tuple(json.loads(exclude)),
            columns.get(id_, NO_COLUMNS),
            options.get(id_, ""),
        )
        for id_, path, single, include, exclude in db.execute(
            "SELECT id, path, single, include, exclude FROM roots ORDER BY id"
        )
    ]


def set_root(db: sqlite3.Connection, root: Root) -> None:
    """Write a root, in place of an earlier one with its id."""
    row = (root.id, root.path, root.single, json.dumps(root.include), json.dumps(root.exclude))
    db.execute("INSERT OR REPLACE INTO roots (id, path, single, include, exclude) VALUES (?, ?, ?, ?, ?)", row)
    chosen = _columns(db) | {root.id: root.columns}  # of a root that has gone, its id may be another's now
    if any(chosen.values()) or get_meta(db, _COLUMNS):
        set_meta(db, _COLUMNS, json.dumps({id_: asdict(columns) for id_, columns in chosen.items() if columns}))
    options = _options(db) | {root.id: root.options}
    if any(options.values()) or get_meta(db, _OPTIONS):
        set_meta(db, _OPTIONS, json.dumps({id_: each for id_, each in options.items() if each}))


def _options(db: sqlite3.Connection) -> dict[int, str]:
    """How the stores of roots are reached, by the root's id; nothing secret."""
    return {int(id_): each for id_, each in json.loads(get_meta(db, _OPTIONS) or "{}").items()}


def _columns(db: sqlite3.Connection) -> dict[int, Columns]:
    """The columns that were chosen for roots, by the root's id."""
    from semsearch.readers.records.columns import Columns  # start-up time, as above

    stored = json.loads(get_meta(db, _COLUMNS) or "{}")
    return {int(id_): Columns(tuple(each["text"]), tuple(each["metadata"])) for id_, each in stored.items()}


_KNOWN = "SELECT id, path, size, mtime_ns, checked_ns, digest FROM documents WHERE root_id = ?"


def get_known(db: sqlite3.Connection, roots: Iterable[Root]) -> list[KnownDocument]:
    """Read the documents of some roots, for a sync."""
    return [document for root in roots for document in _known(root, db.execute(_KNOWN, (root.id,)))]


def get_known_at(db: sqlite3.Connection, part: RootPart) -> list[KnownDocument]:
    """Read the document of a file in a root, or those in a folder there, for a sync."""
    id_, path = part.root.id, unicodedata.normalize("NFC", part.path)
    below = f"{path}/", f"{path}0"  # which comes after the slash
    one = db.execute(f"{_KNOWN} AND path = ?", (id_, path))  # a constant
    several = db.execute(f"{_KNOWN} AND path > ? AND path < ?", (id_, *below))  # a constant
    return [*_known(part.root, one), *_known(part.root, several)]


def get_known_of_sizes(db: sqlite3.Connection, root: Root, sizes: Iterable[int]) -> list[KnownDocument]:
    """Read the documents of a root whose files had one of some sizes, for a sync."""
    of_size = f"{_KNOWN} AND size IN (SELECT value FROM json_each(?))"  # noqa: S608  # a constant
    return list(_known(root, db.execute(of_size, (root.id, json.dumps([*sizes])))))


def _known(root: Root, rows: Iterable[Any]) -> list[KnownDocument]:
    from semsearch.sources.plan import KnownDocument  # start-up time: a search reads none

    return [KnownDocument(row[0], root.id, row[1], root.canonical(row[1]), *row[2:]) for row in rows]
