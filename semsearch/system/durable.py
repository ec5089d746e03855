"""Files that are whole or absent, and checked as they are read. What disks can do.

A durable file is written under a temporary name, flushed to the disk, renamed. A disk may return other bytes than were
written, and a wrong vector or list would silently give a wrong answer: each block of 16 KiB of a segment has a
checksum, kept in the database. It is made of the sums of the block's sectors' 64-bit words, each XORed with a constant
of its position, and summed. It detects every change in one word, and sectors, or words of different sectors, that
changed places, but for a chance of 2⁻⁶⁴. It takes little longer than reading the memory, some ten times less than a
CRC, and does not protect from deliberate changes.
"""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np

from semsearch.arrays.types import Bool, Int64, UInt8, UInt64
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.system.memory import release_pages

Write = Callable[[bytes | memoryview], object]
_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if os.name == "nt" else ()  # seconds between tries to rename
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}  # of a disk without locks
_PIECE = 1 << 20  # bytes that are read at once: whole blocks, see BLOCK


class WrittenFile(NamedTuple):
    """The size of a written file in bytes, the BLAKE2b digest of its content, and the checksums of its blocks.

    The latter are as `CheckedFile` takes them.
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
            sums += block_checksums(np.frombuffer(piece, dtype=np.uint8)).astype("<u8").tobytes()
            size += len(piece)
    return WrittenFile(size, digest.hexdigest(), bytes(sums))


def file_digest(path: Path) -> str:
    """The BLAKE2b digest of a file's content, as `semsearch.readers.read.read_file` gives it. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


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


# -- Files that are checked as they are read ---------------------------------------------------------------------------


BLOCK = 1 << 14  # bytes
_SECTOR = 512  # bytes
_SECTORS = BLOCK // _SECTOR
_AT_ONCE = 16  # blocks that lie apart: a quarter of a megabyte stays in the cache of the processor
_READ_AHEAD = 1 << 17  # bytes that any system reads ahead
_FEW = 64  # blocks that the system is asked to read at once: of more it reads but some, and the rest page by page
_PLACES = np.arange(1, _SECTORS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # an odd number: all differ


def block_checksums(data: UInt8) -> UInt64:
    """The checksums of all blocks of some bytes; the last block is filled up with zeros. (n,) -> (⌈n / BLOCK⌉,)"""
    whole = len(data) // BLOCK * BLOCK
    sums = _sums(data[:whole])
    if whole == len(data):
        return sums
    last = np.zeros(BLOCK, dtype=np.uint8)
    last[: len(data) - whole] = data[whole:]
    return np.concatenate((sums, _sums(last)))


def _sums(blocks: UInt8) -> UInt64:
    sectors = np.add.reduce(blocks.view("<u8").reshape(-1, _SECTOR // 8), axis=1)
    return np.asarray(np.add.reduce(sectors.reshape(-1, _SECTORS) ^ _PLACES, axis=1))


def mapped(path: Path) -> UInt8:
    """The bytes of a file, memory-mapped, or read where the disk has no maps. Raises FileNotFoundError."""
    try:
        return np.asarray(np.memmap(path, np.uint8, "r")) if path.stat().st_size else np.zeros(0, dtype=np.uint8)
    except OSError as error:
        if error.errno != errno.ENODEV:  # as on some shared folders of virtual machines
            raise
        return np.fromfile(path, np.uint8)


class CheckedFile:
    """A memory-mapped file whose blocks are compared with their checksums, each once, before they are read.

    `sums`: the `block_checksums`, as little-endian bytes. Raises FileNotFoundError, and IndexDamaged for another number
    of blocks.
    """

    def __init__(self, path: Path, sums: bytes) -> None:
        self.path = path
        self.data = mapped(path)
        self._map = getattr(self.data.base, "_mmap", None) if hasattr(mmap, "MADV_RANDOM") else None
        if self._map is not None:  # else the system reads far more than each piece: with some disks 8 MB
            self._map.madvise(mmap.MADV_RANDOM)
        self._sums: UInt64 = np.frombuffer(sums, dtype="<u8")
        if len(self._sums) != -(-len(self.data) // BLOCK):
            raise self._damage("its number of blocks differs from the blocks")
        self._unchecked: Bool = np.ones(len(self._sums), dtype=np.bool_)

    def check(self, start: int = 0, end: int | None = None) -> None:
        """Check the blocks of the bytes from `start` to `end`. Raises IndexDamaged."""
        last = len(self.data) if end is None else end
        if start < last:
            self._check(start // BLOCK, (last - 1) // BLOCK + 1)

    def expect(self, start: int, end: int) -> None:
        """Ask the system to read ahead the bytes from `start` to `end`."""
        if self._map is not None:
            for first in range(start // mmap.PAGESIZE * mmap.PAGESIZE, end, _READ_AHEAD):
                self._map.madvise(mmap.MADV_WILLNEED, first, min(_READ_AHEAD, end - first))

    def check_each(self, starts: Int64, length: int) -> None:
        """Check the blocks of pieces of `length` bytes that begin at `starts` (n,), which the system reads all at once.

        Raises IndexDamaged.
        """
        if not len(starts) or not self._unchecked.any():
            return
        touched = np.zeros(len(self._unchecked), dtype=np.bool_)
        for offset in {*range(0, length, BLOCK), length - 1}:
            touched[(starts + offset) // BLOCK] = True
        wanted = np.flatnonzero(touched & self._unchecked)
        whole = wanted[: len(wanted) - bool(len(wanted) and (wanted[-1] + 1) * BLOCK > len(self.data))]
        edges = np.flatnonzero(np.diff(whole, prepend=-2, append=len(touched) + 1) > 1)
        for first, last in zip(whole[edges[:-1]].tolist(), whole[edges[1:] - 1].tolist(), strict=True):
            self.expect(first * BLOCK, (last + 1) * BLOCK)  # neighbours at once
        for first in range(0, len(whole), _AT_ONCE):
            some = whole[first : first + _AT_ONCE]
            sums = block_checksums(self.data[: len(self.data) // BLOCK * BLOCK].reshape(-1, BLOCK)[some].reshape(-1))
            if (different := sums != self._sums[some]).any():
                raise self._damage_at(int(some[different.argmax()]))
            self._unchecked[some] = False
        for block in wanted[len(whole) :].tolist():  # the last, which is not full
            self._check(block, block + 1)

    def release(self) -> None:
        """Release the pages that were read; what was checked stays checked."""
        release_pages(self._map)

    def _expect(self, first: int, last: int) -> None:
        """Ask the system to read some blocks at once, or many of them ahead, instead of page by page."""
        if self._map is not None:
            how = mmap.MADV_WILLNEED if last - first <= _FEW else mmap.MADV_NORMAL
            start = first * BLOCK // mmap.PAGESIZE * mmap.PAGESIZE
            self._map.madvise(how, start, min(last * BLOCK, len(self.data)) - start)

    def _check(self, first: int, last: int) -> None:
        unchecked = self._unchecked[first:last]
        if not unchecked.any():
            return
        self._expect(first, last)
        start = first + int(unchecked.argmax())
        sums = block_checksums(self.data[start * BLOCK : last * BLOCK])
        if (different := sums != self._sums[start:last]).any():
            raise self._damage_at(start + int(different.argmax()))
        self._unchecked[start:last] = False

    def _damage_at(self, block: int) -> IndexDamaged:
        return self._damage(f"its bytes from {block * BLOCK} on differ from those")

    def _damage(self, what: str) -> IndexDamaged:
        cure = rebuild_command(self.path.parents[1])
        return IndexDamaged(f"{self.path} is damaged: {what} that were written; run: {cure}")
