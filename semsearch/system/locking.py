"""One writer at a time: an operating-system lock, released when its process dies, and a note that names the holder.

The note is a file of its own, since Windows does not let others read a locked file. It is only shown to people: the
lock alone decides.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from semsearch.errors import IndexDamaged, IndexLocked, StorageError
from semsearch.system.durable import NO_LOCKS, has_locks, replace_file
from semsearch.system.source_files import read_source

LOCK = "lock"
NOTE = "writer.json"


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Hold the writer lock of an index folder.

    Raises IndexLocked, naming the holder, if another process has it; StorageError where the disk has no locks.
    """
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise IndexLocked(
            f"another process is writing to {folder}: {_holder(folder)}; wait for it, or stop it, and try again"
        ) from None
    except OSError as error:
        if (folder / LOCK).is_symlink():  # which is not followed
            raise IndexDamaged(f"{folder / LOCK} is a symbolic link, not a file of the index; remove it") from error
        if error.errno not in NO_LOCKS:
            raise
        raise _unlockable(folder) from error
    try:
        _leave_note(folder)
        if not has_locks(folder / NOTE):
            raise _unlockable(folder)
        yield
    finally:
        lock.release()


def _unlockable(folder: Path) -> StorageError:
    return StorageError(
        f"the disk of {folder} has no locks, which keep two programs from writing at once; keep the index on another "
        "disk, such as one of this machine"
    )


def _leave_note(folder: Path) -> None:
    note = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }
    temporary = folder / f"{NOTE}.{os.getpid()}.tmp"
    try:
        temporary.write_text(json.dumps(note) + "\n", encoding="utf-8")
        replace_file(temporary, folder / NOTE)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        if error.errno not in (
            errno.ENOSPC,
            errno.EDQUOT,
        ):  # an index may be deleted to make room
            raise


_LONGEST = 4096  # bytes of a note


def _holder(folder: Path) -> str:
    try:
        note = json.loads(read_source(folder / NOTE, _LONGEST).data)
        return f"process {note['pid']} on {note['host']}, since {note['since']}"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "its process is unknown"
