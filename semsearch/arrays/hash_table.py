"""Open addressing in arrays: 64-bit keys to numbers, thousands at a time.

A key's place is its low bits; where another key sits there, the next place. 0 is no key. Tables are at most half full.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
UInt64 = npt.NDArray[np.uint64]


def look_up(keys: UInt64, values: Int32, wanted: UInt64) -> Int32:
    """The values of the wanted keys, -1 where there is none. (slots,), (slots,), (n,) -> (n,)"""
    mask = len(keys) - 1
    places = wanted.view(np.int64) & mask
    found = keys.take(places)
    result: Int32 = values.take(places)
    pending = np.flatnonzero(found != wanted)
    result[pending] = -1
    pending = pending[found[pending] != 0]
    places = places[pending]
    for _ in range(len(keys)):  # fewer, unless a file is damaged and has no empty place
        if not len(pending):
            break
        places = (places + 1) & mask
        found = keys[places]
        hit = found == wanted[pending]
        result[pending[hit]] = values[places[hit]]
        going = ~hit & (found != 0)
        pending, places = pending[going], places[going]
    return result


class HashIndex:
    """A table that grows."""

    def __init__(self, *, expected: int = 0) -> None:
        self._make(max(16, 2 * expected))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def look_up(self, wanted: UInt64) -> Int32:
        """The values of the wanted keys, -1 where there is none. (n,) -> (n,)"""
        return look_up(self.keys, self.values, wanted)

    def insert(self, keys: UInt64, values: Int32) -> None:
        """Add keys (n,), each different and not yet there, with their values (n,). The first ones are found soonest."""
        self._count += len(keys)
        if 2 * self._count > len(self.keys):
            old = np.flatnonzero(self.keys)
            old_keys, old_values = self.keys[old], self.values[old]
            self._make(4 * self._count)
            self._place(old_keys, old_values)
        self._place(keys, values)

    def _make(self, least: int) -> None:
        size = 1 << (least - 1).bit_length()
        self.keys: UInt64 = np.zeros(size, dtype=np.uint64)
        self.values: Int32 = np.full(size, -1, dtype=np.int32)

    def _place(self, keys: UInt64, values: Int32) -> None:
        mask = len(self.keys) - 1
        places = (keys & np.uint64(mask)).astype(np.intp)
        while len(keys):
            free = self.keys[places] == 0
            self.keys[places[free][::-1]] = keys[free][::-1]  # of several that want one place, the first one gets it
            seated = self.keys[places] == keys
            self.values[places[seated]] = values[seated]
            keys, values, places = keys[~seated], values[~seated], (places[~seated] + 1) & mask
