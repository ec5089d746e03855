"""The tables of an index, through sqlite-utils' migrations.

    meta        what belongs to the index as a whole: format, settings, generation, the next ids
    roots       the folders and files that are indexed, with the globs given for them
    documents   a file below a root, or a text that a program added (root 0)
    passages    what is ranked: text, headings, place; and its sentences as an array of offsets
    segments    the files of vectors and postings of the current generation
    removed     passages and sentences that segments still hold although their rows are gone
    fit         the embedder as it was fitted, and the sums over today's sentences
    retired     files of earlier generations, to be swept once nobody can be reading them

Only writers come here, and only where `PRAGMA user_version` says that something is missing: sqlite-utils takes longer
to import than a query takes to answer.
"""

from __future__ import annotations

from pathlib import Path

from sqlite_utils import Database, Migrations

migrations = Migrations("semsearch")


@migrations()
def first_tables(db: Database) -> None:
    """Everything that version 1 needs."""
    db.table("meta").create({"key": str, "value": str}, pk="key", not_null={"value"})
    db.table("roots").create(
        {"id": int, "path": str, "single": int, "include": str, "exclude": str},
        pk="id",
        not_null={"path", "single", "include", "exclude"},
    )
    db.table("roots").create_index(["path"], unique=True)
    db.table("documents").create(
        {
            "id": int,
            "root_id": int,  # 0: added by a program, of no root
            "path": str,  # below the root, forward slashes, NFC; or the id that the program gave
            "file": str,  # the path as the disk spells it, where that is not NFC
            "title": str,
            "format": str,
            "metadata": str,
            "size": int,
            "mtime_ns": int,
            "checked_ns": int,  # when its content was last read: times at or after this prove nothing
            "digest": str,
            "first_passage": int,
            "passages": int,
            "first_sentence": int,
            "sentences": int,
            "words": int,
            "indexed_at": str,
        },
        pk="id",
        not_null={"root_id", "path", "title", "format", "metadata", "digest", "first_passage", "passages"},
    )
    db.table("documents").create_index(["root_id", "path"], unique=True)
    db.table("documents").create_index(["first_passage"])
    db.table("passages").create(
        {
            "id": int,
            "document_id": int,
            "first_sentence": int,
            "sentence_count": int,
            "line": int,
            "page": int,
            "headings": str,
            "text": str,
            "sentences": bytes,  # int32 little endian (n, 5): start, end, source start, source end, line
        },
        pk="id",
        not_null={"document_id", "first_sentence", "sentence_count", "line", "headings", "text", "sentences"},
    )
    db.table("segments").create(
        {
            "id": int,
            "kind": str,  # passage, sentence or words
            "file": str,
            "size": int,
            "count": int,
            "runs": bytes,  # semsearch.arrays.id_ranges: which ids lie at which rows
            "digest": str,
            "generation": int,
        },
        pk="id",
        not_null={"kind", "file", "size", "count", "runs", "digest", "generation"},
    )
    db.table("removed").create(
        {"first_passage": int, "passages": int, "first_sentence": int, "sentences": int, "generation": int},
        pk="first_passage",
    )
    db.table("fit").create(
        {"id": int, "card": str, "state": bytes, "statistics": bytes, "generation": int},
        pk="id",
        not_null={"card", "state", "statistics", "generation"},
    )
    db.table("retired").create({"file": str, "retired_at": float}, pk="file")
    db.execute("PRAGMA user_version = 1")


def migrate(path: Path) -> None:
    """Bring the database at `path` to the newest tables, each step in a transaction of its own."""
    database = Database(path, execute_plugins=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        migrations.apply(database)
    finally:
        database.close()
