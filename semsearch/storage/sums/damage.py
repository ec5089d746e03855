"""The errors of rows that are not as they were written: of which document they are, and what mends it.

A text cannot be made again from anything else in an index. It is read again from its file: the document is removed,
which asks nothing of the damaged rows, and indexed again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from semsearch.errors import IndexDamaged, index_command
from semsearch.system.working_folder import working_folder

_ABSOLUTE = """SELECT CASE WHEN roots.id IS NULL THEN documents.path WHEN roots.single THEN roots.path
    ELSE rtrim(roots.path, '/') || '/' || coalesce(documents.file, documents.path) END, roots.id IS NULL
    FROM documents LEFT JOIN roots ON roots.id = root_id WHERE """
_OF_PASSAGE = _ABSOLUTE + "first_passage <= :id AND :id < first_passage + passages ORDER BY first_passage DESC LIMIT 1"
_OF_DOCUMENT = _ABSOLUTE + "documents.id = :id"


def folder_of(db: sqlite3.Connection) -> Path:
    """The folder of an open index, relative to the current folder if it lies there."""
    folder = Path(db.execute("PRAGMA database_list").fetchone()[2]).parent
    here = working_folder()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


@contextmanager
def decoding_anything(db: sqlite3.Connection) -> Iterator[None]:
    """Read what is no UTF-8 as something else, instead of with an error that does not say which row it is of."""
    before = db.text_factory
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        yield
    finally:
        db.text_factory = before


def damaged_passage(db: sqlite3.Connection, passage: object) -> IndexDamaged:
    """The error of a passage whose row is not as it was written, or has gone."""
    return IndexDamaged(f"{_file(db)} is damaged: {told_of_passage(db, passage)}")


def damaged_document(db: sqlite3.Connection, document: object) -> IndexDamaged:
    """The error of a document whose row is not as it was written, or has gone."""
    return IndexDamaged(f"{_file(db)} is damaged: {told_of_document(db, document)}")


def damaged_whole(db: sqlite3.Connection, what: str) -> IndexDamaged:
    """The error of what no document can be named for."""
    return IndexDamaged(f"{_file(db)} is damaged: {what}; remove {folder_of(db)} and index again")


def told_of_passage(db: sqlite3.Connection, passage: object) -> str:
    """What is wrong with a passage, and what to do."""
    return f"passage {passage} {_named(db, _OF_PASSAGE, passage)}"


def told_of_document(db: sqlite3.Connection, document: object) -> str:
    """What is wrong with a document's own row, and what to do."""
    return f"the row of document {document} {_named(db, _OF_DOCUMENT, document)}"


def _named(db: sqlite3.Connection, query: str, id_: object) -> str:
    folder = folder_of(db)
    try:
        found = db.execute(query, {"id": id_}).fetchone()
    except sqlite3.Error:
        found = None
    if found is None or not isinstance(found[0], str):
        return f"is not as it was written; remove {folder} and index again"
    path, is_added = found
    removing = index_command("remove", "--index", folder, path)
    adding = "add it again" if is_added else f"run: {index_command('index', '--name', folder, path)}"
    return f"of {path} is not as it was written; run: {removing}, then {adding}"


def _file(db: sqlite3.Connection) -> str:
    return str(folder_of(db) / "index.sqlite")
