"""A place for tables of Lance: a folder, or a prefix in a bucket of an object store that speaks S3.

Every segment is a table of its own, a folder below the place.
"""

from __future__ import annotations

import errno
import re
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from semsearch.storage.segments import Kind
from semsearch.stores.lance.lance_answers import ask, reached
from semsearch.stores.lance.place_address import LanceAddress
from semsearch.system.durable import sync_file, sync_folder

Result = TypeVar("Result")

SUFFIX = ".lance"
PACE = 1 << 24  # bytes that may take as long as a question, where a store is slow
_LONG = 60  # times the time of a question: for a file of unknown size
_MANIFEST = re.compile(r"/_versions/(\d+)\.manifest$")
_NEWEST = 2**64 - 1  # less its version is the name of a manifest, so that the newest is listed first


class LancePlace(LanceAddress):
    """A place for tables, and what is done with their files."""

    def names(self, kind: Kind) -> set[str]:
        """The names of all tables of a kind, finished or not; none if there is no such place."""
        return {name for name in self.entries() if name.startswith(f"{kind}-") and name.endswith(SUFFIX)}

    def drop(self, name: str) -> None:
        """Delete a table, finished or not. What names its versions goes first: without it, the table is gone."""
        if self.folder is not None:
            shutil.rmtree(self.folder / name / "_versions", ignore_errors=True)
            with suppress(FileNotFoundError):
                shutil.rmtree(self.folder / name)
            return
        for path in sorted(self.files(name), key=lambda each: "/_versions/" not in each):
            self.ask(partial(self._session.delete_file, path))

    def files(self, name: str) -> list[str]:
        """The paths of a table's files, relative to the place."""
        if self.folder is not None:
            found = (self.folder / name).rglob("*")
            return sorted(path.relative_to(self.folder).as_posix() for path in found if path.is_file())
        found = self._listed(name)
        return sorted([*found.objects, *(path for each in found.common_prefixes for path in self.files(each))])

    def version(self, name: str) -> int:
        """The newest version of a table. Raises FileNotFoundError if it has none.

        Lance would find it too, but if the store is silent it asks eight times.
        """
        folder = f"{name}/_versions"
        found = self._listed(folder).objects if self.folder is None else self.files(folder)
        numbers = [int(each[1]) for path in found if (each := _MANIFEST.search(path))]
        if not numbers:
            raise FileNotFoundError(errno.ENOENT, "no such segment", name)
        return _NEWEST - min(numbers)

    def download(self, path: str, to: Path) -> None:
        """Copy a file of the place to a path on this machine."""
        self.ask(partial(self._session.download_file, path, str(to)), times=_LONG)

    def flush(self, name: str) -> None:
        """Flush a table to the disk; what an object store has confirmed is durable."""
        if self.folder is None:
            return
        for path in [self.folder / name, *((self.folder / name).rglob("*"))]:
            with suppress(FileNotFoundError):  # what somebody else wrote, and took back
                if path.is_dir():
                    sync_folder(path)
                else:
                    with path.open("rb+") as file:
                        sync_file(file.fileno())
        sync_folder(self.folder)

    def entries(self) -> set[str]:
        """The names of all that lies directly in the place."""
        if self.folder is not None:
            return {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()
        found = self._listed(None)
        return {path.rstrip("/").rpartition("/")[2] for path in (*found.common_prefixes, *found.objects)}

    def ask(self, work: Callable[[], Result], *, name: str | None = None, times: float = 1) -> Result:
        """Do some work that asks the store, in `times` the time of a question; `name` is the table that is read."""
        return ask(self, work, name=name, times=times)

    def reached(self, name: str | None = None) -> AbstractContextManager[None]:
        """Translate errors of Lance while the block runs, as `ask` does; `name` is the table that is read."""
        return reached(self, name)

    @cached_property
    def _session(self) -> Any:
        from lance.file import LanceFileSession  # an optional package

        return LanceFileSession(self.base, storage_options=self.options)

    def _listed(self, path: str | None) -> Any:
        """What lies directly below a path on an object store. Lance's call for all below it asks eight times."""
        return self.ask(lambda: self._session.list_with_delimiter(path))
