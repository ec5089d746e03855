"""Files that are whole or not there: written under a temporary name, flushed to the disk, renamed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

Write = Callable[[bytes | memoryview], None]


@dataclass(frozen=True, slots=True)
class Written:
    """How large a file is, and the BLAKE2b digest of its bytes."""

    size: int
    digest: str


def write_durably(path: Path, fill: Callable[[Write], None]) -> Written:
    """Write a file by what `fill` passes to the function it is given. The rename lasts when this returns.

    Where it fails, what was there stays, and the part that was written goes: it may be what filled the disk.
    """
    temporary = path.with_name(path.name + ".tmp")
    try:
        written = _write(temporary, fill)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)
    return written


class Draft:
    """A file that is written piece by piece, and begins with what is known last.

    Under a temporary name until it is kept. As a context manager it is dropped where nobody kept it.
    """

    def __init__(self, path: Path, beginning: int) -> None:
        """Leaves so many bytes free for the beginning."""
        self.temporary = path.with_name(path.name + ".tmp")
        self._path = path
        self._beginning = beginning
        self._file = self.temporary.open("w+b", buffering=0)
        self._file.seek(beginning)

    def write(self, data: memoryview) -> None:
        """Append."""
        while len(data):  # a write may be a partial one
            data = data[self._file.write(data) or 0 :]

    def keep(self, beginning: bytes) -> Written:
        """Give it its beginning and its name, which lasts when this returns."""
        if len(beginning) != self._beginning:
            raise ValueError(f"the beginning has {len(beginning)} bytes, not {self._beginning}")
        size = self._file.tell()
        self._file.seek(0)
        self.write(memoryview(beginning))
        os.fsync(self._file.fileno())
        self._file.close()
        written = Written(size, file_digest(self.temporary))
        self.temporary.replace(self._path)
        _sync_folder(self._path.parent)
        return written

    def drop(self) -> None:
        """Forget what was written, if it was not kept. It may be what filled the disk."""
        if not self._file.closed:
            self._file.close()
            with suppress(OSError):
                self.temporary.unlink()

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()


def file_digest(path: Path) -> str:
    """The digest of a file as it is on the disk, as `semsearch.readers.read.read_file` gives it. Raises OSError."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _write(path: Path, fill: Callable[[Write], None]) -> Written:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("wb") as file:

        def write(data: bytes | memoryview) -> None:
            digest.update(data)
            file.write(data)

        fill(write)
        file.flush()
        os.fsync(file.fileno())
        return Written(file.tell(), digest.hexdigest())


def _sync_folder(folder: Path) -> None:
    """Make a rename last. Windows has no such call and does it by itself."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
