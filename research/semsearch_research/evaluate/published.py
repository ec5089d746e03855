"""The figures that the papers published, each typed once with its place in the paper, in published.tsv.

`published_figures` gives them as printed: SIF, uSIF and White et al. print r and accuracy × 100, CBOS does not. The
rest compares with our own similarities: Pearson's r × 100, by task and by group. A year's figure is the mean over all
tasks of the year; it is only comparable with ours where we ran all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

GROUPS = ("STS12", "STS13", "STS14", "STS15", "SICK14", "STSb", "Twitter15")
_FILE = Path(__file__).with_name("published.tsv")


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A number in a paper. `place`: "table 5", "figure 2", "section 4.3".

    `row` and `column` are those of the paper, except that in tables of similarity and classifiers a column is a system.
    """

    paper: str
    place: str
    row: str
    column: str
    value: float


def published_figures(paper: str, place: str | None = None) -> tuple[PublishedFigure, ...]:
    """The figures of a paper ("sif", "usif", "cbos" or "white"), or of one place in it, in its order."""
    return tuple(figure for figure in _all() if figure.paper == paper and place in (None, figure.place))


def by_column(paper: str, *places: str) -> dict[str, dict[str, float]]:
    """The figures of some places in a paper: column -> row -> value. Of a figure that occurs twice, the later one."""
    found: dict[str, dict[str, float]] = {}
    for figure in (figure for place in places for figure in published_figures(paper, place)):
        found.setdefault(figure.column, {})[figure.row] = figure.value
    return found


@cache
def _all() -> tuple[PublishedFigure, ...]:
    """The file: after lines that begin with #, and a header, five cells a line between tabs."""
    lines = [line for line in _FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    cells = (line.split("\t") for line in lines[1:])
    return tuple(PublishedFigure(paper, place, row, column, float(value)) for paper, place, row, column, value in cells)


def _year_tasks() -> Mapping[str, frozenset[str]]:
    """The tasks of each year, as in the SIF paper's table 4: the names in table 5 begin with the year."""
    years: dict[str, set[str]] = {}
    for figure in published_figures("sif", "table 5"):
        year, _, task = figure.row.partition(".")
        years.setdefault(f"STS{year[2:]}", set()).add(task)
    return MappingProxyType({year: frozenset(tasks) for year, tasks in years.items()})


YEAR_TASKS: Mapping[str, frozenset[str]] = _year_tasks()


@dataclass(frozen=True, slots=True)
class Published:
    """A published system: its r × 100 by group and by task, our method to compare it with, and its source."""

    name: str
    method: str
    figures: Mapping[str, float]
    tasks: Mapping[str, float]
    source: str


_SIF = "Arora, Liang, Ma 2017, tables 1 and 5"
_PARTS = "Arora, Liang, Ma 2017, table 6"
_USIF = "Ethayarajh 2018, table 1; STSb: table 2"
_SYSTEMS = (  # name, method, source, factor to × 100; a name is a column of the papers' tables
    ("avg-GloVe", "mean", _SIF, 1),
    ("avg-PSL", "mean", _SIF, 1),
    ("CBOS", "mean", "Yuan, Zhang, table I", 100),
    ("tfidf-GloVe", "tfidf", _SIF, 1),
    ("GloVe+W", "w", _PARTS, 1),
    ("PSL+W", "w", _PARTS, 1),
    ("GloVe+R", "r", _PARTS, 1),
    ("PSL+R", "r", _PARTS, 1),
    ("GloVe+WR", "sif", f"{_SIF}; STSb: Ethayarajh 2018, table 2", 1),
    ("PSL+WR", "sif", _SIF, 1),
    ("GloVe+UP", "usif", _USIF, 1),
    ("PSL+UP", "usif", _USIF, 1),
    ("ParaNMT+UP", "usif", _USIF, 1),
)
_TABLES = {"sif": ("table 1", "table 5", "table 6"), "usif": ("table 1", "table 2"), "cbos": ("table I",)}


def _systems() -> tuple[Published, ...]:
    cells: dict[str, dict[str, float]] = {}
    for paper, places in _TABLES.items():
        for column, rows in by_column(paper, *places).items():
            cells.setdefault(column, {}).update(rows)
    return tuple(
        Published(
            name,
            method,
            {row: round(factor * value, 2) for row, value in cells[name].items() if row in GROUPS},
            {row: round(factor * value, 2) for row, value in cells[name].items() if "." in row},
            source,
        )
        for name, method, source, factor in _SYSTEMS
    )


PUBLISHED = _systems()


def systems() -> dict[str, dict[str, float]]:
    """The figures of all published systems: name -> group or task -> r × 100."""
    return {row.name: {**row.figures, **row.tasks} for row in PUBLISHED}


def published(group: str) -> dict[str, float]:
    """The figures that were published for a group, by the system's name; empty for a group of one's own."""
    return {row.name: row.figures[group] for row in PUBLISHED if group in row.figures}


def published_task(task: str) -> dict[str, float]:
    """The figures that were published for a task of a year (2012.MSRpar), by the system; SICK and STSb are groups."""
    return {row.name: row.tasks[task] for row in PUBLISHED if task in row.tasks}
