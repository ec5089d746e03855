"""Files of an index that are checked as they are read: each block of 16 KiB has a checksum, kept in the database.

A disk may return other bytes than were written, and a wrong vector or list would silently give a wrong answer. The
checksum of a block is made of the sums of its sectors' 64-bit words, each XORed with a constant of its position, and
summed. It detects every change in one word, and sectors, or words of different sectors, that changed places, but for a
chance of 2⁻⁶⁴. It takes little longer than reading the memory, some ten times less than a CRC, and does not protect
from deliberate changes.
"""

from __future__ import annotations

import errno
import mmap
from pathlib import Path

import numpy as np

from semsearch.arrays.types import Bool, Int64, UInt8, UInt64
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.system.memory import release_pages

BLOCK = 1 << 14  # bytes
_SECTOR = 512  # bytes
_SECTORS = BLOCK // _SECTOR
_AT_ONCE = 16  # blocks that lie apart: a quarter of a megabyte stays in the cache of the processor
_PIECE = 1 << 17  # bytes that any system reads ahead
_FEW = 64  # blocks that the system is asked to read at once: of more it reads but some, and the rest page by page
_PLACES = np.arange(1, _SECTORS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # an odd number: all differ


def block_sums(data: UInt8) -> UInt64:
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

    `sums` are those that `block_sums` gave, as little-endian bytes; without them, as in indexes of earlier versions,
    nothing is compared. Raises FileNotFoundError, and IndexDamaged if there are not as many blocks.
    """

    def __init__(self, path: Path, sums: bytes) -> None:
        self.path = path
        self.data = mapped(path)
        self._map = getattr(self.data.base, "_mmap", None) if sums and hasattr(mmap, "MADV_RANDOM") else None
        if self._map is not None:  # else the system reads far more than each piece: with some disks 8 MB
            self._map.madvise(mmap.MADV_RANDOM)
        self._sums: UInt64 = np.frombuffer(sums, dtype="<u8")
        if sums and len(self._sums) != -(-len(self.data) // BLOCK):
            raise self._damage("its number of blocks differs from the blocks")
        self._unchecked: Bool = np.ones(len(self._sums), dtype=np.bool_)

    def check(self, start: int = 0, end: int | None = None) -> None:
        """Check the blocks of the bytes from `start` to `end`. Raises IndexDamaged."""
        last = len(self.data) if end is None else end
        if len(self._sums) and start < last:
            self._check(start // BLOCK, (last - 1) // BLOCK + 1)

    def expect(self, start: int, end: int) -> None:
        """Have the system begin to read the bytes from `start` to `end`, in pieces that it reads as a whole."""
        if self._map is not None:
            for first in range(start // mmap.PAGESIZE * mmap.PAGESIZE, end, _PIECE):
                self._map.madvise(mmap.MADV_WILLNEED, first, min(_PIECE, end - first))

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
            sums = block_sums(self.data[: len(self.data) // BLOCK * BLOCK].reshape(-1, BLOCK)[some].reshape(-1))
            if (different := sums != self._sums[some]).any():
                raise self._damage_at(int(some[different.argmax()]))
            self._unchecked[some] = False
        for block in wanted[len(whole) :].tolist():  # the last, which is not full
            self._check(block, block + 1)

    def release(self) -> None:
        """Take the pages that were read out of this process; what was checked stays so."""
        release_pages(self._map)

    def _expect(self, first: int, last: int) -> None:
        """Have the system read some blocks at once, or many of them ahead, instead of page by page."""
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
        sums = block_sums(self.data[start * BLOCK : last * BLOCK])
        if (different := sums != self._sums[start:last]).any():
            raise self._damage_at(start + int(different.argmax()))
        self._unchecked[start:last] = False

    def _damage_at(self, block: int) -> IndexDamaged:
        return self._damage(f"its bytes from {block * BLOCK} on differ from those")

    def _damage(self, what: str) -> IndexDamaged:
        cure = rebuild_command(self.path.parents[1])
        return IndexDamaged(f"{self.path} is damaged: {what} that were written; run: {cure}")
