"""Files that were read and are no text, remembered so that the next sync need not try them again.

Kept as one JSON object among the meta rows, by absolute place. What a file's own bytes are to blame for is remembered,
not what the disk or its permissions refused. Another version of semsearch may read more, and forgets all; another
reader for such files, or another version of it, has them tried again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from semsearch import __version__
from semsearch.readers.registry import reader_label
from semsearch.sources.plan import CLOCK_TICK_NS, Present
from semsearch.storage.meta import get_meta, set_meta

if TYPE_CHECKING:
    import sqlite3

_KEY = "skipped"


@dataclass(frozen=True, slots=True)
class Skip:
    """A file that was skipped: its state then, the limit in bytes that held, and why."""

    size: int
    mtime_ns: int
    checked_ns: int
    limit: int
    reason: str
    reader: str = ""  # which one refused it, and its version

    def holds(self, present: Present, limit: int | None) -> bool:
        """Whether trying again would come to the same. Without a limit, as far as size and time tell."""
        same = (self.size, self.mtime_ns) == (present.size, present.mtime_ns) and reader_label(
            present.path
        ) == self.reader
        if not same or limit is None:
            return same
        is_settled = self.mtime_ns < self.checked_ns - CLOCK_TICK_NS
        return is_settled and (present.size > limit) == (self.size > self.limit)


def still_skipped(skips: Mapping[str, Skip], present: Iterable[Present], limit: int | None) -> dict[str, Skip]:
    """The remembered skips that still hold for the files that are there."""
    places = {file.place: file for file in present if file.place in skips}
    return {place: skips[place] for place, file in places.items() if skips[place].holds(file, limit)}


def get_skips(db: sqlite3.Connection) -> dict[str, Skip]:
    """By place."""
    kept = json.loads(get_meta(db, _KEY) or "{}")
    return {place: Skip(*row) for place, row in kept.get("files", {}).items() if kept["version"] == __version__}


def set_skips(db: sqlite3.Connection, skips: Mapping[str, Skip]) -> None:
    """Replaces what was remembered."""
    files = {place: astuple(skip) for place, skip in skips.items()}
    set_meta(db, _KEY, json.dumps({"version": __version__, "files": files}, allow_nan=False))
