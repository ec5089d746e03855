"""Draw similarity by group: a panel for each group, a line for each method, our r and the papers'."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semsearch.errors import UsageError
from semsearch_research.evaluate.plots import COLOURS, MARKERS, new_figure, style
from semsearch_research.evaluate.published import PUBLISHED
from semsearch_research.evaluate.sts_scores import StsAverage, StsReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_GREY = "#777777"
_SPREAD = 0.2  # between the lines of several runs
_PAPERS = {"GloVe": "x", "PSL": "+"}  # markers, by the papers' word vectors


def draw(report: StsReport) -> Figure:
    """Draw Pearson's r × 100 of each method in each group; crosses are published figures, if the group is whole.

    Raises MissingExtra without matplotlib.
    """
    methods = list(dict.fromkeys(average.method for average in report.averages))[::-1]
    groups = list(dict.fromkeys(average.group for average in report.averages))
    runs = list(dict.fromkeys((average.vectors, average.fit_on) for average in report.averages))
    if len(runs) > len(COLOURS):
        raise UsageError(f"a picture shows {len(COLOURS)} runs side by side, not {len(runs)}; choose fewer")
    figure, first = new_figure(1.4 + 1.5 * len(groups), 1.3 + (0.2 + 0.1 * len(runs)) * len(methods) + 0.1 * len(runs))
    first.remove()
    panels = figure.subplots(1, len(groups), sharex=True, sharey=True, squeeze=False)[0]
    for panel, group in zip(panels, groups, strict=True):
        style(panel)
        panel.set_title(group, loc="left", fontsize=10)
        members = [average for average in report.averages if average.group == group]
        for number, run in enumerate(runs):
            own = [average for average in members if (average.vectors, average.fit_on) == run]
            panel.plot(
                [average.pearson for average in own],
                [methods.index(average.method) + _SPREAD * ((len(runs) - 1) / 2 - number) for average in own],
                linestyle="",
                marker=MARKERS[number],
                markersize=5,
                color=COLOURS[number],
                label=_label(run, runs),
            )
        _published(panel, members, methods)
        panel.set_yticks(range(len(methods)), methods)
        panel.set_ylim(-0.6, len(methods) - 0.4)
    lines = {str(line.get_label()): line for panel in panels for line in panel.lines if len(line.get_xdata())}
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    figure.suptitle("Pearson's r × 100, the mean of a group's tasks", x=0.01, ha="left", fontsize=11)
    return figure


def _published(panel: Axes, members: list[StsAverage], methods: list[str]) -> None:
    """Draw a mark for each published system of a method that was run."""
    figures = {name: figure for average in members for name, figure in average.published.items()}
    for vectors, marker in _PAPERS.items():
        rows = [row for row in PUBLISHED if vectors in row.name and row.name in figures and row.method in methods]
        panel.plot(
            [figures[row.name] for row in rows],
            [methods.index(row.method) for row in rows],
            linestyle="",
            marker=marker,
            color=_GREY,
            label=f"published, {vectors}",
        )


def _label(run: tuple[str, str], runs: list[tuple[str, str]]) -> str:
    """The label of a run: its word vectors, and its fit if that differs."""
    vectors, fit_on = run
    fits = {other for _, other in runs}
    return vectors if len(fits) == 1 else f"{vectors}, fitted on {fit_on.rpartition('/')[2]}"
