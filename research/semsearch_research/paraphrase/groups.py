"""Sentences in groups of the same meaning, a sentence a line: group TAB id TAB sentence; further columns are ignored.

White et al. 2015, section 4: groups of at least three, so that in three folds each group has two sentences to learn
from and one to be found. A sentence stands once, or a fold would be tested on what it has learned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from semsearch.errors import SourceError
from semsearch_research.evaluate.file_lines import numbered_lines
from semsearch_research.evaluate.inputs import files_of

LEAST = 3  # sentences of a group


@dataclass(frozen=True, slots=True)
class ParaphraseGroups:
    """A data set of n sentences with the numbers of their groups (n,), and the names of the groups (g)."""

    name: str
    texts: tuple[str, ...]
    groups: npt.NDArray[np.int64]
    names: tuple[str, ...]

    @property
    def sizes(self) -> dict[int, int]:
        """The number of groups of each size, smallest first."""
        sizes, counts = np.unique(np.bincount(self.groups), return_counts=True)
        return dict(zip(sizes.tolist(), counts.tolist(), strict=True))


def read_paraphrases(paths: Iterable[Path]) -> list[ParaphraseGroups]:
    """Read the groups of each file; of a folder of data those of its paraphrase/. Raises SourceError, with the line."""
    files = list({path.resolve(): path for path in files_of(paths, "paraphrase", ".tsv")}.values())
    names: dict[str, Path] = {}
    for file in files:
        if (other := names.setdefault(file.stem, file)) != file:
            raise SourceError(f"{other} and {file} are of one name, and so one data set; rename one of them")
    return [_read(file) for file in files]


def _read(path: Path) -> ParaphraseGroups:
    if not path.is_file():
        raise SourceError(f"there is no file {path}; give a file of group, id, sentence, between tabs")
    texts: dict[str, int] = {}
    groups: dict[str, list[int]] = {}  # the lines of each
    members: list[str] = []
    for line in numbered_lines(path):
        cells, number = line.cells, line.number
        if len(cells) < 3 or not (cells[0] and cells[2]):
            raise line.wrong("a group, an id and a sentence, between tabs")
        group, text = cells[0], cells[2]
        if (before := texts.setdefault(text, number)) != number:
            raise SourceError(f"{path}, line {number}: this sentence is in line {before} already; keep one of them")
        groups.setdefault(group, []).append(number)
        members.append(group)
    _check(path, groups)
    number_of = {group: number for number, group in enumerate(groups)}
    numbers = np.array([number_of[group] for group in members], dtype=np.int64)
    return ParaphraseGroups(path.stem, tuple(texts), numbers, tuple(groups))


def _check(path: Path, groups: dict[str, list[int]]) -> None:
    for group, lines in groups.items():
        if len(lines) < LEAST:
            sentences = f"{len(lines)} sentence" + "s" * (len(lines) > 1)
            raise SourceError(
                f"{path}, line {lines[0]}: the group {group!r} has {sentences}, and needs at least {LEAST}; "
                "add to it or leave it out"
            )
    if len(groups) < 2:
        raise SourceError(f"{path} has {len(groups)} groups; there must be two at least to tell apart")
