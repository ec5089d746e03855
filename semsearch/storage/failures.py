"""Errors of SQLite, of the disk and of damaged rows in words: what was found, and what to do."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NoReturn

from semsearch.errors import EXHAUSTED, IndexDamaged, IndexLocked, SemsearchError, SourceError, StorageError
from semsearch.storage.audit import find_damaged_rows, find_wrong_values
from semsearch.storage.schema import DATABASE

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG, errno.EEXIST}
_UNREADABLE = {errno.EACCES, errno.EPERM, errno.EIO, errno.ELOOP, errno.ENAMETOOLONG}
_DAMAGED = ("malformed", "Could not decode", "not a database", "no such table", "no such column")
_SMALLEST = 1 << 15  # bytes of the file that SQLite's readers and writers share
_SHOWN = 3  # faults of a damaged index
# what code raises that reads rows which semsearch did not write
_ROW_ERRORS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError)


@contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the disk into errors that say what to do, in a `with` statement."""
    try:
        yield
    except Exception as error:
        raise_explained(error, folder)


def raise_explained(
    error: Exception, folder: Path, db: sqlite3.Connection | None = None, *, writes: bool = True
) -> NoReturn:
    """Raise an error that says what to do, or the same one, if that is a bug or says so itself.

    While nothing is written to the index, a disk that is full is another one: where the caller writes to. The rows are
    audited by the connection, if there is one: somebody else may have made or changed them.
    """
    explanation: SemsearchError | None = None
    unchanged = "; the index is unchanged" if writes else ""  # a read may come after a write
    if isinstance(error, sqlite3.DatabaseError):
        explanation = _explain_sqlite(error, folder, db, unchanged) or _damage(folder, db)
    elif isinstance(error, OSError) and not isinstance(error, SemsearchError):
        explanation = _explain_os(error, folder, unchanged)
    elif isinstance(error, _ROW_ERRORS) and not isinstance(error, SemsearchError):
        explanation = _damage(folder, db)
    if explanation is None:
        raise error
    raise explanation from error


def _damage(folder: Path, db: sqlite3.Connection | None) -> IndexDamaged | None:
    """The error with the first faults in the tables of an index; None if there are none."""
    try:
        faults = [] if db is None else list(islice(find_wrong_values(db), _SHOWN))
    except (sqlite3.Error, UnicodeDecodeError, IndexDamaged) as error:  # SQLite quotes a damaged schema
        faults = [] if str(error) == "interrupted" else [str(error)]  # a large index is not audited to the end
    damaged = f"{folder / DATABASE} is damaged: {'; '.join(faults)}; remove {folder} and index again"
    return IndexDamaged(damaged) if faults else None


def _explain_sqlite(
    error: sqlite3.DatabaseError, folder: Path, db: sqlite3.Connection | None, unchanged: str
) -> SemsearchError | None:
    text = str(error)
    if "disk is full" in text or ("disk I/O error" in text and _has_no_room(folder)):
        return StorageError(f"the disk of {folder} is full{unchanged}; make room and try again")
    if "readonly" in text or "unable to open" in text:
        return StorageError(
            f"{folder} cannot be {'written' if unchanged else 'read'} ({text}{_unwritable_files(folder)}){unchanged}"
        )
    if "disk I/O error" in text and error.sqlite_errorname == "SQLITE_IOERR_SHMMAP":
        return StorageError(_no_memory_maps(folder, text, unchanged))
    if "disk I/O error" in text:
        return StorageError(f"the disk of {folder} is failing, or ulimit -f limits its files ({text}){unchanged}")
    if "locked" in text:
        return IndexLocked(f"another program is writing to {folder / DATABASE}; wait for it, and try again")
    if "malformed JSON" not in text and any(sign in text for sign in _DAMAGED):
        row = _damaged_row(folder, db) if "Could not decode" in text else None
        return row or IndexDamaged(
            f"{folder / DATABASE} is damaged or not an index ({text}); remove {folder} and index again"
        )
    return None


def _explain_os(error: OSError, folder: Path, unchanged: str) -> SemsearchError | None:
    why = error.strerror or ""
    if error.errno in _UNREADABLE and not _is_within(error.filename, folder):
        return SourceError(f"{error.filename} cannot be read: {why}{unchanged}")
    if error.errno in _FULL:
        full = StorageError(f"the disk of {folder} is full{unchanged}; make room and try again")
        return full if unchanged else None
    if error.errno in _REFUSED:
        done = "written" if unchanged else "read"
        return StorageError(f"{error.filename or folder} cannot be {done} ({why}){unchanged}")
    if error.errno == errno.EIO:
        return StorageError(f"the disk of {folder} is failing ({why}){unchanged}")
    if error.errno == errno.ENODEV:
        return StorageError(_no_memory_maps(folder, why, unchanged))
    if error.errno in EXHAUSTED:
        what = f"{why}: {error.filename or folder}"
        return StorageError(f"{what}{unchanged}; {EXHAUSTED[error.errno]}")
    return None


def _has_no_room(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _SMALLEST
    except OSError:
        return False


def _damaged_row(folder: Path, db: sqlite3.Connection | None) -> IndexDamaged | None:
    """The error of the first row that does not match its checksum, with what mends it; None if there is none."""
    try:
        damage = None if db is None else next(find_damaged_rows(db), None)
    except (sqlite3.Error, ValueError, IndexDamaged):
        return None
    return None if damage is None else IndexDamaged(f"{folder / DATABASE} is damaged: {damage}")


def _is_within(name: object, folder: Path) -> bool:
    """Return whether the path that an error names is in the index; True if it names none."""
    return not isinstance(name, str) or Path(name).absolute().is_relative_to(folder.absolute())


def _no_memory_maps(folder: Path, text: str, unchanged: str) -> str:
    return (
        f"the disk of {folder} maps no files into memory ({text}), which a write needs{unchanged}; keep it on another "
        "disk, such as one of this machine"
    )


def _unwritable_files(folder: Path) -> str:
    """The files of a database that this user may not write, where others may write to its folder."""
    files = [folder / f"{DATABASE}{suffix}" for suffix in ("", "-wal", "-shm")]
    theirs = [str(file) for file in files if file.exists() and not os.access(file, os.W_OK)]
    return f": {', '.join(theirs)} may be written by another user only" if theirs and os.access(folder, os.W_OK) else ""
