"""The layout of a vector file as FAISS writes it, walked through before FAISS maps it.

FAISS maps a file without looking whether what it says of its lengths is true: a made-up file can have it read beyond
the end, which ends the process. So all that says how long something is, is compared with the file and with the rest of
it here. Only the layouts that semsearch writes are known (semsearch.dense.scan_plan): plain, or with lists; as floats,
half floats or eight bits.

    index       four letters, d, how many vectors, 16 bytes, trained?, metric
    IxFI        index, floats
    IxSQ        index, codec, codes
    IwFl, IwSq  index, how many lists and how many are searched, index of the centroids, direct map, [codec], lists
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

UInt8 = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]

_INNER_PRODUCT = 0
_EIGHT_BITS, _HALF = 0, 4  # faiss.ScalarQuantizer.QT_8bit, QT_fp16
_ARRAY = 1  # faiss.DirectMap.Array
_LARGEST = 1 << 16  # dimensions


class UnknownLayout(ValueError):
    """A file that is none of the layouts that semsearch writes, or whose lengths disagree."""


@dataclass(frozen=True, slots=True)
class FileLayout:
    """What a vector file says of itself: d, how many vectors, and of one with lists, where each vector is."""

    dimension: int
    rows: int
    homes: Int64 | None = None  # (rows,) the list times 2^32, and the position in it
    sizes: Int64 | None = None  # (lists,) of the lists

    def are_there(self, rows: Int64) -> bool:
        """Return whether the vectors at given rows are in their lists. (n,)"""
        if self.homes is None or self.sizes is None:
            return True
        homes = self.homes[rows]
        lists, positions = homes >> 32, homes & 0xFFFFFFFF
        are_lists = (lists >= 0) & (lists < len(self.sizes))
        return bool(are_lists.all() and (positions < self.sizes[lists]).all())


def layout_of(data: UInt8) -> FileLayout:
    """Walk through a vector file. Raises UnknownLayout. (bytes,)"""
    walk = _LayoutWalk(data)
    try:
        found = walk.index(with_lists=True)
    except struct.error:
        raise UnknownLayout("it ends too soon") from None
    walk.require(walk.at == len(data), "there is more behind its end")
    return found


class _LayoutWalk:
    def __init__(self, data: UInt8) -> None:
        self._data = data
        self.at = 0

    def index(self, *, with_lists: bool) -> FileLayout:
        kind = bytes(self._data[self.at : self.at + 4])
        self.at += 4
        dimension, rows, _, _, _, metric = self._take("<iqqqBi")
        self.require(0 < dimension <= _LARGEST and 0 <= rows <= len(self._data), "its size makes no sense")
        self.require(metric == _INNER_PRODUCT, "it has another metric")
        if kind == b"IxFI":
            self._vector(4, rows * dimension)
        elif kind == b"IxSQ":
            self._vector(1, rows * self._codec(dimension))
        else:
            self.require(with_lists and kind in (b"IwFl", b"IwSq"), f"it begins with {kind!r}")
            return self._in_lists(kind, dimension, rows)
        return FileLayout(dimension, rows)

    def _in_lists(self, kind: bytes, dimension: int, rows: int) -> FileLayout:
        lists, searched = self._take("<QQ")
        self.require(0 < searched <= lists <= len(self._data), "its lists make no sense")
        centroids = self.index(with_lists=False)
        self.require((centroids.rows, centroids.dimension) == (lists, dimension), "it has other centroids")
        (direct,) = self._take("<B")
        self.require(direct == _ARRAY, "it does not say where its vectors are")
        homes = self._vector(8, rows).view("<i8")
        width = 4 * dimension
        if kind == b"IwSq":
            width = self._codec(dimension)
            self.require(self._take("<QB")[0] == width, "its vectors have another length")
        sizes = self._sizes(lists, width)
        self.require(int(sizes.sum()) == rows and not (sizes < 0).any(), "its lists have other lengths")
        self._skip(rows * (width + 8))
        return FileLayout(dimension, rows, homes, sizes)

    def _sizes(self, lists: int, width: int) -> Int64:
        """The lengths of all lists."""
        kind, count, code_size, how = self._take("<4sQQ4s")
        self.require((kind, count, code_size) == (b"ilar", lists, width), "its lists are others")
        if how == b"full":
            return self._vector(8, lists).view("<i8")
        self.require(how == b"sprs", "its lists are others")
        pairs = self._vector(8, None).view("<i8")
        self.require(len(pairs) % 2 == 0, "its lists have other lengths")
        numbers, lengths = pairs[::2], pairs[1::2]
        self.require(not ((numbers < 0) | (numbers >= lists)).any(), "its lists have other numbers")
        self.require(len(np.unique(numbers)) == len(numbers), "a list comes twice")
        sizes = np.zeros(lists, dtype=np.int64)
        sizes[numbers] = lengths
        return sizes

    def _codec(self, dimension: int) -> int:
        """The bytes of a vector."""
        kind, _, _, own_dimension, width = self._take("<iifQQ")
        self.require(own_dimension == dimension, "its codec has other dimensions")
        self.require((kind, width) in ((_HALF, 2 * dimension), (_EIGHT_BITS, dimension)), "it has another codec")
        self._vector(4, 0 if kind == _HALF else 2 * dimension)
        return int(width)

    def _vector(self, width: int, count: int | None) -> UInt8:
        """The bytes of an array that says how many elements of `width` bytes it has: `count`, if given."""
        (found,) = self._take("<Q")
        self.require(found <= len(self._data) and count in (None, found), "an array has another length")
        start = self.at
        self._skip(found * width)
        return self._data[start : self.at]

    def _take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack(form, self._data[self.at : self.at + struct.calcsize(form)].tobytes())
        self.at += struct.calcsize(form)
        return found

    def _skip(self, size: int) -> None:
        self.at += size
        self.require(self.at <= len(self._data), "it ends too soon")

    @staticmethod
    def require(holds: bool, else_: str) -> None:
        """Raise UnknownLayout where something does not hold."""
        if not holds:
            raise UnknownLayout(else_)
