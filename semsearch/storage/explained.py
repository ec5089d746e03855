"""Errors of SQLite and of the disk, told as what is the matter with the index and what to do."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path

from semsearch.errors import IndexDamaged, IndexLocked, SemsearchError, SourceError, StorageError
from semsearch.storage.connections import DATABASE, open_reader
from semsearch.system.lacking import LACKING

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG}
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
            raise SourceError(f"{error.filename} cannot be read: {error.strerror}; the index is as it was") from error
        if error.errno in _FULL:
            if not writes:
                raise
            raise StorageError(
                f"the disk of {folder} is full; the index is as it was: make room and try again"
            ) from error
        if error.errno in _REFUSED:
            path = error.filename or folder
            raise StorageError(f"{path} cannot be written ({error.strerror}); the index is as it was") from error
        if error.errno == errno.EIO:
            raise StorageError(f"the disk of {folder} is failing ({error.strerror}); the index is as it was") from error
        if error.errno in LACKING:
            what = f"{error.strerror}: {error.filename or folder}"
            raise StorageError(f"{what}; the index is as it was: {LACKING[error.errno]}") from error
        raise


def _of_rows(folder: Path) -> IndexDamaged | None:
    """The error of an index whose rows are not as semsearch writes them; None if they are."""
    from semsearch.storage.checks.audit import CURE, find_faults  # start-up time

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
    from semsearch.storage.sums.damaged_rows import first_damaged  # start-up time

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
        return IndexDamaged(f"{folder / DATABASE} holds metadata that is not JSON; semsearch verify says of what")
    if "disk is full" in text:
        return StorageError(f"the disk of {folder} is full; the index is as it was: make room and try again")
    if "readonly" in text or "unable to open" in text:
        return StorageError(f"{folder} cannot be written ({text}); the index is as it was")
    if "disk I/O error" in text:
        return StorageError(f"the disk of {folder} is failing ({text}); the index is as it was")
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
