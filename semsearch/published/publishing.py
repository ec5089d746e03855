"""Publish an index: claim its place, publish to it, publish no more; and what a write does where there is a place."""

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
    """Publish an index to a place, or to that of before; `Index.publish` explains it."""
    database.check_writable()
    publisher = Publisher(database, claimed(database, place, take_over=take_over))
    try:
        return publisher.publish(whole=whole)
    except SemsearchError as error:
        note_failure(database.folder, str(error))
        raise


def unpublish(database: IndexDatabase) -> str | None:
    """Publish an index no more; returns the place, None if there was none."""
    database.check_writable()
    with writer_lock(database.folder), database.writing() as db:
        place = get_place(db)
        db.execute("DELETE FROM meta WHERE key = ?", (PLACE,))
    write_note(database.folder, PublicationNote())
    return place


def claimed(database: IndexDatabase, given: str | Path | None, *, take_over: bool) -> str:
    """The place to publish to, claimed for an index and kept as its setting."""
    with database.reading() as db:
        before, own, store = get_place(db), get_meta(db, INDEX_ID), get_address(db)
    beside = None if store is None else store_beside(store.uri)
    uri = completed(given, database.folder.name) if given else before or beside
    if uri is None:
        raise UsageError(f"{database.folder} has no place yet; publish it to one: semsearch publish s3://bucket/docs")
    if uri == before and own and not take_over and not given:
        return uri
    if has_password(uri):
        raise UsageError("the address of a place must not have a password, which the index would keep for all to read")
    opened = open_snapshot_store(uri)
    with writer_lock(database.folder):
        if own is None or take_over:
            own = secrets.token_hex(16)  # another id: who follows the other index must not take this one for it
            with database.writing() as db:  # before the claim, or a crash leaves a claim of nobody
                set_meta(db, INDEX_ID, own)
        claim(opened, uri, StoreClaim(own, written_at(database.folder)), take_over=take_over)
        with database.writing() as db:
            set_meta(db, PLACE, uri)
    if take_over or read_note(database.folder).place != uri:
        write_note(database.folder, PublicationNote(uri))
    return uri


def publish_newest(database: IndexDatabase, place: str) -> None:
    """Publish the newest generation of an index to its place, if that is not published yet.

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
            f"generation {generation} is written, and could not be published to {shown_uri(place)}: {error}; "
            "the next write tries again, and so does: semsearch publish"
        ) from error
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"generation {generation} is written, and not published; semsearch publish does"
        ) from None
