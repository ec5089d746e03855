"""Sentence pairs with gold scores, in the shapes of `semsearch.evaluate.similarity.pair_shapes`, as tasks.

A file's name says what it is: 2012.MSRpar.test.tsv is a task of a year, stsb.dev.tsv and sick.test.tsv are whole data
sets. A file of any other name is a data set of its own; test.jsonl alone is called like its folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from semsearch.errors import SourceError
from semsearch.evaluate.data_folder import parts_of
from semsearch.evaluate.lines import check_scores
from semsearch.evaluate.similarity.pair_shapes import ENDINGS, read_pairs

_SPLITS = ("train", "dev", "test")
_YEAR = re.compile(r"20(\d\d)")
_KNOWN = {"stsb": "STSb", "sick": "SICK14", "twitter15": "Twitter15"}


@dataclass(frozen=True, slots=True)
class Task:
    """A task of n pairs with gold scores (n,). It is averaged with others of its `group`: STS12, or its own name."""

    name: str
    group: str
    split: str  # "" if the file's name has none
    scores: npt.NDArray[np.float64]
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

    Raises SourceError if there are none, or if two files are of one task.
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
        raise SourceError("no files of sentence pairs were named; give files or folders")
    tasks: dict[tuple[str, str], Path] = {}
    for file in {file.resolve(): file for file in files}.values():
        if (other := tasks.setdefault(_name(file), file)) != file:
            raise SourceError(f"{other} and {file} are of one name, and so one task; rename one of them")
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
