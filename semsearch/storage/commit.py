"""The write transaction, and its COMMIT: the one point at which a new generation begins.

Segment files are whole on disk before. Whatever ends the transaction earlier leaves the index as it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from semsearch.errors import IndexNotFound, StorageError
from semsearch.storage.checksums import check_digests, update_digests
from semsearch.storage.connections import FileId, connect, file_id
from semsearch.storage.database import IndexDatabase, audited, explained
from semsearch.storage.meta import get_meta


class CommitInDoubt(StorageError):
    """The disk failed at a commit. It is in the log, flushed or not, and who opens the database next may find it there.

    So what the new generation names must stay until the next write, which sees whether it is there.
    """


@contextmanager
def write_transaction(database: IndexDatabase, *, derived: bool = True) -> Iterator[sqlite3.Connection]:
    """Open a write transaction, which is committed at the end of the block. The writer's lock must be held.

    Without `derived` the list of segments may be damaged: all of them are about to be made again. Raises IndexDamaged
    if the small tables do not match their digests, CommitInDoubt if the disk fails at the end, IndexNotFound if the
    index was deleted or moved meanwhile, or is another one now.
    """
    database.check_open()
    database.check_writable()
    with explained(database.folder), audited(database.folder):
        db = connect(database.path, "rw")
        try:
            db.execute("PRAGMA synchronous = FULL")
            db.execute("BEGIN IMMEDIATE")
            file = file_id(database.path)  # not before: a file of an image's layer becomes another when it is opened
            try:
                if get_meta(db, "format") is not None:
                    check_digests(db, derived=derived)
                yield db
                update_digests(db)
                _check_there(database, file)
            except BaseException as error:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                if isinstance(error, Exception):
                    _check_there(database, file)
                raise
            _commit(db, database)
        finally:
            database.close()  # so that the writer is the last to go, and merges the log into the database
            db.close()


def _check_there(database: IndexDatabase, file: FileId | None) -> None:
    """Check that the database is still the file that it was. Raises IndexNotFound."""
    if file is None or file_id(database.path) != file:
        raise IndexNotFound(f"the index at {database.folder} was deleted or moved during the write; nothing was saved")


def _commit(db: sqlite3.Connection, database: IndexDatabase) -> None:
    try:
        db.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if "disk I/O error" not in str(error):
            raise
        raise CommitInDoubt(
            f"the disk of {database.folder} failed ({error}) at the end of a write, which may or may not have been "
            "saved; run it again"
        ) from error
