"""The report's pictures, by the names of their files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from semsearch.evaluate.analysis.sif_pictures import draw_sweep, draw_weights
from semsearch.evaluate.analysis.sweep import UNIFORM
from semsearch.evaluate.cbos.effects_picture import draw as draw_effects
from semsearch.evaluate.papers.papers_report import PapersReport
from semsearch.evaluate.paraphrase.group_pictures import draw_errors, draw_sizes
from semsearch.evaluate.plots import png
from semsearch.evaluate.similarity.sts_picture import draw as draw_groups

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 120


def drawn(report: PapersReport) -> dict[str, bytes]:
    """Each picture as PNG. Raises MissingExtra without matplotlib."""
    return {f"{name}.png": png(figure, dpi=DPI) for name, figure in _figures(report)}


def _figures(report: PapersReport) -> Iterator[tuple[str, Figure]]:
    if report.sts is not None:
        yield "sts", draw_groups(report.sts)
    if report.weights is not None:
        yield "weights", draw_weights(report.weights)
    if report.sweep is not None:
        points = tuple(point for point in report.sweep.points if point.frequencies != UNIFORM)
        yield "sweep", draw_sweep(report.sweep if len(report.vectors) == 1 else replace(report.sweep, points=points))
    if report.classify is not None:
        for sizes in report.classify.sizes:
            yield f"{sizes.data}-sizes", draw_sizes(sizes)
            pairs = [pair for pair in report.classify.agreements if pair.data == sizes.data]
            yield f"{sizes.data}-errors", draw_errors(sizes.data, pairs)
    if report.cbos is not None and report.cbos.effects:
        yield "cbos", draw_effects(report.cbos.effects)
