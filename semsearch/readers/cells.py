"""A table's row as one line of text."""

from __future__ import annotations

from collections.abc import Iterable


def joined(cells: Iterable[str]) -> str:
    """Cells with " | " between them, or only a space where a sentence has just ended; empty ones left out."""
    row = ""
    for cell in filter(None, (" ".join(cell.split()) for cell in cells)):
        between = " | " if row and row[-1] not in ".!?…" else " "
        row = f"{row}{between}{cell}" if row else cell
    return row
