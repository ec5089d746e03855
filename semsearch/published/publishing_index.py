"""What publishes an index, as `Index` has it; and what a write does when its index has a place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import PublicationFailed, SemsearchError, UsageError

if TYPE_CHECKING:
    from semsearch.results.state.publication import PublishReport
    from semsearch.storage.database import IndexDatabase


class PublishingIndex:
    """The methods of an index that publish it. Another class has its files."""

    path: Path
    _database: IndexDatabase

    def publish(
        self, place: str | Path | None = None, *, take_over: bool = False, whole: bool = False
    ) -> PublishReport:
        """Publish the index to a place, from which readers open it: a folder on a network disk, `s3://bucket/docs`.

        A database is one too, `postgres://host/database`. Each later write publishes there as well, until `unpublish`.
        Without a place, it is that of before. Only what has changed travels, and a reader sees one generation whole. A
        place is claimed by one index; `take_over` replaces another's, or another copy of this one, whose readers must
        open it again. `whole` sends all again, as after damage there. Raises UsageError, StorageError where the place
        cannot be reached, MissingExtra.
        """
        from semsearch.published.publisher import Publisher  # start-up time: a search publishes nothing
        from semsearch.storage.publication import note_failure

        self._database.check_writable()
        publisher = Publisher(self._database, self._claimed(place, take_over=take_over))
        try:
            return publisher.publish(whole=whole)
        except SemsearchError as error:
            note_failure(self.path, str(error))
            raise

    def unpublish(self) -> str | None:
        """Publish no more. What is published stays, and its readers with it; returns the place, None if there was none.

        Where an engine keeps the vectors, its readers answer only until the next writes have dropped those.
        """
        from semsearch.storage.publication import (
            PLACE,
            PublicationNote,
            get_place,
            write_note,
        )  # start-up time, as above
        from semsearch.system.locking import writer_lock

        self._database.check_writable()
        with writer_lock(self.path), self._database.writing() as db:
            place = get_place(db)
            db.execute("DELETE FROM meta WHERE key = ?", (PLACE,))
        write_note(self.path, PublicationNote())
        return place

    def _claimed(self, given: str | Path | None, *, take_over: bool) -> str:
        """The place to publish to, claimed for this index and kept as its setting."""
        import secrets  # start-up time, as above

        from semsearch.published.claiming import claim
        from semsearch.published.manifest import PlaceClaim
        from semsearch.published.naming import completed, place_beside
        from semsearch.published.places import open_place
        from semsearch.published.publisher import written_at
        from semsearch.storage.meta import get_meta, set_meta
        from semsearch.storage.publication import INDEX_ID, PLACE, PublicationNote, get_place, read_note, write_note
        from semsearch.stores.registry import get_address
        from semsearch.system.locking import writer_lock
        from semsearch.system.uris import has_password

        with self._database.reading() as db:
            before, own, store = get_place(db), get_meta(db, INDEX_ID), get_address(db)
        beside = None if store is None else place_beside(store.uri)
        uri = completed(given, self.path.name) if given else before or beside
        if uri is None:
            raise UsageError(f"{self.path} has no place yet; publish it to one: semsearch publish s3://bucket/docs")
        if uri == before and own and not take_over and not given:
            return uri
        if has_password(uri):
            raise UsageError(
                "the address of a place must not have a password, which the index would keep for all to read"
            )
        opened = open_place(uri)
        with writer_lock(self.path):
            if own is None or take_over:
                own = secrets.token_hex(16)  # another id: who follows the other index must not take this one for it
                with self._database.writing() as db:  # before the claim, or a crash leaves a claim of nobody
                    set_meta(db, INDEX_ID, own)
            claim(opened, uri, PlaceClaim(own, written_at(self.path)), take_over=take_over)
            with self._database.writing() as db:
                set_meta(db, PLACE, uri)
        if take_over or read_note(self.path).place != uri:
            write_note(self.path, PublicationNote(uri))
        return uri


def publish_newest(database: IndexDatabase, place: str) -> None:
    """Publish the newest generation of an index to its place, if that is not published yet.

    Raises PublicationFailed: what was written stays, and the next write tries again.
    """
    from semsearch.storage.meta import get_count  # start-up time: most have no place
    from semsearch.storage.publication import note_failure, read_note

    with database.reading() as db:
        generation = get_count(db, "generation")
    note = read_note(database.folder)
    if note.place == place and note.newest is not None and note.newest.generation == generation and not note.failure:
        return
    from semsearch.published.publisher import Publisher
    from semsearch.system.uris import shown

    try:
        Publisher(database, place).publish()
    except SemsearchError as error:
        note_failure(database.folder, str(error))
        raise PublicationFailed(
            f"generation {generation} is written, and could not be published to {shown(place)}: {error}; "
            "the next write tries again, and so does: semsearch publish"
        ) from error
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"generation {generation} is written, and not published; semsearch publish does"
        ) from None
