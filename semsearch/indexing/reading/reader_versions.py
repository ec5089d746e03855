"""Reader versions: documents that were read with another version of their format's reader count as changed files.

So do all documents that were cut by another version of the splitter. Kept as JSON among the meta rows: the version by
format, with that of the splitter among them, and the ids of documents that were read with an older one, since a sync
may look at some of the roots only. An index without such rows was read with version "1" of each.
Texts that a program added are in no file, and stay as they were read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from semsearch.readers.registry import FORMATS, format_named
from semsearch.sources.plan import KnownDocument
from semsearch.sources.roots import ADDED
from semsearch.storage.meta import get_meta, set_meta
from semsearch.text import splitting

if TYPE_CHECKING:
    import sqlite3

_VERSIONS = "reader_versions"
_OUTDATED = "outdated_documents"
_SPLITTER = "(splitter)"  # no format is called so
_FIRST = "1"
_NO_SIZE = -1


def outdated_documents(db: sqlite3.Connection) -> set[int]:
    """Find the ids of documents in files that were read with another version of their reader than today's."""
    outdated: set[int] = set(json.loads(get_meta(db, _OUTDATED) or "[]"))
    recorded = _recorded(db)
    if recorded.pop(_SPLITTER, _FIRST) != splitting.SPLITTER_VERSION:
        outdated.update(id_ for (id_,) in db.execute("SELECT id FROM documents WHERE root_id != ?", (ADDED,)))
    for name in {*FORMATS, *recorded}:
        if _current(name) not in (None, recorded.get(name, _FIRST)):
            rows = db.execute("SELECT id FROM documents WHERE format = ? AND root_id != ?", (name, ADDED))
            outdated.update(id_ for (id_,) in rows)
    return outdated


def as_changed(known: list[KnownDocument], outdated: set[int]) -> list[KnownDocument]:
    """The known documents, without size and digest where they are outdated, so that a sync reads them again."""
    if not outdated:
        return known
    return [
        replace(document, size=_NO_SIZE, digest="") if document.document_id in outdated else document
        for document in known
    ]


def record_versions(db: sqlite3.Connection, outdated: Iterable[int]) -> None:
    """Record today's versions for all documents but those that were outdated before files were read and still exist."""
    names = [*FORMATS, *(name for (name,) in db.execute("SELECT DISTINCT format FROM documents"))]
    versions = {name: version for name in names if (version := _current(name)) is not None}
    versions[_SPLITTER] = splitting.SPLITTER_VERSION
    left = [id_ for id_ in sorted(outdated) if db.execute("SELECT 1 FROM documents WHERE id = ?", (id_,)).fetchone()]
    set_meta(db, _VERSIONS, json.dumps(_recorded(db) | versions, sort_keys=True))
    set_meta(db, _OUTDATED, json.dumps(left))


def _recorded(db: sqlite3.Connection) -> dict[str, str]:
    return dict(json.loads(get_meta(db, _VERSIONS) or "{}"))


def _current(name: str) -> str | None:
    """The version of a format's reader; None if there is no such reader any more."""
    kind = format_named(name)
    return None if kind is None else kind.version
