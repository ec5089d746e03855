"""The roots of an index, and the documents below them as a sync needs them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from semsearch.sources.plan import Known
    from semsearch.sources.roots import Root

Int32 = npt.NDArray[np.int32]


def get_roots(db: sqlite3.Connection) -> list[Root]:
    from semsearch.sources.roots import Root  # start-up time: a search reads none

    return [
        Root(id_, path, bool(single), tuple(json.loads(include)), tuple(json.loads(exclude)))
        for id_, path, single, include, exclude in db.execute(
            "SELECT id, path, single, include, exclude FROM roots ORDER BY id"
        )
    ]


def set_root(db: sqlite3.Connection, root: Root) -> None:
    row = (root.id, root.path, root.single, json.dumps(root.include), json.dumps(root.exclude))
    db.execute("INSERT OR REPLACE INTO roots (id, path, single, include, exclude) VALUES (?, ?, ?, ?, ?)", row)


def get_known(db: sqlite3.Connection, roots: Iterable[Root]) -> list[Known]:
    """The documents of some roots, for a sync."""
    from semsearch.sources.plan import Known  # start-up time: a search reads none

    found: list[Known] = []
    for root in roots:
        rows = db.execute(
            "SELECT id, path, size, mtime_ns, checked_ns, digest FROM documents WHERE root_id = ?", (root.id,)
        )
        found += [Known(row[0], root.id, row[1], root.place(row[1]), *row[2:]) for row in rows]
    return found
