"""The ways in which a disk may return other bytes than were written."""

from __future__ import annotations

import random
from collections.abc import Callable

WAYS: dict[str, Callable[[bytearray, random.Random], None]] = {}


def way(damage: Callable[[bytearray, random.Random], None]) -> Callable[[bytearray, random.Random], None]:
    WAYS[damage.__name__.replace("_", " ")] = damage
    return damage


@way
def a_bit_flipped(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


@way
def a_sector_zeroed(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(0, len(data), 512)
    data[start : start + 512] = bytes(len(data[start : start + 512]))


@way
def a_sector_shuffled(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(0, len(data), 512)
    some = list(data[start : start + 512])
    chance.shuffle(some)
    data[start : start + 512] = bytes(some)


@way
def noise_in_a_sector(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(0, len(data), 512)
    data[start : start + 512] = chance.randbytes(len(data[start : start + 512]))


@way
def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]
