"""All figures that the papers published: those of similarity, which semsearch has, and the others, in published.tsv.

`figures` gives them as printed: SIF, uSIF and White et al. print r and accuracy × 100, CBOS does not.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from semsearch_research.evaluate.published import (
    PublishedFigure,
    published_figures as figures_of_similarity,
    read_figures,
)

_FILE = Path(__file__).with_name("published.tsv")


def figures(paper: str, place: str | None = None) -> tuple[PublishedFigure, ...]:
    """The figures of a paper ("sif", "usif", "cbos" or "white"), or of one place in it, in its order.

    Those of similarity come first.
    """
    others = (figure for figure in _others() if figure.paper == paper and place in (None, figure.place))
    return (*figures_of_similarity(paper, place), *others)


@cache
def _others() -> tuple[PublishedFigure, ...]:
    return read_figures(_FILE)
