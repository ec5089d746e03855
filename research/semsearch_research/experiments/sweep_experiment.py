"""`semsearch evaluate sweep`: SIF's a and the source of p(w), as in figure 2 of the SIF paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch_research.analysis.sweep import SOURCES, evaluate_sweep
from semsearch_research.evaluate import options
from semsearch_research.evaluate.experiment import Experiment, Progress
from semsearch_research.evaluate.inputs import MEANING, marked
from semsearch_research.evaluate.options import Repeated
from semsearch_research.evaluate.table import NONE, Block, PictureOf, Table, within
from semsearch_research.papers_data import PapersData, Reproduction
from semsearch_research.section import Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from semsearch_research.analysis.sweep import SweepReport
    from semsearch_research.papers_report import PapersReport

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


def _figures(report: SweepReport) -> Iterator[tuple[str, Figure]]:
    from semsearch_research.analysis.sif_pictures import draw_sweep  # start-up time

    yield "", draw_sweep(report)


def _without_uniform(report: SweepReport) -> SweepReport:
    """Leave out uniform p(w) for a picture of several word vectors: its flat lines would hide the others."""
    points = tuple(point for point in report.points if point.frequencies != _UNIFORM)
    return replace(report, points=points) if len(report.means) > 1 else report


def _reproduce(data: PapersData, progress: Progress | None) -> dict[str, SweepReport]:
    sources: list[str | Path] = [*SOURCES, *data.counts]
    asked: dict[str, Any] = {"vectors": data.vectors, "fresh": data.fresh, "progress": progress}
    return {"sweep": evaluate_sweep([data.folder / "sts"], frequencies=sources, **asked)}


def _command(papers: PapersReport) -> str:
    sources = "".join(f" --frequencies {name}" for name in ("vectors", "corpus", _UNIFORM, *papers.counts))
    return "sweep sts/" + sources * bool(papers.counts)


SWEEP = Experiment(
    name="sweep",
    paper="SIF, figure 2",
    summary="SIF's a and the source of p(w) (SIF, figure 2).",
    help="""Vary SIF's a and the source of p(w), as in figure 2 of the SIF paper.

    Pearson's r × 100, the mean of the tasks. A uniform p(w) weighs all words the same: removal alone.
    """,
    options=(
        options.PAIRS,
        Repeated("a", float, "", "By default 1 and 3 times each power of ten from 1e-5 to 1e-1."),
        Repeated(
            "frequencies", str, "vectors|corpus|uniform|FILE", "Where p(w) comes from; by default the first three."
        ),
        options.SEVERAL_VECTORS,
        Repeated("groups", str, "NAME", "Which tasks: STS13, SICK14. By default STS12, or all without it.", "--group"),
        options.SPLIT,
        options.FRESH,
    ),
    run=evaluate_sweep,
    tables=tables,
    claims=claims,
    figures=_figures,
)
REPRODUCTION = Reproduction(SWEEP, _reproduce, "sts", drawn=_without_uniform)
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
