"""Read the lines of a data file, numbered, so that errors name the file and the line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semsearch.errors import SourceError


@dataclass(frozen=True, slots=True)
class FileLine:
    """A line of a file with its number: as text, as cells between tabs, or as a JSON object."""

    path: Path
    number: int
    text: str

    @property
    def cells(self) -> list[str]:
        """The cells between tabs, without white space around them."""
        return [cell.strip() for cell in self.text.split("\t")]

    @property
    def values(self) -> dict[str, Any]:
        """The values of the line's JSON object. Raises SourceError if it is none."""
        try:
            values = json.loads(self.text)
        except ValueError:
            values = None
        if not isinstance(values, dict):
            raise self.wrong("a JSON object", self.text)
        return values

    def wrong(self, expected: str, found: str | None = None) -> SourceError:
        """Make the error for a line, or a part of it, that is not as expected."""
        text = self.text if found is None else found
        shown = text if len(text) <= 60 else text[:60] + "…"
        return SourceError(f"{self.path}, line {self.number}: expected {expected}, found {shown!r}")

    def score(self, lowest: float, highest: float) -> float:
        """The first cell as a number. Raises SourceError if it is not a number between `lowest` and `highest`."""
        score = as_number(self.cells[0])
        if score is None or not lowest <= score <= highest:
            raise self.wrong(f"a score from {lowest:g} to {highest:g}", self.cells[0])
        return score


def numbered_lines(path: Path) -> Iterator[FileLine]:
    """Yield each line that is not blank, with its number from 1, without its end. Lines end only with LF or CRLF.

    Raises SourceError if the file cannot be read as UTF-8.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}; give a file that can") from error
    except UnicodeDecodeError as error:
        line_number = error.object[: error.start].count(b"\n") + 1
        raise SourceError(f"{path}, line {line_number}: this is not UTF-8; convert the file") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield FileLine(path, number, line.removesuffix("\r"))


def check_scores(path: Path, scores: Sequence[float]) -> None:
    """Check that scores differ, since a correlation needs that. Raises SourceError."""
    if len(set(scores)) < 2:
        raise SourceError(f"{path} has fewer than two different scores; a correlation needs at least two")


def as_number(cell: str) -> float | None:
    """The number in a cell; None if it is not a number."""
    try:
        return float(cell)
    except ValueError:
        return None
