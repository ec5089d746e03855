"""The SQLite database of an index: connections, read and write transactions, and whether a folder has one.

Readers open it read-only and never lock; each search is one read transaction, which sees one whole generation. The
COMMIT of the write transaction is the one point at which a new generation begins: segment files are whole on disk
before, and whatever ends it earlier leaves the index as it was.

On a read-only medium, SQLite cannot keep its shared-memory file beside the index, and the database is opened as
immutable. SQLite keeps reading a file that was deleted or renamed, so each transaction first checks that the database
is still the file that the pooled connections have open. After a fork, as by `multiprocessing` on Linux, the child has
copies of memory, but neither the threads nor the locks on files, so it opens its own connections.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote
from weakref import WeakSet

from semsearch.errors import IndexDamaged, IndexNotFound, IndexOutdated, SemsearchError, StorageError, UsageError
from semsearch.storage.checksums import check_digests, update_digests
from semsearch.storage.failures import raise_explained, storage_errors
from semsearch.storage.schema import DATABASE, DESCRIPTION, FORMAT, check_tables, create_tables, get_meta
from semsearch.system.durable import has_locks
from semsearch.system.source_files import NotTheFile, opened_source

logger = logging.getLogger(__name__)
SEGMENTS, READING_LOG = "segments", "reading-log"  # folders of an index; the log is of an interrupted write
_UNLOCKED = "writer.json"  # a file of an index folder that nobody locks
_BUSY_SECONDS = 10.0  # to wait for another process that has the database locked
_CACHE = -65536  # kilobytes of pages a connection may keep
_LIMITS = {  # against a forged index, which could make SQLite build anything
    sqlite3.SQLITE_LIMIT_LENGTH: 1 << 28,  # bytes of a text or blob: the largest of ours is a fit, of some megabytes
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1 << 20,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 10,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")  # the end of a rollback journal that names another file
FileId = tuple[int, int]  # device and inode; as long as a connection has a file open, no other file gets them
_IDLE = 8  # readers' connections that are kept open between transactions

# -- Connections -------------------------------------------------------------------------------------------------------


class Connection(sqlite3.Connection):
    """A connection that knows which version of its schema was compared with ours."""

    checked_schema = -1

    def check_schema(self, path: Path) -> None:
        """Check the tables, if they are not those that were checked last. Raises IndexOutdated, IndexDamaged."""
        (version,) = self.execute("PRAGMA schema_version").fetchone()
        if version != self.checked_schema:
            check_tables(self, path)
            self.checked_schema = version


def connect(path: Path, mode: str, *, busy_seconds: float = _BUSY_SECONDS) -> Connection:
    """Connect to the database of an index; nothing begins a transaction by itself. `mode`: as in SQLite's URIs.

    `busy_seconds`: to wait for another process that has it locked. To read or write rows, use `IndexDatabase`. Raises
    IndexOutdated, IndexDamaged for other tables than ours.
    """
    connection = connect_to_file(path, mode, busy_seconds=busy_seconds)
    try:
        connection.check_schema(path)
        connection.execute(f"PRAGMA cache_size = {_CACHE}")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_file(path: Path, mode: str, *, busy_seconds: float = _BUSY_SECONDS) -> Connection:
    """Connect to an SQLite file that may have any tables: look at its `stored_schema` before any other statement."""
    _check_journal(path)
    address = f"file:{quote(str(path.absolute()).replace(chr(92), '/'))}?{mode if '=' in mode else 'mode=' + mode}"
    if mode == "rwc" and not path.exists():
        with suppress(OSError):  # SQLite raises it again
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o666))  # for whom the umask says; SQLite says 0644 at most
    connection = sqlite3.connect(
        address, uri=True, isolation_level=None, check_same_thread=False, timeout=busy_seconds, factory=Connection
    )
    try:
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        if "rw" not in mode:
            connection.set_progress_handler(StepLimit(), StepLimit.STEPS)
        connection.execute("PRAGMA trusted_schema = OFF")  # which loads no schema
    except BaseException:
        connection.close()
        raise
    return connection


def _check_journal(path: Path) -> None:
    """Refuse a rollback journal that is no plain file, or that names another file, which SQLite would delete."""
    journal = path.with_name(f"{path.name}-journal")
    try:
        with opened_source(journal) as (descriptor, status):
            os.lseek(descriptor, max(0, status.st_size - len(_NAMES_ANOTHER)), os.SEEK_SET)
            is_plain = os.read(descriptor, len(_NAMES_ANOTHER)) != _NAMES_ANOTHER
    except (FileNotFoundError, NotADirectoryError):
        is_plain = not journal.is_symlink()
    except NotTheFile:
        is_plain = False
    if not is_plain:
        raise IndexDamaged(f"{journal} is no journal of an index; remove it")


def open_reader(folder: Path) -> Connection:
    """Connect to the database of an index folder to read it, without ever locking it."""
    path = folder / DATABASE
    try:
        return connect(path, "ro") if has_locks(folder / _UNLOCKED) else connect(path, "ro", busy_seconds=0)
    except sqlite3.OperationalError:
        log = path.with_name(DATABASE + "-wal")
        if log.exists() and log.stat().st_size:
            raise  # the newest commits are in the log, which SQLite reads only in a writable folder
        return connect(path, "immutable=1")


class StepLimit:
    """SQLite's progress handler: interrupts what takes far longer than reading any index of ours, and at a Ctrl-C.

    In a forged index, each document may claim all passages.
    """

    STEPS = 1 << 20  # instructions of SQLite's virtual machine between two calls: some ten milliseconds
    MOST_CALLS = 500  # in a read transaction, half a minute; comparing the rows of a million documents takes thirty

    def __init__(self) -> None:
        self._calls = 0

    def __call__(self) -> bool:
        self._calls += 1
        return self.is_exceeded

    @property
    def is_exceeded(self) -> bool:
        """Whether a transaction has computed for so long that its index must be forged."""
        return self._calls > self.MOST_CALLS


def file_id(path: Path) -> FileId | None:
    """The identity of the file at a path, which another file of that name does not have; None if there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  # a quarter of Path's time, and every query pays it
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


# -- Read transactions -------------------------------------------------------------------------------------------------


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
        self._local = threading.local()  # db: the connection of the transaction that this thread is in
        self._lock = threading.Lock()  # guards the attributes that follow
        self._idle: list[Connection] = []  # readers' connections that no transaction uses
        self._file: FileId | None = None  # the file that they read
        self._times_closed = 0
        self._times_replaced = 0
        weakref.finalize(self, _close_all, self._idle)  # for an index that nobody closed
        _databases.add(self)

    @property
    def path(self) -> Path:
        """The path of the SQLite file."""
        return self.folder / DATABASE

    @property
    def shown_name(self) -> str:
        """The index in messages: its folder, or the address that it is read from."""
        return str(self.folder)

    @property
    def times_replaced(self) -> int:
        """How often the database was replaced by another file, as of the beginning of this thread's transaction."""
        return getattr(self._local, "times_replaced", self._times_replaced)

    def check_writable(self) -> None:
        """Check that the index can be written here. A copy of what is written elsewhere raises UsageError."""

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction: all that is read inside is of one generation. A nested one is the same one."""
        if (current := getattr(self._local, "db", None)) is not None:
            yield current
            return
        self.check_open()
        db: Connection | None = None
        limit, times_closed, is_done = StepLimit(), 0, False
        try:
            db, times_closed = self._borrow()
            db.set_progress_handler(limit, StepLimit.STEPS)
            db.execute("BEGIN")
            self._local.db = db
            db.check_schema(self.path)
            yield db
            is_done = True  # after an error, rows may be unread, which keep SQLite from ending the transaction
        except Exception as error:
            if isinstance(error, sqlite3.OperationalError) and str(error) == "interrupted":
                raise _endless(self.folder) if limit.is_exceeded else KeyboardInterrupt from error
            raise_explained(error, self.folder, db, writes=False)
        finally:
            self._local.db = None
            if db is not None and is_done:
                self._give_back(db, times_closed)
            elif db is not None:
                db.close()

    def _borrow(self) -> tuple[Connection, int]:
        """A connection to the present file, the last used one, since it has most pages cached; and `_times_closed`, for
        `_give_back`. Raises IndexNotFound.
        """
        file = file_id(self.path)
        with self._lock:
            stale: list[Connection] = []
            if file != self._file:
                if self._file is not None:
                    self._times_replaced += 1
                    stale = self._give_up()
                self._file = file
            times_closed, self._local.times_replaced = self._times_closed, self._times_replaced
            db = self._idle.pop() if self._idle else None
        _close_all(stale)
        if file is None:
            raise IndexNotFound(f"the index at {self.folder} was deleted or moved")
        return db or open_reader(self.folder), times_closed

    def _give_back(self, db: Connection, times_closed: int) -> None:
        db.set_progress_handler(None, 0)
        db.execute("ROLLBACK")
        with self._lock:
            keep = times_closed == self._times_closed and len(self._idle) < _IDLE
            if keep:
                self._idle.append(db)
        if not keep:
            db.close()

    def _give_up(self) -> list[Connection]:
        """Empty the pool; the idle connections, which are to be closed. Those in use close at the end of theirs."""
        self._times_closed += 1
        return [self._idle.pop() for _ in range(len(self._idle))]

    def close_readers(self) -> None:
        """Close the readers' connections; one that is in a transaction is closed at the end of it."""
        with self._lock:
            idle = self._give_up()
        _close_all(idle)

    def close(self) -> None:
        """Close the files. They are opened again with the next use."""
        self.close_readers()

    def check_open(self) -> None:
        """Check that the program that opened the index has not closed it. Raises UsageError."""
        if self.is_closed:
            raise UsageError(f"the index {self.shown_name} is closed; open it again: Index.open({self.shown_name!r})")

    @contextmanager
    def reading_after_write(self) -> Iterator[sqlite3.Connection]:
        """A read transaction after a write: at its end, too, SQLite merges the log into the database."""
        with storage_errors(self.folder):
            self.close()
            with closing(connect(self.path, "rw")) as db:
                db.execute("BEGIN")
                yield db

    def create(self) -> None:
        """Create the tables; none if they are there already."""
        with storage_errors(self.folder), closing(connect(self.path, "rwc")) as db:
            create_tables(db)

    def last_written(self) -> tuple[int, ...]:
        """Numbers that change with every commit: the times and sizes of the database and of its log."""
        numbers: list[int] = []
        for file in (self.path, self.path.with_name(f"{DATABASE}-wal")):
            with suppress(FileNotFoundError):
                status = file.stat()
                numbers += [status.st_mtime_ns, status.st_size]
        return tuple(numbers)


def _endless(folder: Path) -> IndexDamaged:
    return IndexDamaged(
        f"{folder / DATABASE} takes longer to read than any index that semsearch wrote; remove {folder} and index again"
    )


def _close_all(connections: list[Connection]) -> None:
    for db in connections:
        db.close()


_databases: WeakSet[IndexDatabase] = WeakSet()


def _close_all_readers() -> None:
    """Before a fork: another process has none of the locks that SQLite believes these connections to have."""
    for database in list(_databases):
        database.close_readers()


def _renew_locks() -> None:
    """In the child of a fork, where the thread that held a lock may not exist."""
    for database in list(_databases):
        database._lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing is forked
    os.register_at_fork(before=_close_all_readers, after_in_child=_renew_locks)


# -- The write transaction ---------------------------------------------------------------------------------------------


class CommitInDoubt(StorageError):
    """The disk failed at a commit, which may or may not be in the log when the database is opened next.

    So the files of the new generation must stay until the next write, which sees whether it was committed.
    """


@contextmanager
def write_transaction(
    database: IndexDatabase,
    *,
    is_new: bool = False,
    check_manifest: bool = True,
    after_commit: Callable[[sqlite3.Connection], None] | None = None,
) -> Iterator[sqlite3.Connection]:
    """Open a write transaction, which is committed at the end of the block. The writer's lock must be held.

    An index that `is_new` has no digests yet. `check_manifest`: compare also the list of segments with its digest.
    `after_commit` tidies up; its errors are only logged. Raises IndexDamaged if the small tables do not match their
    digests, CommitInDoubt if the disk fails at the end, IndexNotFound if the index was deleted, moved or replaced
    meanwhile.
    """
    database.check_open()
    database.check_writable()
    db: Connection | None = None
    try:
        db = connect(database.path, "rw")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("BEGIN IMMEDIATE")
        file = file_id(database.path)  # not before: opening a file of a container's image to write copies it
        try:
            if not is_new:
                check_digests(db, derived=check_manifest)
            yield db
            update_digests(db)
            _check_same_file(database, file)
        except BaseException as error:
            if db.in_transaction:
                db.execute("ROLLBACK")
            if isinstance(error, Exception):
                _check_same_file(database, file)
            raise
        _commit(db, database)
        database.close()
        try:
            if after_commit is not None:
                after_commit(db)
        except Exception:
            logger.info("%s could not be tidied up", database.folder, exc_info=True)
    except Exception as error:
        raise_explained(error, database.folder, db)
    finally:
        database.close()  # so that the writer's connection is the last one, which merges the log into the database
        if db is not None:
            db.close()


def _check_same_file(database: IndexDatabase, file: FileId | None) -> None:
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


_FEW_PAGES = 16  # free pages, of 4 kB each, for which a database is not rewritten
WAIT_SECONDS = 0.5  # for searches that began before the commit; they take some milliseconds


def checkpoint(db: sqlite3.Connection, *, most_free: float) -> bool:
    """Merge the log into the database; return whether all readers, in any process, see its last state by now.

    Waits a moment for readers of an earlier state to end. Deleted rows leave free pages, which later rows fill: if they
    are more than the share `most_free`, the database is rewritten without them, which needs twice its space meanwhile.
    """
    (free,), (pages,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("freelist_count", "page_count"))
    if free > max(_FEW_PAGES, most_free * pages):
        db.execute("VACUUM")
    db.execute(f"PRAGMA busy_timeout = {round(WAIT_SECONDS * 1000)}")
    is_busy, pages, merged = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not is_busy or 0 <= pages == merged  # busy and merged: readers of the last state keep the file's length


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
        default = database.folder.parent / "indexes" / database.folder.name  # where semsearch index puts it
        advice = f"did you mean {default}?" if has_database(default) else "create one with: semsearch index PATH"
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


def check_primary_tables(database: IndexDatabase) -> None:
    """Compare the settings, roots and counts of an index with their digest. Raises IndexDamaged."""
    with database.reading() as db:
        check_digests(db, derived=False)


def description_of(folder: Path) -> str:
    """The description of an index; "" if it has none, or cannot be read."""
    with closing(IndexDatabase(folder)) as database:
        try:
            check(database)
            with database.reading() as db:
                return get_meta(db, DESCRIPTION) or ""
        except SemsearchError:
            return ""
