"""Measure how costs grow with the size of the text: at 1,000 sentences, 10,000, and so on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from semsearch_research.bench.bench_text import LEAST
from semsearch_research.bench.rounds import Case, Quantity
from semsearch_research.bench.site import Site
from semsearch_research.bench.works import asking_cold, asking_warm
from semsearch_research.evaluate.plots import new_figure, save

GROWTH = "growth"  # the part of what is measured at smaller sizes
_KINDS = ("index", "cold", "warm")
_LABELS = {"index": "semsearch index", "cold": "cold query (a process)", "warm": "warm query (hybrid)"}


@dataclass(frozen=True, slots=True)
class Growth:
    """A point of growth: the medians at one size of the text, in seconds."""

    sentences: int
    index: float
    cold: float
    warm: float


def sizes_below(sentences: int) -> list[int]:
    """The powers of ten from 1,000 on that are below a number of sentences."""
    sizes = []
    size = LEAST
    while size < sentences:
        sizes.append(size)
        size *= 10
    return sizes


def growth_cases(site: Site, queries: Sequence[str]) -> list[Case]:
    """The cases of one size: index, cold query and warm query; their names contain the size."""
    size = site.corpus.sentences

    def named(case: Case, kind: str) -> Case:
        what = f"{_LABELS[kind]}, {size:,} sentences"
        return Case((Quantity(_name(kind, size), what, "time", part=GROWTH),), case.run)

    built = Case((Quantity("", "", "time"),), lambda: [[site.build().seconds]])
    cases = zip(_KINDS, (built, asking_cold(site, queries), asking_warm(site, queries, "hybrid")), strict=True)
    return [named(case, kind) for kind, case in cases]


def growth_of(sizes: Sequence[int], readings: Mapping[str, Sequence[float]]) -> list[Growth]:
    """The points of growth at the smaller sizes, rising."""
    return [Growth(size, *(median(readings[_name(kind, size)]) for kind in _KINDS)) for size in sizes]


def whole(sentences: int, readings: Mapping[str, Sequence[float]]) -> Growth:
    """The point of growth at the size of the whole text, from the usual measurements."""
    return Growth(sentences, median(readings["index"]), median(readings["cold"]), median(readings["warm hybrid"]))


def draw(points: Sequence[Growth], path: Path) -> None:
    """Draw seconds against sentences, both by powers of ten. Raises UsageError, MissingExtra, StorageError."""
    figure, axes = new_figure(6.4, 4.4, title="What it costs, by the size of the text")
    for kind in _KINDS:
        axes.plot(
            [point.sentences for point in points], [getattr(point, kind) for point in points], label=_LABELS[kind]
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("sentences")
    axes.set_ylabel("seconds")
    axes.legend(frameon=False, fontsize=9)
    save(figure, path)


def _name(kind: str, size: int) -> str:
    return f"{kind} at {size} sentences"
