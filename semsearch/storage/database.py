"""The SQLite database of an index: whether a folder has one, its read and write transactions, its errors in words.

Readers open it read-only and never lock; each search is one read transaction, which sees one whole generation. The
COMMIT of the write transaction is the one point at which a new generation begins: segment files are whole on disk
before, and whatever ends it earlier leaves the index as it was.
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path

from semsearch.errors import (
    EXHAUSTED,
    IndexDamaged,
    IndexLocked,
    IndexNotFound,
    IndexOutdated,
    SemsearchError,
    SourceError,
    StorageError,
    UsageError,
)
from semsearch.storage.audit import find_damaged_rows, find_faults
from semsearch.storage.checksums import check_digests, update_digests
from semsearch.storage.connections import DATABASE, FileId, Patience, ReaderPool, connect, file_id, open_reader
from semsearch.storage.schema import DESCRIPTION, FORMAT, create_tables, get_meta

logger = logging.getLogger(__name__)
SEGMENTS = "segments"


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

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction: all that is read inside is of one generation. A nested one is the same one."""
        with explained(self.folder, writes=False), audited(self.folder):
            current: sqlite3.Connection | None = getattr(self._own, "db", None)
            if current is not None:
                yield current
                return
            self.check_open()
            with self._readers.lend() as (db, times_replaced):
                patience = Patience()
                db.set_progress_handler(patience, Patience.STEPS)
                db.execute("BEGIN")
                self._own.db, self._own.times_replaced = db, times_replaced
                try:
                    db.check_schema(self.path)
                    yield db
                except sqlite3.OperationalError as error:
                    if str(error) == "interrupted":
                        raise _endless(self.folder) if patience.is_over else KeyboardInterrupt from error
                    raise
                finally:
                    self._own.db = None
                    db.set_progress_handler(None, 0)
                    db.execute("ROLLBACK")

    @contextmanager
    def written(self) -> Iterator[sqlite3.Connection]:
        """Read what a write has just left. As after the write, the log is merged into the database at the end."""
        with explained(self.folder):
            self.close()
            with closing(connect(self.path, "rw")) as db:
                db.execute("BEGIN")
                yield db

    def create(self) -> None:
        """Create the tables; none if they are there already."""
        with explained(self.folder), closing(connect(self.path, "rwc")) as db:
            create_tables(db)

    def last_written(self) -> tuple[int, ...]:
        """Numbers that change with every commit: the times and sizes of the database and of its log."""
        numbers: list[int] = []
        for file in (self.path, self.path.with_name(f"{DATABASE}-wal")):
            with suppress(FileNotFoundError):
                status = file.stat()
                numbers += [status.st_mtime_ns, status.st_size]
        return tuple(numbers)

    def close(self) -> None:
        """Close the readers' connections; one that is in a transaction is closed at the end of it."""
        self._readers.close()

    def check_open(self) -> None:
        """Check that the program that opened the index has not closed it. Raises UsageError."""
        if self.is_closed:
            raise UsageError(f"the index {self.shown_name} is closed; open it again: Index.open({self.shown_name!r})")


# -- Is there an index? ------------------------------------------------------------------------------------------------


def has_database(folder: Path) -> bool:
    """Return whether a folder has the database of an index; False for a folder that we may not look into."""
    try:
        return (folder / DATABASE).is_file()
    except OSError:
        return False


def is_index(folder: Path) -> bool:
    """Return whether a folder has an index whose creation was completed."""
    if not has_database(folder):
        return False
    with closing(IndexDatabase(folder)) as database:
        try:
            check(database)
        except IndexNotFound:
            return False
        except IndexOutdated:
            return True
    return True


def check(database: IndexDatabase) -> None:
    """Check that there is an index that we can read.

    Raises IndexNotFound, IndexOutdated for one of an earlier version, or IndexDamaged for anything else.
    """
    if not has_database(database.folder):
        inside = database.folder.parent / "indexes" / database.folder.name  # where semsearch index puts it
        advice = f"did you mean {inside}?" if has_database(inside) else "create one with: semsearch index PATH"
        raise IndexNotFound(f"there is no index at {database.folder}; {advice}")
    segments = database.folder / SEGMENTS
    if segments.is_symlink():  # a writer deletes what no generation names in it
        raise IndexDamaged(
            f"{segments} is a symbolic link, but the segments must lie in the index; move the whole index instead"
        )
    with database.reading() as db:
        is_created = db.execute("SELECT 1 FROM sqlite_master").fetchone() is not None
        format = get_meta(db, "format") if is_created else None
    if format is None:
        raise IndexNotFound(
            f"the creation of the index at {database.folder} was interrupted; index again to complete it"
        )
    if format != FORMAT:
        raise IndexDamaged(
            f"{database.folder} is {format!r}, and this semsearch reads {FORMAT!r}; use a newer semsearch"
        )


def check_given(database: IndexDatabase) -> None:
    """Compare the settings, roots and counts of an index with their digest. Raises IndexDamaged."""
    with database.reading() as db:
        check_digests(db, derived=False)


def description_of(folder: Path) -> str:
    """The sentence that an index was described with; empty for one that has none, or cannot be read."""
    with closing(IndexDatabase(folder)) as database:
        try:
            check(database)
            with database.reading() as db:
                return get_meta(db, DESCRIPTION) or ""
        except SemsearchError:
            return ""


# -- Errors in words ---------------------------------------------------------------------------------------------------

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG, errno.EEXIST}
_UNREADABLE = {errno.EACCES, errno.EPERM, errno.EIO, errno.ELOOP, errno.ENAMETOOLONG}
_DAMAGED = ("malformed", "Could not decode", "not a database", "no such table", "no such column")
_SHOWN = 3  # faults of a damaged index


@contextmanager
def explained(folder: Path, *, writes: bool = True) -> Iterator[None]:
    """Turn errors of SQLite and of the disk into errors that say what to do.

    While nothing is written to the index, a disk that is full is another one: where the caller writes to.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        explanation = _of_sqlite(error, folder)
        if explanation is None and (faults := _row_faults(folder)):
            explanation = _damaged_by(faults, folder)
        if explanation is None:
            raise
        raise explanation from error
    except SemsearchError:
        raise
    except OSError as error:
        explanation = _of_system(error, folder, writes=writes)
        if explanation is None:
            raise
        raise explanation from error


@contextmanager
def audited(folder: Path) -> Iterator[None]:
    """Audit the rows of an index when what reads them fails: somebody else may have made it, or changed it.

    Where rows are not as semsearch writes them, that is the error, and the other its cause. Where they are, the other
    error is a bug, and stays what it is.
    """
    try:
        yield
    except SemsearchError:
        raise
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
        faults = _row_faults(folder) if has_database(folder) else []
        if not faults:
            raise
        raise _damaged_by(faults, folder) from error


def _row_faults(folder: Path) -> list[str]:
    """What is wrong with the rows of an index, the first of it; nothing if they are as semsearch writes them."""
    try:
        with closing(open_reader(folder)) as db:
            return list(islice(find_faults(db), _SHOWN))
    except (sqlite3.Error, OSError, UnicodeDecodeError, IndexDamaged) as error:  # SQLite quotes a damaged schema
        return [str(error)]


def _endless(folder: Path) -> IndexDamaged:
    return IndexDamaged(
        f"{folder / DATABASE} takes longer to read than any index that semsearch wrote; remove {folder} and index again"
    )


def _damaged_by(faults: Sequence[str], folder: Path) -> IndexDamaged:
    return IndexDamaged(f"{folder / DATABASE} is damaged: {'; '.join(faults)}; remove {folder} and index again")


def _of_sqlite(error: sqlite3.DatabaseError, folder: Path) -> SemsearchError | None:
    text = str(error)
    if "disk is full" in text:
        return StorageError(f"the disk of {folder} is full; the index is unchanged; make room and try again")
    if "readonly" in text or "unable to open" in text:
        return StorageError(f"{folder} cannot be written ({text}{_theirs(folder)}); the index is unchanged")
    if "disk I/O error" in text and error.sqlite_errorname == "SQLITE_IOERR_SHMMAP":
        return StorageError(_without_maps(folder, text))
    if "disk I/O error" in text:
        return StorageError(
            f"the disk of {folder} is failing, or ulimit -f limits its files ({text}); the index is unchanged"
        )
    if "locked" in text:
        return IndexLocked(f"another program is writing to {folder / DATABASE}; wait for it, and try again")
    if "malformed JSON" not in text and any(sign in text for sign in _DAMAGED):
        row = _damaged_row(folder) if "Could not decode" in text else None
        return row or IndexDamaged(
            f"{folder / DATABASE} is damaged or not an index ({text}); remove {folder} and index again"
        )
    return None


def _of_system(error: OSError, folder: Path, *, writes: bool) -> SemsearchError | None:
    why = error.strerror or ""
    if error.errno in _UNREADABLE and not _is_within(error.filename, folder):
        return SourceError(f"{error.filename} cannot be read: {why}; the index is unchanged")
    if error.errno in _FULL:
        full = StorageError(f"the disk of {folder} is full; the index is unchanged; make room and try again")
        return full if writes else None
    if error.errno in _REFUSED:
        return StorageError(f"{error.filename or folder} cannot be written ({why}); the index is unchanged")
    if error.errno == errno.EIO:
        return StorageError(f"the disk of {folder} is failing ({why}); the index is unchanged")
    if error.errno == errno.ENODEV:
        return StorageError(_without_maps(folder, why))
    if error.errno in EXHAUSTED:
        what = f"{why}: {error.filename or folder}"
        return StorageError(f"{what}; the index is unchanged; {EXHAUSTED[error.errno]}")
    return None


def _damaged_row(folder: Path) -> IndexDamaged | None:
    """The error of the first row that does not match its checksum, with what mends it; None if there is none."""
    try:
        with closing(open_reader(folder)) as db:
            damage = next(find_damaged_rows(db), None)
    except (sqlite3.Error, OSError, ValueError, IndexDamaged):
        return None
    return None if damage is None else IndexDamaged(f"{folder / DATABASE} is damaged: {damage}")


def _is_within(name: object, folder: Path) -> bool:
    """Return whether the path that an error names is in the index; True if it names none."""
    return not isinstance(name, str) or Path(name).absolute().is_relative_to(folder.absolute())


def _without_maps(folder: Path, text: str) -> str:
    return (
        f"the disk of {folder} maps no files into memory ({text}), which a write needs; the index is unchanged; keep "
        "it on another disk, such as one of this machine"
    )


def _theirs(folder: Path) -> str:
    """The files of a database that this user may not write, where others may write to its folder."""
    files = [folder / f"{DATABASE}{suffix}" for suffix in ("", "-wal", "-shm")]
    theirs = [str(file) for file in files if file.exists() and not os.access(file, os.W_OK)]
    return f": {', '.join(theirs)} may be written by another user only" if theirs and os.access(folder, os.W_OK) else ""


# -- Disk space --------------------------------------------------------------------------------------------------------

_FEW = 16  # free pages, of 4 kB each, that are not worth a new database


def file_sizes(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the name and the size in bytes of each file of an index, without those that a writer deletes meanwhile."""
    for where, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                yield name, os.stat(os.path.join(where, name)).st_size  # noqa: PTH116, PTH118  # as os.walk gives them


def settle(db: sqlite3.Connection, *, most_free: float, wait: float) -> bool:
    """Merge the log into the database; return whether no reader, in any process, sees an earlier state than the last.

    Waits at most `wait` seconds for such readers to end. Deleted rows leave free pages, which later rows fill: if they
    are more than a share of the database, it is rewritten without them, which needs twice its space meanwhile.
    """
    (free,), (pages,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("freelist_count", "page_count"))
    if free > max(_FEW, most_free * pages):
        db.execute("VACUUM")
    db.execute(f"PRAGMA busy_timeout = {round(wait * 1000)}")
    is_busy, pages, merged = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not is_busy or 0 <= pages == merged  # busy and merged: readers of the last state keep the file's length


# -- The write transaction ---------------------------------------------------------------------------------------------


class CommitInDoubt(StorageError):
    """The disk failed at a commit. It is in the log, flushed or not, and who opens the database next may find it there.

    So what the new generation names must stay until the next write, which sees whether it is there.
    """


@contextmanager
def write_transaction(
    database: IndexDatabase, *, derived: bool = True, afterwards: Callable[[sqlite3.Connection], None] | None = None
) -> Iterator[sqlite3.Connection]:
    """Open a write transaction, which is committed at the end of the block. The writer's lock must be held.

    Without `derived` the list of segments may be damaged: all of them are about to be made again. `afterwards` tidies
    up when the write has been committed: what fails there is left to the next write. Raises IndexDamaged
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
            database.close()
            try:
                if afterwards is not None:
                    afterwards(db)
            except Exception:
                logger.info("%s could not be tidied up", database.folder, exc_info=True)
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
