"""The tables of an index, and what each column may hold: a CHECK of the table, and what the audit asks for.

    meta        single values of the index as a whole: format, settings, generation, the next ids
    roots       the folders and files that are indexed, with the globs given for them
    documents   a file below a root, or a text that a program added (root 0)
    passages    the units of ranking: text, headings, line and page; and their sentences as an array of offsets
    segments    the files of vectors and postings of the current generation
    removed     passages and sentences that segments still hold although their rows are gone
    fit         the fitted embedder
    unread      files below the roots that could not be read, and why
    readings    of each document: the length of its file's text, and its omissions
    record_metadata   of passages that are records of a table, or lines of JSON: their chosen columns

The single values are read and written here, too. There are no migrations: an index with other tables is deleted, and
made again from its files.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import NamedTuple

from semsearch.errors import IndexDamaged, IndexOutdated, index_command

DATABASE = "index.sqlite"  # the file in an index's folder
FORMAT = "semsearch index 2"
SCHEMA = 10  # PRAGMA user_version; those of `semsearch index 1` were 1 to 7

_KINDS = {  # of columns: SQLite's type, and the condition
    "count": ("INTEGER", "typeof({0}) = 'integer' AND {0} BETWEEN 0 AND 4503599627370496"),
    "integer": ("INTEGER", "typeof({0}) = 'integer'"),
    "flag": ("INTEGER", "typeof({0}) = 'integer' AND {0} IN (0, 1)"),
    "time": ("INTEGER", "typeof({0}) = 'integer' AND {0} BETWEEN -4611686018427387904 AND 4611686018427387904"),  # ns
    "text": ("TEXT", "typeof({0}) = 'text'"),
    "path": ("TEXT", "typeof({0}) = 'text' AND instr({0}, char(0)) = 0"),
    "list": ("TEXT", "typeof({0}) = 'text' AND substr({0}, 1, 1) = '['"),  # JSON, whose functions no CHECK may call
    "texts": ("TEXT", "typeof({0}) = 'text' AND substr({0}, 1, 1) = '['"),
    "pairs": ("TEXT", "typeof({0}) = 'text' AND substr({0}, 1, 1) = '['"),  # of a number and a text
    "object": ("TEXT", "typeof({0}) = 'text' AND substr({0}, 1, 1) = '{{'"),
    "bytes": ("BLOB", "typeof({0}) = 'blob'"),
    "numbers": ("BLOB", "typeof({0}) = 'blob' AND length({0}) % 8 = 0"),  # of 64 bits
    "ranges": ("BLOB", "typeof({0}) = 'blob' AND length({0}) % 16 = 0"),  # pairs of 64 bits
    "sentences": ("BLOB", "typeof({0}) = 'blob' AND length({0}) = 20 * sentence_count"),
}


COLUMNS: dict[str, dict[str, str]] = {  # by table; the first column is its key; a kind that ends in ? allows NULL
    "meta": {"key": "text", "value": "text"},
    "roots": {
        "id": "count",
        "path": "path",
        "single": "flag",  # a file, not a folder
        "include": "texts",
        "exclude": "texts",
        "text_columns": "texts",  # chosen for tables and records
        "metadata_columns": "texts",
        "options": "text",  # by which the store of a URI is reached
    },
    "documents": {
        "id": "count",
        "root_id": "count",  # 0: added by a program, of no root
        "path": "path",  # below the root, forward slashes, NFC; or the id that the program gave
        "file": "path?",  # the path as the disk spells it, where that is not NFC
        "title": "text",
        "format": "text",
        "metadata": "object",
        "size": "count",
        "mtime_ns": "time",
        "checked_ns": "time",  # when its content was last read: times at or after this prove nothing
        "digest": "text",
        "first_passage": "count",
        "passages": "count",
        "first_sentence": "count",
        "sentences": "count",
        "words": "count",
        "indexed_at": "text",
        "language": "text",  # "" if it is not known
        "reader": "text",  # the versions that read it, and the columns: semsearch.sources.unchanged
        "sum": "integer",  # semsearch.storage.checksums, as in the other tables
    },
    "passages": {
        "id": "count",
        "document_id": "count",
        "first_sentence": "count",
        "sentence_count": "count",
        "line": "count",
        "page": "count?",
        "headings": "texts",
        "text": "text",
        "places": "pairs?",  # (number of a sentence, the place from there on)
        "sentences": "sentences",  # (n, 5) int32, little endian: start, end, source start, source end, line
        "sum": "integer",
    },
    "record_metadata": {"passage_id": "count", "document_id": "count", "metadata": "object", "sum": "integer"},
    "segments": {
        "id": "count",
        "kind": "text",  # passage, sentence, words or topics
        "file": "text",
        "size": "count",
        "count": "count",
        "runs": "ranges",  # semsearch.arrays.id_ranges: which ids lie at which rows
        "digest": "text",
        "sums": "numbers",  # semsearch.system.durable
        "generation": "count",
    },
    "removed": {
        "first_passage": "count",
        "passages": "count",
        "first_sentence": "count",
        "sentences": "count",
        "generation": "count",
    },
    "fit": {  # what stands behind a blob is only found through all its pages: the large ones come last
        "id": "count",
        "card": "object",
        "generation": "count",
        "sentences": "count",  # number of sentences that it was fitted to
        "sums": "numbers",
        "state": "bytes",
    },
    "unread": {
        "path": "text",  # canonical: absolute, forward slashes, NFC
        "size": "count",
        "mtime_ns": "time",
        "checked_ns": "time",
        "max_bytes": "count",  # the limit that held
        "reader": "text",  # reader that would have read it, and the version of semsearch
        "lasting": "flag",  # whether it need not be tried again while it is the same
        "reason": "text",
    },
    "readings": {"document_id": "count", "characters": "count", "omissions": "list"},  # of the file's text
}
_INDEXES = (
    "CREATE UNIQUE INDEX roots_by_path ON roots (path)",
    "CREATE UNIQUE INDEX documents_by_path ON documents (root_id, path)",
    "CREATE INDEX documents_by_passage ON documents (first_passage)",
    "CREATE INDEX documents_by_reader ON documents (root_id, format, reader)",
    "CREATE INDEX record_metadata_by_document ON record_metadata (document_id)",
)


def condition_of(column: str, kind: str) -> str:
    """The SQL condition that the values of a column fulfil."""
    condition = _KINDS[kind.rstrip("?")][1].format(column)
    return f"({column} IS NULL OR ({condition}))" if kind.endswith("?") else condition


def _table(name: str) -> str:
    """The SQL that creates a table."""
    (key, key_kind), *columns = COLUMNS[name].items()
    lines = [f"{key} {_KINDS[key_kind][0]} NOT NULL PRIMARY KEY"]
    for column, kind in columns:
        type_ = _KINDS[kind.rstrip("?")][0] + ("" if kind.endswith("?") else " NOT NULL")
        lines.append(f"{column} {type_} CHECK ({condition_of(column, kind)})")
    return f"CREATE TABLE {name} (\n    " + ",\n    ".join(lines) + "\n)"


_STATEMENTS = (*map(_table, COLUMNS), *_INDEXES)
_EXPECTED = frozenset(  # as SQLite keeps them: kind, name, SQL
    [("table", name, _table(name)) for name in COLUMNS]
    + [("index", sql.split(" ON ")[0].split()[-1], sql) for sql in _INDEXES]
)


def create_tables(db: sqlite3.Connection) -> None:
    """Create the tables in an empty database, in one transaction; none if they are there already."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("BEGIN IMMEDIATE")
    if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
        for statement in _STATEMENTS:
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {SCHEMA}")
    db.execute("COMMIT")


def stored_schema(db: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """The kind, name and SQL of all that a database has: to be looked at before any other statement reads its schema.

    SQLite reads the rows of a table `sqlite_stat1` as soon as it loads a schema, and so computes its generated columns:
    one sent by somebody else may take hours. So expressions are not even parsed here.
    """
    depth = db.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 1)
    db.execute("PRAGMA writable_schema = ON")  # what cannot be parsed is passed over
    if not db.execute("PRAGMA writable_schema").fetchone()[0]:  # as in the SQLite of macOS
        db.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, depth)
    try:
        rows = db.execute("SELECT type, name, sql FROM sqlite_master").fetchmany(100)
    finally:
        db.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, depth)
        db.execute("PRAGMA writable_schema = RESET")
    return [row for row in rows if row[2] is not None]  # a key's own index has no SQL


def check_tables(db: sqlite3.Connection, path: Path) -> None:
    """Check that a database has our tables and nothing else: a view, a trigger, a generated column or an index on an
    expression could compute something when it is read. To be called before any other statement.

    A database without tables passes: the creation of its index was interrupted. Raises IndexOutdated, IndexDamaged.
    """
    rows = stored_schema(db)
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if not rows or (version == SCHEMA and {*rows} == _EXPECTED and len(rows) == len(_EXPECTED)):
        return
    names = {name for _, name, _ in rows}
    if "meta" not in names:
        raise IndexDamaged(f"{path} is the database of another program, not a semsearch index")
    if version > SCHEMA:
        raise IndexDamaged(
            f"{path.parent} has tables of version {version}, and this semsearch knows {SCHEMA}; use a newer semsearch"
        )
    if version < SCHEMA:
        raise IndexOutdated(
            f"the index {path.parent} was made by an earlier semsearch; delete it "
            f"({index_command('delete', path.parent)}), and index its files again"
        )
    for row in rows:
        if row not in _EXPECTED:
            raise IndexDamaged(
                f"{path} has the {row[0]} {row[1]!r}, which semsearch never creates so; use an index that semsearch "
                "wrote"
            )
    raise IndexDamaged(f"{path} lacks tables; remove {path.parent} and index again")


# -- Single values of the index as a whole -----------------------------------------------------------------------------


DIGESTS = "digests"  # semsearch.storage.checksums
DESCRIPTION = "description"  # a sentence that says what an index holds
LONGEST_DESCRIPTION = 300  # characters
LANGUAGES = "languages"
_URI, _OWNER = "vector_store", "vector_store_owner"  # none with FAISS segments


def get_meta(db: sqlite3.Connection, key: str) -> str | None:
    """Read a value by its key; None if it was never set."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def get_all_meta(db: sqlite3.Connection) -> dict[str, str]:
    """Read all values by their keys."""
    return dict(db.execute("SELECT key, value FROM meta"))


def set_meta(db: sqlite3.Connection, key: str, value: object) -> None:
    """Set the value of a key, in place of an earlier one."""
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, str(value))
    )


def delete_meta(db: sqlite3.Connection, *keys: str) -> None:
    """Delete the values of keys."""
    db.executemany("DELETE FROM meta WHERE key = ?", [(key,) for key in keys])


def get_generation(db: sqlite3.Connection) -> int:
    """Read the number of the newest generation; 0 before the first."""
    return int(get_meta(db, "generation") or 0)


def get_stamp(db: sqlite3.Connection) -> tuple[int, str]:
    """The identity of a generation, also among other indexes at this path: its number and digests."""
    values = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('generation', ?)", (DIGESTS,)))
    return int(values.get("generation") or 0), str(values.get(DIGESTS))


def set_languages(db: sqlite3.Connection) -> None:
    """Store the number of documents in each language."""
    rows = db.execute("SELECT language, count(*) FROM documents WHERE language != '' GROUP BY language").fetchall()
    set_meta(db, LANGUAGES, json.dumps(dict(rows)))


class StoreAddress(NamedTuple):
    """Where an engine keeps the vectors of an index: a URI, and the random owner id of the index there."""

    uri: str
    owner: str


def get_address(db: sqlite3.Connection) -> StoreAddress | None:
    """Read where the vectors of an index are kept; None if they are in its folder."""
    uri = get_meta(db, _URI)
    return None if uri is None else StoreAddress(uri, get_meta(db, _OWNER) or "")


def set_address(db: sqlite3.Connection, address: StoreAddress | None) -> None:
    """Write where the vectors of an index are kept."""
    if address is None:
        delete_meta(db, _URI, _OWNER)
        return
    set_meta(db, _URI, address.uri)
    set_meta(db, _OWNER, address.owner)


def get_languages(db: sqlite3.Connection) -> dict[str, int]:
    """The number of documents of each language, most first."""
    counts: dict[str, int] = json.loads(get_meta(db, LANGUAGES) or "{}")
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
