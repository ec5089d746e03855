"""Changes below some folders and files as they happen, as the operating system reports them through watchfiles.

Files are not polled. Only the roots themselves are checked, a few times a second: a watch is of the folder that was
there when it began, and not of another one that takes its place.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Collection, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.errors import MissingExtra, SourceError

if TYPE_CHECKING:
    import threading

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
