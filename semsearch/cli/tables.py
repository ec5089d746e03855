"""Print figures in columns: plain lines for lists, and an experiment's tables, as wide as the terminal allows."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from semsearch.cli.answer_formats import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from semsearch.evaluate.table import Block, Table

_NARROWEST, _ANY = 80, 1_000_000  # columns of a terminal; of a pipe
_NUMBERS = frozenset("+-–<·.0123456789")  # what a cell begins with that stands to the right


def aligned(rows: Sequence[Sequence[str]], *, left: Sequence[int]) -> list[str]:
    """Align rows in columns; columns in `left` to the left, others, which have numbers, to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = [
        [
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
    return ["  ".join(row).rstrip() for row in cells]


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 file`, `2 files`, `2 queries`."""
    many = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def size(number: float) -> str:
    """A number of bytes as people write it, in powers of a thousand."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bytes" or number >= 100 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print tables and paragraphs. A table wider than the terminal is divided; in a pipe it stays whole."""
    from rich.console import Console  # start-up time: a list needs none of it

    from semsearch.evaluate.table import Table

    console = Console(highlight=False, emoji=False, markup=False)
    console.width = width = max(console.width, _NARROWEST) if sys.stdout.isatty() else _ANY
    first = True
    for block in blocks:
        for part in block.parts(width) if isinstance(block, Table) else [str(block)]:
            if isinstance(part, Table) and not first:
                print()
            first = False
            for line in _lines(part, console) if isinstance(part, Table) else wrap(one_line(part), width):
                print(line)


def _lines(table: Table, console: Console) -> Iterator[str]:
    """The lines of a table on a console, with bold cells."""
    from rich import table as grids  # start-up time
    from rich.text import Text

    from semsearch.evaluate.table import Bold

    grid = grids.Table(box=None, pad_edge=False, header_style="")
    for index, column in enumerate(zip(table.header, *table.rows, strict=True)):
        is_number = index > 0 and all(not cell or cell[0] in _NUMBERS for cell in column[1:])
        head = Text(one_line(column[0]), "bold" if isinstance(column[0], Bold) else "")
        grid.add_column(head, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(one_line(cell), "bold" if isinstance(cell, Bold) else "") for cell in row))
    with console.capture() as captured:
        console.print(grid)
    yield from (line.rstrip() for line in captured.get().splitlines())
