"""`semsearch evaluate data`: lay out the folder of data that the experiments take, from the original releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semsearch.commands import PROBLEMS, JsonOption, print_stderr, print_warnings, progress, to_json
from semsearch_research.command_line import print_blocks
from semsearch_research.datasets.lay_out import lay_out_data, tables


def data(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of data, which need not be there yet.")],
    sources: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="PATH",
            help="Folders, archives and files that were downloaded; by default the folder itself. Repeated.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Lay out a folder of data from the releases as their owners give them, and say what is missing.

    Known are SemEval's STS 2012 to 2016 (STS.input and STS.gs files), the STS Benchmark, SICK, MSRP, the groups of
    White et al., SST, SNLI, IMDB, the counts of English Wikipedia, and word vectors; in folders, zip and tar archives.
    Originals are not changed, and a file that is there is not written over. Every evaluate command takes the folder.

    Exit status: 0, 1 where an original could not be used, 2 on an error.
    """
    print_warnings()
    with progress() as show:
        found = lay_out_data(folder, sources=sources or (), progress=show)
    if json:
        print(to_json(found.to_dict()))
    else:
        print_blocks(tables(found))
    for problem in found.problems:
        print_stderr(problem)
    if found.problems:
        raise typer.Exit(PROBLEMS)
