"""Which generations of a cache living readers use: each holds a lock, which goes away with its process."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


class CacheUser:
    """A reader of a cache, which says which generations it uses while it is there."""

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock  # start-up time: local indexes lock only when they write

        self._path = folder / secrets.token_hex(8)
        self._lock = FileLock(self._path.with_suffix(".lock"), timeout=0, thread_local=False)

    def uses(self, generations: Iterable[str]) -> None:
        """Say which generations are used from now on, by their manifests."""
        if not self._lock.is_locked:
            self._lock.acquire()
        temporary = self._path.with_suffix(".tmp")
        temporary.write_text(json.dumps(sorted(generations)), encoding="utf-8")
        temporary.replace(self._path.with_suffix(".json"))

    def leave(self) -> None:
        """Use nothing any more."""
        with suppress(OSError):
            self._path.with_suffix(".json").unlink(missing_ok=True)
        if self._lock.is_locked:
            self._lock.release()
            with suppress(OSError):
                self._path.with_suffix(".lock").unlink(missing_ok=True)

    @property
    def name(self) -> str:
        """The name of its files, without their endings."""
        return self._path.name


def generations_in_use(folder: Path, own: CacheUser) -> set[str]:
    """The generations that living readers use. What readers that have died left behind is deleted."""
    used: set[str] = set()
    for lock in folder.glob("*.lock"):
        if lock.stem == own.name or not _has_died(lock):
            used |= _said(lock.with_suffix(".json"))
            continue
        for path in (lock.with_suffix(".json"), lock.with_suffix(".tmp"), lock):
            with suppress(OSError):
                path.unlink(missing_ok=True)
    return used


def _has_died(path: Path) -> bool:
    from filelock import FileLock, Timeout  # start-up time, as above

    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return False
    lock.release()
    return True


def _said(path: Path) -> set[str]:
    try:
        return {str(each) for each in json.loads(path.read_text(encoding="utf-8"))}
    except (OSError, ValueError, TypeError, RecursionError):
        return set()
