"""Segments that no reader can need any more are dropped: by the next writer, for one that was killed cannot.

What no manifest has ever named is of an attempt that came to nothing. What was retired is of an earlier generation, and
stays for a grace period: a reader may have read that generation's manifest and be about to open it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from semsearch.dense.engines import ENGINE, open_stores
from semsearch.storage.database import SEGMENTS
from semsearch.storage.manifest import forget_retired, get_retired, get_segments
from semsearch.storage.meta import get_meta

if TYPE_CHECKING:
    import sqlite3

logger = logging.getLogger(__name__)


class Keeper(Protocol):
    """Where segments are: the index folder, or an engine of vectors."""

    def names(self) -> Iterable[str]:
        """The segments that are there, unfinished ones among them."""

    def drop(self, name: str) -> None:
        """Delete a segment. Raises OSError where it is in use."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The segment files of an index."""

    path: Path

    def names(self) -> Iterable[str]:
        """All that lies in the folder."""
        return [path.name for path in self.path.iterdir()]

    def drop(self, name: str) -> None:
        """Delete a file. Raises OSError on Windows while a reader has it open."""
        (self.path / name).unlink(missing_ok=True)


def sweep(db: sqlite3.Connection, folder: Path, *, grace: float) -> None:
    """Drop what the current generation does not name, but what was retired less than so many seconds ago."""
    drop_unnamed(db, folder)
    keepers, now = _keepers(db, folder), time.time()
    retired = get_retired(db)
    for name in [name for name, when in retired.items() if when < now - grace and name in keepers]:
        try:
            keepers[name].drop(name)
            del keepers[name]
        except OSError as error:  # Windows: a reader still has it open; the next writer tries again
            logger.debug("%s could not be dropped: %s", name, error)
    forget_retired(db, retired.keys() - keepers.keys())


def drop_unnamed(db: sqlite3.Connection, folder: Path) -> None:
    """Drop what no committed generation has ever named: no reader can know of it."""
    known = {segment.file for segment in get_segments(db)} | get_retired(db).keys()
    for name, keeper in _keepers(db, folder).items():
        if name not in known:
            with suppress(OSError):
                keeper.drop(name)


def _keepers(db: sqlite3.Connection, folder: Path) -> dict[str, Keeper]:
    """All segments that are there, and who has each."""
    stores = open_stores(get_meta(db, ENGINE), folder)
    keepers: list[Keeper] = [Folder(folder / SEGMENTS), *stores.values()]
    return {name: keeper for keeper in keepers for name in keeper.names()}
