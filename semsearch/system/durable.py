"""Durable files, whole or absent: written under a temporary name, flushed to the disk, renamed. What disks can do."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from semsearch.system.checked_file import block_sums

Write = Callable[[bytes | memoryview], object]
_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if os.name == "nt" else ()  # seconds between tries to rename
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}  # of a disk without locks
_PIECE = 1 << 20  # bytes that are read at once: whole blocks of semsearch.system.checked_file


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """The size of a written file in bytes, the BLAKE2b digest of its content, and the checksums of its blocks.

    The latter are as `semsearch.system.checked_file.CheckedFile` takes them.
    """

    size: int
    digest: str
    sums: bytes


@contextmanager
def durable_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write and read, which gets its name at the end of the block: by then it survives a crash.

    On failure an older file stays as it was, and the partial one is deleted: it may be what filled the disk.
    """
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("w+b") as file:
            yield cast(BinaryIO, file)
            file.flush()
            sync_file(file.fileno())
        replace_file(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def write_durably(path: Path, fill: Callable[[Write], object]) -> WrittenFile:
    """Write a durable file: `fill` is called with the function that takes its bytes."""
    with durable_file(path) as file:
        fill(file.write)
    return written_file(path)


def written_file(path: Path) -> WrittenFile:
    """The size, digest and checksums of a file. Raises OSError.

    It is read and not mapped: pages of a map count as the process's memory, which for a million sentences was half a
    gigabyte.
    """
    digest, sums, size = hashlib.blake2b(digest_size=16), bytearray(), 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            sums += block_sums(np.frombuffer(piece, dtype=np.uint8)).astype("<u8").tobytes()
            size += len(piece)
    return WrittenFile(size, digest.hexdigest(), bytes(sums))


def file_digest(path: Path) -> str:
    """The BLAKE2b digest of a file's content, as `semsearch.readers.read.read_file` gives it. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


class Draft:
    """A file that is written piece by piece, and whose first bytes are known only at the end.

    It has a temporary name until `keep` is called. Used as a context manager, it is deleted unless it was kept.
    """

    def __init__(self, path: Path, beginning: int) -> None:
        """Open the file at `path`, with room for `beginning` bytes at its start."""
        self.temporary: Path = path.with_name(path.name + ".tmp")
        self._path = path
        self._beginning = beginning
        self._file = self.temporary.open("w+b", buffering=0)
        self._file.seek(beginning)

    def write(self, data: memoryview) -> None:
        """Append bytes to the file."""
        while len(data):  # a write may be a partial one
            data = data[self._file.write(data) or 0 :]

    def keep(self, beginning: bytes) -> WrittenFile:
        """Write the first bytes and give the file its name. It survives a crash once this returns.

        Raises ValueError if `beginning` does not fill the room left for it.
        """
        if len(beginning) != self._beginning:
            raise ValueError(f"the beginning has {len(beginning)} bytes, not {self._beginning}")
        self._file.seek(0)
        self.write(memoryview(beginning))
        sync_file(self._file.fileno())
        self._file.close()
        written = written_file(self.temporary)
        replace_file(self.temporary, self._path)
        sync_folder(self._path.parent)
        return written

    def drop(self) -> None:
        """Delete the file, unless it was kept. It may have filled the disk."""
        if not self._file.closed:
            self._file.close()
            with suppress(OSError):
                self.temporary.unlink()

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()


def replace_file(temporary: Path, path: Path, *, pauses: Sequence[float] = _PAUSES) -> None:
    """Give a written file its name, in place of an older one. Raises OSError.

    That is one step, but on a disk that renames nothing over what is there: for a moment it has neither.

    On Windows no file is replaced while another process has it open, as a reader has for an instant, or a program that
    looks for viruses: that is tried again, for two seconds in all.
    """
    for pause in pauses:
        try:
            temporary.replace(path)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    try:
        temporary.replace(path)
    except FileExistsError:
        path.unlink()
        temporary.replace(path)


def sync_file(descriptor: int) -> None:
    """Flush what was written to an open file to the disk. Raises OSError."""
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder survive a crash. Windows has no such call and does it by itself."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def has_locks(path: Path) -> bool:
    """Return whether the disk of a file has locks, as SQLite needs; some network disks have none.

    SQLite takes that for another program that is writing, and waits for its end. What is tried is a lock on a file that
    this process has not locked: closing it drops the locks that the process has on it.
    """
    try:
        _share(path)
    except OSError as error:
        return error.errno not in NO_LOCKS
    return True


def _share(path: Path) -> None:
    """Lock a file as its readers do, for a moment. Raises OSError."""
    try:
        import fcntl  # not on Windows
    except ImportError:
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    finally:
        os.close(descriptor)
