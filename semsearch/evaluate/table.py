"""A table of figures, written once: as Markdown and JSON here, as columns of a terminal in semsearch.cli.tables.

What an experiment found is said in blocks: tables, paragraphs of prose, and pictures that stand beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from semsearch.evaluate.record import Record

NONE = "–"
_WIDTH = 118  # of prose in Markdown
_GAP = 2  # spaces between columns


class Bold(str):
    """A cell that is set off from the others: ours among the papers'."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Table(Record):
    """Rows of cells under a header. The first `labels` columns say what a row is of."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int = 1

    def without(self, *names: str) -> Table:
        """The table without the columns of these names. Raises ValueError where there is none."""
        gone = [list(self.header).index(name) for name in names]
        return self._of([column for column in range(len(self.header)) if column not in gone])

    def parts(self, width: int) -> Iterator[Table]:
        """The table cut into such as are `width` characters wide at most, each with all rows and their labels."""
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
        """A line a row, an empty one behind. What is in a cell cannot leave it."""
        yield _row(self.header)
        yield "|" + "---|" * len(self.header)
        yield from map(_row, self.rows)
        yield ""

    def _of(self, columns: Sequence[int]) -> Table:
        rows = [[row[column] for column in columns] for row in self.rows]
        return replace(self, header=[self.header[column] for column in columns], rows=rows)


@dataclass(frozen=True, slots=True)
class PictureOf:
    """Where a picture of a report stands: its file, without a suffix, and what it shows."""

    file: str
    shows: str


Block = Table | str | PictureOf


def prose(text: str) -> Iterator[str]:
    """A paragraph of Markdown, in lines of the width that people write."""
    yield from wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    yield ""


def bold(cells: Iterable[str]) -> list[str]:
    """All of them set off."""
    return [Bold(cell) for cell in cells]


def number(value: float | None, form: str = ".1f") -> str:
    """A figure, or a dash where there is none."""
    return NONE if value is None else f"{value:{form}}"


def _row(cells: Sequence[str]) -> str:
    shown = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    marked = (f"**{text}**" if isinstance(cell, Bold) else text for cell, text in zip(cells, shown, strict=True))
    return f"| {' | '.join(marked)} |"
