"""`semsearch evaluate released`: what the papers' released programs do and the papers do not say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from semsearch_research.command_line import JsonOption, PairsArgument, SplitOption, VectorsOption, measuring, show
from semsearch_research.evaluate.inputs import MEANING, marked
from semsearch_research.evaluate.table import Block, Table, within
from semsearch_research.papers_report import PapersReport
from semsearch_research.released.costs import ReleasedReport, evaluate_released
from semsearch_research.section import Section


def costs(report: ReleasedReport) -> Table:
    """The table of costs: for each method r × 100 as the paper says, then each choice less that."""
    groups = list(dict.fromkeys(cost.group for cost in report.costs))
    name = marked(report.vectors, [report.vectors] * report.taught)
    rows: list[list[str]] = []
    for method in dict.fromkeys(cost.method for cost in report.costs):
        own = [cost for cost in report.costs if cost.method == method]
        as_said = {cost.group: within(cost.pearson, cost.pearson_low, cost.pearson_high) for cost in own}
        rows.append([f"{method}, as the paper says", *(as_said[group] for group in groups)])
        for choice in dict.fromkeys(cost.choice for cost in own):
            chosen = {one.group: one for one in own if one.choice == choice}
            found = (chosen[group] for group in groups)
            rows.append([choice, *(within(one.difference, one.low, one.high, "+.1f") for one in found)])
    return Table([f"r × 100, {name}; differences", *groups], rows)


def said(report: ReleasedReport) -> str:
    """What is counted, and what the signs mean."""
    text = (
        "± is half of the 95 % interval, by drawing pairs anew within each task. Of the running words "
        f"{report.uncounted:.1%} have no count in {report.frequencies}. Of {report.sentences:,} sentences "
        f"{report.empty:,} have no known word, and {report.zero_dimension:,} have a dimension that is zero in all of "
        "their words, for which uSIF's program divides zero by zero."
    )
    return f"{text} {MEANING}" if report.taught else text


def tables(report: ReleasedReport) -> Iterator[Block]:
    """The blocks of the experiment."""
    yield costs(report)
    yield said(report)


def released(
    paths: PairsArgument,
    frequencies: Annotated[
        Path,
        typer.Option(metavar="PATH", help="Counts of words for p(w), as the programs read them; or a folder of data."),
    ],
    vectors: VectorsOption = "english",
    a: Annotated[float, typer.Option(help="SIF's parameter.")] = 0.001,
    split: SplitOption = "test",
    json: JsonOption = False,
) -> None:
    """Measure what SIF's released program does and its paper does not say, one choice after the other.

    Its words, unknown words, words without a count, components and idf; Pearson's r × 100 by group as the paper says,
    and the difference that each choice makes. ± is half of a 95 % interval.
    """
    with measuring() as progress:
        report = evaluate_released(paths, frequencies=frequencies, vectors=vectors, a=a, split=split, progress=progress)
    show(report, tables(report), json=json)


def _command(papers: PapersReport) -> str:
    return f"released sts/ --frequencies {papers.counts[0]}"


SECTION = Section(
    of="released",
    title="What the released program does and the paper does not say",
    command=_command,
    says="The choices of the authors' own program, taken one by one into what the paper says (algorithm 1, equation "
    "7), with p(w) from their counts. Its sentences had their punctuation parted from words before; ours are as they "
    "are.",
    blocks=lambda report, _: [costs(report), said(report)],
    note="released",
)
