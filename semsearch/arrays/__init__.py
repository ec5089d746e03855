"""NumPy helpers that know nothing of search: hash tables, ranges of ids, top k, unit rows, half precision, bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.arrays.types import Float32 as Float32
    from semsearch.arrays.vectors import row_lengths as row_lengths, to_unit as to_unit

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
