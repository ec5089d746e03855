"""The SQLite database of an index: whether a folder has one, its transactions, and its errors in words.

Readers open it read-only and never lock; each search is one read transaction, which sees one whole generation. Errors
of SQLite and of the disk are explained: what is wrong with the index, and what to do.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path

from semsearch.errors import (
    EXHAUSTED,
    IndexDamaged,
    IndexLocked,
    IndexNotFound,
    SemsearchError,
    SourceError,
    StorageError,
    UsageError,
)
from semsearch.storage.checksums import check_digests, update_digests
from semsearch.storage.connections import DATABASE, FileId, ReaderPool, connect, file_id, open_reader
from semsearch.storage.meta import DESCRIPTION, get_meta

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG, errno.EEXIST}
_UNREADABLE = {errno.EACCES, errno.EPERM, errno.EIO, errno.ELOOP, errno.ENAMETOOLONG}
_SHOWN = 3  # faults of a damaged index


@contextmanager
def explained(folder: Path, *, writes: bool = True) -> Iterator[None]:
    """Turn errors of SQLite and of the disk into errors that say what to do.

    While nothing is written to the index, a disk that is full is another one: where the caller writes to.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        explanation = _explain(error, folder) or _of_rows(folder)
        if explanation is None:
            raise
        raise explanation from error
    except SemsearchError:
        raise
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
        damage = _of_rows(folder)
        if damage is None:
            raise  # a bug
        raise damage from error
    except OSError as error:
        if error.errno in _UNREADABLE and not _is_within(error.filename, folder):
            raise SourceError(f"{error.filename} cannot be read: {error.strerror}; the index is unchanged") from error
        if error.errno in _FULL:
            if not writes:
                raise
            raise StorageError(
                f"the disk of {folder} is full; the index is unchanged; make room and try again"
            ) from error
        if error.errno in _REFUSED:
            path = error.filename or folder
            raise StorageError(f"{path} cannot be written ({error.strerror}); the index is unchanged") from error
        if error.errno == errno.EIO:
            raise StorageError(f"the disk of {folder} is failing ({error.strerror}); the index is unchanged") from error
        if error.errno == errno.ENODEV:
            raise StorageError(_without_maps(folder, error.strerror or "")) from error
        if error.errno in EXHAUSTED:
            what = f"{error.strerror}: {error.filename or folder}"
            raise StorageError(f"{what}; the index is unchanged; {EXHAUSTED[error.errno]}") from error
        raise


def _without_maps(folder: Path, text: str) -> str:
    return (
        f"the disk of {folder} maps no files into memory ({text}), which a write needs; the index is unchanged; keep "
        "it on another disk, such as one of this machine"
    )


def _of_rows(folder: Path) -> IndexDamaged | None:
    """The error of an index whose rows are not as semsearch writes them; None if they are."""
    from semsearch.storage.audit import CURE, find_faults  # start-up time

    try:
        with closing(open_reader(folder)) as db:
            faults = list(islice(find_faults(db), _SHOWN))
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # SQLite quotes a damaged schema as it is
        faults = [str(error)]
    if not faults:
        return None
    cure = "" if all(fault.endswith(CURE) for fault in faults) else f"; remove {folder} and index again"
    return IndexDamaged(f"{folder / DATABASE} is damaged: {'; '.join(faults)}{cure}")


def _of_texts(folder: Path) -> IndexDamaged | None:
    """The error of a row that is not as it was written, with what mends it; None if each that has a checksum is."""
    from semsearch.storage.damaged_rows import first_damaged  # start-up time

    try:
        with closing(open_reader(folder)) as db:
            told = first_damaged(db)
    except (sqlite3.Error, OSError, ValueError):
        return None
    return None if told is None else IndexDamaged(f"{folder / DATABASE} is damaged: {told}")


def _is_within(name: object, folder: Path) -> bool:
    """Return whether the path that an error names is in the index; True if it names none."""
    if not isinstance(name, str):
        return True
    return Path(name).absolute().is_relative_to(folder.absolute())


def _explain(error: sqlite3.DatabaseError, folder: Path) -> SemsearchError | None:
    text = str(error)
    if "malformed JSON" in text:
        return IndexDamaged(
            f"{folder / DATABASE} holds metadata that is not JSON; semsearch verify lists the documents"
        )
    if "disk is full" in text:
        return StorageError(f"the disk of {folder} is full; the index is unchanged; make room and try again")
    if "readonly" in text or "unable to open" in text:
        return StorageError(f"{folder} cannot be written ({text}{_theirs(folder)}); the index is unchanged")
    if "disk I/O error" in text and error.sqlite_errorname == "SQLITE_IOERR_SHMMAP":
        return StorageError(_without_maps(folder, text))
    if "disk I/O error" in text:
        return StorageError(f"the disk of {folder} is failing ({text}{_limited()}); the index is unchanged")
    if "locked" in text:
        return IndexLocked(f"another program is writing to {folder / DATABASE}; wait for it, and try again")
    if "Could not decode" in text and (damage := _of_texts(folder)) is not None:
        return damage
    if (
        "malformed" in text
        or "Could not decode" in text
        or "not a database" in text
        or "no such table" in text
        or "no such column" in text
    ):
        return IndexDamaged(f"{folder / DATABASE} is damaged or not an index ({text}); remove {folder} and index again")
    return None


# -- Database ----------------------------------------------------------------------------------------------------------

SEGMENTS = "segments"


class CommitInDoubt(StorageError):
    """The disk failed at a commit. It is in the log, flushed or not, and who opens the database next may find it there.

    So what the new generation names must stay until the next write, which sees whether it is there.
    """


class IndexDatabase:
    """The database of one index folder. Threads may share it: each transaction has a connection to itself."""

    is_closed: bool = False  # by the program that opened it, which must open it again
    is_copy: bool = False  # of an index that is written elsewhere, where its files lie
    is_trusted: bool = False  # by the program that opened it, with all that it names (semsearch.trust)

    def __init__(self, folder: Path) -> None:
        """Raises UsageError for a folder whose name is not Unicode, which neither SQLite nor FAISS opens."""
        try:
            str(folder.absolute()).encode()
        except UnicodeEncodeError:
            raise UsageError(
                f"{str(folder.absolute())!a} is not valid Unicode; choose another folder for the index"
            ) from None
        self.folder = folder
        self._own = threading.local()  # db: the connection of the transaction that this thread is in
        self._readers = ReaderPool(folder)

    @property
    def path(self) -> Path:
        """The path of the SQLite file."""
        return self.folder / DATABASE

    @property
    def shown_name(self) -> str:
        """What people are told that the index is: its folder, or the place that it is read from."""
        return str(self.folder)

    @property
    def times_replaced(self) -> int:
        """How often another index was found in the place of the one before, when this thread's transaction began."""
        return getattr(self._own, "times_replaced", self._readers.times_replaced)

    def check_writable(self) -> None:
        """Check that the index can be written here. A copy of what is written elsewhere raises UsageError."""

    def vectors_uri(self, uri: str) -> str:
        """The URI at which this machine reaches the vectors that the index says are at another."""
        return uri

    def is_beside(self, uri: str) -> bool:  # noqa: ARG002  # of an index that is here, whose folder says nothing of it
        """Return whether vectors at a URI lie beside a published copy, in the store that the user has named."""
        return False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction: all that is read inside is of one generation. A nested one is the same one."""
        with explained(self.folder, writes=False):
            own: sqlite3.Connection | None = getattr(self._own, "db", None)
            if own is not None:
                yield own
                return
            self._check_open()
            with self._readers.lend() as (db, times_replaced):
                db.execute("BEGIN")
                self._own.db, self._own.times_replaced = db, times_replaced
                try:
                    yield db
                finally:
                    self._own.db = None
                    db.execute("ROLLBACK")

    @contextmanager
    def written(self) -> Iterator[sqlite3.Connection]:
        """Read what a write has just left. As after the write, the log is merged into the database at the end."""
        with explained(self.folder):
            self.close()
            with closing(connect(self.path, "rw")) as db:
                db.execute("BEGIN")
                yield db

    @contextmanager
    def writing(self, *, derived: bool = True) -> Iterator[sqlite3.Connection]:
        """Open a write transaction: the COMMIT at its end is the one point at which a new generation begins.

        Without `derived` the list of segments may be damaged: all of them are about to be made again. Raises
        IndexDamaged if what was sealed is not as it was, CommitInDoubt if the disk fails at the end, IndexNotFound if
        the index was deleted or moved meanwhile, or is another one now.
        """
        self._check_open()
        with explained(self.folder):
            connection = connect(self.path, "rw")
            try:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("BEGIN IMMEDIATE")
                file = file_id(self.path)  # not before: a file of an image's layer becomes another when it is opened
                try:
                    check_digests(connection, derived=derived)
                    yield connection
                    update_digests(connection)
                    self._check_there(file)
                except BaseException as error:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    if isinstance(error, Exception):
                        self._check_there(file)
                    raise
                _commit(connection, self.folder)
            finally:
                self.close()  # so that the writer is the last to go, and merges the log into the database
                connection.close()

    def _check_open(self) -> None:
        if self.is_closed:
            raise UsageError(f"the index {self.shown_name} is closed; open it again: Index.open({self.shown_name!r})")

    def _check_there(self, file: FileId | None) -> None:
        """Check that the database is still the file that it was. Raises IndexNotFound."""
        if file is None or file_id(self.path) != file:
            raise IndexNotFound(f"the index at {self.folder} was deleted or moved during the write; nothing was saved")

    def last_written(self) -> tuple[int, ...]:
        """Numbers that change with every commit: the times and sizes of the database and of its log."""
        numbers: list[int] = []
        for file in (self.path, self.path.with_name(f"{DATABASE}-wal")):
            with suppress(FileNotFoundError):
                found = file.stat()
                numbers += [found.st_mtime_ns, found.st_size]
        return tuple(numbers)

    def schema(self) -> int:
        """The version of the tables; 0 if there are none."""
        with explained(self.folder), closing(connect(self.path, "rwc")) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])

    def close(self) -> None:
        """Close the readers' connections; one that is in a transaction is closed at the end of it."""
        self._readers.close()


def _theirs(folder: Path) -> str:
    """The files of a database that this user may not write, where others may write to its folder."""
    files = [folder / f"{DATABASE}{suffix}" for suffix in ("", "-wal", "-shm")]
    theirs = [str(file) for file in files if file.exists() and not os.access(file, os.W_OK)]
    return f": {', '.join(theirs)} may be written by another user only" if theirs and os.access(folder, os.W_OK) else ""


def _commit(connection: sqlite3.Connection, folder: Path) -> None:
    try:
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if "disk I/O error" not in str(error):
            raise
        raise CommitInDoubt(
            f"the disk of {folder} failed ({error}{_limited()}) at the end of a write, which may or may not have "
            "been saved; run it again"
        ) from error


def _limited() -> str:
    """What else may be the reason of SQLite's disk I/O error, if there is a limit of the size of files."""
    try:
        import resource  # not on Windows
    except ImportError:
        return ""
    is_limited = resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY
    return ", or a file would be larger than ulimit -f allows" if is_limited else ""


# -- Opening -----------------------------------------------------------------------------------------------------------

FORMAT = "semsearch index 1"
SCHEMA = 7  # the PRAGMA user_version after all migrations


def _is_file(path: Path) -> bool:
    return path.is_file()


def has_database(folder: Path) -> bool:
    """Return whether a folder has the database of an index; False for a folder that we may not look into."""
    try:
        return _is_file(folder / DATABASE)
    except OSError:
        return False


def is_index(folder: Path) -> bool:
    """Return whether a folder has an index whose creation was completed."""
    if not has_database(folder):
        return False
    database = IndexDatabase(folder)
    try:
        check(database)
    except IndexNotFound:
        return False
    finally:
        database.close()
    return True


def check(database: IndexDatabase) -> None:
    """Check that there is an index that we can read. Raises IndexNotFound, or IndexDamaged for anything else."""
    if not has_database(database.folder):
        raise IndexNotFound(f"there is no index at {database.folder}; create one with: semsearch index PATH")
    _refuse_links(database.folder / SEGMENTS)
    with database.reading() as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and "meta" not in tables and "_sqlite_migrations" not in tables:
            raise IndexDamaged(f"{database.path} is the database of another program, not a semsearch index")
        row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() if "meta" in tables else None
    if row is None:
        raise IndexNotFound(
            f"the creation of the index at {database.folder} was interrupted; index again to complete it"
        )
    if row[0] != FORMAT:
        raise IndexDamaged(
            f"{database.folder} is {row[0]!r}, and this semsearch reads {FORMAT!r}; use a newer semsearch"
        )


def description_of(folder: Path) -> str:
    """The sentence that an index was described with; empty for one that has none, or cannot be read."""
    database = IndexDatabase(folder)
    try:
        check(database)
        with database.reading() as db:
            return get_meta(db, DESCRIPTION) or ""
    except SemsearchError:
        return ""
    finally:
        database.close()


def check_given(database: IndexDatabase) -> None:
    """Compare the settings, roots and numbers of an index with their seal. Raises IndexDamaged."""
    with database.reading() as db:
        check_digests(db, derived=False)


def upgrade(database: IndexDatabase) -> None:
    """Bring the tables of a new index, or of one made by an earlier version, up to date.

    Raises IndexDamaged for one made by a later version.
    """
    if (found := database.schema()) > SCHEMA:
        raise IndexDamaged(
            f"{database.folder} has tables of version {found}, and this semsearch knows {SCHEMA}; use a newer semsearch"
        )
    if found != SCHEMA:
        from semsearch.storage.schema import migrate  # start-up time: only new and old indexes need sqlite-utils

        migrate(database.path)


def _refuse_links(folder: Path) -> None:
    """Refuse a folder of segments that is elsewhere: a writer deletes what no generation names in it."""
    if folder.is_symlink():
        raise IndexDamaged(
            f"{folder} is a symbolic link, but the segments must lie in the index; move the whole index instead"
        )
