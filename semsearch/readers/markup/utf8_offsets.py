"""Convert offsets in bytes, as compiled parsers count them, to offsets in characters."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import numpy as np


def characters_before(text: str, base: int = 0) -> Callable[[int], int]:
    """Make a function that converts an offset in a text's UTF-8 to the offset in characters, plus `base`.

    It takes four bytes of memory for each byte of a character after its first.
    """
    if text.isascii():
        return base.__add__
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    following = np.flatnonzero((data & 0xC0) == 0x80).astype(np.uint32).data
    return lambda offset: base + offset - bisect_left(following, offset)
