"""Segments that nobody can need any more are dropped, and nothing else."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small import small_vectors

from semsearch.arrays.id_ranges import IdRanges
from semsearch.index import Index
from semsearch.indexing.segment_merging import LONGEST_SECONDS, drop_unnamed, sweep
from semsearch.storage.database import IndexDatabase, write_transaction
from semsearch.storage.segments import Segment, get_retired, name_segments


def segment(name: str) -> Segment:
    return Segment("words", name, 1, IdRanges.of([(1, 1)]), "")


@contextmanager
def an_index(tmp_path: Path, *files: str) -> Iterator[tuple[sqlite3.Connection, Path]]:
    """An index whose manifest names "named", and has retired "retired" long ago and "leaving" just now."""
    Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)).close()
    store = IndexDatabase(tmp_path / "index")
    with write_transaction(store) as db:
        name_segments(db, [segment(name) for name in ("named", "retired", "leaving")], retired=[], number=1)
        name_segments(db, [], retired=[segment("retired"), segment("leaving")], number=2)
        db.execute("UPDATE retired SET retired_at = ? WHERE file = 'retired'", (time.time() - 2 * LONGEST_SECONDS,))
        for name in files:
            (store.folder / "segments" / name).touch()
        yield db, store.folder


def left(folder: Path) -> set[str]:
    return {path.name for path in (folder / "segments").iterdir()}


def test_what_was_never_named_goes_at_once(tmp_path: Path) -> None:
    with an_index(tmp_path, "named", "leaving", "retired", "stray", "passage-1.faiss.tmp") as (db, folder):
        drop_unnamed(db, folder)
        assert left(folder) == {"named", "leaving", "retired"}


def test_what_was_retired_goes_after_the_grace_period_and_is_then_forgotten(tmp_path: Path) -> None:
    with an_index(tmp_path, "named", "leaving", "retired", "stray") as (db, folder):
        sweep(db, folder)
        assert left(folder) == {"named", "leaving"}
        assert get_retired(db).keys() == {"leaving"}


def test_what_is_in_use_is_left_for_the_next_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "used by another process", os.fspath(path))

    with an_index(tmp_path, "named", "retired", "stray") as (db, folder):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "unlink", refuse)
            sweep(db, folder)
        assert left(folder) == {"named", "retired", "stray"}
        assert get_retired(db).keys() == {"retired"}
        sweep(db, folder)
        assert left(folder) == {"named"}
        assert not get_retired(db)
