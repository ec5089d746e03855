"""`semsearch evaluate report`: all experiments of the papers over a folder of data, as one report with pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semsearch.commands import JsonOption, to_json
from semsearch.errors import UsageError
from semsearch_research.command_line import measuring
from semsearch_research.papers.reproduction import evaluate_report
from semsearch_research.papers.writing import check_target_folder, write_report


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="With sts/, paraphrase/, supervised/ and frequencies/, or some.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write an index, a page a paper and pictures there. Notes by hand stay."),
    ] = None,
    vectors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|PATH",
            help="Repeated; by default english. The first is used everywhere, others for similarity.",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Leave out, repeated: sts, weights, sweep, supervised, classify, cbos.",
        ),
    ] = None,
    train_text: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Text to train pv-dm, pv-dbow and cbos on, also .xz or .gz. Repeated."),
    ] = None,
    train_sentences: Annotated[int, typer.Option(metavar="N", min=1, help="On so many sentences of it.")] = 300_000,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Of supervised tasks and CBOS.")] = 3,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute and train anew what was kept.")] = False,
    json: JsonOption = False,
) -> None:
    """Run all experiments of the papers, and write the results beside the published ones.

    Markdown: tables for each paper, what it claims and whether that was found, pictures, the command of each
    experiment. Passages between <!-- note: NAME --> and <!-- end --> are yours, and stay when it is written anew. With
    --train-text it needs the extra `papers`.
    """
    if out is None and not json:
        raise UsageError("the report needs a place: give --out FOLDER, or --json to print the figures")
    with measuring() as show:
        if out is not None:
            check_target_folder(out)
        results = evaluate_report(
            folder,
            vectors=vectors or ("english",),
            without=without or (),
            train_text=train_text or (),
            train_sentences=train_sentences,
            seeds=seeds,
            fresh=fresh,
            progress=show,
        )
    if out is not None:
        pictures = [path for path in write_report(results, out) if path.suffix == ".png"]
        if not json:
            print(f"{out}, with {len(pictures)} pictures")
    if json:
        print(to_json(results.to_dict()))
