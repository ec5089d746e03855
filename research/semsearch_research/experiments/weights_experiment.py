"""`semsearch evaluate weights`: compare the weights of words by their frequency, as in figure 1 of the SIF paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from semsearch_research.analysis.sif_pictures import draw_weights
from semsearch_research.analysis.weighing import WeightRow, WeightsReport, evaluate_weights
from semsearch_research.command_line import JsonOption, PlotOption, VectorsOption, chosen, measuring, show
from semsearch_research.evaluate.table import Block, PictureOf, Table, number
from semsearch_research.section import Section


def weights_table(report: WeightsReport, rows: Sequence[WeightRow], form: str = ".4f") -> Table:
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
    yield weights_table(report, (*report.curve, *report.words))
    yield "SIF: a / (a + p). word2vec: min(1, √(t / p)). uSIF: a / (p + a/2), twice SIF's weight with half its a."
    yield compared(report)


def weights(
    words: Annotated[
        list[str] | None,
        typer.Option("--word", metavar="WORD", help="By default the words of ranks 1, 10, 100, and so on. Repeatable."),
    ] = None,
    a: Annotated[
        float | None, typer.Option(metavar="A", help="SIF's parameter; by default 1e-4, as in figure 1.")
    ] = None,
    sample: Annotated[
        float | None, typer.Option(metavar="T", help="word2vec's threshold; by default 1e-5, as in figure 1.")
    ] = None,
    vectors: VectorsOption = "english",
    frequencies: Annotated[
        str, typer.Option(metavar="vectors|FILE", help="Where p(w) comes from: the vectors, or a file of word counts.")
    ] = "vectors",
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Compare how much a word counts with SIF, word2vec and uSIF, as in figure 1 of the SIF paper."""
    with measuring(plot):
        report = evaluate_weights(vectors=vectors, frequencies=frequencies, **chosen(words=words, a=a, sample=sample))
    show(report, tables(report), json=json, plot=plot, figures={"": lambda: draw_weights(report)})


SECTION = Section(
    of="weights",
    title="What the weights do (figure 1)",
    command="weights",
    blocks=lambda report, _: [
        weights_table(report, report.words, ".3f").without("uSIF"),
        compared(report),
        PictureOf("weights", "Weight of a word by its frequency: SIF, word2vec, uSIF"),
    ],
    note="weights",
)
