"""Join the cells of a table's row to one line of text."""

from __future__ import annotations

from collections.abc import Iterable

_ALONE = 30  # words: about two sentences, and more than a row of names and numbers
PAGE_END = "\f"  # in the text of a cell or paragraph


def joined(cells: Iterable[str]) -> str:
    """Join cells with " | " between them, or only a space where a sentence has just ended; empty ones are left out."""
    row: list[str] = []
    for cell in filter(None, (" ".join(cell.split()) for cell in cells)):
        row += (gap(row[-1]), cell) if row else (cell,)
    return "".join(row)


def gap(before: str) -> str:
    """The separator between two cells of a row, given the text before it, which is not empty."""
    return " | " if before[-1] not in ".!?…" else " "


def stands_alone(text: str) -> bool:
    """Tell whether a record is so long that it shares no passage with the records before and after it."""
    return len(text.split(maxsplit=_ALONE)) >= _ALONE


def pages_before(cells: Iterable[str]) -> int:
    """Count the pages that end before the first word of a row, in whose cells PAGE_END stands where one does."""
    row = "".join(cells)
    return row[: len(row) - len(row.lstrip())].count(PAGE_END)
