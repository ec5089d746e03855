"""A place that tests look into: what was put there, and what happens before an object is got."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from semsearch_scale.snapshots import snapshot_store
from semsearch_scale.snapshots.snapshot_store import FolderObjects


class WatchedPlace(FolderObjects):
    """A folder that keeps a list of what was put, and calls something before each object is got."""

    put_names: list[str]
    before_get: Callable[[str], object]

    def put(self, name: str, data: bytes) -> None:
        self.put_names.append(name)
        super().put(name, data)

    def get(self, name: str, most: int) -> bytes:
        self.before_get(name)
        return super().get(name, most)


@contextmanager
def watched_place(folder: Path) -> Iterator[tuple[str, type[WatchedPlace]]]:
    """The URI of a place in a folder, and the class that watches it, while the block runs."""

    class Watched(WatchedPlace):
        before_get = staticmethod(lambda _: None)

    Watched.put_names = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(snapshot_store, "FolderObjects", Watched)
        yield folder.absolute().as_uri(), Watched
