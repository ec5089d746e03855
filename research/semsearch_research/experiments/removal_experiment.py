"""`semsearch evaluate removal`: how many components uSIF removes, section 3.3 of the uSIF paper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from semsearch_research.analysis.removal import evaluate_removal
from semsearch_research.evaluate import options
from semsearch_research.evaluate.experiment import Experiment, Progress
from semsearch_research.evaluate.inputs import MEANING, marked
from semsearch_research.evaluate.options import Repeated
from semsearch_research.evaluate.table import NONE, Block, PictureOf, Table, number, within
from semsearch_research.papers_data import PapersData, Reproduction
from semsearch_research.section import Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from semsearch_research.analysis.removal import RemovalReport


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


def _figures(report: RemovalReport) -> Iterator[tuple[str, Figure]]:
    from semsearch_research.analysis.removal_picture import draw  # start-up time

    yield "", draw(report)


def _reproduce(data: PapersData, progress: Progress | None) -> dict[str, RemovalReport]:
    asked: dict[str, Any] = {"vectors": data.vectors, "fresh": data.fresh, "progress": progress}
    return {"removal": evaluate_removal([data.folder / "sts"], **asked)}


REMOVAL = Experiment(
    name="removal",
    paper="uSIF, section 3.3",
    summary="How many components are removed (uSIF, section 3.3).",
    help="""Vary m, the number of common components that uSIF removes piecewise.

    Pearson's r × 100 by group and over all tasks, the difference to the paper's m = 5, and how much of the variance the
    m-th singular vector explains, which is the paper's reason for 5.
    """,
    options=(
        options.PAIRS,
        Repeated("m", int, "M", "By default 0 to 10, 15 and 20.", "--m", least=0),
        options.SEVERAL_VECTORS,
        options.SPLIT,
        options.FRESH,
    ),
    run=evaluate_removal,
    tables=tables,
    figures=_figures,
)
REPRODUCTION = Reproduction(REMOVAL, _reproduce, "sts")
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
