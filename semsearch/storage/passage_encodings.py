"""The cache of vectors that a reranker's model computed for passages: an SQLite file of its own beside the index's.

The key of a vector is the digest of the model and of the text, so a changed text has another key, and equal texts share
one. The file can be deleted at any time: vectors are computed again when they are needed. Where it grows too large, the
oldest vectors are deleted. Failures (a full disk, a read-only folder, damage, another process that writes for long)
cost time, never an answer.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np

from semsearch.arrays.types import Float16
from semsearch.errors import IndexDamaged
from semsearch.storage.connections import connect_to_file
from semsearch.storage.schema import stored_schema

logger = logging.getLogger(__name__)
Encodings = dict[bytes, Float16]  # by key
Result = TypeVar("Result")

NAME = "encodings.sqlite"
LIMIT = 256_000_000  # bytes: some 300,000 passages at 384 dimensions
_TABLE = "CREATE TABLE encodings (number INTEGER PRIMARY KEY, key BLOB UNIQUE, vector BLOB)"
_PATIENCE = 1  # second to wait for another process
_SHARE = 10  # a tenth of the vectors goes at a time
_ROOM = 16  # free pages in which a few vectors find room


def key_of(model: bytes, text: str) -> bytes:
    """The key of a text's vector by a model with a digest of at most 64 bytes."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=model, digest_size=16).digest()


def encodings_in(folder: Path) -> PassageEncodings:
    """The cache beside the index in a folder."""
    return PassageEncodings(folder / NAME)


def is_encodings_file(name: str) -> bool:
    """Return whether a file of an index's folder is this cache, or of a transaction on it."""
    return name.startswith(NAME)


def encodings_size(folder: Path) -> int:
    """The size of the cache beside an index in bytes; 0 if there is none."""
    try:
        return (folder / NAME).stat().st_size
    except OSError:
        return 0


class PassageEncodings:
    """The cache in one file. Threads and processes may share it: each call has a connection of its own."""

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        self._path = path
        self._limit = limit

    def get(self, keys: Sequence[bytes], dimension: int) -> Encodings:
        """The vectors there are of these keys, of so many dimensions."""
        if not keys or not self._path.exists():
            return {}
        return self._tried("ro", lambda db: _read(db, keys, dimension)) or {}

    def put(self, encodings: Encodings) -> None:
        """Keep vectors. Those that are kept already stay."""
        if encodings:
            self._tried("rwc", lambda db: self._write(db, encodings))

    def _write(self, db: sqlite3.Connection, encodings: Encodings) -> None:
        db.execute("PRAGMA synchronous = OFF")  # what a power failure damages is made again
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            db.execute(_TABLE)
        rows = [(key, vector.astype("<f2").tobytes()) for key, vector in encodings.items()]
        db.executemany("INSERT OR IGNORE INTO encodings (key, vector) VALUES (?, ?)", rows)
        self._make_room(db)
        db.execute("COMMIT")

    def _make_room(self, db: sqlite3.Connection) -> None:
        """Delete a share of the vectors, the oldest, where the file is larger than it may be and has no room."""
        pages, free, size = (
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        if pages * size > self._limit and free < _ROOM:
            first, last = db.execute("SELECT min(number), max(number) FROM encodings").fetchone()
            db.execute("DELETE FROM encodings WHERE number <= ?", (first + (last - first) // _SHARE,))

    def _tried(self, mode: str, use: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """Use the file; None if that fails. One that is damaged is deleted."""
        try:
            with closing(connect_to_file(self._path, mode, patience=_PATIENCE)) as db:
                for _, _, sql in stored_schema(db):
                    if sql != _TABLE:
                        raise ValueError(f"it has another table, view or trigger: {sql[:80]!r}")
                return use(db)
        except (sqlite3.OperationalError, OSError) as error:  # locked, read-only, full, or gone
            logger.debug("%s cannot be used: %s", self._path, error)
        except (sqlite3.DatabaseError, ValueError, IndexDamaged) as error:
            logger.debug("%s is damaged (%s); creating it again", self._path, error)
            self._delete()
        return None

    def _delete(self) -> None:
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:  # Windows: another process has it open
            logger.debug("%s could not be deleted: %s", self._path, error)


def _read(db: sqlite3.Connection, keys: Sequence[bytes], dimension: int) -> Encodings:
    marks = ", ".join("?" * len(keys))
    rows = db.execute(f"SELECT key, vector FROM encodings WHERE key IN ({marks})", list(keys))
    vectors = {bytes(key): np.frombuffer(vector, dtype="<f2").astype(np.float16) for key, vector in rows}
    return {
        key: vector for key, vector in vectors.items() if vector.shape == (dimension,) and np.isfinite(vector).all()
    }
