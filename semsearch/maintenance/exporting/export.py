"""Export an index to a file, which appears whole or not at all, or to an open one."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast, get_args

from semsearch.errors import StorageError, UsageError
from semsearch.maintenance.exporting.file_formats import WRITERS, ExportFormat, format_of
from semsearch.maintenance.exporting.rows import Unit, export_rows
from semsearch.search.snapshot import Snapshot
from semsearch.storage.database import IndexDatabase
from semsearch.system.durable import write_durably
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3


def export(
    database: IndexDatabase,
    word_vectors: Callable[[], WordVectors],
    target: str | Path | IO[bytes],
    *,
    unit: Unit,
    format: ExportFormat | None,
    vectors: bool,
    filters: Sequence[str],
) -> int:
    """Write the rows of an index, as one generation has them, and return how many. `Index.export` says the rest."""
    if unit not in get_args(Unit):
        raise UsageError(f"an index is exported by {', '.join(get_args(Unit))}, not by {unit!r}")
    if format is not None and format not in WRITERS:
        raise UsageError(f"there is no format {format!r}; choose one of {', '.join(WRITERS)}")
    write = WRITERS[format or (format_of(Path(target)) if isinstance(target, str | Path) else "jsonl")]

    def source(db: sqlite3.Connection) -> Snapshot | None:
        return Snapshot(db, database, word_vectors) if vectors else None

    def write_to(out: IO[bytes]) -> int:
        with database.reading() as db:
            rows = export_rows(db, unit, vectors=source(db), filters=filters)
            return write(rows, out, unit, vectors)

    return _to_file(Path(target), write_to) if isinstance(target, str | Path) else write_to(target)


def _to_file(path: Path, write_to: Callable[[IO[bytes]], int]) -> int:
    done = [0]

    def fill(write: Callable[[Any], Any]) -> None:
        done[0] = write_to(cast(IO[bytes], _Sink(write)))

    try:
        write_durably(path, fill)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}; choose another place") from error
    return done[0]


class _Sink(io.RawIOBase):
    """A file that can only be written to, one piece after the other."""

    def __init__(self, write: Callable[[Any], Any]) -> None:
        self._write, self._size = write, 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._write(bytes(data))
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size
