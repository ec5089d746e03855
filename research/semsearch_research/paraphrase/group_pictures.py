"""Draw paraphrase groups: their sizes, and the errors that models share.  White et al. 2015, figures 2 to 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semsearch_research.evaluate.plots import COLOURS, new_figure
from semsearch_research.paraphrase.agreement import ErrorAgreement
from semsearch_research.paraphrase.classify_report import GroupSizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DARK = 0.6  # shares from here on are written in white


def draw_sizes(sizes: GroupSizes) -> Figure:
    """Draw the number of groups by their number of sentences, a bar each."""
    title = f"{sizes.data}: {sizes.sentences:,} sentences in {sizes.groups:,} groups"
    figure, axes = new_figure(6, 3.4, title=title)
    bars = axes.bar([str(size) for size in sizes.sizes], list(sizes.sizes.values()), color=COLOURS[0])
    axes.bar_label(bars, fontsize=9)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("sentences of a group")
    axes.set_ylabel("groups")
    return figure


def draw_errors(data: str, pairs: list[ErrorAgreement]) -> Figure:
    """Draw shared errors as a heat map: among sentences that both models get wrong, the share of the same group."""
    models = [pair.one for pair in pairs if pair.one == pair.other]
    shares = np.full((len(models), len(models)), np.nan)
    figure, axes = new_figure(2.6 + 0.75 * len(models), 2.1 + 0.62 * len(models), title=f"{data}: the same errors")
    axes.grid(visible=False)
    for pair in pairs:
        indices = models.index(pair.one), models.index(pair.other)
        for row, column in {indices, indices[::-1]}:
            shares[row, column] = np.nan if pair.share is None else pair.share
            colour = "white" if pair.share is not None and pair.share >= _DARK else "black"
            text = f"{pair.same}/{pair.both_wrong}" if pair.both_wrong else "–"
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=9)
    image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    figure.colorbar(image, ax=axes, label="share taken for the same group")
    errors = {pair.one: pair.both_wrong for pair in pairs if pair.one == pair.other}
    names = [f"{model}\n{errors[model]} errors" for model in models]
    axes.set_xticks(range(len(models)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(models)), names)
    return figure
