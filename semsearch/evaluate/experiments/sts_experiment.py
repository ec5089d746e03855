"""`semsearch evaluate sts`: cosines of sentences against people's scores, beside the SIF and uSIF papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.errors import UsageError
from semsearch.evaluate import options
from semsearch.evaluate.experiment import Experiment, Progress, Reproduction
from semsearch.evaluate.experiments.section import Section
from semsearch.evaluate.options import Option, Repeated, Switch
from semsearch.evaluate.published import PUBLISHED, by_column, figures, systems
from semsearch.evaluate.similarity.orderings import CLAIMS, SIF_CLAIMS, USIF_CLAIMS
from semsearch.evaluate.similarity.sts_tables import above, fitted, groups, improvements, said, tasks, tasks_beside
from semsearch.evaluate.table import Block, PictureOf, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from semsearch.evaluate.papers.data import PapersData
    from semsearch.evaluate.papers.papers_report import PapersReport
    from semsearch.evaluate.similarity.sts_report import StsReport

_SIF = by_column("sif", "table 1", "table 5", "table 6")
_USIF = dict(sorted(by_column("usif", "table 1", "table 2").items(), key=lambda item: not item[0].endswith("UP")))
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


def usif_a(papers: PapersReport) -> Table:
    """The table of uSIF's a, which follows from p(w) and n: with the paper's counts it can be checked."""
    published = {figure.row: figure.value for figure in figures("usif", "section 4.2")}
    rows = [["paper", f"{published['a']:g}"]]
    if papers.counted is not None:
        rows.append([f"counts in {papers.counts[0]}", f"{papers.counted.usif_a:.5g}"])
    if papers.weights is not None:
        rows.append([f"p(w) of {papers.weights.vectors}", f"{papers.weights.usif_a:.5g}"])
    return Table(["uSIF's a, n = 11, from", "a"], rows)


def _figures(report: StsReport) -> Iterator[tuple[str, Figure]]:
    from semsearch.evaluate.similarity.sts_picture import draw  # start-up time

    yield "", draw(report)


def _reproduce(data: PapersData, progress: Progress | None) -> dict[str, StsReport]:
    """Run all methods with each task's own components; SIF and uSIF with those of all tasks, and with counts, too."""
    from semsearch.evaluate.similarity.sts import evaluate_sts  # start-up time
    from semsearch.evaluate.similarity.variants import VARIANTS

    asked: dict[str, Any] = {"vectors": data.vectors, "keep": True, "fresh": data.fresh, "progress": progress}
    pairs, both = [data.folder / "sts"], ("sif", "usif")
    found = {
        "sts": evaluate_sts(pairs, methods=tuple(VARIANTS), **asked),
        "fitted": evaluate_sts(pairs, methods=both, fit_on=["task", "corpus"], **asked),
    }
    if data.counts:
        found["on_counts"] = evaluate_sts(pairs, methods=both, frequencies=data.counts[0], **asked)
    return found


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
    reproduction=Reproduction(_reproduce, "sts"),
)


def _similarity(report: StsReport, _: PapersReport) -> Iterator[Block]:
    yield groups(report, ("mean", "tfidf", "w", "r", "sif"), _SIF, printed=("STS13", "Twitter15"))
    yield said(report)
    yield above(report, SIF_CLAIMS, percent=False)
    yield improvements(report)
    yield PictureOf("sts", "Pearson's r by group and method, the papers' figures as crosses")
    yield tasks_beside(report, ("mean", "tfidf", "sif"), _SIF)
    yield tasks_beside(report, ("w", "r"), _SIF)


def _parts(report: StsReport, _: PapersReport) -> Iterator[Block]:
    parts = (f"{method}{part}" for method in ("sif+", "usif-") for part in "upn")
    yield groups(report, ("sif", *parts, "usif"), {})
    yield above(report, USIF_CLAIMS)


SIMILARITY = Section(
    of="sts",
    title="Similarity of sentences (tables 1, 5 and 6)",
    command="sts sts/ --ablation",
    vectors="all",
    says="a = 1e-3, one component of each task's own sentences; the mean of a group's tasks. A published mean of a "
    "year that was not run whole is that of the same tasks, and stands as it is printed in a column of its own. In "
    "bold: ours.",
    blocks=_similarity,
    note="similarity",
)
FITTED = Section(
    of="fitted",
    title="Fitted once",
    command="sts sts/ --method sif --method usif --fit-on task --fit-on corpus",
    vectors="all",
    says="The papers fit on the sentences that are tested, task by task. An index fits once, on all that it holds.",
    blocks=lambda report, _: fitted(report),
    note="fitted",
)
ON_COUNTS = Section(
    of="on_counts",
    title="With the papers' own counts",
    command=lambda papers: f"sts sts/ --method sif --method usif --frequencies {papers.counts[0]}",
    vectors="all",
    says="The same with p(w) from a file of word counts, in place of that of the word vectors.",
    blocks=lambda report, _: [groups(report, ("sif", "usif"), {})],
    note="counts",
)
USIF = Section(
    of="sts",
    title="Similarity of sentences (tables 1 and 2)",
    command="sts sts/ --method usif --method sif",
    also=lambda papers: "weights" + "".join(f" --frequencies {name}" for name in papers.counts[:1]),
    vectors="all",
    blocks=lambda report, papers: [
        groups(report, ("usif", "sif"), _USIF, apart=True, printed=("STS13",)),
        said(report),
        usif_a(papers),
    ],
    note="usif",
)
PARTS = Section(
    of="sts",
    title="Its parts (section 4.3)",
    command="sts sts/ --ablation",
    vectors="all",
    says="u: weights, p: piecewise removal, n: normalisation. sif+u has that part in place of SIF's way; usif-u, "
    "which is not in the paper, has SIF's way in place of that part. The paper's counts are of groups, not of tasks.",
    blocks=_parts,
    note="parts",
)
