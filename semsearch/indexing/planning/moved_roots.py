"""Roots that were moved or renamed as a whole: gone from where they were, and found again by their files' content.

The rule is careful, since a disk that is not mounted looks just like a folder that was deleted. Nothing is there any
more at the old path. And of the files that the index has from there (some that are not empty, evenly chosen), more than
half lie in the new folder at the same relative path with the same content. Folders in stores are none of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.sources.roots import Root, covers
from semsearch.system.durable import file_digest

if TYPE_CHECKING:
    import sqlite3

_SAMPLE = 50  # documents, of which files are read


@dataclass(frozen=True, slots=True)
class RootMove:
    """A root, and the folder in which its files are now."""

    root: Root
    path: str

    def applied(self) -> Root:
        """The root at its new path."""
        return replace(self.root, path=self.path)


def find_root_moves(db: sqlite3.Connection, known: Sequence[Root], asked: Iterable[Root]) -> list[RootMove]:
    """Find which of the folders that are asked for are known roots that have moved there.

    A folder that overlaps with a root is none of these.
    """
    left = [root for root in known if not root.single and not root.is_remote and _is_gone(root)]
    moves: list[RootMove] = []
    for ask in asked:
        if (
            not left
            or ask.single
            or ask.is_remote
            or any(covers(root, ask.path) or covers(ask, root.path) for root in known)
        ):
            continue
        root = next((root for root in left if _is_found_in(db, root, Path(ask.path))), None)
        if root is not None:
            left.remove(root)
            moves.append(RootMove(root, ask.path))
    return moves


def _is_gone(root: Root) -> bool:
    try:
        Path(root.path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _is_found_in(db: sqlite3.Connection, root: Root, folder: Path) -> bool:
    """Return whether most of a root's files lie in a folder."""
    rows = db.execute(
        "SELECT coalesce(file, path), size, digest FROM documents WHERE root_id = ? AND size > 0 ORDER BY path",
        (root.id,),
    ).fetchall()
    chosen = rows[:: max(1, -(-len(rows) // _SAMPLE))]
    return 2 * sum(_has(folder / path, size, digest) for path, size, digest in chosen) > len(chosen)


def _has(file: Path, size: int, digest: str) -> bool:
    try:
        return file.stat().st_size == size and file_digest(file) == digest
    except OSError:
        return False
