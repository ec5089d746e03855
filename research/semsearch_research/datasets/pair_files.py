"""Releases that are one file or one for each split: the STS Benchmark, SICK, word counts, and laid-out files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from semsearch.errors import SourceError
from semsearch.evaluate.file_lines import as_number
from semsearch_research.datasets.known import known_files
from semsearch_research.datasets.made import Made
from semsearch_research.datasets.originals import Original


class StsBenchmark:
    """sts-train.csv, sts-dev.csv, sts-test.csv: genre, file, year, number, score, sentence, sentence, between tabs."""

    def __init__(self) -> None:
        self._made: list[Made] = []

    def wants(self, name: str) -> bool:
        """Return whether it is one of the three files."""
        return re.fullmatch(r"(.*/)?sts-(train|dev|test)\.csv", name) is not None

    def take(self, original: Original) -> None:
        """Take score and sentences of each line."""
        rows = []
        for number, line in enumerate(original.lines(), 1):
            cells = _cells(line)
            if len(cells) < 7 or as_number(cells[4]) is None or not (cells[5] and cells[6]):
                raise _wrong(original, number, "genre, file, year, number, score and two sentences, between tabs", line)
            rows.append("\t".join(cells[4:7]))
        split = original.base.removeprefix("sts-").removesuffix(".csv")
        self._made.append(Made(f"sts/stsb.{split}.tsv", tuple(rows), original.name))

    def made(self) -> Iterator[Made]:
        """Yield what was taken."""
        yield from self._made


class Sick:
    """SICK.txt with a column of splits, or SICK_train, SICK_trial and SICK_test_annotated.txt; by their headers."""

    _SPLITS: Final = {"train": "train", "trial": "dev", "test": "test", "test_annotated": "test"}
    _COLUMNS = (("relatedness_score",), ("sentence_A",), ("sentence_B",), ("entailment_judgment", "entailment_label"))

    def __init__(self) -> None:
        self._made: list[Made] = []

    def wants(self, name: str) -> bool:
        """Return whether it is one of the four files."""
        return re.fullmatch(r"(.*/)?SICK(_train|_trial|_test_annotated)?\.txt", name) is not None

    def take(self, original: Original) -> None:
        """Take score, sentences and label of each line."""
        split = self._SPLITS.get(original.base.removeprefix("SICK").removesuffix(".txt").removeprefix("_"), "")
        lines = original.lines()
        header = _cells(next(lines, ""))
        columns = [next((header.index(one) for one in names if one in header), -1) for names in self._COLUMNS]
        of_split = header.index("SemEval_set") if "SemEval_set" in header and not split else -1
        if min(columns) < 0 or (of_split < 0 and not split):
            raise _wrong(
                original, 1, "pair_ID, sentence_A, sentence_B, a label and relatedness_score", "\t".join(header)
            )
        rows: dict[str, list[str]] = {}
        for number, line in enumerate(lines, 2):
            cells = _cells(line)
            if len(cells) < len(header) or as_number(cells[columns[0]]) is None:
                raise _wrong(original, number, "as many cells as the first line, with a score", line)
            if (name := split or self._SPLITS.get(cells[of_split].lower(), "")) not in ("train", "dev", "test"):
                raise _wrong(original, number, "a split: TRAIN, TRIAL or TEST", cells[of_split])
            rows.setdefault(name, []).append("\t".join(cells[column] for column in columns))
        self._made += [Made(f"sts/sick.{name}.tsv", tuple(found), original.name) for name, found in rows.items()]

    def made(self) -> Iterator[Made]:
        """Yield what was taken."""
        yield from self._made


class AsLaidOut:
    """Files that are called, and look, as they are laid out: 2012.OnWN.test.tsv, sentiment-train, word counts."""

    def __init__(self) -> None:
        self._paths = {path.rpartition("/")[2]: path for path in known_files()}
        self._made: list[Made] = []

    def wants(self, name: str) -> bool:
        """Return whether a file of the name is known."""
        return name.rpartition("/")[2] in self._paths

    def take(self, original: Original) -> None:
        """Take its lines as they are. Raises SourceError for a line with fewer cells than the kind of file has."""
        path = self._paths[original.base]
        kind = path.partition("/")[0]
        least, between = {"frequencies": (2, " "), "supervised": (2, "\t")}.get(kind, (3, "\t"))
        rows = []
        for number, line in enumerate(original.lines(), 1):
            if line.strip():
                if len(line.strip(" ").split(between)) < least:
                    raise _wrong(original, number, f"{least} cells or more, with {between!r} between them", line)
                rows.append(line)
        self._made.append(Made(path, tuple(rows), original.name))

    def made(self) -> Iterator[Made]:
        """Yield what was taken."""
        yield from self._made


def _cells(line: str) -> list[str]:
    return [" ".join(cell.split()) for cell in line.split("\t")]


def _wrong(original: Original, number: int, expected: str, found: str) -> SourceError:
    return SourceError(f"{original.name}, line {number}: expected {expected}, found {found[:60]!r}")
