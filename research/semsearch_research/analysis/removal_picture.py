"""Draw the effect of m: r over m, and beside it how much of the variance each singular vector explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semsearch_research.analysis.removal import RemovalReport
from semsearch_research.evaluate.plots import COLOURS, MARKERS, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_GREY = "#444444"


def draw(report: RemovalReport) -> Figure:
    """Draw r × 100 over m with its interval, and the variance explained. Raises MissingExtra without matplotlib."""
    figure, first = new_figure(8.5, 3.6)
    first.remove()
    left, right = figure.subplots(1, 2)
    for number, (name, points) in enumerate(report.series.items()):
        drawn = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)], "markersize": 4.5}
        ends = [
            [one.pearson - one.low for one in points],
            [one.high - one.pearson for one in points],
        ]
        left.errorbar(
            [one.m for one in points],
            [one.pearson for one in points],
            yerr=ends,
            label=name,
            linewidth=1.2,
            elinewidth=0.8,
            **drawn,
        )
        shown = [one for one in points if one.explained is not None]
        right.plot([one.m for one in shown], [100 * (one.explained or 0) for one in shown], label=name, **drawn)
    for axes, title in ((left, f"uSIF, mean of {len(report.tasks)} tasks"), (right, "What the m-th vector explains")):
        style(axes)
        axes.axvline(report.published_m, color=_GREY, linewidth=0.8, linestyle=":")
        axes.set_title(title, loc="left", fontsize=11)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel("m; dotted: the paper's")
    left.set_ylabel("Pearson's r × 100")
    right.set_ylabel("share of the variance, %")
    left.legend(loc="lower right", frameon=False, fontsize=9)
    right.legend(loc="upper right", frameon=False, fontsize=9)
    return figure
