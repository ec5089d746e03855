"""The snapshots that readers have fetched, in the user's cache folder, shared by all processes of this machine.

    published/PLACE/place.txt                   the store's URI, for people
    published/PLACE/lock                        held while something is fetched or deleted
    published/PLACE/newest.json                 the pointer of the last generation that was fetched completely
    published/PLACE/INDEX/segments/             segment files, of all generations here
    published/PLACE/INDEX/generations/DIGEST/   one generation: its database and its manifest

A file is written under another name, flushed, and renamed once each of its blocks has been checked by its digest. A
segment is used only if the manifest of a generation here names it, so a part of one never is. Readers touch the
generation that they use; one that is not the newest, and was not touched for an hour, is deleted. A reader that slept
for longer finds it gone, and fetches the newest.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from semsearch.errors import IndexDamaged, StorageError
from semsearch.storage.database import SEGMENTS, IndexDatabase, check
from semsearch.storage.schema import DATABASE, get_generation, get_meta
from semsearch.storage.segments import VECTORS, get_segments
from semsearch.system.durable import Write, sync_folder, write_durably
from semsearch.system.locations import cache_folder, shown_uri
from semsearch_scale.publication import INDEX_ID
from semsearch_scale.snapshots.snapshot_format import (
    CurrentPointer,
    PublishedFile,
    PublishedManifest,
    digest_of,
    each_at_once,
    fetch_block,
    patient_lock,
    read_block,
)
from semsearch_scale.snapshots.snapshot_store import SnapshotStore

_MANIFEST = "manifest.json"
_NEWEST = "newest.json"
_ROOM = 1 << 26  # bytes of the disk that are left free
UNUSED_SECONDS = 3600.0  # after which a generation that is not the newest is deleted


@dataclass(frozen=True, slots=True)
class SnapshotCache:
    """The cache of one snapshot store."""

    uri: str
    folder: Path

    @classmethod
    def of(cls, uri: str) -> SnapshotCache:
        """The cache of a store, which need not exist yet."""
        return cls(uri, cache_folder("published") / digest_of(uri.encode())[:24])

    def index_folder(self, pointer: CurrentPointer) -> Path:
        """The folder of a pointer's index: what is common to its generations."""
        return self.folder / pointer.index

    def generation_folder(self, pointer: CurrentPointer) -> Path:
        """The folder of a pointer's generation."""
        return self.index_folder(pointer) / "generations" / pointer.manifest

    def manifest(self, pointer: CurrentPointer) -> PublishedManifest:
        """The manifest of a cached generation. Raises IndexDamaged, OSError."""
        return PublishedManifest.from_bytes((self.generation_folder(pointer) / _MANIFEST).read_bytes())

    def newest(self) -> CurrentPointer | None:
        """The pointer of the generation that was fetched last, if it is whole."""
        try:
            pointer = CurrentPointer.from_bytes((self.folder / _NEWEST).read_bytes())
        except (OSError, IndexDamaged):
            return None
        return pointer if self.is_whole(pointer) else None

    def is_whole(self, pointer: CurrentPointer) -> bool:
        """Return whether all files of a generation are in the cache; they were checked when they were fetched."""
        folder = self.generation_folder(pointer)
        manifest = _manifest_in(folder)
        if manifest is None:
            return False
        segments = self.index_folder(pointer) / SEGMENTS
        return _has_size(folder / DATABASE, manifest.database) and all(
            _has_size(segments / file.name, file) for file in manifest.segments
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the cache, whose folder is made. Raises IndexLocked if another process has it for long."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError), (self.folder / "place.txt").open("x", encoding="utf-8") as file:
                file.write(shown_uri(self.uri) + "\n")
        except OSError as error:
            raise StorageError(
                f"{self.folder}, the cache of snapshots, cannot be created ({error.strerror})"
            ) from error
        with patient_lock(
            self.folder / "lock", f"another process is still fetching {shown_uri(self.uri)}; try again later"
        ):
            yield

    def fetch(self, store: SnapshotStore, pointer: CurrentPointer, manifest: PublishedManifest) -> None:
        """Fetch what the cache lacks of a generation, and keep it. The lock must be held.

        Raises IndexDamaged if a block is missing or damaged, or if the parts disagree; StorageError.
        """
        folder, segments = self.generation_folder(pointer), self.index_folder(pointer) / SEGMENTS
        segments.mkdir(parents=True, exist_ok=True)
        known = list(self._manifests(pointer))
        files = {file for _, manifest_here in known for file in manifest_here.segments}
        wanted = [file for file in manifest.segments if not (file in files and _has_size(segments / file.name, file))]
        self._check_room(sum(file.size for file in (manifest.database, *wanted)))
        for file in wanted:
            write_durably(segments / file.name, partial(_fill, store, file, {}))
        draft = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        here = _blocks_here([(each / DATABASE, manifest_here.database) for each, manifest_here in known])
        write_durably(draft / DATABASE, partial(_fill, store, manifest.database, here))
        _check_database(draft, manifest)
        write_durably(draft / _MANIFEST, lambda write: write(manifest.to_bytes()))
        shutil.rmtree(folder, ignore_errors=True)  # of which something was deleted
        draft.rename(folder)
        sync_folder(folder.parent)

    def keep(self, pointer: CurrentPointer) -> None:
        """Record which generation was fetched last. The lock must be held."""
        write_durably(self.folder / _NEWEST, lambda write: write(pointer.to_bytes()))

    def touch(self, pointer: CurrentPointer) -> None:
        """Note that a generation is used, as far as possible."""
        with suppress(OSError):
            os.utime(self.generation_folder(pointer))

    def clean(self) -> None:
        """Delete generations that nobody uses, and segments that none of the others has. The lock must be held."""
        newest = self.newest()
        for index in self.folder.iterdir():
            if (index / "generations").is_dir():
                _clean_index(index, None if newest is None else newest.manifest)

    def _manifests(self, pointer: CurrentPointer) -> Iterator[tuple[Path, PublishedManifest]]:
        """The cached generations of an index, by their folders."""
        for folder in (self.index_folder(pointer) / "generations").glob("*"):
            manifest = _manifest_in(folder)
            if manifest is not None:
                yield folder, manifest

    def _check_room(self, needed: int) -> None:
        free = free_bytes(self.folder)
        if needed + _ROOM > free:
            raise StorageError(
                f"{shown_uri(self.uri)} needs {needed:,} bytes in {self.folder}, but the disk has {free:,} free; "
                "make room"
            )


def free_bytes(folder: Path) -> int:
    """The bytes that are free on the disk of a folder."""
    return shutil.disk_usage(folder).free


def _fill(
    store: SnapshotStore, file: PublishedFile, here: dict[str, tuple[Path, PublishedFile, int]], write: Write
) -> None:
    """Write the blocks of a file, from the cache or else from the store, each checked."""

    def block(number: int) -> bytes:
        digest, length = file.digests[number], file.length(number)
        with suppress(KeyError, OSError):
            data = read_block(*here[digest])
            if len(data) == length and digest_of(data) == digest:
                return data
        return fetch_block(store, digest, length)

    for data in each_at_once(block, range(len(file.digests))):
        write(data)


def _blocks_here(files: Iterable[tuple[Path, PublishedFile]]) -> dict[str, tuple[Path, PublishedFile, int]]:
    """The file and number of each block in some cached files, by its digest."""
    return {digest: (path, file, number) for path, file in files for number, digest in enumerate(file.digests)}


def _check_database(folder: Path, manifest: PublishedManifest) -> None:
    """Check that a database is of the index and generation that its manifest says. Raises IndexDamaged."""
    database = IndexDatabase(folder)
    try:
        check(database)
        with database.reading() as db:
            found = get_meta(db, INDEX_ID), get_generation(db)
            files = {segment.file for segment in get_segments(db) if segment.kind not in VECTORS}
    finally:
        database.close()
    if found != (manifest.index, manifest.generation):
        raise IndexDamaged(
            f"the manifest names generation {manifest.generation}, but its database is of generation {found[1]}"
        )
    if missing := files - {file.name for file in manifest.segments}:
        raise IndexDamaged(f"the manifest does not list the file {min(missing)}; run: semsearch publish --whole")


def _manifest_in(folder: Path) -> PublishedManifest | None:
    if folder.suffix == ".part":
        return None
    try:
        return PublishedManifest.from_bytes((folder / _MANIFEST).read_bytes())
    except (OSError, IndexDamaged):
        return None


def _has_size(path: Path, file: PublishedFile) -> bool:
    try:
        return path.stat().st_size == file.size
    except OSError:
        return False


def _clean_index(index: Path, newest: str | None) -> None:
    named: set[str] = set()
    for folder in (index / "generations").iterdir():
        manifest = _manifest_in(folder)
        is_used = folder.name == newest or time.time() - folder.stat().st_mtime < UNUSED_SECONDS
        if is_used and manifest is not None:
            named |= {file.name for file in manifest.segments}
        else:
            shutil.rmtree(folder, ignore_errors=True)
    for path in (index / SEGMENTS).glob("*"):
        if path.name not in named:
            with suppress(OSError):  # Windows: a reader still has it open
                path.unlink()
