"""A file or folder that is looked at by its name, without a listing of the folder that it lies in."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class FolderEntry(Protocol):
    """The part of `os.DirEntry` that a walk uses."""

    @property
    def name(self) -> str: ...

    @property
    def path(self) -> str: ...

    def is_symlink(self) -> bool: ...

    def is_dir(self, *, follow_symlinks: bool = True) -> bool: ...

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result: ...


@dataclass(frozen=True, slots=True)
class NamedEntry:
    """An entry that need not be there: then `stat` raises, and it is neither a link nor a folder."""

    path: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    def is_symlink(self) -> bool:
        return Path(self.path).is_symlink()

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        try:
            return stat.S_ISDIR(self.stat(follow_symlinks=follow_symlinks).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return Path(self.path).stat() if follow_symlinks else Path(self.path).lstat()
