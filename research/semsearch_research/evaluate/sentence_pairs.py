"""Files of scored sentence pairs, and the tasks read from them. A file has one of these forms:

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
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.arrays.types import Float64
from semsearch.errors import SourceError
from semsearch_research.evaluate.file_lines import FileLine, as_number, numbered_lines
from semsearch_research.evaluate.inputs import check_scores, parts_of

ENDINGS = (".tsv", ".csv", ".jsonl")
NAMES: Sequence[Sequence[str]] = (
    ("score", "similarity", "similarity_score", "relatedness_score", "relatedness", "gold", "gold_score", "label"),
    ("sentence1", "sentence_1", "sentence_a", "text1", "text_1", "text_a", "s1"),
    ("sentence2", "sentence_2", "sentence_b", "text2", "text_2", "text_b", "s2"),
)
HIGHEST = 5.0  # of the papers' scores; the lowest is 0


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair of sentences with its score; None where it was not judged."""

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
    """Yield the pairs of a file. Raises SourceError, with the line, for one that has none of the forms."""
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
        raise SourceError(f"{path} is not valid CSV: {error}, line {reader.line_num}") from error


def _columns(cells: Sequence[str]) -> PairColumns:
    """Find the columns by the first line."""
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


_SPLITS = ("train", "dev", "test")
_YEAR = re.compile(r"20(\d\d)")
_KNOWN = {"stsb": "STSb", "sick": "SICK14", "twitter15": "Twitter15"}


@dataclass(frozen=True, slots=True)
class Task:
    """A task of n pairs with gold scores (n,). It is averaged with others of its `group`: STS12, or its own name."""

    name: str
    group: str
    split: str  # "" if the file's name has none
    scores: Float64
    first: Sequence[str]
    second: Sequence[str]

    @property
    def label(self) -> str:
        """The name of the task, with the split unless that is test."""
        return self.name if self.split in ("", "test") else f"{self.name} {self.split}"

    @property
    def sentences(self) -> list[str]:
        """All sentences of the task, of both sides."""
        return [*self.first, *self.second]


def read_tasks(paths: Iterable[Path], *, split: str = "test", blank_as_zero: bool = False) -> list[Task]:
    """Read the tasks in files, and in folders: there all .tsv, .csv, .jsonl of a split, or without one in their name.

    Pairs without a score are left out, unless they are to have score 0.
    Raises SourceError as `task_files` does, and for a line that is not a pair with a score from 0 to 5.
    """
    return [_read(file, blank_as_zero) for file in task_files(paths, split=split)]


def task_files(paths: Iterable[Path], *, split: str = "test") -> list[Path]:
    """Find the files that `read_tasks` reads; of a folder of data those in its sts/.

    Raises SourceError if there are none, or if two files have the same task name.
    """
    files: list[Path] = []
    for path in parts_of(paths, "sts"):
        if path.is_dir():
            pairs = (file for file in sorted(path.iterdir()) if file.suffix.lower() in ENDINGS)
            found = [file for file in pairs if _name(file)[1] in (split, "")]
            if not found:
                raise SourceError(
                    f"{path} has no .tsv files of the split {split!r}; expected names such as x.{split}.tsv"
                )
            files += found
        elif path.is_file():
            files.append(path)
        else:
            raise SourceError(f"there is no file {path}; give a file of score, sentence, sentence, or a folder of such")
    if not files:
        raise SourceError("no files of sentence pairs were given; give files or folders")
    tasks: dict[tuple[str, str], Path] = {}
    for file in {file.resolve(): file for file in files}.values():
        if (other := tasks.setdefault(_name(file), file)) != file:
            raise SourceError(f"{other} and {file} have the same task name; rename one of them")
    return list(tasks.values())


def _name(path: Path) -> tuple[str, str]:
    """The name of the task, and its split."""
    stem = path.stem if path.suffix.lower() in ENDINGS else path.name
    if stem in _SPLITS:
        return path.absolute().parent.name, stem
    rest, _, last = stem.rpartition(".")
    return (rest, last) if rest and last in _SPLITS else (stem, "")


def _read(path: Path, blank_as_zero: bool) -> Task:
    name, split = _name(path)
    pairs = [pair for pair in read_pairs(path) if pair.score is not None or blank_as_zero]
    scores = [pair.score or 0.0 for pair in pairs]
    check_scores(path, scores)
    year, _, task = name.partition(".")
    match = _YEAR.fullmatch(year)
    group = f"STS{match[1]}" if match and task else _KNOWN.get(name.lower(), name)
    return Task(name, group, split, np.array(scores), [pair.first for pair in pairs], [pair.second for pair in pairs])
