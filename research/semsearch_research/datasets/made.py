"""What a release gives: files in the shapes that the experiments take, and the sum by which a file is known.

A sum is that of a file's content, whatever release it came from: each line's cells with single spaces, the first as a
number if it is one, in any order of lines; without lines whose first cell, the score, is blank. Groups of paraphrases
may have any names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from semsearch.evaluate.file_lines import as_number
from semsearch_research.datasets.originals import Original


@dataclass(frozen=True, slots=True)
class Made:
    """A file to be laid out: its path in the folder, its lines, and the name of the original."""

    path: str
    lines: tuple[str, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Sum:
    """The number of lines that count, and the sum of what they say."""

    rows: int
    digest: str


class Release(Protocol):
    """A release of a data set: it wants some files by their names, takes them, and makes files of them."""

    def wants(self, name: str) -> bool:
        """Return whether a file of this name, with its folders, is one of its own."""
        ...

    def take(self, original: Original) -> None:
        """Read a file. Raises SourceError if it is not of the release's shape."""
        ...

    def made(self) -> Iterator[Made | str]:
        """Yield the files, and in words what cannot be made, and why."""
        ...


def content(path: str, lines: Iterable[str]) -> Sum:
    """The sum of the lines of a file at a path in a folder of data."""
    cells: Iterable[list[str]] = (row for line in lines if (row := _cells(line))[0])
    if path.startswith("paraphrase/"):
        cells = _regrouped(list(cells))
    rows = sorted("\t".join(row) for row in cells)
    digest = hashlib.blake2b(digest_size=8)
    for number, text in enumerate(rows):
        digest.update(f"\n{text}".encode() if number else text.encode())
    return Sum(len(rows), digest.hexdigest())


def _cells(line: str) -> list[str]:
    first, *rest = (" ".join(cell.split()) for cell in line.split("\t"))
    number = as_number(first)
    return [first if number is None else f"{number:g}", *rest]


def _regrouped(rows: list[list[str]]) -> list[list[str]]:
    """The rows with the first of a group's other cells as its name."""
    groups: dict[str, list[str]] = {}
    for group, *rest in rows:
        groups[group] = min(groups.get(group, rest), rest)
    return [["\t".join(groups[group]), *rest] for group, *rest in rows]
