"""Where a walk looks: the folders of this machine, or those of another file system."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from semsearch.sources.entry import FolderEntry, NamedEntry
from semsearch.sources.ignore import IGNORE_FILES, Rules, Skipped, compose, rules_above, slashed, text_here


class Folders(Protocol):
    """The protocol of what can be walked. Folders are named in full, with forward slashes and one at the end."""

    @property
    def root(self) -> str:
        """The folder at which the walk begins."""

    def entries(self, folder: str) -> Sequence[FolderEntry]:
        """List a folder, in order of names. Raises OSError."""

    def called(self, folder: str, name: str) -> Sequence[FolderEntry]:
        """The entries of a folder with a name: mostly one or none. Raises OSError."""

    def expect(self, folders: Sequence[str]) -> None:
        """Take note that these folders are listed next, in this order."""

    def ignore_files(self, folder: str) -> list[str]:
        """The names of the files of ignore rules in a folder."""

    def text_of(self, path: str) -> str:
        """The text of a file of ignore rules. Raises OSError."""

    def rules_above(self, skipped: Skipped) -> Rules | None:
        """The ignore rules that hold in the root already."""

    def is_inside(self, path: str) -> bool:
        """Return whether a path that may be a link leads to something in the root."""


class DiskFolders:
    """The folders of this machine."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.root: str = slashed(root)

    def entries(self, folder: str) -> Sequence[FolderEntry]:
        """List a folder, in order of names. Raises OSError."""
        with os.scandir(folder) as listing:
            return sorted(listing, key=lambda entry: entry.name)

    def called(self, folder: str, name: str) -> Sequence[FolderEntry]:
        """The entries of a folder with a name; several if their names are Unicode forms of it."""
        try:
            if name.isascii() and sys.platform != "darwin":  # there the case of letters may differ
                entry = NamedEntry(folder + name)
                entry.stat(follow_symlinks=False)
                return [entry]
            with os.scandir(folder) as listing:
                same = [entry for entry in listing if compose(entry.name) == compose(name)]
            return sorted(same, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def expect(self, folders: Sequence[str]) -> None:
        """Listing a folder takes microseconds: nothing is prepared."""

    def ignore_files(self, folder: str) -> list[str]:
        """The names of the files of ignore rules in a folder."""
        return [name for name in IGNORE_FILES if os.path.lexists(folder + name)]

    def text_of(self, path: str) -> str:
        """The text of a file of ignore rules. Raises OSError."""
        return text_here(path)

    def rules_above(self, skipped: Skipped) -> Rules | None:
        """The rules of the git work tree that the root is in."""
        return rules_above(self._root, skipped)

    def is_inside(self, path: str) -> bool:
        """Return whether a path that may be a link leads to something in the root."""
        root = os.path.realpath(self._root)
        return os.path.commonpath([root, os.path.realpath(path)]) == root
