"""Colourings of a map: its points by folder, by type and by document, each with at most twelve groups.

Folders are told apart as deep as there are colours for all; what has no colour of its own is in one last group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

import numpy as np

from semsearch.arrays.types import Int64, UInt8

if TYPE_CHECKING:
    import sqlite3

Kind = Literal["folder", "type", "document"]

MOST = 12  # groups, the last one of all others included: more colours cannot be distinguished
REST = "others"
_DOCUMENTS = """SELECT coalesce(roots.path, ''), documents.path, format, title, first_passage, passages FROM documents
    LEFT JOIN roots ON roots.id = root_id WHERE passages > 0 ORDER BY first_passage"""


@dataclass(frozen=True, slots=True)
class DocumentSpan:
    """A document with its passages: which folders it is in, outermost first, and what else it may be coloured by."""

    folders: tuple[str, ...]
    format: str
    name: str
    first: int
    passages: int


@dataclass(frozen=True, slots=True)
class Colouring:
    """A division of points into named groups, and each point's group."""

    by: Kind
    names: tuple[str, ...]
    numbers: UInt8  # (n,)

    def sizes(self) -> list[int]:
        """The number of points of each group."""
        sizes: list[int] = np.bincount(self.numbers, minlength=len(self.names)).tolist()
        return sizes


def get_spans_of_documents(db: sqlite3.Connection) -> list[DocumentSpan]:
    """Read all documents with passages, in the order of these."""
    rows = db.execute(_DOCUMENTS).fetchall()
    roots = {root for root, *_ in rows}
    return [
        DocumentSpan(_folders(root, path, several=len(roots) > 1), format_, title or path, first, passages)
        for root, path, format_, title, first, passages in rows
    ]


def _folders(root: str, path: str, *, several: bool) -> tuple[str, ...]:
    """The folders of a path below its root; the root itself is one where there are several."""
    below = PurePosixPath(path).parent.parts
    return ((PurePosixPath(root).name or "added"), *below) if several else below


def colourings(documents: Sequence[DocumentSpan], ids: Int64) -> tuple[Colouring, ...]:
    """The colourings of passages, given by their rising ids. (n,)"""
    counts = np.array([document.passages for document in documents], dtype=np.int64)
    starts = np.array([document.first for document in documents], dtype=np.int64)
    owners = np.searchsorted(starts, ids, side="right") - 1
    named: dict[Kind, list[str]] = {
        "folder": _folder_names(documents),
        "type": [document.format or "text" for document in documents],
        "document": [document.name for document in documents],
    }
    return tuple(_colouring(by, names, counts, owners) for by, names in named.items())


def _colouring(by: Kind, names: Sequence[str], counts: Int64, owners: Int64) -> Colouring:
    sizes: Counter[str] = Counter()
    for name, count in zip(names, counts.tolist(), strict=True):
        sizes[name] += count
    ranked = sorted(sizes, key=lambda name: (-sizes[name], name))
    shown = ranked if len(ranked) <= MOST else [*ranked[: MOST - 1], REST]
    numbers = {name: min(number, MOST - 1) for number, name in enumerate(ranked)}
    of_documents = np.array([numbers[name] for name in names], dtype=np.uint8)
    return Colouring(by, tuple(shown), of_documents[owners])


def _folder_names(documents: Sequence[DocumentSpan]) -> list[str]:
    """The folder by which each document is coloured: as deep as there are colours for all."""
    names: list[str] = []
    for depth in range(max((len(document.folders) for document in documents), default=1) or 1, 0, -1):
        folders = ["/".join(document.folders[:depth]) for document in documents]
        names = [f"{folder}/" if folder else "(top)" for folder in folders]
        if len(set(names)) <= MOST:
            break
    return names
