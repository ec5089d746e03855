"""`semsearch evaluate sweep`: SIF's a and the source of p(w), as in figure 2 of the SIF paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from semsearch_research.analysis.sif_pictures import draw_sweep
from semsearch_research.analysis.sweep import SweepReport, evaluate_sweep
from semsearch_research.command_line import (
    FreshOption,
    JsonOption,
    PairsArgument,
    PlotOption,
    SeveralVectorsOption,
    SplitOption,
    chosen,
    measuring,
    show,
)
from semsearch_research.evaluate.inputs import MEANING, marked
from semsearch_research.evaluate.table import NONE, Block, PictureOf, Table, within
from semsearch_research.papers_report import PapersReport
from semsearch_research.section import Section

_COMPARED = 1e-3  # a, in the SIF paper's comparison of sources of p(w)
_UNIFORM = "uniform"  # no p(w) in the paper's sense: all words weigh the same, whatever a is


def tables(report: SweepReport) -> Iterator[Block]:
    """The table of the sweep: a row for each a, a column for each source of p(w) and word vectors."""
    series = report.series
    is_named = len(report.means) > 1 or report.taught
    names = [
        f"{Path(source).name}, {marked(vectors, report.taught)}" if is_named else Path(source).name
        for vectors, source in series
    ]
    rows = []
    for points in zip(*series.values(), strict=True):
        rows.append([f"{points[0].a:g}", *(within(one.pearson, one.low, one.high) for one in points)])
    plain = (report.means[vectors] for vectors, _ in series)
    rows.append(["plain mean", *(within(one.value, one.low, one.high) for one in plain)])
    yield Table([f"a; {', '.join(report.groups)}", *names], rows)
    said = "± is half of the 95 % interval, by drawing pairs anew within each task."
    yield f"{said} {MEANING}" if report.taught else said


def claims(report: SweepReport) -> Iterator[Table]:
    """The table of the SIF paper's claims on figure 2, checked on ours."""
    low, high = report.published_best
    above, best, apart = ["a wide range of a is above the plain mean"], [f"the best a is from {low:g} to {high:g}"], []
    for vectors, mean in report.means.items():
        real = [point for point in report.points if point.vectors == vectors and point.frequencies != _UNIFORM]
        above.append(f"{sum(point.pearson > mean.value for point in real)} of {len(real)} figures")
        there = [one.a for one in report.best if one.vectors == vectors and one.frequencies != _UNIFORM]
        inside = sum(low <= a <= high for a in there)
        best.append(f"{inside} of {len(there)} sources: {', '.join(f'{a:g}' for a in there)}")
        compared = [point.pearson for point in real if point.a == _COMPARED]
        apart.append(f"within {max(compared) - min(compared):.1f}" if len(compared) > 1 else NONE)
    same = [f"at a = {_COMPARED:g} the source of p(w) hardly matters", *apart]
    names = (f"here, {marked(name, report.taught)}" for name in report.means)
    yield Table(["claim", *names], [above, best, same])


def without_uniform(report: SweepReport) -> SweepReport:
    """Leave out uniform p(w) for a picture of several word vectors: its flat lines would hide the others."""
    points = tuple(point for point in report.points if point.frequencies != _UNIFORM)
    return replace(report, points=points) if len(report.means) > 1 else report


def _command(papers: PapersReport) -> str:
    sources = "".join(f" --frequencies {name}" for name in ("vectors", "corpus", _UNIFORM, *papers.counts))
    return "sweep sts/" + sources * bool(papers.counts)


def sweep(
    paths: PairsArgument,
    a: Annotated[
        list[float] | None,
        typer.Option(metavar="A", help="By default 1 and 3 times each power of ten from 1e-5 to 1e-1. Repeatable."),
    ] = None,
    frequencies: Annotated[
        list[str] | None,
        typer.Option(
            metavar="vectors|corpus|uniform|FILE", help="Where p(w) comes from; by default the first three. Repeatable."
        ),
    ] = None,
    vectors: SeveralVectorsOption = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="NAME",
            help="Which tasks: STS13, SICK14. By default STS12, or all without it. Repeatable.",
        ),
    ] = None,
    split: SplitOption = "test",
    fresh: FreshOption = False,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Vary SIF's a and the source of p(w), as in figure 2 of the SIF paper.

    Pearson's r × 100, the mean of the tasks. A uniform p(w) weighs all words the same: removal alone.
    """
    with measuring(plot) as progress:
        report = evaluate_sweep(
            paths,
            split=split,
            fresh=fresh,
            progress=progress,
            **chosen(a=a, frequencies=frequencies, vectors=vectors, groups=groups),
        )
    show(report, [*tables(report), *claims(report)], json=json, plot=plot, figures={"": lambda: draw_sweep(report)})


SECTION = Section(
    of="sweep",
    title="a, and the source of p(w) (figure 2)",
    command=_command,
    vectors="all",
    says="Pearson's r × 100 of SIF. corpus: the words of the tasks. uniform: every word weighs the same, so that it is "
    "removal alone. The plain mean has neither.",
    blocks=lambda report, _: [
        *tables(report),
        *claims(report),
        PictureOf("sweep", "Pearson's r over a, by the source of p(w)"),
    ],
    note="sweep",
)
