"""`semsearch export`: write what an index holds for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from semsearch.cli.naming import INDEXES, open_index
from semsearch.cli.options import FiltersOption, IndexesOption, IndexOption
from semsearch.cli.output.tables import count
from semsearch.errors import UsageError

ExportFormat = Literal["jsonl", "csv", "parquet", "npz"]
Unit = Literal["documents", "passages", "sentences"]


def export(
    output: Annotated[
        Path,
        typer.Argument(metavar="[FILE]", help="The file to write; by default the standard output.", allow_dash=True),
    ] = Path("-"),
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    unit: Annotated[Unit, typer.Option("--of", help="What a row is.", show_choices=True)] = "documents",
    format_: Annotated[
        ExportFormat | None,
        typer.Option("--format", "-o", help="By default what FILE ends in, or jsonl.", show_choices=True),
    ] = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="Each row has its vector as well.")] = False,
    filters: FiltersOption = None,
) -> None:
    """Write documents, passages or sentences to a file, with their vectors on demand.

    Documents have their text and their passages: semsearch import makes an index of them that finds the same.
    """
    to_stdout = str(output) == "-"
    if to_stdout and format_ in ("parquet", "npz") and sys.stdout.isatty():
        raise UsageError(f"{format_} is not for a terminal; give a file to write")
    with open_index(index, indexes) as opened:
        target = sys.stdout.buffer if to_stdout else output
        done = opened.export(target, unit=unit, format=format_, vectors=vectors, filters=filters or ())
    if not to_stdout:
        print(f"{output}: {count(done, unit[:-1])}")
