"""What the commands of measurements share: options, the frame around the work, and how results are printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich import table as grids
from rich.console import Console
from rich.text import Text
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from semsearch.commands import one_line, print_warnings, progress, to_json
from semsearch_research.evaluate.inputs import Progress
from semsearch_research.evaluate.plots import check_target, save
from semsearch_research.evaluate.table import Block, Bold, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PairsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH...", help="Scored sentence pairs (.tsv, .csv, .jsonl), their folders, or a folder of data."
    ),
]
VectorsOption = Annotated[
    str, typer.Option("--vectors", metavar="NAME|PATH", help="Shipped vectors, a folder, or a file.")
]
TableOption = Annotated[str, typer.Option("--vectors", metavar="NAME|PATH", help="Shipped vectors, or a folder.")]
SeveralVectorsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--vectors",
        metavar="NAME|PATH",
        help="Shipped vectors (by default english), a folder, or a file. Repeatable.",
    ),
]
AOption = Annotated[
    float | None, typer.Option("--a", metavar="A", help="The weights' parameter; by default the method's.")
]
ComponentsOption = Annotated[
    int | None, typer.Option(metavar="M", help="Common components removed; by default the method's.")
]
SplitOption = Annotated[
    Literal["train", "dev", "test"],
    typer.Option(help="Which of a folder's files; a file that is named is always read.", show_choices=True),
]
BlankAsZeroOption = Annotated[
    bool, typer.Option("--blank-as-zero", help="Pairs without a score have score 0, instead of being left out.")
]
SeedOption = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of all random draws.")]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Compute cached results again.")]
PlotOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .svg or .pdf.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, with all figures.")]


def chosen(**options: Any) -> dict[str, Any]:
    """The options that were given; for the others a measurement has defaults of its own."""
    return {name: value for name, value in options.items() if value not in (None, [])}


@contextmanager
def measuring(plot: Path | None = None, *, one_thread: bool = True) -> Iterator[Progress | None]:
    """Check that the picture can be drawn, print warnings, and show the progress of the work on a terminal.

    Linear algebra of a few small matrices is slower with two threads; OMP_NUM_THREADS overrides it.
    """
    print_warnings()
    print_warnings("semsearch_research")
    check_target(plot)
    alone = one_thread and "OMP_NUM_THREADS" not in os.environ
    with threadpool_limits(limits=1) if alone else nullcontext(), progress() as show:
        yield show


def show(
    report: Any,
    blocks: Iterable[Block],
    *,
    json: bool,
    plot: Path | None = None,
    figures: Mapping[str, Callable[[], Figure]] | None = None,
) -> None:
    """Draw the figures, and print the tables, or JSON. Of several figures x.svg becomes x-NAME.svg for each."""
    for name, draw in (figures or {}).items() if plot is not None else ():
        assert plot is not None
        save(draw(), plot.with_name(f"{plot.stem}-{name}{plot.suffix}") if name else plot)
    if json:
        print(to_json([row.to_dict() for row in report] if isinstance(report, list) else report.to_dict()))
    else:
        print_blocks(blocks)


_NARROWEST, _ANY = 80, 1_000_000  # columns of a terminal; of a pipe
_NUMBERS = frozenset("+-–<·.0123456789")  # what a cell begins with that stands to the right


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print tables and paragraphs. A table wider than the terminal is divided; in a pipe it stays whole."""
    console = Console(highlight=False, emoji=False, markup=False)
    console.width = width = max(console.width, _NARROWEST) if sys.stdout.isatty() else _ANY
    first = True
    with tqdm.external_write_mode():  # without the bar
        for block in blocks:
            for part in block.parts(width) if isinstance(block, Table) else [str(block)]:
                if isinstance(part, Table) and not first:
                    print()
                first = False
                for line in _lines(part, console) if isinstance(part, Table) else wrap(one_line(part), width):
                    print(line)
    sys.stdout.flush()


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
