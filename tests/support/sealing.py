"""An index whose rows were changed by hand, with the checksums that somebody who means harm would give them."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from semsearch.storage.checked_rows import add_document_sums, add_passage_sums
from semsearch.storage.checksums import update_digests
from semsearch.storage.connections import DATABASE
from semsearch.storage.database import IndexDatabase
from semsearch.trust import named_outside, record


def change(folder: Path, statement: str, *values: object) -> None:
    """Change the rows of an index as if semsearch had written them so."""
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        db.execute(statement, values)
        reseal(db)
        db.commit()


def trust(folder: Path, *, copied_to: Path | None = None) -> None:
    """Allow an index, or a copy of it that is made later, what it names, as its user does with `semsearch trust`."""
    with closing(IndexDatabase(folder)) as database, database.reading() as db:
        record(database if copied_to is None else IndexDatabase(copied_to), named_outside(database, db))


def reseal(db: sqlite3.Connection) -> None:
    """Give all rows and tables the checksums of what they are now."""
    with suppress(ValueError, TypeError, OverflowError):  # of what no checksum can be made, being no number
        for table in ("documents", "passages", "record_metadata"):
            db.execute(f"UPDATE {table} SET sum = NULL")  # noqa: S608  # our own names
        add_document_sums(db)
        add_passage_sums(db)
    update_digests(db)
