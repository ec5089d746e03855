"""Files that were tried and not read, remembered so that the next sync need not try them again.

What a file's own bytes are to blame for is lasting: it holds while the file is the same. What the disk, its
permissions, or a package that is not installed refused is tried again each time, and kept to be told. Another version
of semsearch may read more, and so may another reader for such files: then all of them are tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from semsearch import __version__
from semsearch.readers.registry import reader_label
from semsearch.sources.plan import CLOCK_TICK_NS, PresentFile

if TYPE_CHECKING:
    import sqlite3

_SELECT = "SELECT path, size, mtime_ns, checked_ns, max_bytes, reason, reader, lasting FROM unread"
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
    reader: str  # which one refused it, and its version: see `judge_of`
    lasting: int = 1  # whether it would be refused again

    def is_of(self, present: PresentFile) -> bool:
        """Tell whether file and reader are the same, as far as size, modification time and version tell."""
        same = (self.size, self.mtime_ns) == (present.size, present.mtime_ns)
        return same and self.reader == judge_of(present)

    def holds(self, present: PresentFile, limit: int | None) -> bool:
        """Tell whether the file would be skipped again. Without a limit in bytes, by size and time alone."""
        if not self.lasting or not self.is_of(present):
            return False
        if limit is None:
            return True
        is_settled = self.mtime_ns < self.checked_ns - CLOCK_TICK_NS
        return is_settled and (present.size > limit) == (self.size > self.limit)


def judge_of(present: PresentFile) -> str:
    """The reader that a file would get today, and whether it would be looked into first, for `Skip.reader`."""
    return f"{__version__} {reader_label(present.path)}{'' if present.is_known else ' if text'}"


def still_skipped(skips: Mapping[str, Skip], present: Iterable[PresentFile], limit: int | None) -> dict[str, Skip]:
    """The remembered skips that still hold for the files on disk, by canonical path."""
    by_path = {file.canonical: file for file in present if file.canonical in skips}
    return {path: skips[path] for path, file in by_path.items() if skips[path].holds(file, limit)}


def get_skips(db: sqlite3.Connection) -> dict[str, Skip]:
    """Read the remembered skips, by canonical path."""
    return {row[0]: Skip(*row[1:]) for row in db.execute(_SELECT)}


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
