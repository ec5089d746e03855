"""Figures 1 and 2 of the SIF paper, drawn from what was computed and measured here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from semsearch.embedding.weights import sif_weights, usif_weights
from semsearch_research.analysis.sweep import SOURCES, SweepReport
from semsearch_research.analysis.weighing import LOWEST, WeightsReport, word2vec_weights
from semsearch_research.evaluate.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GREY = "#444444"
_SHADE = "#EEEEEE"


def draw_weights(report: WeightsReport) -> Figure:
    """Draw figure 1: the weights over the frequency of a word. uSIF's are halved, so that the maximum of all is 1."""
    figure, axes = new_figure(7, 4, title="How much a word counts")
    p = 10.0 ** np.linspace(LOWEST, 0, 401)
    lines = (
        (word2vec_weights(p, report.sample), f"word2vec, t = {report.sample:g}"),
        (sif_weights(p, report.a), f"SIF, a = {report.a:g}"),
        (usif_weights(p, report.usif_a) / 2, f"uSIF ÷ 2, a = {report.usif_a:.3g}"),
    )
    for weights, label in lines:
        axes.plot(p, weights, label=label, markevery=(20, 40), markersize=4.5)
    for number, row in enumerate(sorted(report.words, key=lambda row: row.p)):
        axes.axvline(row.p, ymax=0.87, color=_GREY, linewidth=0.8, linestyle=":")
        height = 1.05 + 0.06 * (number % 2)  # neighbours at two heights
        axes.text(row.p, height, str(row.word), fontsize=8, color=_GREY, horizontalalignment="center")
    axes.set_ylim(-0.05, 1.18)
    axes.set_xscale("log")
    axes.set_xlabel("frequency of the word, p(w)")
    axes.set_ylabel("weight")
    axes.legend(loc="lower left", frameon=False, fontsize=9)
    return figure


def draw_sweep(report: SweepReport) -> Figure:
    """Draw figure 2a: r over a, a line for each source of p(w). Dashed: the plain mean. Shaded: the paper's best a."""
    figure, axes = new_figure(8, 4.2, title=f"SIF on {_summary(report)}")
    several = len(report.means) > 1
    for (vectors, source), points in report.series.items():
        name = source if source in SOURCES else Path(source).name
        axes.plot(
            [point.a for point in points],
            [point.pearson for point in points],
            markersize=4.5,
            label=f"{vectors}, p(w): {name}" if several else f"p(w): {name}",
        )
    for number, (vectors, mean) in enumerate(report.means.items()):
        label = f"{vectors}, plain mean" if several else "plain mean"
        axes.axhline(mean.value, color=_GREY, linewidth=1.2, linestyle=("--", ":", "-.")[number % 3], label=label)
    axes.axvspan(*report.published_best, color=_SHADE, linewidth=0, zorder=0, label="best in the paper")
    axes.set_xscale("log")
    axes.set_xlabel("a")
    axes.set_ylabel("Pearson's r × 100")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    return figure


def _summary(report: SweepReport) -> str:
    """The tasks in words: by their groups, or a single one by its name."""
    count = len(report.tasks)
    return report.tasks[0] if count == 1 else f"{', '.join(report.groups)}, mean of {count} tasks"
