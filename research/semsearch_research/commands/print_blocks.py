"""Print an experiment's tables and paragraphs, as wide as the terminal allows."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from textwrap import wrap

from rich import table as grids
from rich.console import Console
from rich.text import Text

from semsearch.commands import one_line
from semsearch_research.evaluate.table import Block, Bold, Table

_NARROWEST, _ANY = 80, 1_000_000  # columns of a terminal; of a pipe
_NUMBERS = frozenset("+-–<·.0123456789")  # what a cell begins with that stands to the right


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print tables and paragraphs. A table wider than the terminal is divided; in a pipe it stays whole."""
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
