"""Publish a generation: its files as blocks, then the manifest that names them, then the pointer that names it.

    lock ─ read transaction ─ copy of the database ─ blocks that are not there ─ manifest ─ pointer ─ sweep

Whatever happens before the pointer is swapped leaves the generation before it published. What nothing names is
deleted
after a grace period, during which a reader may still fetch it.

The claim. One index, one place: the claim, an object with the index's own id, which is there before anything else.

Sweeping the store. Sweep a place: delete manifests of earlier generations, and blocks that no manifest names,
after a
grace period.

A reader that began with an earlier generation goes on fetching it that long. The times are those of the
publisher's own
clock, kept in its note, not those of the place.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import IndexDamaged, IndexLocked, StorageError, UsageError
from semsearch.results.reports import PublishReport
from semsearch.snapshots.snapshot_format import (
    DATABASE_BLOCK,
    MOST_MANIFEST,
    MOST_POINTER,
    MOST_TEXT,
    SEGMENT_BLOCK,
    CurrentPointer,
    PublishedFile,
    PublishedManifest,
    StoreClaim,
    block_name,
    describe_file,
    digest_of,
    each_at_once,
    missing_blocks,
    read_block,
)
from semsearch.snapshots.snapshot_store import SnapshotStore, get_checked, open_snapshot_store
from semsearch.snapshots.store_uris import BLOCKS, CLAIM, MANIFESTS, POINTER
from semsearch.storage.connections import DATABASE
from semsearch.storage.database import SEGMENTS, IndexDatabase
from semsearch.storage.index_files import copy_database
from semsearch.storage.meta import get_count, get_meta
from semsearch.storage.publication import (
    INDEX_ID,
    PublicationNote,
    PublishedGeneration,
    read_note,
    write_note,
)
from semsearch.storage.segments import VECTORS, get_segments
from semsearch.stores.registry import get_address
from semsearch.system import clock
from semsearch.system.locations import shown_uri

if TYPE_CHECKING:
    import sqlite3

# -- The claim ---------------------------------------------------------------------------------------------------------


def claim(place: SnapshotStore, uri: str, own: StoreClaim, *, take_over: bool = False) -> None:
    """Claim a place for an index. Raises UsageError if it is another's, unless that one is to be replaced."""
    if place.create(CLAIM, own.to_bytes()):
        return
    if take_over:
        place.replace(CLAIM, own.to_bytes())
        return
    check_claim(place, uri, own.index)


def check_claim(place: SnapshotStore, uri: str, index: str) -> None:
    """Check that a place is an index's own. Raises UsageError if it is another's, StorageError if it is nobody's."""
    try:
        found = StoreClaim.from_bytes(get_checked(place, CLAIM, MOST_POINTER, "the claim"))
    except FileNotFoundError:
        raise StorageError(
            f"{shown_uri(uri)} has nothing of this index; is it mounted? To begin anew: "
            f"semsearch publish {shown_uri(uri)}"
        ) from None
    if found.index != index:
        raise UsageError(
            f"{shown_uri(uri)} has another index, which is written at {found.written_at}; publish to another place, "
            "or, if this one shall replace it there: semsearch publish --take-over"
        )


# -- Sweeping the store ------------------------------------------------------------------------------------------------


def swept_store(
    place: SnapshotStore, note: PublicationNote, newest: PublishedManifest, *, grace: float
) -> PublicationNote:
    """Delete what nothing has named for `grace` seconds; the note with what is left."""
    now = clock.now()
    kept = _with_readers(note.generations, now - grace)
    named = {block_name(digest) for digest in newest.blocks()}
    unnamed = {name: since for name, since in note.unnamed.items() if name not in named}
    is_due = len(kept) < len(note.generations) or any(since <= now - grace for since in unnamed.values())
    if not is_due and len(note.generations) > 1:  # the first time, what was left by others is found
        return replace(note, unnamed=unnamed)
    named |= {f"{MANIFESTS}{each.manifest}" for each in kept} | _blocks_of(place, kept[:-1])
    there = [name for prefix in (MANIFESTS, BLOCKS) for name in place.names(prefix)]
    gone = {f"{MANIFESTS}{each.manifest}" for each in note.generations} - named
    since = {name: 0.0 if name in gone else unnamed.get(name, now) for name in there if name not in named}
    expired = [name for name, when in since.items() if when <= now - grace]
    for _ in each_at_once(place.delete, expired):
        pass
    left = {name: when for name, when in since.items() if when > now - grace}
    return replace(note, generations=kept, unnamed=left)


def _with_readers(generations: tuple[PublishedGeneration, ...], long_ago: float) -> tuple[PublishedGeneration, ...]:
    """The generations that were replaced since then, or not yet."""
    replaced = [each.at for each in generations[1:]]
    old = [each for each, when in zip(generations, replaced, strict=False) if when > long_ago]
    return (*old, generations[-1])


def _blocks_of(place: SnapshotStore, generations: tuple[PublishedGeneration, ...]) -> set[str]:
    """The names of the blocks of some published generations."""

    def blocks(one: PublishedGeneration) -> set[str]:
        try:
            data = get_checked(place, f"{MANIFESTS}{one.manifest}", MOST_MANIFEST, "the manifest")
            return PublishedManifest.from_bytes(data).blocks()
        except (FileNotFoundError, IndexDamaged):  # so nobody can be reading it
            return set()

    return {block_name(digest) for found in each_at_once(blocks, generations) for digest in found}


# -- Publishing --------------------------------------------------------------------------------------------------------

logger = logging.getLogger(__name__)

GRACE_SECONDS = 3600.0  # that a reader may go on fetching an earlier generation
LOCK = "publish.lock"
_COPY = "publishing.sqlite.tmp"
_PATIENCE = 600.0  # seconds to wait for another process that publishes


def manifest_name(digest: str) -> str:
    """The name of a manifest in a place."""
    return f"{MANIFESTS}{digest}"


def get_pointer(place: SnapshotStore) -> CurrentPointer | None:
    """Read the pointer of a place; None if nothing was published. Raises IndexDamaged, StorageError."""
    try:
        return CurrentPointer.from_bytes(get_checked(place, POINTER, MOST_POINTER, "the pointer"))
    except FileNotFoundError:
        return None


def get_manifest(place: SnapshotStore, pointer: CurrentPointer) -> PublishedManifest:
    """Read the manifest that a pointer names, and check it. Raises FileNotFoundError, IndexDamaged, StorageError."""
    data = get_checked(place, manifest_name(pointer.manifest), pointer.size, "the manifest")
    if digest_of(data) != pointer.manifest:
        raise IndexDamaged("the manifest there is damaged; run where the index is written: semsearch publish --whole")
    manifest = PublishedManifest.from_bytes(data)
    if (manifest.index, manifest.generation) != (pointer.index, pointer.generation):
        raise IndexDamaged("the manifest there is of another generation than the pointer says")
    return manifest


@dataclass(frozen=True, slots=True)
class Publisher:
    """Publishes the newest generation of an index to the place that it has claimed (semsearch.snapshots.publisher)."""

    database: IndexDatabase
    uri: str
    grace: float = GRACE_SECONDS

    def publish(self, *, whole: bool = False) -> PublishReport:
        """Publish what is committed; with `whole`, send every block again, whatever is there.

        Raises StorageError where the place cannot be reached, UsageError if it is another's, IndexLocked.
        """
        started = time.perf_counter()
        folder, place = self.database.folder, open_snapshot_store(self.uri)
        with publishing_lock(folder), self.database.reading() as db:
            index, generation = get_meta(db, INDEX_ID) or "", get_count(db, "generation")
            check_claim(place, self.uri, index)
            pointer = get_pointer(place)
            before = pointer if pointer is not None and pointer.index == index else None
            note = _agreed(read_note(folder), before, generation, self.uri)
            if before is not None and before.generation == generation and not whole:
                write_note(folder, replace(note, failure=""))
                return PublishReport(shown_uri(self.uri), generation, 0, 0, 0, 0, time.perf_counter() - started, False)
            previous = _previous(place, before)
            with _frozen(db, folder, index, generation, previous) as (manifest, files):
                known = set() if whole or previous is None else previous.blocks()
                sent = self._send(place, manifest, files, known, note)
        total = sum(file.size for _, file in files)
        seconds = time.perf_counter() - started
        return PublishReport(
            shown_uri(self.uri), generation, len(sent), len(manifest.blocks()), sum(sent), total, seconds, True
        )

    def _send(
        self,
        place: SnapshotStore,
        manifest: PublishedManifest,
        files: list[tuple[Path, PublishedFile]],
        known: set[str],
        note: PublicationNote,
    ) -> list[int]:
        """Send what is not known there, and swap the pointer; the sizes of the blocks that were sent."""
        folder, data = self.database.folder, manifest.to_bytes()
        digest = digest_of(data)
        coming = _coming(self.database, manifest, digest)
        write_note(folder, replace(note, pending=coming))  # before: an engine's segments must stay from now on

        def send(one: tuple[Path, PublishedFile, int]) -> int:
            path, file, number = one
            block = read_block(path, file, number)
            if digest_of(block) != file.digests[number]:
                raise StorageError(f"{path} changed or was read wrongly while it was published; publish it again")
            place.put(block_name(file.digests[number]), block)
            return len(block)

        sent = list(each_at_once(send, missing_blocks(files, known)))
        place.put(manifest_name(digest), data)
        # the one point at which a new generation is published: whoever reads the pointer finds this or the one before
        place.replace(POINTER, CurrentPointer(manifest.index, manifest.generation, digest, len(data)).to_bytes())
        published = replace(coming, at=clock.now())
        note = replace(note, generations=(*note.generations, published), pending=None, failure="")
        write_note(folder, note)
        try:
            write_note(folder, swept_store(place, note, manifest, grace=self.grace))
        except Exception:  # whatever it is: the generation is published, and the next publication tries again
            logger.info("%s could not be swept", shown_uri(self.uri), exc_info=True)
        return sent


@contextmanager
def publishing_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of an index's publications. Raises IndexLocked if another process has it for long."""
    from filelock import FileLock, Timeout  # start-up time: queries never lock

    lock = FileLock(folder / LOCK, timeout=_PATIENCE)
    try:
        lock.acquire()
    except Timeout:
        raise IndexLocked(f"another process has been publishing {folder} for long; try again after it") from None
    try:
        yield
    finally:
        lock.release()


def _agreed(note: PublicationNote, pointer: CurrentPointer | None, generation: int, uri: str) -> PublicationNote:
    """The note, brought in agreement with what is published. Raises UsageError if another copy has published there."""
    if note.place != uri:
        note = PublicationNote(uri)
    if pointer is None:
        return replace(note, generations=(), pending=None)
    newest, pending = note.newest, note.pending
    if pending is not None and pending.manifest == pointer.manifest:  # it was killed just after
        return replace(note, generations=(*note.generations, pending), pending=None)
    is_ours = newest is None or newest.manifest == pointer.manifest
    if not is_ours or pointer.generation > generation:
        raise UsageError(
            f"another copy of this index has published generation {pointer.generation} to {shown_uri(uri)}; if "
            "this one shall be the one from now on, run: semsearch publish --take-over"
        )
    if newest is None:
        published = PublishedGeneration(pointer.manifest, pointer.generation, clock.now())
        return replace(note, generations=(published,), pending=None)
    return replace(note, pending=None)


def _previous(place: SnapshotStore, pointer: CurrentPointer | None) -> PublishedManifest | None:
    """The manifest that is published, whose blocks need not be sent; None if there is none that can be read."""
    if pointer is None:
        return None
    with suppress(FileNotFoundError, IndexDamaged):
        return get_manifest(place, pointer)
    return None


@contextmanager
def _frozen(
    db: sqlite3.Connection, folder: Path, index: str, generation: int, previous: PublishedManifest | None
) -> Iterator[tuple[PublishedManifest, list[tuple[Path, PublishedFile]]]]:
    """The manifest of a transaction's generation, and its files, which stay as they are while the block runs."""
    copy = folder / _COPY
    try:
        copy_database(db, copy)
        files = [(copy, describe_file(copy, DATABASE, DATABASE_BLOCK))]
        unchanged = {file.name: file for file in previous.segments} if previous else {}
        for segment in get_segments(db):
            path = folder / SEGMENTS / segment.file
            known = unchanged.get(segment.file)
            if known is not None and known.size == segment.size:  # a segment is never changed
                files.append((path, known))
            elif path.exists() or segment.kind not in VECTORS:
                files.append((path, describe_file(path, segment.file, SEGMENT_BLOCK)))
        made = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        segments = tuple(file for _, file in files[1:])
        yield PublishedManifest(index, generation, made, written_at(folder), files[0][1], segments), files
    except FileNotFoundError as error:
        raise StorageError(f"{error.filename} has gone while it was published; publish it again") from error
    finally:
        with suppress(OSError):
            copy.unlink(missing_ok=True)


def _coming(database: IndexDatabase, manifest: PublishedManifest, digest: str) -> PublishedGeneration:
    """The note of a generation that is about to be published, with those of its segments that an engine keeps."""
    files = {file.name for file in manifest.segments}
    with database.reading() as db:
        address = get_address(db)
        kept = tuple(segment.file for segment in get_segments(db) if segment.file not in files)
    store = "" if address is None else address.uri
    return PublishedGeneration(digest, manifest.generation, clock.now(), kept, store)


def written_at(folder: Path) -> str:
    """The machine and folder of an index, as its readers are told; a terminal must not obey it."""
    whole = f"{socket.gethostname()}:{folder.absolute()}"[:MOST_TEXT]
    return "".join(character if character.isprintable() else "?" for character in whole)
