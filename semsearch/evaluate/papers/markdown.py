"""Pieces of a report in Markdown: tables, numbers, and whether what a paper claims was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from textwrap import wrap

from scipy.stats import binomtest

from semsearch.evaluate.similarity.orderings import Held

NONE = "–"
LEVEL = 0.05  # of p, for a verdict
HOLDS, REVERSED, UNDECIDED = "holds", "reversed", "no difference shown"
_WIDTH = 118


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A line a row, an empty one behind. What is in a cell cannot leave it."""
    yield _row(header)
    yield "|" + "---|" * len(header)
    for row in rows:
        yield _row(row)
    yield ""


def prose(text: str) -> Iterator[str]:
    """A paragraph, in lines of the width that people write."""
    yield from wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    yield ""


def bold(text: str) -> str:
    return f"**{text}**"


def number(value: float | None, form: str = ".1f") -> str:
    """A figure, or a dash where there is none."""
    return NONE if value is None else f"{value:{form}}"


def held(found: Held | None) -> str:
    """In how many of how many, and by how much."""
    return NONE if found is None else f"{found.held} of {found.of}, {found.difference:+.1f}"


def verdict(found: Held) -> str:
    """Whether it holds, by the sign test over tasks: two-sided, at LEVEL."""
    if _sign_test(found.held, found.of) >= LEVEL:
        return UNDECIDED
    return HOLDS if 2 * found.held > found.of else REVERSED


@cache
def _sign_test(held: int, of: int) -> float:
    return float(binomtest(held, of).pvalue)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |"
