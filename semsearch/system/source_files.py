"""Open what stands at the path of an indexed file: the one door for that (tests/laws/test_opened_files.py).

`opened_input` is for a file that the user names for one command.

Whoever can write to an indexed folder, or has made the index, chooses what stands at a path by now: a pipe, which waits
for a writer; a device without an end; a link to a file that nobody has named. So only regular files are read, without
waiting, not more than they should have, for a limited time, and only below their root if it is given.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple

SECONDS = 60.0  # for all of a file; a local disk reads the largest that is indexed in one
_PIECE = 1 << 20  # bytes that are read at once
_FARTHEST = 1 << 62  # nanoseconds: the years 1823 to 2116
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a pipe is opened without waiting for its writer
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotTheFile(OSError):
    """The path of an indexed file is no regular file, or leads outside of its root."""

    def __init__(self, reason: str, path: str | Path) -> None:
        super().__init__(errno.EACCES, reason, str(path))


def opened_input(path: Path) -> BinaryIO:
    """Open a file that a command reads, or a pipe. Raises OSError, also for a device, which may have no end."""
    if path.is_char_device() or path.is_block_device():
        raise OSError(errno.EINVAL, "it is a device, not a file")
    return path.open("rb")


class SourceBytes(NamedTuple):
    """The bytes of a file, or as many as were asked for, and its state just before they were read."""

    data: bytes
    size: int
    mtime_ns: int  # as it is kept


@contextmanager
def opened_source(path: str | Path, root: str = "") -> Iterator[tuple[int, os.stat_result]]:
    """Open a file for reading; gives its descriptor and state. Raises NotTheFile, and OSError.

    With a `root`, the path of an indexed folder or file, links that lead out of it are refused.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotTheFile("it is not a regular file", path)
        if root and not _is_below(descriptor, status, str(path), root):
            raise NotTheFile("it leads out of the indexed folder", path)
        yield descriptor, status
    finally:
        os.close(descriptor)


def read_source(path: str | Path, most: int, *, root: str = "", seconds: float = SECONDS) -> SourceBytes:
    """Read a file, but at most this many bytes. Raises NotTheFile, TimeoutError and other OSErrors."""
    end = time.perf_counter() + seconds
    with opened_source(path, root) as (descriptor, status):
        data = b""
        if 0 < status.st_size < min(most, _PIECE):
            data = os.read(descriptor, min(most, status.st_size + 1))  # nearly always the whole file
        if not data or len(data) != status.st_size:
            data += b"".join(_pieces(descriptor, path, most - len(data), end))
        return SourceBytes(data, status.st_size, storable_time(status.st_mtime_ns))


def content_digest(data: bytes) -> str:
    """The digest by which contents of files are compared: BLAKE2b."""
    return blake2b(data, digest_size=16).hexdigest()


def source_digest(path: str | Path, *, root: str = "", seconds: float = SECONDS) -> str:
    """The `content_digest` of a file, as it is while it is read. Raises as `read_source`."""
    digest, end = blake2b(digest_size=16), time.perf_counter() + seconds
    with opened_source(path, root) as (descriptor, status):
        for piece in _pieces(descriptor, path, status.st_size + 1, end):  # one that grows is another file
            digest.update(piece)
    return digest.hexdigest()


def _pieces(descriptor: int, path: str | Path, most: int, end: float) -> Iterator[bytes]:
    while most > 0 and (piece := os.read(descriptor, min(most, _PIECE))):
        yield piece
        most -= len(piece)
        if time.perf_counter() > end:
            raise TimeoutError(errno.ETIMEDOUT, "reading it takes too long", str(path))


def _is_below(descriptor: int, status: os.stat_result, path: str, root: str) -> bool:
    """Whether the opened file lies in a folder, or is that file."""
    try:
        whole = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115  # of the file that is open, on Linux
    except OSError:
        whole = os.path.realpath(path)
        if not os.path.samestat(os.lstat(whole), status):  # it changes while it is looked at
            return False
    root = root.rstrip("/")
    if whole.startswith(f"{root}/") or (whole == root == path):
        return True
    if path == root:  # the last name of which is no link
        folder, name = os.path.split(path)
        return whole == os.path.join(os.path.realpath(folder), name)  # noqa: PTH118  # realpath gives strings
    real = os.path.realpath(root)
    return whole.startswith(real.rstrip(os.sep) + os.sep)


def storable_time(nanoseconds: int) -> int:
    """The time of a file as it is kept: the nearest that SQLite's integers hold. File systems have any until 2486."""
    if -_FARTHEST <= nanoseconds <= _FARTHEST:
        return nanoseconds
    return _FARTHEST if nanoseconds > 0 else -_FARTHEST
