"""The files of an index's maps: where each lies, and which are deleted.

A map can be made again, so no commit depends on it. Its file is named for the fit of the vectors that it was made from;
a refit or rebuild makes other vectors, and that writer, or the next one, deletes the map. A file in the making has
another name; one that a killed process left behind is deleted after an hour.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from semsearch.system import clock

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
        return clock.now() - path.stat().st_mtime
    except OSError:
        return 0.0
