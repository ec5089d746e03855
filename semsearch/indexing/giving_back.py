"""Give disk space back after a commit: segments of earlier generations, the database's log, and many free pages.

A write has succeeded when it is committed: what cannot be given back then is left to the next write.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from semsearch.indexing.sweeping import drop
from semsearch.storage.database import SEGMENTS, IndexDatabase
from semsearch.storage.files.disk_space import FreePages, free_pages, log_size, settle, vacuum
from semsearch.storage.manifest import get_retired
from semsearch.storage.publication import stores_of_readers_elsewhere
from semsearch.stores.registry import StoreAddress, get_address, get_left, release, set_address, set_left
from semsearch.system import clock

if TYPE_CHECKING:
    import sqlite3

logger = logging.getLogger(__name__)

GRACE_SECONDS = 60.0  # after which a write looks whether retired segments are still needed
LONGEST_SECONDS = 3600.0  # that a reader may go on opening segments of an earlier generation
WAIT_SECONDS = 0.5  # for searches that began before the commit; they take some milliseconds
SMALL = 1_000_000  # bytes of retired segments, or of the log, that are left to a later write: each commit has some
MOST_FREE = 0.25  # of a database; so one that shrinks bit by bit is seldom written anew
MOST_FREE_COMPACT = 0.05  # where all is made anew, or compact


@dataclass(frozen=True, slots=True)
class Leftovers:
    """The segments and free database pages that a generation no longer uses once it is committed."""

    retired: tuple[str, ...]
    address: StoreAddress | None  # of an engine that has some of these segments
    pages: FreePages
    places: tuple[StoreAddress, ...] = ()  # that the index has left for another


def leftovers(db: sqlite3.Connection) -> Leftovers:
    """Return what the generation of a write transaction leaves over; to be called at its end."""
    return Leftovers(tuple(get_retired(db)), get_address(db), free_pages(db), tuple(get_left(db)))


def grace_of(database: IndexDatabase) -> float:
    """Return for how many seconds the sweep of a write shall keep what was retired. The writer's lock must be held.

    That is 0 if some of it was retired a while ago, and no reader needs any of it.
    """
    with database.reading() as db:
        is_old = any(when <= clock.now() - GRACE_SECONDS for when in get_retired(db).values())
    return 0.0 if is_old and settle(database) else LONGEST_SECONDS


def give_back(database: IndexDatabase, left: Leftovers, *, compact: bool = False) -> None:
    """Give back to the disk what a committed generation leaves over; with `compact`, however little that is.

    The writer's lock must be held.
    """
    try:
        if left.pages.are_more_than(MOST_FREE_COMPACT if compact else MOST_FREE):
            vacuum(database)
        is_worth_it = compact or bool(left.places) or _bytes(database, left) > SMALL
        if is_worth_it and settle(database, wait=WAIT_SECONDS if left.retired else 0.0):
            drop(left.address, database.folder, left.retired)
            needed = stores_of_readers_elsewhere(database.folder) if left.places else set()
            _release(database, [place for place in left.places if place.uri not in needed])
    except Exception:  # whatever it is: the write is committed, and the next writer tries again
        logger.info("%s could not be made smaller", database.folder, exc_info=True)


def move(db: sqlite3.Connection, address: StoreAddress | None) -> None:
    """Let the vectors of an index be elsewhere from now on; what is left behind is released when nobody reads it."""
    before = get_address(db)
    set_address(db, address)
    if before is not None:
        set_left(db, [*get_left(db), before])


def _release(database: IndexDatabase, places: Sequence[StoreAddress]) -> None:
    """Release places that an index has left, and forget them. One that cannot be reached is tried by the next write."""
    for place in places:
        release(place)
        with database.writing() as db:
            set_left(db, [each for each in get_left(db) if each != place])


def _bytes(database: IndexDatabase, left: Leftovers) -> int:
    """The size of the log and of retired segments. A segment that an engine has elsewhere counts as a large one."""
    files = [database.folder / SEGMENTS / name for name in left.retired]
    segments = sum(file.stat().st_size if file.is_file() else SMALL + 1 for file in files)
    return segments + (log_size(database) or 0)
