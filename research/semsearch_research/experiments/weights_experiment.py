"""`semsearch evaluate weights`: compare the weights of words by their frequency, as in figure 1 of the SIF paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from semsearch_research.evaluate import options
from semsearch_research.evaluate.experiment import Experiment, Progress
from semsearch_research.evaluate.options import Option, Repeated
from semsearch_research.evaluate.table import Block, PictureOf, Table, number
from semsearch_research.papers_data import PapersData, Reproduction
from semsearch_research.section import Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from semsearch_research.analysis.weighing import WeightRow, WeightsReport


def run(progress: Progress | None = None, **options: Any) -> WeightsReport:
    """Run `evaluate_weights`, which takes no time to report progress in."""
    from semsearch_research.analysis.weighing import evaluate_weights  # start-up time

    del progress  # it is done at once
    return evaluate_weights(**options)


def weights(report: WeightsReport, rows: Sequence[WeightRow], form: str = ".4f") -> Table:
    """The table of weights, a row for each word or frequency. uSIF's are shown halved too: then the maximum is 1."""
    header = ("word", "p(w)", f"SIF, a = {report.a:g}", f"word2vec, t = {report.sample:g}", "uSIF")
    cells = ((row.word or "", row.p, (row.sif, row.word2vec, row.usif, row.usif / 2)) for row in rows)
    shown = [[word, f"{p:.1e}", *(number(weight, form) for weight in weights)] for word, p, weights in cells]
    return Table([*header, f"uSIF ÷ 2, a = {report.usif_a:.4g}"], shown)


def compared(report: WeightsReport) -> str:
    """A sentence on the difference between SIF's and word2vec's weights."""
    far = report.farthest
    return (
        f"Over all words of {report.vectors} the weights of SIF and word2vec correlate by r = "
        f"{report.correlation:.3f}. They are farthest apart at p(w) = {far.p:.1e}, with {far.sif:.2f} and "
        f"{far.word2vec:.2f}."
    )


def tables(report: WeightsReport) -> Iterator[Block]:
    """The blocks of the experiment: the curves of the figure, and some words."""
    yield weights(report, (*report.curve, *report.words))
    yield "SIF: a / (a + p). word2vec: min(1, √(t / p)). uSIF: a / (p + a/2), twice SIF's weight with half its a."
    yield compared(report)


def _figures(report: WeightsReport) -> Iterator[tuple[str, Figure]]:
    from semsearch_research.analysis.sif_pictures import draw_weights  # start-up time

    yield "", draw_weights(report)


def _reproduce(data: PapersData, _: Progress | None) -> dict[str, WeightsReport]:
    """Run it with p(w) of the vectors, and of the first file of counts."""
    found = {"weights": run(vectors=data.vectors[0])}
    return found | ({"counted": run(vectors=data.vectors[0], frequencies=data.counts[0])} if data.counts else {})


WEIGHTS = Experiment(
    name="weights",
    paper="SIF, figure 1",
    summary="How much a word counts: SIF, word2vec, uSIF (SIF, figure 1).",
    help="Compare how much a word counts with SIF, word2vec and uSIF, as in figure 1 of the SIF paper.",
    options=(
        Repeated("words", str, "WORD", "By default the words of ranks 1, 10, 100, and so on.", "--word"),
        Option("a", float, "", "SIF's parameter; by default 1e-4, as in figure 1."),
        Option("sample", float, "T", "word2vec's threshold; by default 1e-5, as in figure 1."),
        options.VECTORS,
        Option(
            "frequencies",
            str,
            "vectors|FILE",
            "Where p(w) comes from: the vectors, or a file of word counts.",
            default="vectors",
        ),
    ),
    run=run,
    tables=tables,
    figures=_figures,
)
REPRODUCTION = Reproduction(WEIGHTS, _reproduce)
SECTION = Section(
    of="weights",
    title="What the weights do (figure 1)",
    command="weights",
    blocks=lambda report, _: [
        weights(report, report.words, ".3f").without("uSIF"),
        compared(report),
        PictureOf("weights", "Weight of a word by its frequency: SIF, word2vec, uSIF"),
    ],
    note="weights",
)
