"""`semsearch evaluate supervised`: what a classifier learns from sentence vectors, as in the SIF and uSIF papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.cli.counter import stages
from semsearch.cli.formats import one_line, to_json
from semsearch.cli.inspecting import aligned

if TYPE_CHECKING:
    from semsearch.evaluate import SupervisedReport, SupervisedScore
    from semsearch.evaluate.similarity.orderings import Held

NONE = "–"


def supervised(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="Folders with sick.train.tsv, .dev, .test; sentiment-train; and so on."
        ),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(metavar="mean|tfidf|sif|usif", help="Repeated; by default mean, sif and usif."),
    ] = None,
    vectors: Annotated[
        str, typer.Option("--vectors", metavar="NAME|PATH", help="Shipped vectors, a folder, or a file.")
    ] = "english",
    a: Annotated[
        list[float] | None, typer.Option("--a", help="Repeated: the values tried for SIF; by default the paper's four.")
    ] = None,
    width: Annotated[
        int, typer.Option(metavar="N", help="Dimensions of the learned projection; 0 leaves it out.")
    ] = 2400,
    examples: Annotated[
        int | None, typer.Option(metavar="N", help="Train on so many at most, drawn by chance; by default on all.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of all that is drawn by chance.")] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Learn anew what was learned before.")] = False,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Learn relatedness, entailment and sentiment from sentence vectors that stay fixed.

    A file has one of three forms, with tabs: score sentence sentence label (SICK), sentence sentence label (SNLI),
    sentence label (SST, IMDB); each data set has the splits train, dev and test. What is chosen is chosen on dev. The
    figures are of test: Pearson's r × 100 for relatedness, else accuracy × 100.
    """
    # all processors may multiply matrices here: this is long work, other than a search
    from semsearch.evaluate.supervised.trials import METHODS, SIF_A_GRID, evaluate_supervised  # start-up time

    with stages() as progress:
        shown = progress
        report = evaluate_supervised(
            paths,
            methods=tuple(method or METHODS),
            vectors=vectors,
            a=tuple(a or SIF_A_GRID),
            width=width,
            examples=examples,
            seed=seed,
            fresh=fresh,
            progress=None if shown is None else lambda what, done, total: shown(one_line(what), done, total),
        )
    for line in [to_json(report.to_dict())] if json else _lines(report):
        print(line)


def _lines(report: SupervisedReport) -> Iterator[str]:
    """What was chosen; all systems by task; which of our methods is above which."""
    table: list[Sequence[str]] = [
        ("task", "method", "train", "dev", "test", "a", "rate", "λ", "rounds", "on dev", "on test", "ρ", "MSE")
    ]
    table += [_row(score) for score in report.scores]
    yield from aligned(table, left=(0, 1))
    yield ""
    yield from _beside_papers(report)
    if report.orderings:
        yield ""
        table = [("above in tasks", "ours", "difference", "uSIF paper", "difference")]
        table += [(f"{one.better} > {one.worse}", *_held(one.found), *_held(one.published)) for one in report.orderings]
        yield from aligned(table, left=(0,))


def _row(score: SupervisedScore) -> tuple[str, ...]:
    chosen, figures = score.chosen, score.figures
    return (
        one_line(score.task),
        score.method,
        *(f"{count:,}" for count in score.examples),
        NONE if chosen.a is None else f"{chosen.a:g}",
        f"{chosen.rate:g}",
        f"{chosen.regularisation:g}",
        f"{chosen.rounds}",
        f"{chosen.dev:.1f}",
        f"{score.figure:.1f}",
        f"{figures['spearman']:.1f}" if "spearman" in figures else NONE,
        f"{figures['mse']:.3f}" if "mse" in figures else NONE,
    )


def _beside_papers(report: SupervisedReport) -> list[str]:
    """A line a method or a paper's system, a column a task; r × 100 or accuracy × 100."""
    tasks = list(dict.fromkeys(score.task for score in report.scores))
    lines: dict[str, dict[str, float]] = {}
    for score in report.scores:
        lines.setdefault(score.method, {})[score.task] = score.figure
    for task, published in report.published.items():
        for name, figure in published.items():
            lines.setdefault(name, {})[task] = figure
    table: list[Sequence[str]] = [("r or accuracy × 100", *map(one_line, tasks))]
    table += [
        (name, *(f"{cells[task]:.1f}" if task in cells else NONE for task in tasks)) for name, cells in lines.items()
    ]
    return aligned(table, left=(0,))


def _held(held: Held | None) -> tuple[str, str]:
    return (NONE, NONE) if held is None else (f"{held.held} of {held.of}", f"{held.difference:+.2f}")
