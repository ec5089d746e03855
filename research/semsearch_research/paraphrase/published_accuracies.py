"""The figures that White et al. 2015 published for their two data sets, found by names and numbers of sentences."""

from __future__ import annotations

from collections.abc import Mapping

from semsearch_research.evaluate.published import published_figures

UNTRIED = "urae"  # its program is its authors' own; only its figure is given
# what section 5.1 says of the order: words above whole-sentence models, and on Opinosis above the reduced bag too
_ABOVE = ("mowe", "sowe", "bow")
_BELOW: Mapping[str, tuple[str, ...]] = {"MSRP": ("pv-dm", "pv-dbow"), "Opinosis": ("pv-dm", "pv-dbow", "pca-bow")}
_SIZES = {"sentences": "sentences", "groups": "groups", "tokens of BOW": "tokens"}


def published_accuracies(data: str, sentences: int) -> dict[str, float]:
    """The paper's accuracies × 100 by model, including URAE; empty if this is not one of its data sets."""
    column = _column(data, sentences)
    found = (figure for figure in published_figures("white", "table 1") if figure.column == column)
    return {figure.row.lower().replace(" ", "-"): figure.value for figure in found}  # PCA BOW is pca-bow


def published_sizes(data: str, sentences: int) -> dict[str, int]:
    """The paper's numbers of sentences, groups and tokens; empty if this is not one of its data sets."""
    column = _column(data, sentences)
    found = (figure for figure in published_figures("white") if figure.column == column and figure.row in _SIZES)
    return {_SIZES[figure.row]: int(figure.value) for figure in found}


def is_expected(data: str, sentences: int, one: str, other: str) -> bool:
    """Return whether the paper has one model above the other on a data set."""
    return one in _ABOVE and other in _BELOW.get(_column(data, sentences), ())


def _column(data: str, sentences: int) -> str:
    """The paper's name for a data set, if by its name and its number of sentences it is one of theirs; else empty."""
    for figure in published_figures("white"):
        if (figure.row, figure.value) == ("sentences", sentences) and data.lower().startswith(figure.column.lower()):
            return figure.column
    return ""
