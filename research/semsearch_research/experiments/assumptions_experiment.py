"""`semsearch evaluate assumptions`: what the models of SIF and uSIF take for granted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from semsearch_research.analysis.assumptions import AssumptionsReport, evaluate_assumptions
from semsearch_research.command_line import (
    JsonOption,
    PairsArgument,
    SeedOption,
    SplitOption,
    VectorsOption,
    measuring,
    show,
)
from semsearch_research.evaluate.table import NONE, Block, Table
from semsearch_research.section import Section

_LECTURE = {200: "14.124"}  # mean length by dimension, as the lecture on the SIF paper gives it


def dispersion(reports: Sequence[AssumptionsReport]) -> Table:
    """The table of how words lie around directions, for each of the word vectors."""
    rows = []
    for report in reports:
        for one in report.dispersion:
            distance = f"{one.distance:.3f} ({one.distance_range[0]:.3f} to {one.distance_range[1]:.3f})"
            partition = f"{one.partition_range[0]:.2f} to {one.partition_range[1]:.2f}"
            rows.append([report.vectors, f"{one.directions}, {one.count:,}", distance, partition])
    rows.append(["taken for granted", "", "0.5", "1"])
    return Table(["vectors", "directions", "mean distance to a word", "Z ÷ its mean"], rows, labels=2)


def lengths(report: AssumptionsReport) -> Table:
    """The table of the words of sentences by group; the paper has one figure for all."""
    rows = [[one.group, f"{one.sentences:,}", f"{one.words:.1f}", NONE] for one in report.lengths]
    rows[-1][-1] = f"{report.published:g}"
    return Table(["words of a sentence", "sentences", "mean", "uSIF paper"], rows)


def gaussian(report: AssumptionsReport) -> Table:
    """The table of the lengths of Gaussian vectors, beside the formula and the lecture."""
    rows = []
    for one in report.gaussian:
        found = f"{one.mean:.3f} (standard deviation {one.deviation:.2f})"
        rows.append([f"{one.dimension}", f"{one.drawn:,}", found, f"{one.expected:.3f}"])
        rows[-1].append(_LECTURE.get(one.dimension, NONE))
    return Table(["dimensions", "drawn", "length", "√2 Γ((n + 1)/2) ÷ Γ(n/2)", "lecture"], rows)


def tables(report: AssumptionsReport) -> Iterator[Block]:
    """The blocks of the experiment: dispersion, words of a sentence, lengths of Gaussian vectors."""
    yield dispersion([report])
    yield "A distance is the angle as a share of π. In brackets, and of Z: the middle 90 % of the directions."
    yield lengths(report)
    yield gaussian(report)


def _section(reports: Sequence[AssumptionsReport]) -> Iterator[Block]:
    yield dispersion(reports)
    yield lengths(reports[0])
    yield "A lecture on the SIF paper (Mochihashi 2018) draws Gaussian vectors, whose lengths hardly differ:"
    yield gaussian(reports[0])


def assumptions(
    paths: PairsArgument,
    vectors: VectorsOption = "english",
    directions: Annotated[
        int, typer.Option(metavar="N", min=2, help="Directions of each kind, by chance and of sentences.")
    ] = 500,
    seed: SeedOption = 0,
    split: SplitOption = "test",
    json: JsonOption = False,
) -> None:
    """Measure what the models of SIF and uSIF take for granted.

    That word vectors are dispersed uniformly: then Z is the same for all discourse vectors (SIF), and a word is at half
    of the greatest distance on average (uSIF). That a sentence has 11 words. And the lengths of Gaussian vectors.
    """
    with measuring() as progress:
        report = evaluate_assumptions(
            paths, vectors=vectors, directions=directions, seed=seed, split=split, progress=progress
        )
    show(report, tables(report), json=json)


SECTION = Section(
    of="assumptions",
    title="What the models take for granted (sections 2 and 4.2)",
    command="assumptions sts/",
    vectors="each",
    says="Word vectors that are dispersed uniformly: then Z is the same for all discourse vectors, as SIF has it, and "
    "a word is at the distance 1/2 on average, as uSIF has it; a distance is the angle as a share of π. In brackets, "
    "and of Z: the middle 90 % of the directions.",
    blocks=lambda reports, _: _section(reports),
    note="assumptions",
)
