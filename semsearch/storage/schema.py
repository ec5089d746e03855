"""The tables of an index, through sqlite-utils' migrations; a new one also raises SCHEMA in storage/database.

    meta        single values of the index as a whole: format, settings, generation, the next ids
    roots       the folders and files that are indexed, with the globs given for them
    documents   a file below a root, or a text that a program added (root 0)
    passages    the units of ranking: text, headings, line and page; and their sentences as an array of offsets
    segments    the files of vectors and postings of the current generation
    removed     passages and sentences that segments still hold although their rows are gone
    fit         the fitted embedder, and the sums over today's sentences
    unread      files below the roots that could not be read, and why
    readings    of each document: the length of its file's text, and its omissions
    retired     files of earlier generations, to be deleted once no reader can need them
    record_metadata   of passages that are records of a table, or lines of JSON: their chosen columns

Imported by writers only, and only if `PRAGMA user_version` says that something is missing: sqlite-utils takes longer to
import than a query takes to answer.
"""

from __future__ import annotations

from pathlib import Path

from sqlite_utils import Database, Migrations

from semsearch.storage.checksums import FirstSummedRows, set_first_summed_rows, update_digests
from semsearch.storage.meta import get_count

migrations = Migrations("semsearch")


@migrations()
def first_tables(db: Database) -> None:
    """Create the tables of version 1."""
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
        # what stands behind a blob is only found through all its pages
        {"id": int, "card": str, "generation": int, "sums": bytes, "state": bytes, "statistics": bytes},
        pk="id",
        not_null={"card", "state", "statistics", "generation"},
    )
    db.table("retired").create({"file": str, "retired_at": float}, pk="file")
    db.execute("PRAGMA user_version = 1")


@migrations()
def places_of_sentences(db: Database) -> None:
    """Where each sentence stands in the document's own terms. Passages that were there before have no places."""
    db.table("passages").add_column("places", str)  # JSON: (number of a sentence, the place from there on), or nothing
    db.execute("PRAGMA user_version = 2")


@migrations()
def what_was_not_taken_in(db: Database) -> None:
    """The files that were tried and not read, and of those that were, how much and what not.

    What an earlier version kept of the first as one JSON text is forgotten: such files are tried once more.
    """
    db.table("unread").create(
        {
            "path": str,  # canonical: absolute, forward slashes, NFC
            "size": int,
            "mtime_ns": int,
            "checked_ns": int,
            "max_bytes": int,  # the limit that held
            "reader": str,  # which would have read it, and the version of semsearch
            "lasting": int,  # whether it need not be tried again while it is the same
            "reason": str,
        },
        pk="path",
        not_null={"size", "mtime_ns", "checked_ns", "max_bytes", "reader", "lasting", "reason"},
    )
    db.table("readings").create(
        {"document_id": int, "characters": int, "omissions": str},  # of the file's text; JSON
        pk="document_id",
        not_null={"characters", "omissions"},
    )
    db.execute("DELETE FROM meta WHERE key = 'skipped'")
    db.execute("PRAGMA user_version = 3")


@migrations()
def metadata_of_records(db: Database) -> None:
    """The metadata of records in tables and JSON Lines, by passage."""
    db.table("record_metadata").create(
        {"passage_id": int, "document_id": int, "metadata": str},  # JSON
        pk="passage_id",
        not_null={"document_id", "metadata"},
    )
    db.table("record_metadata").create_index(["document_id"])
    db.execute("PRAGMA user_version = 4")


@migrations()
def checksums_of_segments(db: Database) -> None:
    """The checksums of each segment's blocks. Segments that were there before have none."""
    db.table("segments").add_column("sums", bytes)  # semsearch.system.checked_file
    db.execute("PRAGMA user_version = 5")


@migrations()
def languages_of_documents(db: Database) -> None:
    """The language of each document. It is not detected for existing ones."""
    db.table("documents").add_column("language", str, not_null_default="")
    db.execute("PRAGMA user_version = 6")


@migrations()
def checksums_of_rows(db: Database) -> None:
    """The checksums of rows, and digests of the small tables. Existing rows have none."""
    for table in ("documents", "passages", "record_metadata"):
        db.table(table).add_column("sum", int)  # semsearch.storage.checksums
    if "sums" not in db.table("fit").columns_dict:  # tables that an earlier version made
        db.table("fit").add_column("sums", bytes)  # semsearch.system.checked_file
    set_first_summed_rows(
        db.conn, FirstSummedRows(get_count(db.conn, "next_document"), get_count(db.conn, "next_passage"))
    )
    db.execute("PRAGMA user_version = 7")
    update_digests(db.conn)


def migrate(path: Path) -> None:
    """Bring the database at `path` to the newest tables, each step in a transaction of its own."""
    database = Database(path, execute_plugins=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        migrations.apply(database)
    finally:
        database.close()
