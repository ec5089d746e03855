"""The folders of indexes: create an index, delete it, and say what is in it.

Until the settings are committed, there is no index. A creation can be undone as long as nothing was put into the index,
and only under the writer's lock: an index that another process has begun to fill must not be removed.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence, Set
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from semsearch.dense.engines import claim_store, complete, release
from semsearch.errors import (
    IndexDamaged,
    IndexExists,
    IndexLocked,
    IndexNotFound,
    IndexOutdated,
    SemsearchError,
    StorageError,
    UsageError,
)
from semsearch.settings import Settings
from semsearch.storage.database import (
    READING_LOG,
    SEGMENTS,
    IndexDatabase,
    check,
    is_index,
    write_transaction,
)
from semsearch.storage.document_rows import count_contents
from semsearch.storage.failures import storage_errors
from semsearch.storage.known_files import get_roots
from semsearch.storage.schema import (
    DATABASE,
    DESCRIPTION,
    FORMAT,
    get_address,
    get_generation,
    get_meta,
    set_address,
    set_meta,
)
from semsearch.system.durable import sync_folder
from semsearch.system.locking import LOCK, NOTE, writer_lock

_DATABASE = (f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal", DATABASE)
_LATER = {"published.json", "publish.lock", "golden-runs.json"}
_OURS = {*_DATABASE, SEGMENTS, READING_LOG, LOCK, NOTE, "map.points"}

# -- Create ------------------------------------------------------------------------------------------------------------


def create(folder: Path, settings: Settings) -> None:
    """Create an index in a new or empty folder, or where an earlier creation was interrupted.

    Raises IndexExists if there is an index, IndexDamaged if the folder holds something else, StorageError, IndexLocked;
    UsageError for an invalid vector store, or one of another index.
    """
    with storage_errors(folder):
        _check_free(folder)
        if settings.store is not None:
            settings = replace(settings, store=complete(settings.store, folder.absolute().name))
        new_folders = missing_folders(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or error
            raise StorageError(f"{folder} cannot be created: {reason}; choose another folder") from error
        try:
            with writer_lock(folder):
                _check_free(folder)
                _fill(folder, settings)
                for path in (folder, *(path.parent for path in new_folders)):
                    sync_folder(path)  # so that the folder survives a power cut, too
        except (IndexExists, IndexDamaged, IndexLocked):
            raise  # it belongs to another process
        except BaseException:
            discard(folder)
            remove_empty(new_folders)
            raise


def _check_free(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise IndexDamaged(f"{folder} is a file; an index is a folder")
    if is_index(folder):
        raise IndexExists(f"an index already exists at {folder}; open it, or choose another folder")
    foreign = sorted(path.name for path in folder.iterdir() if not _is_ours(path.name)) if folder.is_dir() else []
    if foreign:
        raise IndexDamaged(
            f"{folder} contains {foreign[0]!r}, which does not belong to an index; choose an empty folder"
        )


def _is_ours(name: str) -> bool:
    return name in _OURS or name.endswith(".tmp") or name.startswith("map-")


def _fill(folder: Path, settings: Settings) -> None:
    (folder / SEGMENTS).mkdir(exist_ok=True)
    database = IndexDatabase(folder)
    database.create()
    address = None if settings.store is None else claim_store(settings.store)
    try:
        with write_transaction(database, is_new=True) as db:
            set_meta(db, "created", time.strftime("%Y-%m-%dT%H:%M:%S%z"))
            set_meta(db, "settings", settings.to_json())
            set_address(db, address)
            set_meta(db, "format", FORMAT)  # this makes it an index, committed with the rest
    except BaseException:
        if address is not None:
            with suppress(SemsearchError):
                release(address)
        raise


def missing_folders(folder: Path) -> list[Path]:
    """A folder and those above it, from the inside out, as far as they do not exist."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, given from the inside out, up to the first that is not empty."""
    with suppress(OSError):
        for folder in folders:
            if folder.exists():
                folder.rmdir()


# -- Remove ------------------------------------------------------------------------------------------------------------


def discard(folder: Path) -> None:
    """Undo a creation. An index that holds anything, or that another process is writing to, stays as it is."""
    with suppress(SemsearchError, OSError):
        with writer_lock(folder):
            address = None
            if is_index(folder):
                with closing(IndexDatabase(folder)) as database, database.reading() as db:
                    if count_contents(db).documents or get_generation(db) > 1:
                        return
                    address = get_address(db)
            _remove_ours(folder, _OURS)
            if address is not None:
                release(address)
        _leave(folder)


def delete(folder: Path) -> list[str]:
    """Delete an index; returns the names of what else its folder has, with which it stays.

    The database goes last: what an interrupted deletion leaves is still an index, which can be deleted. What an engine
    or a snapshot store keeps elsewhere stays there: another copy of the index may need it. Raises IndexNotFound,
    IndexDamaged for what is no index of ours, UsageError for a link, IndexLocked, StorageError.
    """
    if folder.is_symlink():
        raise UsageError(f"{folder} is a link to {folder.resolve()}; name that, or remove the link")
    with storage_errors(folder):
        with suppress(IndexOutdated):
            check(IndexDatabase(folder))
        with writer_lock(folder):
            foreign = _remove_ours(folder, _OURS | _LATER)
        _leave(folder)
        return foreign


def _remove_ours(folder: Path, names: Set[str]) -> list[str]:
    ours = [path for path in folder.iterdir() if _is_ours(path.name) or path.name in names]
    for path in sorted(ours, key=lambda file: file.name in _DATABASE and 1 + _DATABASE.index(file.name)):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink(missing_ok=True)  # SQLite may have removed its log
    if os.name != "nt":  # while it is held: who waits for it then locks a new one
        (folder / LOCK).unlink(missing_ok=True)
    return sorted(path.name for path in folder.iterdir() if path.name != LOCK)


def _leave(folder: Path) -> None:
    """Remove the folder if nothing is left in it. On Windows, which removes no open file, the lock goes only now."""
    if os.name == "nt":
        (folder / LOCK).unlink(missing_ok=True)
    remove_empty([folder])


# -- List --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """An entry in the list of a folder's indexes. `problem` says why the rest is not known."""

    name: str
    path: str
    documents: int = 0
    passages: int = 0
    sentences: int = 0
    size_bytes: int = 0  # of all files
    roots: tuple[str, ...] = ()  # the folders and files that it indexes
    problem: str = ""  # empty if there is none
    updated: str = ""  # date and time of the newest document in it; empty if there is none
    description: str = ""  # the sentence that `semsearch describe` has given it; empty if there is none


def file_sizes(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the name and the size in bytes of each file of an index, without those that a writer deletes meanwhile."""
    for where, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                yield name, os.stat(os.path.join(where, name)).st_size  # noqa: PTH116, PTH118  # as os.walk gives them


def summarize(folder: Path) -> IndexSummary | None:
    """The entry of an index in a list; None if its creation was interrupted: the next `index` completes it."""
    try:
        with closing(IndexDatabase(folder)) as database:
            check(database)
            with database.reading() as db:
                contents, description = count_contents(db), get_meta(db, DESCRIPTION) or ""
                roots = tuple(root.path for root in get_roots(db))
    except IndexNotFound:
        return None
    except SemsearchError as error:
        return IndexSummary(folder.name, str(folder), problem=str(error))
    return IndexSummary(
        name=folder.name,
        path=str(folder),
        documents=contents.documents,
        passages=contents.passages,
        sentences=contents.sentences,
        size_bytes=sum(size for _, size in file_sizes(folder)),
        roots=roots,
        updated=contents.updated,
        description=description,
    )
