"""`semsearch evaluate removal`: how many components uSIF removes, section 3.3 of the uSIF paper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from semsearch_research.analysis.removal import RemovalReport, evaluate_removal
from semsearch_research.analysis.removal_picture import draw
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
from semsearch_research.evaluate.table import NONE, Block, PictureOf, Table, number, within
from semsearch_research.section import Section


def tables(report: RemovalReport) -> Iterator[Block]:
    """The blocks of the experiment: a table for each of the word vectors, a row for each m."""
    for name, points in report.series.items():
        rows = []
        for one in points:
            share = NONE if one.explained is None else f"{one.explained:.1%}"
            mean = within(one.pearson, one.low, one.high)
            above = within(one.difference, one.difference_low, one.difference_high, "+.1f")
            less = NONE if one.m == report.published_m else above
            rows.append([f"{one.m}", share, *map(number, one.groups.values()), mean, less])
        heads = ["it explains", *points[0].groups, "all tasks", f"less m = {report.published_m}"]
        yield Table([f"m; r × 100, {marked(name, report.taught)}", *heads], rows)
    said = (
        f"It explains: the share of the variance that the m-th singular vector explains, mean of {len(report.tasks)} "
        "tasks. ± is half of the 95 % interval, by drawing pairs anew within each task. In all tasks together, pairs "
        "of STSb and SICK that stand in a task of the years count there alone."
    )
    yield f"{said} {MEANING}" if report.taught else said


def removal(
    paths: PairsArgument,
    m: Annotated[
        list[int] | None, typer.Option("--m", metavar="M", min=0, help="By default 0 to 10, 15 and 20. Repeatable.")
    ] = None,
    vectors: SeveralVectorsOption = None,
    split: SplitOption = "test",
    fresh: FreshOption = False,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Vary m, the number of common components that uSIF removes piecewise.

    Pearson's r × 100 by group and over all tasks, the difference to the paper's m = 5, and how much of the variance the
    m-th singular vector explains, which is the paper's reason for 5.
    """
    with measuring(plot) as progress:
        report = evaluate_removal(paths, split=split, fresh=fresh, progress=progress, **chosen(m=m, vectors=vectors))
    show(report, tables(report), json=json, plot=plot, figures={"": lambda: draw(report)})


SECTION = Section(
    of="removal",
    title="How many components (section 3.3)",
    command="removal sts/",
    vectors="all",
    says="The paper expects more from a greater m, and fixes m = 5, as singular vectors beyond that do not explain "
    "much more variance. The strengths of all m add up to 1: a greater m removes less of the first.",
    blocks=lambda report, _: [
        *tables(report),
        PictureOf("removal", "Pearson's r over m, and the variance that the m-th singular vector explains"),
    ],
    note="removal",
)
