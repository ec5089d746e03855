"""Sweep: drop segments that no reader can need any more. A writer does it after its commit, or else the next writer.

A segment that no manifest has ever named is left from an attempt that failed. A retired segment is of an earlier
generation. It is dropped at once if no read transaction sees an earlier generation
(semsearch.storage.files.disk_space). If one does, it may be about to open the segment, which stays for the next writer,
and for a grace period.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from semsearch.storage.database import SEGMENTS
from semsearch.storage.files.map_files import sweep_maps
from semsearch.storage.manifest import forget_retired, get_retired, get_segments
from semsearch.storage.publication import segments_of_readers_elsewhere
from semsearch.stores.registry import StoreAddress, get_address, open_stores
from semsearch.system import clock

if TYPE_CHECKING:
    import sqlite3

logger = logging.getLogger(__name__)


class Keeper(Protocol):
    """The protocol of whatever keeps segments: the index folder, or an engine of vectors."""

    def names(self) -> Iterable[str]:
        """The names of all segments kept, unfinished ones among them."""

    def drop(self, name: str) -> None:
        """Delete a segment. Raises OSError if it is in use."""


@dataclass(frozen=True, slots=True)
class SegmentFolder:
    """The keeper of an index's segment files: a folder."""

    path: Path

    def names(self) -> Iterable[str]:
        """The names of all files in the folder."""
        return [path.name for path in self.path.iterdir()]

    def drop(self, name: str) -> None:
        """Delete a file. Raises OSError on Windows while a reader has it open."""
        (self.path / name).unlink(missing_ok=True)


def sweep(db: sqlite3.Connection, folder: Path, *, grace: float) -> None:
    """Drop segments that the current generation does not name, except those retired less than `grace` seconds ago.

    Maps of earlier vectors are dropped as well.
    """
    drop_unnamed(db, folder)
    sweep_maps(db, folder)
    retired, now = get_retired(db), clock.now()
    left = drop(get_address(db), folder, [name for name, when in retired.items() if when <= now - grace])
    forget_retired(db, retired.keys() - left)


def drop(address: StoreAddress | None, folder: Path, names: Iterable[str]) -> set[str]:
    """Drop segments of these names if they are there; return the names of all segments that are left.

    Those of an engine that readers of a published generation may open stay: they hold no read transaction here.
    """
    keepers = _keepers(address, folder)
    needed = set() if address is None else segments_of_readers_elsewhere(folder)
    for name in [name for name in names if name in keepers and name not in needed]:
        try:
            keepers[name].drop(name)
            del keepers[name]
        except OSError as error:  # Windows: a reader still has it open; the next writer tries again
            logger.debug("%s could not be dropped: %s", name, error)
    return set(keepers)


def drop_unnamed(db: sqlite3.Connection, folder: Path) -> None:
    """Drop segments that no committed generation has ever named: no reader can know of them."""
    known = {segment.file for segment in get_segments(db)} | get_retired(db).keys()
    for name, keeper in _keepers(get_address(db), folder).items():
        if name not in known:
            with suppress(OSError):
                keeper.drop(name)


def _keepers(address: StoreAddress | None, folder: Path) -> dict[str, Keeper]:
    """The keeper of each segment that is there, by name."""
    stores = open_stores(address, folder)
    keepers: list[Keeper] = [SegmentFolder(folder / SEGMENTS), *stores.values()]
    return {name: keeper for keeper in keepers for name in keeper.names()}
