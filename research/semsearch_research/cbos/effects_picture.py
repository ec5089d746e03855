"""Draw the effects of k and of m: a panel each, a line for each task. Figures 3 and 4 of Yuan and Zhang."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from semsearch_research.cbos.word2vec_comparison import CbosEffect
from semsearch_research.evaluate.plots import new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NAMES = {"k": "k, sentences on each side", "m": "m, random sentences"}


def draw(effects: Sequence[CbosEffect]) -> Figure:
    """Draw Pearson's r × 100 by task against k and m, and the mean of the tasks in black. Raises MissingExtra."""
    parameters = list(dict.fromkeys(effect.parameter for effect in effects))
    figure, first = new_figure(1.5 + 3.6 * len(parameters), 4.2)
    first.remove()
    panels = figure.subplots(1, len(parameters), sharey=True, squeeze=False)[0]
    for panel, parameter in zip(panels, parameters, strict=True):
        style(panel)
        own = [effect for effect in effects if effect.parameter == parameter]
        values = [effect.value for effect in own]
        for task in own[0].pearson:
            panel.plot(values, [effect.pearson[task] for effect in own], label=task.partition(".")[2], markersize=5)
        panel.plot(values, [effect.mean for effect in own], label="mean", color="#000000", linewidth=2.5, marker="")
        panel.set_xticks(values)
        panel.set_xlabel(_NAMES[parameter])
    panels[0].set_ylabel("Pearson's r × 100")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=9)
    figure.suptitle("CBOS on the tasks of STS 2014", x=0.01, ha="left", fontsize=11)
    return figure
