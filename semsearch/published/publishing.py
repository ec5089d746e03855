"""Publish an index: claim a snapshot store, publish to it after each write, or stop publishing."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import PublicationFailed, SemsearchError, UsageError
from semsearch.snapshots.publisher import Publisher, claim, written_at
from semsearch.snapshots.snapshot_format import StoreClaim
from semsearch.snapshots.snapshot_store import open_snapshot_store
from semsearch.snapshots.store_uris import completed, store_beside
from semsearch.storage.meta import get_count, get_meta, set_meta
from semsearch.storage.publication import (
    INDEX_ID,
    PLACE,
    PublicationNote,
    get_place,
    note_failure,
    read_note,
    write_note,
)
from semsearch.stores.registry import get_address
from semsearch.system.locations import has_password, shown_uri
from semsearch.system.locking import writer_lock

if TYPE_CHECKING:
    from semsearch.results.reports import PublishReport
    from semsearch.storage.database import IndexDatabase


def publish(database: IndexDatabase, place: str | Path | None, *, take_over: bool, whole: bool) -> PublishReport:
    """Publish an index to a snapshot store, by default that of the last time; see `Index.publish`."""
    database.check_writable()
    publisher = Publisher(database, claimed(database, place, take_over=take_over))
    try:
        return publisher.publish(whole=whole)
    except SemsearchError as error:
        note_failure(database.folder, str(error))
        raise


def unpublish(database: IndexDatabase) -> str | None:
    """Stop publishing an index; returns the URI of its snapshot store, None if it had none."""
    database.check_writable()
    with writer_lock(database.folder), database.writing() as db:
        place = get_place(db)
        db.execute("DELETE FROM meta WHERE key = ?", (PLACE,))
    write_note(database.folder, PublicationNote())
    return place


def claimed(database: IndexDatabase, given: str | Path | None, *, take_over: bool) -> str:
    """The URI of the snapshot store to publish to, claimed for an index and kept as its setting."""
    with database.reading() as db:
        before, own, store = get_place(db), get_meta(db, INDEX_ID), get_address(db)
    beside = None if store is None else store_beside(store.uri)
    uri = completed(given, database.folder.name) if given else before or beside
    if uri is None:
        raise UsageError(
            f"{database.folder} has no snapshot store yet; give one, as in: semsearch publish s3://bucket/docs"
        )
    if uri == before and own and not take_over and not given:
        return uri
    if has_password(uri):
        raise UsageError("the URI of a snapshot store must not contain a password, which the index would store")
    opened = open_snapshot_store(uri)
    with writer_lock(database.folder):
        if own is None or take_over:
            own = secrets.token_hex(16)  # a new id: readers of the other index must not mistake this one for it
            with database.writing() as db:  # before the claim, or a crash leaves a claim without an index
                set_meta(db, INDEX_ID, own)
        claim(opened, uri, StoreClaim(own, written_at(database.folder)), take_over=take_over)
        with database.writing() as db:
            set_meta(db, PLACE, uri)
    if take_over or read_note(database.folder).place != uri:
        write_note(database.folder, PublicationNote(uri))
    return uri


def publish_newest(database: IndexDatabase, place: str) -> None:
    """Publish the newest generation of an index to its snapshot store, if it is not published yet.

    Raises PublicationFailed: what was written stays, and the next write tries again.
    """
    with database.reading() as db:
        generation = get_count(db, "generation")
    note = read_note(database.folder)
    if note.place == place and note.newest is not None and note.newest.generation == generation and not note.failure:
        return
    try:
        Publisher(database, place).publish()
    except SemsearchError as error:
        note_failure(database.folder, str(error))
        raise PublicationFailed(
            f"generation {generation} is written, but could not be published to {shown_uri(place)}: {error}; "
            "the next write tries again, or run: semsearch publish"
        ) from error
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"generation {generation} is written, but not published; run: semsearch publish"
        ) from None
