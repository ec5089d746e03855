"""Columns chosen for the tables of a root: which documents have to be read again for them, and whether they exist."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from semsearch.errors import UsageError
from semsearch.readers.records.columns import NO_COLUMNS, Columns
from semsearch.readers.registry import FORMATS, format_of
from semsearch.sources.plan import FilePair
from semsearch.sources.roots import Root, RootPlan, covers

if TYPE_CHECKING:
    import sqlite3


def documents_of_other_columns(db: sqlite3.Connection, known: Sequence[Root], roots: RootPlan) -> set[int]:
    """Find the tables and records that were read with other columns than those chosen for their root now."""
    before = {root.id: root.columns for root in known}
    changed = {root.id for root in roots.wanted if root.columns != before.get(root.id, root.columns)}
    for old in roots.absorbed:
        if any(covers(root, old.path) and root.columns != old.columns for root in roots.wanted):
            changed.add(old.id)
    if not changed:
        return set()
    formats = [kind.name for kind in FORMATS.values() if kind.has_columns]
    rows = db.execute(
        "SELECT id FROM documents WHERE root_id IN (SELECT value FROM json_each(?)) "
        "AND format IN (SELECT value FROM json_each(?))",
        (json.dumps([*changed]), json.dumps(formats)),
    )
    return {id_ for (id_,) in rows}


def has_other_columns(pair: FilePair, before: Mapping[int, Columns]) -> bool:
    """Return whether a file that has moved comes to a root with other columns, and is one that has columns."""
    if before.get(pair.known.root_id, NO_COLUMNS) == pair.present.columns:
        return False
    kind = format_of(pair.present.path)
    return kind is not None and kind.has_columns


def check_columns(
    roots: Iterable[Root], before: Mapping[int, Columns], found: Mapping[int, Mapping[str, None]]
) -> None:
    """Check that newly chosen columns were found in some file of their root. `before` and `found`: by the root's id.

    Raises UsageError for a column that no file has.
    """
    for root in roots:
        names = found.get(root.id, {})
        if root.columns != before.get(root.id, NO_COLUMNS) and (missing := root.columns.missing(names)):
            suffixes = ", ".join(suffix for kind in FORMATS.values() if kind.has_columns for suffix in kind.suffixes)
            raise UsageError(
                f"no file in {root.path} has a column {missing[0]!r}; "
                + (f"the columns there are {', '.join(names)}" if names else f"there is no {suffixes} with columns")
            )
