"""An index whose rows were changed by hand, with the checksums that somebody who means harm would give them."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from semsearch.storage.checksums import update_digests, with_checksums
from semsearch.storage.database import IndexDatabase
from semsearch.storage.document_rows import DOCUMENT_COLUMNS, DOCUMENT_NUMBERS
from semsearch.storage.passage_rows import PASSAGE_COLUMNS, PASSAGE_NUMBERS
from semsearch.storage.schema import DATABASE
from semsearch.trust import _key, _write, external_references, record


def change(folder: Path, statement: str, *values: object) -> None:
    """Change the rows of an index as if semsearch had written them so, whatever the conditions of its columns say."""
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute(statement, values)
        reseal(db)
        db.commit()


def trust(folder: Path, *, copied_to: Path | None = None) -> None:
    """Allow an index, or a copy of it that is made later, what it names, as its user does with `semsearch trust`."""
    with closing(IndexDatabase(folder)) as database, database.reading() as db:
        if copied_to is None:
            record(database, external_references(database, db))
        else:
            _write(_key(IndexDatabase(copied_to)), external_references(database, db))


def reseal(db: sqlite3.Connection) -> None:
    """Give all rows and tables the checksums of what they are now."""
    with suppress(ValueError, TypeError, OverflowError):  # of what no checksum can be made, being no number
        records = {id_ for (id_,) in db.execute("SELECT passage_id FROM record_metadata")}
        for table, key, columns, numbers in (
            ("documents", "id", DOCUMENT_COLUMNS, DOCUMENT_NUMBERS),
            ("passages", "id", PASSAGE_COLUMNS, PASSAGE_NUMBERS),
            ("record_metadata", "passage_id", "passage_id, document_id, metadata", 2),
        ):
            rows = db.execute(f"SELECT {columns} FROM {table}").fetchall()  # noqa: S608  # our own names
            summed = with_checksums(rows, numbers, marked=records if table == "passages" else ())
            pairs = [(row[-1], row[0]) for row in summed]
            db.executemany(f"UPDATE {table} SET sum = ? WHERE {key} = ?", pairs)  # noqa: S608
    update_digests(db)
