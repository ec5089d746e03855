"""Figures that the papers published for semantic similarity, Pearson's r × 100, each typed once with its place.

A year's figure is the mean over all tasks of the year; it stands beside ours only where we ran all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GROUPS = ("STS12", "STS13", "STS14", "STS15", "SICK14", "STSb")

# SIF paper, table 4
YEAR_TASKS: Mapping[str, frozenset[str]] = {
    "STS12": frozenset({"MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews"}),
    "STS13": frozenset({"headlines", "OnWN", "FNWN", "SMT"}),
    "STS14": frozenset({"deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"}),
    "STS15": frozenset({"answers-forums", "answers-students", "belief", "headlines", "images"}),
}


@dataclass(frozen=True, slots=True)
class Published:
    """A row of a table: figures by group, and where they stand (paper, table, row)."""

    name: str
    figures: Mapping[str, float]
    source: str


_SIF = "Arora, Liang, Ma 2017, table 1"
_USIF = "Ethayarajh 2018, table 1; STSb: table 2"

PUBLISHED = (
    Published(
        "GloVe+WR",
        {"STS12": 56.2, "STS13": 56.6, "STS14": 68.5, "STS15": 71.7, "SICK14": 72.2, "STSb": 72.0},
        f"{_SIF}, column GloVe+WR; STSb: Ethayarajh 2018, table 2, row GloVe+WR",
    ),
    Published(
        "PSL+WR",
        {"STS12": 59.5, "STS13": 61.8, "STS14": 73.5, "STS15": 76.3, "SICK14": 72.9},
        f"{_SIF}, column PSL+WR",
    ),
    Published(
        "GloVe+UP",
        {"STS12": 64.9, "STS13": 63.6, "STS14": 74.4, "STS15": 76.1, "SICK14": 73.0, "STSb": 71.5},
        f"{_USIF}, rows GloVe+UP",
    ),
    Published(
        "PSL+UP",
        {"STS12": 65.8, "STS13": 65.2, "STS14": 75.9, "STS15": 77.6, "SICK14": 72.3, "STSb": 74.8},
        f"{_USIF}, rows PSL+UP",
    ),
    Published(
        "ParaNMT+UP",
        {"STS12": 68.3, "STS13": 66.1, "STS14": 78.4, "STS15": 79.0, "SICK14": 73.5, "STSb": 79.5},
        f"{_USIF}, rows ParaNMT+UP",
    ),
)


def published(group: str) -> dict[str, float]:
    """What was published for a group, by the system's name; empty for a group of one's own."""
    return {row.name: row.figures[group] for row in PUBLISHED if group in row.figures}
