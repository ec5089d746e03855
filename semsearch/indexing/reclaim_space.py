"""Reclaim disk space after a commit: segments that no reader needs, the database's log, and many free pages.

A segment that no manifest ever named is left over from an attempt that failed. A retired segment is of an earlier
generation. It is dropped at once if no read transaction sees an earlier generation (semsearch.storage.index_files). If
one does, it may be about to open the segment, which stays until the next write, and for a grace period.

A write has succeeded when it is committed: space that cannot be reclaimed then is left to the next write.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
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
from semsearch.storage.index_files import FreePages, free_pages, log_size, settle, sweep_maps, vacuum
from semsearch.storage.segments import forget_retired, get_retired, get_segment_names
from semsearch.system import clock

if TYPE_CHECKING:
    import sqlite3


# -- Segments that no reader can need ----------------------------------------------------------------------------------

logger = logging.getLogger(__name__)


def sweep(db: sqlite3.Connection, folder: Path, *, grace: float) -> None:
    """Drop segments that the current generation does not name, except those retired less than `grace` seconds ago.

    Without a grace that is all of them, even those of a later time, by a clock that was ahead.

    Maps of earlier vectors are dropped as well.
    """
    drop_unnamed(db, folder)
    sweep_maps(db, folder)
    retired, now = get_retired(db), clock.now()
    left = drop(get_address(db), folder, [name for name, when in retired.items() if not grace or when <= now - grace])
    forget_retired(db, retired.keys() - left)


def drop(address: StoreAddress | None, folder: Path, names: Iterable[str]) -> set[str]:
    """Drop segments of these names if they are there; return the names of all segments that are left.

    Those stay that an engine has in use for somebody who holds no read transaction here.
    """
    kept = _kept(address, folder)
    needed = in_use(address, folder)
    for name in [name for name in names if name in kept and name not in needed]:
        try:
            kept[name](name)
            del kept[name]
        except OSError as error:  # Windows: a reader still has it open; the next writer tries again
            logger.debug("%s could not be dropped: %s", name, error)
    return set(kept)


def drop_unnamed(db: sqlite3.Connection, folder: Path) -> None:
    """Drop segments that no committed generation has ever named: no reader can know of them."""
    known = get_segment_names(db) | get_retired(db).keys()
    for name, drop_it in _kept(get_address(db), folder).items():
        if name not in known:
            with suppress(OSError):
                drop_it(name)


def _kept(address: StoreAddress | None, folder: Path) -> dict[str, Callable[[str], None]]:
    """What drops each existing segment, unfinished ones among them, by name."""

    def unlink(name: str) -> None:
        (folder / SEGMENTS / name).unlink(missing_ok=True)

    kept: dict[str, Callable[[str], None]] = {path.name: unlink for path in (folder / SEGMENTS).iterdir()}
    for store in open_stores(address, folder).values():
        kept |= dict.fromkeys(store.names(), store.drop)
    return kept


# -- After a commit ----------------------------------------------------------------------------------------------------

GRACE_SECONDS = 60.0  # after which a write checks whether retired segments are still needed
LONGEST_SECONDS = 3600.0  # that a reader may still open segments of an earlier generation
WAIT_SECONDS = 0.5  # for searches that began before the commit; they take some milliseconds
SMALL = 1_000_000  # bytes of retired segments, or of the log, that are left to a later write: each commit has some
MOST_FREE = 0.25  # of a database; so one that shrinks slowly is seldom rewritten
MOST_FREE_COMPACT = 0.05  # after a refit, rebuild or compact


@dataclass(frozen=True, slots=True)
class Leftovers:
    """The segments and free database pages that a generation no longer uses once it is committed."""

    retired: tuple[str, ...]
    address: StoreAddress | None  # of an engine that has some of these segments
    pages: FreePages
    left_stores: tuple[StoreAddress, ...] = ()  # vector stores that the index has left for another


def leftovers(db: sqlite3.Connection) -> Leftovers:
    """Return the leftovers of a write transaction's generation; to be called at its end."""
    return Leftovers(tuple(get_retired(db)), get_address(db), free_pages(db), tuple(get_left(db)))


def grace_of(database: IndexDatabase) -> float:
    """Return the seconds for which the sweep of a write must keep retired segments. The writer's lock must be held.

    That is 0 if some were retired a while ago, and no reader needs any of them.
    """
    with database.reading() as db:
        ages = [clock.now() - when for when in get_retired(db).values()]
    is_old = any(age >= GRACE_SECONDS or age < 0 for age in ages)  # a clock that was set back would keep them for years
    return 0.0 if is_old and settle(database) else LONGEST_SECONDS


def reclaim_space(database: IndexDatabase, left: Leftovers, *, compact: bool = False) -> None:
    """Reclaim the disk space that a committed generation no longer uses; with `compact`, however little it is.

    The writer's lock must be held.
    """
    try:
        if left.pages.are_more_than(MOST_FREE_COMPACT if compact else MOST_FREE):
            vacuum(database)
        is_worth_it = compact or bool(left.left_stores) or _bytes(database, left) > SMALL
        if is_worth_it and settle(database, wait=WAIT_SECONDS if left.retired else 0.0):
            drop(left.address, database.folder, left.retired)
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
