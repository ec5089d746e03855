"""`semsearch evaluate report`: all experiments of the papers over a folder of data, as one report with pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semsearch.commands import JsonOption, progress, tell_warnings, to_json
from semsearch.errors import UsageError


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="With sts/, paraphrase/, supervised/ and frequencies/, or some.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.md|FOLDER",
            help="Write it there, with pictures: one page, or an index and a page a paper. Hand-written notes stay.",
        ),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where pictures go; by default a folder named like the report, or FOLDER/images."
        ),
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
            help="Leave out, repeated: sts, released, weights, sweep, components, removal, confound, "
            "assumptions, supervised, classify, cbos.",
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
    experiment. --out names one file, or a folder, which gets an index and a page for each paper. Passages between
    <!-- note: NAME --> and <!-- end --> are yours, and stay when it is written anew. Without --out the text goes to the
    terminal, without pictures. With --train-text it needs semsearch-research[papers].
    """
    tell_warnings()
    if images is not None and out is None:
        raise UsageError("--images is for the pictures of a report; give --out FILE.md or a folder too")
    from semsearch_research.papers.document import document  # start-up time, as all the imports below
    from semsearch_research.papers.reproduction import evaluate_report
    from semsearch_research.papers.writing import check_target_folder, write_report

    if out is not None:
        check_target_folder(out, images)
    with progress() as show:
        found = evaluate_report(
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
        written = write_report(found, out, images=images)
        if not json:
            pictures = [path for path in written if path.suffix == ".png"]
            print(f"{out}, with {len(pictures)} pictures in {pictures[0].parent}" if pictures else f"{out}")
    if json:
        print(to_json(found.to_dict()))
    elif out is None:
        print(document(found, {}), end="")
