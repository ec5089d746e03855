"""Publish a generation: its files as blocks, then the manifest that names them, then the pointer that names it.

    lock ─ read transaction ─ copy of the database ─ missing blocks ─ manifest ─ pointer ─ sweep

Whatever happens before the pointer is replaced leaves the previous generation published. A snapshot store belongs to
one index: an object written before all others, the claim, has the index's id.

Earlier generations are deleted after a grace period, during which a reader may still fetch them. The times are those
of the publisher's own clock, kept in its note, not those of the store.
"""

from __future__ import annotations

import logging
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from semsearch.errors import IndexDamaged, StorageError, UsageError
from semsearch.results.codec import Record
from semsearch.storage.database import SEGMENTS, IndexDatabase, check, write_transaction
from semsearch.storage.schema import DATABASE, get_address, get_generation, get_meta, set_meta
from semsearch.storage.segments import VECTORS, get_segments
from semsearch.system.locations import has_password, shown_uri
from semsearch.system.locking import writer_lock
from semsearch.trust import record_copies
from semsearch_scale.publication import (
    INDEX_ID,
    PLACE,
    PublicationNote,
    PublishedGeneration,
    get_place,
    read_note,
    write_note,
)
from semsearch_scale.snapshots.snapshot_format import (
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
    patient_lock,
    read_block,
)
from semsearch_scale.snapshots.snapshot_store import (
    BLOCKS,
    CLAIM,
    MANIFESTS,
    POINTER,
    SnapshotStore,
    canonical,
    get_checked,
    open_snapshot_store,
)


def now() -> float:
    """Seconds since 1970, by this machine's clock."""
    return time.time()


def claim(store: SnapshotStore, uri: str, own: StoreClaim, *, take_over: bool = False) -> None:
    """Claim a store for an index. Raises UsageError if it is another's, unless `take_over` is set."""
    if store.create(CLAIM, own.to_bytes()):
        return
    if take_over:
        store.put(CLAIM, own.to_bytes())
        return
    check_claim(store, uri, own.index)


def check_claim(store: SnapshotStore, uri: str, index: str) -> None:
    """Check that an index has claimed a store. Raises UsageError if another index has, StorageError if none has."""
    try:
        found = StoreClaim.from_bytes(get_checked(store, CLAIM, MOST_POINTER, "the claim"))
    except FileNotFoundError:
        raise StorageError(
            f"{shown_uri(uri)} holds nothing of this index; is it mounted? To start over: "
            f"semsearch publish {shown_uri(uri)} --take-over"
        ) from None
    if found.index != index:
        raise UsageError(
            f"{shown_uri(uri)} holds another index, written at {found.written_at}; publish to another snapshot store, "
            f"or replace it with this one: semsearch publish {shown_uri(uri)} --take-over"
        )


# -- Sweeping the store ------------------------------------------------------------------------------------------------


def swept_store(
    store: SnapshotStore, note: PublicationNote, newest: PublishedManifest, *, grace: float
) -> PublicationNote:
    """Delete what no generation needs that may have readers; the note with those that are left.

    Nobody else publishes here meanwhile, so blocks that no manifest names are left from a publication that failed.
    """
    began = now()
    generations = tuple(replace(one, at=min(one.at, began)) for one in note.generations)  # of a clock that was ahead
    kept = _with_readers(generations, began - grace)
    if len(kept) == len(generations) > 1:  # the first sweep also finds what others left
        return replace(note, generations=generations)
    named = {block_name(digest) for digest in newest.blocks()}
    named |= {manifest_name(one.manifest) for one in kept} | _blocks_of(store, kept[:-1])
    there = [name for prefix in (MANIFESTS, BLOCKS) for name in store.names(prefix)]
    for _ in each_at_once(store.delete, [name for name in there if name not in named]):
        pass
    return replace(note, generations=kept)


def _with_readers(generations: tuple[PublishedGeneration, ...], long_ago: float) -> tuple[PublishedGeneration, ...]:
    """The generations that were replaced later than that, and the current one."""
    replaced = [each.at for each in generations[1:]]
    old = [each for each, when in zip(generations, replaced, strict=False) if when > long_ago]
    return (*old, generations[-1])


def _blocks_of(store: SnapshotStore, generations: tuple[PublishedGeneration, ...]) -> set[str]:
    """The names of the blocks of some published generations."""

    def blocks(one: PublishedGeneration) -> set[str]:
        try:
            data = get_checked(store, manifest_name(one.manifest), MOST_MANIFEST, "the manifest")
            return PublishedManifest.from_bytes(data).blocks()
        except (FileNotFoundError, IndexDamaged):  # then no reader can be reading it
            return set()

    return {block_name(digest) for found in each_at_once(blocks, generations) for digest in found}


# -- Publishing --------------------------------------------------------------------------------------------------------

logger = logging.getLogger(__name__)

GRACE_SECONDS = 3600.0  # that a reader may still fetch an earlier generation
LOCK = "publish.lock"
_COPY = "publishing.sqlite.tmp"


def manifest_name(digest: str) -> str:
    """The name of a manifest in a store."""
    return f"{MANIFESTS}{digest}"


def get_pointer(store: SnapshotStore) -> CurrentPointer | None:
    """Read the pointer of a store; None if nothing was published. Raises IndexDamaged, StorageError."""
    try:
        return CurrentPointer.from_bytes(get_checked(store, POINTER, MOST_POINTER, "the pointer"))
    except FileNotFoundError:
        return None


def get_manifest(store: SnapshotStore, pointer: CurrentPointer) -> PublishedManifest:
    """Read the manifest that a pointer names, and check it. Raises FileNotFoundError, IndexDamaged, StorageError."""
    data = get_checked(store, manifest_name(pointer.manifest), pointer.size, "the manifest")
    if digest_of(data) != pointer.manifest:
        raise IndexDamaged(
            "the published manifest is damaged; run where the index is written: semsearch publish --whole"
        )
    manifest = PublishedManifest.from_bytes(data)
    if (manifest.index, manifest.generation) != (pointer.index, pointer.generation):
        raise IndexDamaged("the published manifest and the pointer name different generations")
    return manifest


@dataclass(frozen=True, slots=True)
class PublishReport(Record):
    """The report of publishing a snapshot."""

    place: str  # its URI
    generation: int
    sent_blocks: int  # that the store did not have
    blocks: int  # that the generation consists of
    sent_bytes: int
    bytes: int
    seconds: float
    is_new: bool  # False: this generation was already published


@dataclass(frozen=True, slots=True)
class Publisher:
    """Publishes the newest generation of an index to the store that it has claimed."""

    database: IndexDatabase
    uri: str
    grace: float = GRACE_SECONDS

    def publish(self, *, whole: bool = False) -> PublishReport:
        """Publish the committed generation; with `whole`, send every block again, even known ones.

        Raises StorageError where the store cannot be reached, UsageError if it is another's, IndexLocked.
        """
        started = time.perf_counter()
        folder, store = self.database.folder, open_snapshot_store(self.uri)
        with publishing_lock(folder), self.database.reading() as db:
            index, generation = get_meta(db, INDEX_ID) or "", get_generation(db)
            check_claim(store, self.uri, index)
            pointer = get_pointer(store)
            before = pointer if pointer is not None and pointer.index == index else None
            note = _agreed(read_note(folder), before, generation, self.uri)
            if before is not None and before.generation == generation and not whole:
                write_note(folder, note)
                return PublishReport(shown_uri(self.uri), generation, 0, 0, 0, 0, time.perf_counter() - started, False)
            previous = _previous(store, before)
            with _frozen(db, folder, index, generation, previous) as (manifest, files):
                known = set() if whole or previous is None else previous.blocks()
                sent = self._send(store, manifest, files, known, note)
        total = sum(file.size for _, file in files)
        seconds = time.perf_counter() - started
        return PublishReport(
            shown_uri(self.uri), generation, len(sent), len(manifest.blocks()), sum(sent), total, seconds, True
        )

    def _send(
        self,
        store: SnapshotStore,
        manifest: PublishedManifest,
        files: list[tuple[Path, PublishedFile]],
        known: set[str],
        note: PublicationNote,
    ) -> list[int]:
        """Send the unknown blocks, and replace the pointer; the sizes of the blocks that were sent."""
        folder, data = self.database.folder, manifest.to_bytes()
        digest = digest_of(data)
        coming = _coming(self.database, manifest, digest)
        write_note(folder, replace(note, pending=coming))  # written first: an engine's segments must stay from now on

        missing: dict[str, tuple[Path, PublishedFile, int]] = {}
        for path, file in files:
            for number, block in enumerate(file.digests):
                if block not in known:
                    missing.setdefault(block, (path, file, number))

        def send(path: Path, file: PublishedFile, number: int) -> int:
            block = read_block(path, file, number)
            if digest_of(block) != file.digests[number]:
                raise StorageError(f"{path} changed or was misread during publication; publish again")
            store.put(block_name(file.digests[number]), block)
            return len(block)

        sent = list(each_at_once(lambda block: send(*block), missing.values()))
        store.put(manifest_name(digest), data)
        pointer = CurrentPointer(index=manifest.index, generation=manifest.generation, manifest=digest, size=len(data))
        # the one point at which a new generation is published: a reader finds this one or the previous one
        store.put(POINTER, pointer.to_bytes())
        published = replace(coming, at=now())
        note = replace(note, generations=(*note.generations, published), pending=None)
        write_note(folder, note)
        try:
            write_note(folder, swept_store(store, note, manifest, grace=self.grace))
        except Exception:  # of any kind: the generation is published, and the next publication sweeps again
            logger.info("%s could not be swept", shown_uri(self.uri), exc_info=True)
        return sent


def publishing_lock(folder: Path) -> AbstractContextManager[None]:
    """Hold the lock of an index's publications. Raises IndexLocked if another process holds it too long."""
    return patient_lock(folder / LOCK, f"another process is still publishing {folder}; try again later")


def _agreed(note: PublicationNote, pointer: CurrentPointer | None, generation: int, uri: str) -> PublicationNote:
    """The note, updated to what is published. Raises UsageError if another copy of the index has published there."""
    if note.place != uri:
        note = PublicationNote(uri)
    if pointer is None:
        return replace(note, generations=(), pending=None)
    newest, pending = note.newest, note.pending
    if pending is not None and pending.manifest == pointer.manifest:  # the process was killed just after
        return replace(note, generations=(*note.generations, pending), pending=None)
    is_ours = newest is None or newest.manifest == pointer.manifest
    if not is_ours or pointer.generation > generation:
        raise UsageError(
            f"another copy of this index has published generation {pointer.generation} to {shown_uri(uri)}; to "
            f"continue with this copy, run: semsearch publish {shown_uri(uri)} --take-over"
        )
    if newest is None:
        published = PublishedGeneration(pointer.manifest, pointer.generation, now())
        return replace(note, generations=(published,), pending=None)
    return replace(note, pending=None)


def _previous(store: SnapshotStore, pointer: CurrentPointer | None) -> PublishedManifest | None:
    """The published manifest, whose blocks need not be sent; None if none can be read."""
    if pointer is None:
        return None
    with suppress(FileNotFoundError, IndexDamaged):
        return get_manifest(store, pointer)
    return None


@contextmanager
def _frozen(
    db: sqlite3.Connection, folder: Path, index: str, generation: int, previous: PublishedManifest | None
) -> Iterator[tuple[PublishedManifest, list[tuple[Path, PublishedFile]]]]:
    """The manifest of a transaction's generation, and its files, which do not change while the block runs."""
    copy = folder / _COPY
    try:
        _copy_database(db, copy)
        files = [(copy, describe_file(copy, DATABASE, DATABASE_BLOCK))]
        unchanged = {file.name: file for file in previous.segments} if previous else {}
        for segment in get_segments(db):
            path = folder / SEGMENTS / segment.file
            known = unchanged.get(segment.file)
            if known is not None and known.size == segment.size:  # a segment is never changed
                files.append((path, known))
            elif path.exists() or segment.kind not in VECTORS:
                files.append((path, describe_file(path, segment.file, SEGMENT_BLOCK)))
        segments = tuple(file for _, file in files[1:])
        manifest = PublishedManifest(
            index=index,
            generation=generation,
            written_at=written_at(folder),
            database=files[0][1],
            segments=segments,
        )
        yield manifest, files
    except FileNotFoundError as error:
        raise StorageError(f"{error.filename} was deleted during publication; publish again") from error
    finally:
        with suppress(OSError):
            copy.unlink(missing_ok=True)


def _copy_database(db: sqlite3.Connection, target: Path) -> None:
    """Write what a read transaction sees into a new file without a log, replacing an earlier one.

    Unlike VACUUM INTO, the backup of SQLite moves no page, so what a write did not touch is the same bytes in the next
    copy, and is not uploaded again. The file is not flushed to the disk; that is left to the caller.
    """
    for suffix in ("", "-journal", "-wal", "-shm"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        copy.execute("PRAGMA synchronous = OFF")
        db.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # so that it can be read without writing beside it


def _coming(database: IndexDatabase, manifest: PublishedManifest, digest: str) -> PublishedGeneration:
    """The note of a generation that is about to be published, with those of its segments that an engine keeps."""
    files = {file.name for file in manifest.segments}
    with database.reading() as db:
        address = get_address(db)
        kept = tuple(segment.file for segment in get_segments(db) if segment.file not in files)
    store = "" if address is None else address.uri
    return PublishedGeneration(digest, manifest.generation, now(), kept, store)


def written_at(folder: Path) -> str:
    """The machine and folder of an index, for its readers, without control characters."""
    whole = f"{socket.gethostname()}:{folder.absolute()}"[:MOST_TEXT]
    return "".join(character if character.isprintable() else "?" for character in whole)


def publish(
    index: str | Path, place: str | Path, *, take_over: bool = False, whole: bool = False, grace: float = GRACE_SECONDS
) -> PublishReport:
    """Publish the index in a folder to a snapshot store, and return what was sent.

        publish("indexes/docs", "s3://bucket/docs")

    A place is a folder, such as one on a network disk, or an object store. Only changes are transferred, and a reader
    sees one whole generation. A place belongs to one index; `take_over` replaces another index, or another copy of this
    one, whose readers must open it again. `whole` sends everything again, as after damage there. Readers may fetch an
    earlier generation for `grace` seconds. Raises UsageError, StorageError if the store cannot be reached,
    MissingExtra, IndexNotFound, IndexLocked.
    """
    database = IndexDatabase(Path(index))
    check(database)
    try:
        done = Publisher(database, claimed(database, place, take_over=take_over), grace).publish(whole=whole)
        record_copies(done.place, database)
        return done
    finally:
        database.close()


def claimed(database: IndexDatabase, place: str | Path, *, take_over: bool) -> str:
    """The URI of the snapshot store to publish to, claimed for an index."""
    uri = canonical(place)
    with database.reading() as db:
        before, own = get_place(db), get_meta(db, INDEX_ID)
    if uri == before and own and not take_over:
        return uri
    if has_password(uri):
        raise UsageError("the URI of a snapshot store must not contain a password, which the index would store")
    opened = open_snapshot_store(uri)
    with writer_lock(database.folder):
        if own is None or take_over:
            own = secrets.token_hex(16)  # a new id: readers of the other index must not mistake this one for it
            with write_transaction(database) as db:  # before the claim, or a crash leaves a claim without an index
                set_meta(db, INDEX_ID, own)
        claim(opened, uri, StoreClaim(index=own, written_at=written_at(database.folder)), take_over=take_over)
        with write_transaction(database) as db:
            set_meta(db, PLACE, uri)
    if take_over or read_note(database.folder).place != uri:
        write_note(database.folder, PublicationNote(uri))
    return uri
