"""The checksum of a row: 64 bits, by which a letter that became another, or a row in another's place, is noticed.

SQLite returns what the disk returns. The lower half of a row's checksum is the CRC-32 of all its columns, its ids among
them, which no change of up to 32 bits in a row passes, and any other one but for a chance of 2⁻³². The upper half is of
the numbers by which candidates are ranked before their texts are read: a multilinear hash modulo a prime, which
SQL compares where the rows are. Its highest bit is a mark. Neither protects from somebody who
means harm.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import index, mul
from typing import Any
from zlib import crc32

_SIGN = -1 << 63
_LOWER = 0xFFFFFFFF
_PRIME = (1 << 31) - 1
_MARK = 0xA5A5A5A5  # by which the lower half differs in a row that is marked
_FACTORS = (0x9E3779, 0x85EBCA, 0xC2B2AE, 0x27D4EB)  # for ids to 2^37, four products stay below 2^63


def numbers_sum(columns: Sequence[str]) -> str:
    """The SQL of what the upper half of a row's checksum is, of columns that are numbers."""
    products = " + ".join(f"{name} * {factor}" for name, factor in zip(columns, _FACTORS, strict=False))
    return f"({products}) % {_PRIME}"


def told_sum(column: str) -> str:
    """The SQL of the upper half of a checksum, without the mark."""
    return f"({column} >> 32 & {_PRIME})"


def row_sums(rows: Sequence[Sequence[Any]], numbers: int, *, marked: Collection[object] = ()) -> list[int]:
    """The checksums of rows, whose first columns are so many numbers: signed, as SQLite keeps them.

    `marked`: the ids of rows that get a mark, which is a bit of the checksum, and as safe as the rest. Raises TypeError
    for a row in which they are no whole numbers.
    """
    factors = _FACTORS[:numbers]
    sums = []
    for row in rows:
        upper = sum(map(mul, map(index, row[:numbers]), factors)) % _PRIME  # a text times a number takes gigabytes
        own = upper << 32 | _of_columns(row)
        sums.append(_SIGN | own ^ _MARK if row[0] in marked else own)
    return sums


def is_marked(told: int | None) -> bool:
    """Return whether the row of a checksum got a mark."""
    return told is not None and told < 0


def is_sound(row: Sequence[Any]) -> bool:
    """Return whether the columns of a row are those of its checksum, which is the last one."""
    told = row[-1]
    return isinstance(told, int) and told & _LOWER == _of_columns(row[:-1]) ^ (_MARK if told < 0 else 0)


def _of_columns(row: Sequence[Any]) -> int:
    """The CRC-32 of values, of which the last one may be a blob."""
    if type(row[-1]) is bytes:
        return crc32("\0".join(map(str, row[:-1])).encode("utf-8", "surrogatepass"), crc32(row[-1]))
    return crc32("\0".join(map(str, row)).encode("utf-8", "surrogatepass"))
