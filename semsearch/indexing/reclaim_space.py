"""Reclaim disk space after a commit: segments that no reader needs, the database's log, and many free pages.

A segment that no manifest ever named is left over from an attempt that failed. A retired segment is of an earlier
generation. It is dropped at once if no read transaction sees an earlier generation (semsearch.storage.disk_space). If
one does, it may be about to open the segment, which stays until the next write, and for a grace period.

A write has succeeded when it is committed: space that cannot be reclaimed then is left to the next write.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.dense.engines import (
    StoreAddress,
    get_address,
    get_left,
    in_use,
    open_stores,
    release,
    set_address,
    set_left,
)
from semsearch.storage.commit import write_transaction
from semsearch.storage.database import SEGMENTS, IndexDatabase
from semsearch.storage.disk_space import FreePages, free_pages, log_size, settle, vacuum
from semsearch.storage.map_files import sweep_maps
from semsearch.storage.segments import forget_retired, get_retired, get_segment_names
from semsearch.system import clock

if TYPE_CHECKING:
    import sqlite3


# -- Segments that no reader can need ----------------------------------------------------------------------------------

logger = logging.getLogger(__name__)


def sweep(db: sqlite3.Connection, folder: Path) -> None:
    """Drop segments that no reader can need: those never named, and those retired long ago; and maps of other vectors.

    A time to come is of a clock that was ahead: what was retired then would be kept for years.
    """
    retired, now = get_retired(db), clock.now()
    named = get_segment_names(db) | {name for name, when in retired.items() if 0 <= now - when < LONGEST_SECONDS}
    left = drop(get_address(db), folder, lambda name: name not in named)
    forget_retired(db, retired.keys() - left)
    sweep_maps(db, folder)


def drop_unnamed(db: sqlite3.Connection, folder: Path) -> None:
    """Drop segments that no committed generation has ever named: no reader can know of them."""
    named = get_segment_names(db) | get_retired(db).keys()
    drop(get_address(db), folder, lambda name: name not in named)


def drop(address: StoreAddress | None, folder: Path, is_spare: Callable[[str], bool]) -> set[str]:
    """Drop segments by their names; return the names of all segments that are left.

    Those stay that an engine has in use for somebody who holds no read transaction here.
    """
    kept = _kept(address, folder)
    for name in [*filter(is_spare, kept.keys() - in_use(address, folder))]:
        try:
            kept[name](name)
            del kept[name]
        except OSError as error:  # Windows: a reader still has it open; the next writer tries again
            logger.debug("%s could not be dropped: %s", name, error)
    return set(kept)


def _kept(address: StoreAddress | None, folder: Path) -> dict[str, Callable[[str], None]]:
    """What drops each existing segment, unfinished ones among them, by name."""

    def unlink(name: str) -> None:
        (folder / SEGMENTS / name).unlink(missing_ok=True)

    kept: dict[str, Callable[[str], None]] = {path.name: unlink for path in (folder / SEGMENTS).iterdir()}
    for store in open_stores(address, folder).values():
        kept |= dict.fromkeys(store.names(), store.drop)
    return kept


# -- After a commit ----------------------------------------------------------------------------------------------------

LONGEST_SECONDS = 3600.0  # that a reader may still open segments of an earlier generation
WAIT_SECONDS = 0.5  # for searches that began before the commit; they take some milliseconds
SMALL = 1_000_000  # bytes of retired segments, or of the log, that are left to a later write: each commit has some
MOST_FREE = 0.25  # of a database; so one that shrinks slowly is seldom rewritten
MOST_FREE_COMPACT = 0.05  # after a refit, rebuild or compact


@dataclass(frozen=True, slots=True)
class Leftovers:
    """The segments and free database pages that a generation no longer uses once it is committed."""

    retired: frozenset[str]
    address: StoreAddress | None  # of an engine that has some of these segments
    pages: FreePages
    left_stores: tuple[StoreAddress, ...] = ()  # vector stores that the index has left for another


def leftovers(db: sqlite3.Connection) -> Leftovers:
    """Return the leftovers of a write transaction's generation; to be called at its end."""
    return Leftovers(frozenset(get_retired(db)), get_address(db), free_pages(db), tuple(get_left(db)))


def reclaim_space(database: IndexDatabase, left: Leftovers, *, compact: bool = False) -> None:
    """Reclaim the disk space that a committed generation no longer uses; with `compact`, however little it is.

    The writer's lock must be held.
    """
    try:
        if left.pages.are_more_than(MOST_FREE_COMPACT if compact else MOST_FREE):
            vacuum(database)
        is_worth_it = compact or bool(left.left_stores) or _bytes(database, left) > SMALL
        if is_worth_it and settle(database, wait=WAIT_SECONDS if left.retired else 0.0):
            drop(left.address, database.folder, left.retired.__contains__)
            _release(database, [store for store in left.left_stores if store.uri not in in_use(store, database.folder)])
    except Exception:  # of any kind: the write is committed, and the next writer tries again
        logger.info("%s could not be compacted", database.folder, exc_info=True)


def move(db: sqlite3.Connection, address: StoreAddress | None) -> None:
    """Set a new vector store for an index; the old one is released when no reader needs it."""
    before = get_address(db)
    set_address(db, address)
    if before is not None:
        set_left(db, [*get_left(db), before])


def _release(database: IndexDatabase, left: Sequence[StoreAddress]) -> None:
    """Release vector stores that an index has left. One that cannot be reached is tried again by the next write."""
    for store in left:
        release(store)
        with write_transaction(database) as db:
            set_left(db, [address for address in get_left(db) if address != store])


def _bytes(database: IndexDatabase, left: Leftovers) -> int:
    """The size of the log and of retired segments. A segment in another engine counts as large."""
    files = [database.folder / SEGMENTS / name for name in left.retired]
    segments = sum(file.stat().st_size if file.is_file() else SMALL + 1 for file in files)
    return segments + (log_size(database) or 0)
