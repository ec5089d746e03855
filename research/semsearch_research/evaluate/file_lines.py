"""The lines of a data file with their numbers, so that an error can name the line that is not as expected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semsearch.errors import SourceError
from semsearch.system.source_files import opened_input


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
        """The values of the line's JSON object. Raises SourceError if it is not one."""
        try:
            values = json.loads(self.text)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise self.wrong("a JSON object", self.text)
        return values

    def wrong(self, expected: str, text_found: str | None = None) -> SourceError:
        """Make the error for a line, or a part of it, that is not as expected."""
        text = self.text if text_found is None else text_found
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
        with opened_input(path) as file:
            text = file.read().decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}; give another file") from error
    except UnicodeDecodeError as error:
        line_number = error.object[: error.start].count(b"\n") + 1
        raise SourceError(f"{path}, line {line_number}: this is not UTF-8; convert the file") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield FileLine(path, number, line.removesuffix("\r"))


def as_number(cell: str) -> float | None:
    """The number in a cell; None if it is not a number."""
    try:
        return float(cell)
    except ValueError:
        return None
