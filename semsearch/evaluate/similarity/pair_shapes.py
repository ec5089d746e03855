"""The shapes that files of scored sentence pairs have: cells between tabs or commas, or a JSON object a line.

    score TAB sentence TAB sentence             without a header; scores from 0 to 5
    sentence TAB sentence TAB score             without a header
    sentence1,sentence2,score                   with a header: those names, or any that stand in `NAMES`; tabs too
    {"sentence1": ..., "sentence2": ..., "score": ...}    .jsonl, with the same names; as the tasks of MTEB have them

A correlation does not depend on the range of the scores, so that any numbers will do where it is not the papers' form.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semsearch.errors import SourceError
from semsearch.evaluate.lines import FileLine, as_number, numbered_lines

ENDINGS = (".tsv", ".csv", ".jsonl")
NAMES: Sequence[Sequence[str]] = (
    ("score", "similarity", "similarity_score", "relatedness_score", "relatedness", "gold", "gold_score", "label"),
    ("sentence1", "sentence_1", "sentence_a", "text1", "text_1", "text_a", "s1"),
    ("sentence2", "sentence_2", "sentence_b", "text2", "text_2", "text_b", "s2"),
)
HIGHEST = 5.0  # of the papers' scores; the lowest is 0


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair of sentences with its score; None where nobody judged it."""

    score: float | None
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class PairColumns:
    """The columns of score, sentence and sentence; `header`: the first line has their names, and no pair."""

    places: tuple[int, int, int]
    header: bool = False

    @property
    def between(self) -> tuple[float, float]:
        """The range of scores: in the papers' form from 0 to 5, else any."""
        return (0, HIGHEST) if self == _PAPERS else (-math.inf, math.inf)


_PAPERS = PairColumns((0, 1, 2))
_SCORE_LAST = PairColumns((2, 0, 1))


def read_pairs(path: Path) -> Iterator[ScoredPair]:
    """Yield the pairs of a file. Raises SourceError, with the line, for one that has none of the shapes."""
    if path.suffix.lower() == ".jsonl":
        for line in numbered_lines(path):
            yield _pair(line, *_named(line), between=(-math.inf, math.inf))
        return
    columns: PairColumns | None = None
    for line, cells in _rows(path):
        if columns is None:
            columns = _columns(cells)
            if columns.header:
                continue
        if len(cells) <= max(columns.places):
            raise line.wrong("a score and two sentences, between tabs")
        yield _pair(line, *(cells[place] for place in columns.places), between=columns.between)


def _rows(path: Path) -> Iterator[tuple[FileLine, list[str]]]:
    """The lines of a file with their cells: of a .csv between commas, and quoted, unless the first line has tabs."""
    lines = numbered_lines(path)
    if path.suffix.lower() == ".csv" and (text := "".join(f"{line.text}\n" for line in lines)):
        if "\t" not in text.partition("\n")[0]:
            yield from _comma_separated(path, text)
            return
        lines = numbered_lines(path)
    yield from ((line, line.cells) for line in lines)


def _comma_separated(path: Path, text: str) -> Iterator[tuple[FileLine, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            yield FileLine(path, reader.line_num, ",".join(row)), [cell.strip() for cell in row]
    except csv.Error as error:
        raise SourceError(f"{path} is no table of cells between commas: {error}, line {reader.line_num}") from error


def _columns(cells: Sequence[str]) -> PairColumns:
    """Tell the columns by the first line."""
    names = [cell.lower() for cell in cells]
    places = [next((names.index(name) for name in known if name in names), -1) for known in NAMES]
    if min(places) >= 0:
        return PairColumns((places[0], places[1], places[2]), header=True)
    is_last = len(cells) > 2 and cells[0] and as_number(cells[0]) is None and as_number(cells[2]) is not None
    return _SCORE_LAST if is_last else _PAPERS


def _named(line: FileLine) -> tuple[str, str, str]:
    """Score, sentence and sentence of a line's JSON object; the score as text, empty for null."""
    values = {name.lower(): value for name, value in line.values.items()}
    score, first, second = (next((values[name] for name in known if name in values), None) for known in NAMES)
    if not (isinstance(first, str) and isinstance(second, str)):
        raise line.wrong("an object with sentence1, sentence2 and score")
    return _text(score), first.strip(), second.strip()


def _text(score: Any) -> str:
    return "" if score is None else str(score).strip()


def _pair(line: FileLine, score: str, first: str, second: str, *, between: tuple[float, float]) -> ScoredPair:
    if not (first and second):
        raise line.wrong("a score and two sentences, between tabs")
    if not score:
        return ScoredPair(None, first, second)
    number, (lowest, highest) = as_number(score), between
    if number is None or not lowest <= number <= highest or math.isinf(number):
        expected = f"a score from {lowest:g} to {highest:g}" if highest < math.inf else "a number as the score"
        raise line.wrong(expected, score)
    return ScoredPair(number, first, second)
