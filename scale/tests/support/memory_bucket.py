"""An object store in memory as fsspec shows one: flat names, versions, and whatever can go wrong."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from semsearch_scale.objects import object_store
from semsearch_scale.objects.remote_files import RemoteFiles

LONG_AGO = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)


class MemoryBucket:
    """Objects by their names below `docs`, as `s3://bucket/docs` has them. It counts what is fetched.

    `before(call, path)` is called before each `ls`, `info` and `cat_file`, and may change objects, or raise.
    """

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, str, datetime]] = {}
        self.fetched: list[str] = []
        self.seconds = 30.0  # that an answer may take, of what is opened from now on
        self.before: Callable[[str, str], None] = lambda *_: None

    def put(self, name: str, text: str | bytes, *, version: str | None = None, at: datetime = LONG_AGO) -> None:
        """Write an object. Its version is its content's, unless another is given."""
        data = text.encode() if isinstance(text, str) else text
        self.objects[f"bucket/docs/{name}"] = data, version or f'"{hash(data):x}"', at

    def delete(self, name: str) -> None:
        """Delete an object."""
        del self.objects[f"bucket/docs/{name}"]

    def ls(self, path: str, *, detail: bool) -> list[dict[str, Any]]:
        """List the objects and folders in a folder."""
        assert detail
        self.before("ls", path)
        below = [name for name in sorted(self.objects) if name.startswith(f"{path}/")]
        if not below:
            raise FileNotFoundError(path)
        names = [name[len(path) + 1 :].partition("/") for name in below]
        folders = dict.fromkeys(head for head, slash, _ in names if slash)
        objects = [self._info(name) for name, (_, slash, _) in zip(below, names, strict=True) if not slash]
        return [*objects, *({"name": f"{path}/{folder}", "type": "directory", "size": 0} for folder in folders)]

    def info(self, path: str) -> dict[str, Any]:
        """Look at an object or folder."""
        self.before("info", path)
        if path in self.objects:
            return self._info(path)
        if not any(name.startswith(path.rstrip("/") + "/") for name in self.objects):
            raise FileNotFoundError(path)
        return {"name": path, "type": "directory", "size": 0}

    def cat_file(self, path: str, *, start: int, end: int) -> bytes:
        """Read the beginning of an object."""
        self.before("cat_file", path)
        self.fetched.append(path.removeprefix("bucket/docs/"))
        if path not in self.objects:
            raise FileNotFoundError(path)
        data = self.objects[path][0]
        if not data:
            raise OSError(22, "The requested range is not satisfiable")  # as S3 says of an empty object
        return data[start:end]

    def invalidate_cache(self) -> None:
        """Nothing is kept."""

    def _info(self, name: str) -> dict[str, Any]:
        data, version, at = self.objects[name]
        return {"name": name, "type": "file", "size": len(data), "ETag": version, "LastModified": at}


def use_bucket(patch: pytest.MonkeyPatch) -> MemoryBucket:
    """A bucket that lies at `s3://bucket`, whatever its options, until the patch is undone."""
    bucket = MemoryBucket()
    object_store.open_store.cache_clear()

    def opened(uri: str) -> RemoteFiles:
        return RemoteFiles(bucket, uri.partition("?")[0].removeprefix("s3://"), bucket.seconds)

    patch.setattr(object_store, "open_files", opened)
    return bucket
