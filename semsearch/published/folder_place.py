"""A folder as a place: of this machine, or of a network disk. It needs no package."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from semsearch.errors import UsageError
from semsearch.published.naming import BLOCKS, CLAIM, MANIFESTS, POINTER
from semsearch.system.durable import sync_folder


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """The place that is a folder. Each object is a file, flushed to the disk and renamed."""

    folder: Path

    @classmethod
    def at(cls, uri: str) -> FolderPlace:
        """The folder of a `file:` URI. Raises UsageError for one of another machine."""
        parts = urlsplit(uri)
        if parts.netloc not in ("", "localhost"):
            raise UsageError(
                f"{uri} names the machine {parts.netloc!r}; a folder is file:///folder, with three slashes"
            )
        return cls(Path(url2pathname(parts.path)))

    def get(self, name: str, most: int) -> bytes:
        """Read a file. Raises FileNotFoundError."""
        with (self.folder / name).open("rb") as file:
            return file.read(most + 1)

    def put(self, name: str, data: bytes) -> None:
        """Write a file under another name and rename it."""
        temporary = self._written(name, data)
        temporary.replace(self.folder / name)
        sync_folder(temporary.parent)

    def create(self, name: str, data: bytes) -> bool:
        """Write a file that is not there. To claim the folder, its parent must be there, and nothing else in it.

        A network disk that is not mounted has an empty folder in its place, or none.
        """
        if name == CLAIM and not self.folder.exists():
            if not self.folder.parent.is_dir():
                raise UsageError(f"{self.folder.parent} is not there, so {self.folder} cannot be made; is it mounted?")
            self.folder.mkdir()
        if name == CLAIM and not (self.folder / CLAIM).exists():
            self._check_free()
        temporary = self._written(name, data)
        try:
            os.link(temporary, self.folder / name)
        except FileExistsError:
            return False
        except OSError:  # a file system without links: two that claim it at the same moment are not told apart
            if (self.folder / name).exists():
                return False
            temporary.replace(self.folder / name)
        finally:
            with suppress(OSError):
                temporary.unlink()
        sync_folder(self.folder)
        return True

    def replace(self, name: str, data: bytes) -> None:
        """Write a file in place of another."""
        self.put(name, data)

    def names(self, prefix: str) -> list[str]:
        """The names of all files in a folder of the place and below."""
        found: list[str] = []
        for folder, _, files in os.walk(self.folder / prefix):
            inside = Path(folder).relative_to(self.folder).as_posix()
            found += [f"{inside}/{file}" for file in files]
        return found

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        (self.folder / name).unlink(missing_ok=True)

    def _check_free(self) -> None:
        """Raise UsageError for a folder that holds anything else."""
        foreign = [path.name for path in self.folder.iterdir() if not _is_ours(path.name)]
        if foreign:
            raise UsageError(f"{self.folder} holds {min(foreign)!r} already; choose an empty folder to publish to")

    def _written(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        self._make(path.parent)
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(6)}.tmp")
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        return temporary

    def _make(self, folder: Path) -> None:
        """Make a folder inside the place, which itself must be there."""
        if folder != self.folder and not folder.exists():
            self._make(folder.parent)
            folder.mkdir(exist_ok=True)


def _is_ours(name: str) -> bool:
    return name in (CLAIM, POINTER, MANIFESTS[:-1], BLOCKS[:-1]) or name.endswith(".tmp")
