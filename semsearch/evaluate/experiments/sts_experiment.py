"""`semsearch evaluate sts`: cosines of sentences against people's scores, beside the SIF and uSIF papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.errors import UsageError
from semsearch.evaluate import options
from semsearch.evaluate.experiment import Experiment
from semsearch.evaluate.options import Option, Repeated, Switch
from semsearch.evaluate.published import PUBLISHED, systems
from semsearch.evaluate.similarity.orderings import CLAIMS
from semsearch.evaluate.similarity.sts_tables import above, fitted, groups, said, tasks, tasks_beside
from semsearch.evaluate.table import Block

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from semsearch.evaluate.similarity.sts_report import StsReport

_ALL = systems()


def run(paths: Sequence[Path], *, ablation: bool = False, methods: Sequence[str] = (), **options: Any) -> StsReport:
    """Run `evaluate_sts` with the papers' methods, with some methods, or with all methods and parts."""
    from semsearch.evaluate.similarity.sts import evaluate_sts  # start-up time
    from semsearch.evaluate.similarity.variants import DEFAULT, VARIANTS

    if ablation and methods:
        raise UsageError("--ablation runs all methods; give it, or --method")
    return evaluate_sts(paths, methods=tuple(VARIANTS) if ablation else methods or DEFAULT, keep=True, **options)


def tables(report: StsReport, *, published: bool = False) -> Iterator[Block]:
    """The blocks of the experiment: tasks, groups beside the papers', and the effect of other fits."""
    methods = list(dict.fromkeys(score.method for score in report.scores))
    yield tasks(report.scores)
    if published:
        by_task = {row.name: _ALL[row.name] for row in PUBLISHED if row.tasks}
        compared = [method for method in methods if any(row.method == method and row.tasks for row in PUBLISHED)]
        yield tasks_beside(report, compared, by_task)
    yield groups(report, methods, _ALL)
    yield from fitted(report)
    yield said(report)


def claims(report: StsReport) -> Iterator[Block]:
    """The table of the papers' claims, and whether they hold here."""
    if report.orderings:
        yield above(report, CLAIMS)
        yield "Published counts are of the same tasks, but of groups where uSIF is above SIF."


def _figures(report: StsReport) -> Iterator[tuple[str, Figure]]:
    from semsearch.evaluate.similarity.sts_picture import draw  # start-up time

    yield "", draw(report)


STS = Experiment(
    name="sts",
    paper="SIF, tables 1, 5, 6; uSIF, tables 1, 2, section 4.3",
    summary="Cosines of sentences against people's scores (SIF, uSIF).",
    help="""Correlate cosines of sentences with people's scores, as in the SIF and uSIF papers.

    Pearson's r and Spearman's ρ × 100 for each task; then Pearson's r by year (the mean of its tasks), beside the
    papers' figures; then in how many tasks a method is above another, and by how much. ± is half of a 95 % interval.

    Methods: mean, tfidf; w, r and sif (or wr) are the SIF paper's weights, removal and both. uSIF's parts are u, its
    weights, p, its piecewise removal, and n, its normalisation: sif+u, sif+p and sif+n have one of them in place of
    SIF's way, usif-u, usif-p and usif-n have SIF's way in place of one.
    """,
    options=(
        options.PAIRS,
        Repeated("methods", str, "NAME", "mean, tfidf, w, r, sif, usif, or a part of uSIF; see above.", "--method"),
        Switch("ablation", help="All methods and all parts; not with --method."),
        options.SEVERAL_VECTORS,
        Option(
            "frequencies",
            str,
            "vectors|corpus|FILE",
            "p(w): of the vectors, of what is fitted, or counts.",
            default="vectors",
        ),
        options.A,
        options.COMPONENTS,
        options.SPLIT,
        Repeated(
            "fit_on",
            str,
            "task|corpus|FILE",
            "What components are fitted on: each task (the default), all tasks together, a text file.",
        ),
        options.BLANK_AS_ZERO,
        Switch("published", help="Each task beside the papers' figures.", shown=True),
        options.FRESH,
    ),
    run=run,
    tables=tables,
    claims=claims,
    figures=_figures,
    plot="Draw methods by group: .png, .svg or .pdf.",
)
