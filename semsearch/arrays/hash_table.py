"""Hash tables in arrays, with open addressing: 64-bit keys to int32 values, thousands at a time.

A key's low bits name its slot; a key whose slot is taken goes to the next one. The key 0 marks an empty slot. Tables
are at most half full.
"""

from __future__ import annotations

import numpy as np

from semsearch.arrays.types import Int32, UInt64


def look_up(keys: UInt64, values: Int32, wanted: UInt64) -> Int32:
    """Return the values of the wanted keys, -1 for a key that is absent. (slots,), (slots,), (n,) -> (n,)"""
    mask = len(keys) - 1
    slots = wanted.view(np.int64) & mask
    slot_keys = keys.take(slots)
    result: Int32 = values.take(slots)
    pending = np.flatnonzero(slot_keys != wanted)
    result[pending] = -1
    pending = pending[slot_keys[pending] != 0]
    slots = slots[pending]
    for _ in range(len(keys)):  # stops earlier, unless a file is damaged and has no empty slot
        if not len(pending):
            break
        slots = (slots + 1) & mask
        slot_keys = keys[slots]
        hit = slot_keys == wanted[pending]
        result[pending[hit]] = values[slots[hit]]
        going = ~hit & (slot_keys != 0)
        pending, slots = pending[going], slots[going]
    return result


class HashIndex:
    """A hash table that grows: 64-bit keys, none of them 0, to int32 values."""

    def __init__(self, *, expected: int = 0) -> None:
        self._allocate(max(16, 2 * expected))
        self.count = 0

    def look_up(self, wanted: UInt64) -> Int32:
        """Return the values of the wanted keys, -1 for a key that is absent. (n,) -> (n,)"""
        return look_up(self.keys, self.values, wanted)

    def insert(self, keys: UInt64, values: Int32) -> None:
        """Add distinct keys (n,) that the table does not have, with their values (n,). The first are found fastest."""
        self.count += len(keys)
        if 2 * self.count > len(self.keys):
            old = np.flatnonzero(self.keys)
            old_keys, old_values = self.keys[old], self.values[old]
            self._allocate(4 * self.count)
            self._put(old_keys, old_values)
        self._put(keys, values)

    def _allocate(self, least: int) -> None:
        size = 1 << (least - 1).bit_length()
        self.keys: UInt64 = np.zeros(size, dtype=np.uint64)
        self.values: Int32 = np.full(size, -1, dtype=np.int32)

    def _put(self, keys: UInt64, values: Int32) -> None:
        mask = len(self.keys) - 1
        slots = (keys & np.uint64(mask)).astype(np.intp)
        while len(keys):
            free = self.keys[slots] == 0
            self.keys[slots[free][::-1]] = keys[free][::-1]  # the first of several keys for one slot gets it
            placed = self.keys[slots] == keys
            self.values[slots[placed]] = values[placed]
            keys, values, slots = keys[~placed], values[~placed], (slots[~placed] + 1) & mask


class Numbering(HashIndex):
    """Numbers distinct keys from 0 on, in the order in which they first come."""

    def __init__(self) -> None:
        super().__init__()
        self._parts = [np.zeros(0, dtype=np.uint64)]

    @property
    def in_order(self) -> UInt64:
        """All keys, in the order of their numbers. (count,)"""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]  # it is asked for again
        return self._parts[0]

    def of(self, keys: UInt64) -> Int32:
        """The numbers of keys; new ones get the next numbers. (n,) -> (n,)"""
        numbers = self.look_up(keys)
        unseen = np.flatnonzero(numbers < 0)
        if len(unseen):
            new, which = np.unique(keys[unseen], return_inverse=True)
            new_numbers = np.arange(self.count, self.count + len(new), dtype=np.int32)
            self.insert(new, new_numbers)
            self._parts.append(new)
            numbers[unseen] = new_numbers[which.reshape(-1)]
        return numbers
