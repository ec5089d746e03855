"""Whether a file must be read again although its bytes are the same: versions, columns, unreadable files.

Versions: documents that were read with another version of their format's reader, or divided by another version of the
splitter, count as changed files. `meta` keeps, as JSON, the version by format, the splitter's among them, and the ids
of documents that were read with an older one, since a sync may cover only some of the roots. An index without these
rows was read with version "1" of each. Texts that a program added are in no file, and stay as they are.

Columns: if other columns are chosen for the tables of a root, its documents are read again.

Libraries of Zotero: a file that is attached in one is read again once that says something else of it.

Missing packages: a document with a part that a reader did not read because its package was missing is read again once
that is installed; the part's omission names the extra. Likewise one with pictures whose text is to be recognized, but
last (semsearch.indexing.recognize_scans).

Unreadable files are remembered, so that the next sync need not try them again. A failure caused by the file's own bytes
is lasting: it holds while the file is the same, by size and time, or by its content if that was read. A failure caused
by the disk, permissions or a missing package is tried again each time, and kept to be reported. After an update of
semsearch or of a reader, all are tried again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from semsearch import __version__
from semsearch.errors import UsageError
from semsearch.frozen import dataclass
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.readers.registry import FORMATS, PICTURE, format_named, format_of, reader_label
from semsearch.results.omissions import WAITING
from semsearch.sources.roots import ADDED, Root, RootPlan, covers
from semsearch.sources.sync_plan import CLOCK_TICK_NS, FilePair, KnownDocument, PresentFile
from semsearch.storage.meta import get_meta, set_meta
from semsearch.system.source_files import source_digest
from semsearch.text import passages

if TYPE_CHECKING:
    import sqlite3

# -- Reader versions ---------------------------------------------------------------------------------------------------

_VERSIONS = "reader_versions"
_OUTDATED = "outdated_documents"
_SPLITTER = "(splitter)"  # not the name of a format
_FIRST = "1"
_NO_SIZE = -1


def outdated_documents(db: sqlite3.Connection) -> set[int]:
    """Find the ids of documents in files that were read with another version of their reader than today's."""
    outdated: set[int] = set(json.loads(get_meta(db, _OUTDATED) or "[]"))
    recorded = _recorded(db)
    if recorded.pop(_SPLITTER, _FIRST) != passages.SPLITTER_VERSION:
        outdated.update(id_ for (id_,) in db.execute("SELECT id FROM documents WHERE root_id != ?", (ADDED,)))
    for name in {*FORMATS, *recorded}:
        if _current(name) not in (None, recorded.get(name, _FIRST)):
            rows = db.execute("SELECT id FROM documents WHERE format = ? AND root_id != ?", (name, ADDED))
            outdated.update(id_ for (id_,) in rows)
    extras = {k.needs[1] for k in FORMATS.values() if k is not PICTURE and k.needs is not None and not k.lacks_package}
    return outdated | _with_omission(db, [f"semsearch[{extra}]" for extra in extras])


def _with_omission(db: sqlite3.Connection, says: Sequence[str]) -> set[int]:
    """The documents with an omission that says one of these. Most documents have no omission."""
    rows = db.execute("SELECT document_id, omissions FROM readings WHERE omissions != '[]'")
    return {id_ for id_, omissions in rows if any(each in omissions for each in says)}


def unrecognized(db: sqlite3.Connection) -> tuple[set[int], set[str]]:
    """Documents with pictures whose text can be recognized and was not, and canonical paths of such unread files."""
    if PICTURE.lacks_package:
        return set(), set()
    says = (WAITING, f"semsearch[{PICTURE.needs[1]}]" if PICTURE.needs else WAITING)
    paths = {path for each in says for (path,) in db.execute("SELECT path FROM unread WHERE instr(reason, ?)", (each,))}
    return _with_omission(db, says), paths


def as_changed(known: list[KnownDocument], outdated: set[int]) -> list[KnownDocument]:
    """The known documents, without size and digest where they are outdated, so that a sync reads them again."""
    if not outdated:
        return known
    return [
        document._replace(size=_NO_SIZE, digest="") if document.document_id in outdated else document
        for document in known
    ]


def record_versions(db: sqlite3.Connection, outdated: Iterable[int]) -> None:
    """Record today's versions for all documents, except the remaining ones of those that were outdated."""
    names = [*FORMATS, *(name for (name,) in db.execute("SELECT DISTINCT format FROM documents"))]
    versions = {name: version for name in names if (version := _current(name)) is not None}
    versions[_SPLITTER] = passages.SPLITTER_VERSION
    left = [id_ for id_ in sorted(outdated) if db.execute("SELECT 1 FROM documents WHERE id = ?", (id_,)).fetchone()]
    set_meta(db, _VERSIONS, json.dumps(_recorded(db) | versions, sort_keys=True))
    set_meta(db, _OUTDATED, json.dumps(left))


def _recorded(db: sqlite3.Connection) -> dict[str, str]:
    return dict(json.loads(get_meta(db, _VERSIONS) or "{}"))


def _current(name: str) -> str | None:
    """The version of a format's reader; None if there is no such reader any more."""
    kind = format_named(name)
    return None if kind is None else kind.version


# -- Chosen columns ----------------------------------------------------------------------------------------------------


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
    """Return whether a moved file has columns, and is now in a root with other chosen columns."""
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
                + (f"the columns are {', '.join(names)}" if names else f"no {suffixes} file has columns")
            )


# -- Files that could not be read --------------------------------------------------------------------------------------

_SELECT = "SELECT path, size, mtime_ns, checked_ns, max_bytes, reason, reader, lasting FROM unread"
_DIGESTS = "digests_of_unread"  # by path, as JSON: of files that could be opened, and not read
_INSERT = (
    "INSERT OR REPLACE INTO unread (path, size, mtime_ns, checked_ns, max_bytes, reason, reader, lasting) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Skip:
    """A file that was skipped: its state then, the limit in bytes at that time, and the reason."""

    size: int
    mtime_ns: int
    checked_ns: int
    limit: int
    reason: str
    reader: str  # its name and version: see `judge_of`
    lasting: int = 1  # whether it would be refused again
    digest: str = ""  # of its content; "" where that is not known

    def is_of(self, present: PresentFile) -> bool:
        """Return whether file and reader are the same, by size, modification time and version."""
        same = (self.size, self.mtime_ns) == (present.size, present.mtime_ns)
        return same and self.reader == judge_of(present)

    def holds(self, present: PresentFile, limit: int | None) -> bool:
        """Return whether the file would be skipped again. Without a limit in bytes, by size and time alone."""
        if not self.lasting or not self.is_of(present):
            return False
        if limit is None:
            return True
        is_settled = self.mtime_ns < self.checked_ns - CLOCK_TICK_NS
        return is_settled and (present.size > limit) == (self.size > self.limit)

    def has_content_of(self, present: PresentFile, limit: int) -> bool:
        """Return whether a file on this machine has the content that was skipped, whatever its time: it is read."""
        same = self.size == present.size <= min(limit, self.limit) and self.reader == judge_of(present)
        if not self.lasting or not self.digest or not same or present.store:
            return False
        try:
            return source_digest(present.absolute) == self.digest
        except OSError:
            return False


def judge_of(present: PresentFile) -> str:
    """The reader that a file would get today, and whether its content would be sniffed first, for `Skip.reader`."""
    return f"{__version__} {reader_label(present.path)}{'' if present.is_known else ' if text'}"


def still_skipped(skips: Mapping[str, Skip], present: Iterable[PresentFile], limit: int | None) -> dict[str, Skip]:
    """The remembered skips that still hold for the files on disk, by canonical path."""
    found: dict[str, Skip] = {}
    for file in present:
        if (skip := skips.get(file.canonical)) is None:
            continue
        checked_ns = time.time_ns()
        if skip.holds(file, limit):
            found[file.canonical] = skip
        elif limit is not None and skip.has_content_of(file, limit):
            found[file.canonical] = replace(skip, mtime_ns=file.mtime_ns, checked_ns=checked_ns)
    return found


def get_skips(db: sqlite3.Connection) -> dict[str, Skip]:
    """Read the remembered skips, by canonical path."""
    digests = dict(json.loads(get_meta(db, _DIGESTS) or "{}"))
    return {row[0]: replace(Skip(*row[1:]), digest=str(digests.get(row[0], ""))) for row in db.execute(_SELECT)}


def set_skips(db: sqlite3.Connection, skips: Mapping[str, Skip]) -> None:
    """Write the skips to remember, in place of all earlier ones."""
    known = get_skips(db)
    db.executemany("DELETE FROM unread WHERE path = ?", [(path,) for path in known if path not in skips])
    rows = [
        (path, s.size, s.mtime_ns, s.checked_ns, s.limit, s.reason, s.reader, int(s.lasting))
        for path, s in skips.items()
        if known.get(path) != s
    ]
    db.executemany(_INSERT, rows)
    digests = {path: s.digest for path, s in skips.items() if s.digest}
    if digests != {path: s.digest for path, s in known.items() if s.digest}:
        set_meta(db, _DIGESTS, json.dumps(digests))
