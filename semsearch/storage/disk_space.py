"""The disk space of an index: the sizes of its files, free pages and log of its database, and how they are reclaimed.

Deleted rows leave free pages, which later rows fill; VACUUM rewrites the database without them. Commits go to the log
(-wal) first, and are merged into the database as far as no reader needs the earlier pages, which SQLite knows from the
locks of read transactions in all processes. So the state of the log also tells when no reader needs the segments of an
earlier generation.

The file of a map (semsearch.mapping) is named for the fit of the vectors that it was made from: a refit or rebuild
makes other vectors, and that writer, or the next one, deletes the map. No commit depends on it. A file in the making
has another name; one that a killed process left behind is deleted after an hour.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from semsearch.storage.connections import connect
from semsearch.storage.database import IndexDatabase, explained

_FEW = 16  # free pages, of 4 kB each, that are not worth a new database
_LOG = "-wal"


@dataclass(frozen=True, slots=True)
class FreePages:
    """The number of free pages of a database, and of all its pages."""

    free: int
    all: int

    def are_more_than(self, share: float) -> bool:
        """Return whether more than a share of the database is free, and more than a few pages."""
        return self.free > max(_FEW, share * self.all)


def file_sizes(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the name and the size in bytes of each file of an index, without those that a writer deletes meanwhile."""
    for where, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                yield name, os.stat(os.path.join(where, name)).st_size  # noqa: PTH116, PTH118  # as os.walk gives them


def free_pages(db: sqlite3.Connection) -> FreePages:
    """Count the pages as a transaction sees them."""
    (free,), (pages,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("freelist_count", "page_count"))
    return FreePages(free, pages)


def vacuum(database: IndexDatabase) -> None:
    """Rewrite the database without its free pages. It needs twice the space meanwhile, and does not block readers."""
    with explained(database.folder), closing(connect(database.path, "rw")) as connection:
        connection.execute("VACUUM")


def log_size(database: IndexDatabase) -> int | None:
    """The size of the database's log in bytes; None if there is no log."""
    try:
        return database.path.with_name(database.path.name + _LOG).stat().st_size
    except FileNotFoundError:
        return None


def settle(database: IndexDatabase, *, wait: float = 0.0) -> bool:
    """Merge the log into the database; return whether no reader sees an earlier state than the last one.

    Waits at most `wait` seconds for such readers to end. The writer's lock must be held.
    """
    if log_size(database) is None:
        return True  # the last connection removed it, and later ones see the last state
    with explained(database.folder), closing(connect(database.path, "rw")) as connection:
        connection.execute(f"PRAGMA busy_timeout = {round(wait * 1000)}")
        is_busy, pages, merged = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not is_busy or 0 <= pages == merged  # busy and merged: readers of the last state keep the file's length


# -- The files of maps -------------------------------------------------------------------------------------------------


logger = logging.getLogger(__name__)
_PREFIX = "map-"
_WHOLE = re.compile(r"map-(\d{8,})\.points")
_ABANDONED = 3600.0  # seconds after which an unfinished file counts as abandoned


def map_path(folder: Path, fit: int) -> Path:
    """The path of the map of an index whose vectors were fitted by a generation."""
    return folder / f"{_PREFIX}{fit:08}.points"


def unfinished_path(folder: Path, fit: int) -> Path:
    """The path under which this process writes such a map, until it is whole."""
    return folder / f"{_PREFIX}{fit:08}.{os.getpid()}.unfinished"


def is_map_file(name: str) -> bool:
    """Return whether a file of an index's folder is a map, or was to become one."""
    return name.startswith(_PREFIX)


def get_fit(db: sqlite3.Connection) -> int | None:
    """The generation that fitted the present vectors; None if there are none."""
    row = db.execute("SELECT generation FROM fit").fetchone()
    return None if row is None else int(row[0])


def sweep_maps(db: sqlite3.Connection, folder: Path) -> None:
    """Delete maps of other than the present vectors, and unfinished files that are no longer written."""
    for path in _outdated(folder, get_fit(db)):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:  # Windows: a reader has it open; the next writer tries again
            logger.debug("%s could not be deleted: %s", path, error)


def _outdated(folder: Path, fit: int | None) -> Iterator[Path]:
    for path in folder.glob(f"{_PREFIX}*"):
        whole = _WHOLE.fullmatch(path.name)
        if (whole and int(whole[1]) != fit) or (not whole and _age(path) > _ABANDONED):
            yield path


def _age(path: Path) -> float:
    """The seconds since a file was written; 0 if it does not exist."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
