"""An index that follows its files: a sync of everything, and then of each path at which something has changed.

The operating system reports changes through watchfiles; files are not polled. Only the roots themselves are checked, a
few times a second: a watch is of the folder that was there when it began, and not of another one that takes its place.
"""

from __future__ import annotations

import logging
import stat
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.errors import IndexLocked, MissingExtra, SourceError, UsageError
from semsearch.indexing.changes import find_changes_at
from semsearch.indexing.index_writer import IndexWriter
from semsearch.results.reports import SyncReport
from semsearch.storage.database import IndexDatabase
from semsearch.storage.known_files import get_roots

if TYPE_CHECKING:
    import threading

logger = logging.getLogger(__name__)


def follow(
    database: IndexDatabase,
    writer: Callable[[], AbstractContextManager[IndexWriter]],
    stop: threading.Event,
    *,
    max_file_bytes: int,
    processes: int,
) -> Iterator[SyncReport]:
    """Sync everything, then what changes, until `stop` is set; yield the reports of syncs that did something.

    `writer` takes the writer's lock. `Index.watch` says the rest. Raises UsageError for an index without roots here.
    """
    with database.reading() as db:
        roots = get_roots(db)
    elsewhere = ", ".join(root.path for root in roots if root.is_remote)
    if all(root.is_remote for root in roots):
        why = f"; object stores report no changes, so {elsewhere} can only be synced" if elsewhere else ""
        raise UsageError(f"the index {database.folder} has no roots to watch; give it a file or folder with sync{why}")
    if elsewhere:
        logger.warning("%s: not watched, because object stores report no changes; sync it", elsewhere)
    batches = changed_paths(RootsOf(database), stop)
    return sync_changes(database, writer, batches, max_file_bytes=max_file_bytes, processes=processes)


def sync_changes(
    database: IndexDatabase,
    writer: Callable[[], AbstractContextManager[IndexWriter]],
    batches: Iterable[frozenset[str]],
    *,
    max_file_bytes: int,
    processes: int,
) -> Iterator[SyncReport]:
    """Sync everything at the first batch of changed paths, then what each names.

    While another process has the writer's lock, what has changed waits for the next batch.
    """
    index_folder = database.folder.resolve().as_posix()
    is_synced, waiting = False, set[str]()
    for batch in batches:
        waiting |= {path for path in batch if not f"{path}/".startswith(f"{index_folder}/")}  # not its own changes
        try:
            if not is_synced:
                with writer() as opened:
                    report = opened.sync((), max_file_bytes=max_file_bytes, processes=processes)
                is_synced = True
            elif waiting and _has_changes(database, waiting, max_file_bytes):
                with writer() as opened:
                    report = opened.sync_at(waiting, max_file_bytes=max_file_bytes, processes=processes)
            else:
                waiting.clear()
                continue
        except IndexLocked:
            continue
        waiting.clear()
        yield report


def _has_changes(database: IndexDatabase, paths: set[str], max_file_bytes: int) -> bool:
    """Return whether changed paths need a sync. Takes no write lock, which others may need."""
    with database.reading() as db:
        changes = find_changes_at(db, paths, max_bytes=max_file_bytes)
        return not changes.nothing_to_do or bool(changes.warnings)


class RootsOf:
    """The roots of an index on this machine: read again after each write to its database, by any process."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        self._written: tuple[int, ...] = ()
        self._roots: tuple[str, ...] = ()

    def __call__(self) -> tuple[str, ...]:
        written = self._database.last_written()
        if written != self._written:
            with self._database.reading() as db:
                self._roots = tuple(root.path for root in get_roots(db) if not root.is_remote)
            self._written = written
        return self._roots


# -- Changes as the operating system reports them ----------------------------------------------------------------------


_GATHER = 400  # milliseconds for which changes that go on and on are gathered into one batch
_QUIET = 50  # milliseconds without a change that end a batch
_TICK = 200  # milliseconds without a change that make an empty batch


def changed_paths(roots: Callable[[], Collection[str]], stop: threading.Event) -> Iterator[frozenset[str]]:
    """Yield batches of paths below some roots at which something has changed; the first, once the watch has begun.

    Paths are absolute, with forward slashes, spelled as on disk. What has changed need not be there any more, and of a
    new or deleted folder not all that was in it is named. A batch is empty where nothing has changed; there are a few
    of these each second. A root that appears, vanishes or is replaced is itself in a batch. Ends when `stop` is set.
    Raises MissingExtra without watchfiles, SourceError where a root cannot be watched.
    """
    _watchfiles()
    return _batches(roots, stop)


def _batches(roots: Callable[[], Collection[str]], stop: threading.Event) -> Iterator[frozenset[str]]:
    missed: frozenset[str] = frozenset()
    while not stop.is_set():
        states = _states(roots())
        for batch in _stream([path for path, state in states.items() if state is not None], stop):
            yield batch | missed
            now = _states(roots())
            missed = frozenset(path for path in states.keys() | now.keys() if states.get(path) != now.get(path))
            if missed:  # another watch begins, and its first batch reports these
                break


def _stream(paths: Collection[str], stop: threading.Event) -> Iterator[frozenset[str]]:
    """The batches of one watch. None where a path has vanished just now."""
    try:
        for changes in _watch(paths, stop):
            yield frozenset(Path(path).as_posix() for _, path in changes)
    except FileNotFoundError:
        return
    except OSError as error:
        raise SourceError(
            f"{', '.join(sorted(paths))} cannot be watched: {error}; on Linux, raise fs.inotify.max_user_watches"
        ) from error


def _watch(paths: Collection[str], stop: threading.Event) -> Generator[set[Any], None, None]:
    return _watchfiles()(
        *paths,
        watch_filter=None,
        debounce=_GATHER,
        step=_QUIET,
        rust_timeout=_TICK,
        yield_on_timeout=True,
        stop_event=stop,
        ignore_permission_denied=True,
    )


def _watchfiles() -> Callable[..., Generator[set[Any], None, None]]:
    try:
        from watchfiles import watch  # an optional dependency
    except ImportError:
        raise MissingExtra("watchfiles", "watch") from None
    return watch


def _states(roots: Collection[str]) -> dict[str, tuple[int, ...] | None]:
    """The device and inode of each root, for a file its size and time too, to notice a new one; None if it is gone."""
    return {root: _state(root) for root in roots}


def _state(root: str) -> tuple[int, ...] | None:
    try:
        status = Path(root).stat()
    except OSError:
        return None
    which = status.st_dev, status.st_ino
    return which if stat.S_ISDIR(status.st_mode) else (*which, status.st_size, status.st_mtime_ns)
