"""Tables of figures, declared once: as Markdown and JSON here, as columns of a terminal in command_line.

The results of an experiment are shown in blocks: tables, paragraphs of prose, and pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from semsearch.results.codec import Record

NONE = "–"
_WIDTH = 118  # of prose in Markdown
_GAP = 2  # spaces between columns


class Bold(str):
    """A cell in bold: ours among the papers'."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Table(Record):
    """A table: rows of cells under a header. The first `labels` columns name the row."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int = 1

    def without(self, *names: str) -> Table:
        """The table without the columns of some names. Raises ValueError for a name that it does not have."""
        gone = [list(self.header).index(name) for name in names]
        return self._of([column for column in range(len(self.header)) if column not in gone])

    def parts(self, width: int) -> Iterator[Table]:
        """Divide the table into tables at most `width` characters wide, each with all rows and their labels."""
        widths = [max(map(len, cells)) + _GAP for cells in zip(self.header, *self.rows, strict=True)]
        labels = list(range(self.labels))
        room = width + _GAP - sum(widths[: self.labels])
        columns: list[int] = []
        for column in range(self.labels, len(widths)):
            if columns and sum(widths[chosen] for chosen in (*columns, column)) > room:
                yield self._of([*labels, *columns])
                columns = []
            columns.append(column)
        yield self._of([*labels, *columns])

    def markdown(self) -> Iterator[str]:
        """Yield the lines of the table in Markdown, and an empty one. Text in a cell is escaped."""
        yield _row(self.header)
        yield "|" + "---|" * len(self.header)
        yield from map(_row, self.rows)
        yield ""

    def _of(self, columns: Sequence[int]) -> Table:
        rows = [[row[column] for column in columns] for row in self.rows]
        return replace(self, header=[self.header[column] for column in columns], rows=rows)


@dataclass(frozen=True, slots=True)
class PictureOf:
    """A picture of a report: its file, without a suffix, and a description."""

    file: str
    shows: str


Block = Table | str | PictureOf


def prose(text: str) -> Iterator[str]:
    """Wrap a paragraph of Markdown into lines."""
    yield from wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    yield ""


def bold(cells: Iterable[str]) -> list[str]:
    """Make all cells bold."""
    return [Bold(cell) for cell in cells]


def number(value: float | None, form: str = ".1f") -> str:
    """Format a figure; a dash if there is none."""
    return NONE if value is None else f"{value:{form}}"


def spread(figure: float, deviation: float | None, form: str = ".1f") -> str:
    """Format a mean over seeds with its standard deviation, if there are several: `86.5 ± 0.3`."""
    return number(figure, form) if deviation is None else f"{figure:{form}} ± {deviation:.1f}"


def within(figure: float, low: float, high: float, form: str = ".1f") -> str:
    """Format a figure with half of the width of its interval: `66.3 ± 1.2`."""
    return f"{figure:{form}} ± {(high - low) / 2:.1f}"


def _row(cells: Sequence[str]) -> str:
    shown = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    marked = (
        f"**{text}**" if isinstance(cell, Bold) and text else text for cell, text in zip(cells, shown, strict=True)
    )
    return f"| {' | '.join(marked)} |"
