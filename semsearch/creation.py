"""A new index: an empty folder with tables and settings. Until the settings are committed, there is none."""

from __future__ import annotations

import time
from pathlib import Path

from semsearch.errors import IndexDamaged, IndexExists
from semsearch.locking import LOCK, NOTE, writer_lock
from semsearch.rows import set_meta
from semsearch.settings import Settings
from semsearch.store import DATABASE, FORMAT, SCHEMA, SEGMENTS, Store, explained, is_index

_OURS = {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal", SEGMENTS, LOCK, NOTE}


def create(folder: Path, settings: Settings) -> None:
    """Make an index in a new or empty folder, or where an earlier creation was interrupted.

    Raises IndexExists where there is one, IndexDamaged where there is something else, StorageError, IndexLocked.
    """
    with explained(folder):
        _check_free(folder)
        (folder / SEGMENTS).mkdir(parents=True, exist_ok=True)
        with writer_lock(folder):
            _check_free(folder)
            upgrade(Store(folder))
            with Store(folder).writing() as db:
                set_meta(db, "created", time.strftime("%Y-%m-%dT%H:%M:%S%z"))
                set_meta(db, "settings", settings.to_json())
                set_meta(db, "format", FORMAT)  # what makes it an index, committed with the rest


def upgrade(store: Store) -> None:
    """Bring the tables up to date."""
    if store.schema() != SCHEMA:
        from semsearch.migrations import migrate  # start-up time: only new and old indexes need sqlite-utils

        migrate(store.database)


def _check_free(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise IndexDamaged(f"{folder} is a file; an index is a folder")
    if is_index(folder):
        raise IndexExists(f"there is an index at {folder} already; open it, or choose another place")
    foreign = sorted(path.name for path in folder.iterdir() if not _is_ours(path.name)) if folder.is_dir() else []
    if foreign:
        raise IndexDamaged(f"{folder} holds {foreign[0]!r}, which is no part of an index; choose an empty folder")


def _is_ours(name: str) -> bool:
    return name in _OURS or name.endswith(".tmp")
