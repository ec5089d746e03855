"""Checksums of rows, digests of small tables, and the errors that report damage, with the commands that repair it.

SQLite returns what the disk returns. The checksum of a row has 64 bits. The lower half is the CRC-32 of all columns,
ids included, so it also detects a row in another's place: it detects every change of up to 32 bits in a row, and misses
any other with a chance of 2⁻³². The upper half covers the numbers by which candidates are ranked before their texts are
read: a multilinear hash modulo a prime, which SQL computes where the rows are; its highest bit is a mark. Rows of an
earlier version have no checksum; the index keeps the first row ids that have.

A text cannot be derived from anything else in an index. A damaged document is removed, which needs none of the damaged
rows, and its file is indexed again.

Two digests cover the small tables. One is of what was given: single values, roots, and the counts of documents and
records. The other is of what is derived: the manifest of segments, the removed ids and the fit, which `--rebuild` makes
again. A write compares both before it begins, so that it never confirms damage, and updates them at its end; a reader
compares them when it opens a generation. Nothing here protects from deliberate changes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from operator import index, mul
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from semsearch.errors import IndexDamaged, index_command, rebuild_command
from semsearch.frozen import blake2b
from semsearch.storage.meta import get_meta, set_meta
from semsearch.system.locations import working_folder

_SIGN = -1 << 63
_LOWER = 0xFFFFFFFF
_PRIME = (1 << 31) - 1
_MARK = 0xA5A5A5A5  # by which the lower half differs in a row that is marked
_FACTORS = (0x9E3779, 0x85EBCA, 0xC2B2AE, 0x27D4EB)  # for ids to 2^37, four products stay below 2^63


def numbers_sum(columns: Sequence[str]) -> str:
    """The SQL of the upper half that a row's checksum should have, from columns that are numbers."""
    products = " + ".join(f"{name} * {factor}" for name, factor in zip(columns, _FACTORS, strict=False))
    return f"({products}) % {_PRIME}"


def told_sum(column: str) -> str:
    """The SQL of the upper half of a checksum, without the mark."""
    return f"({column} >> 32 & {_PRIME})"


def row_sums(rows: Sequence[Sequence[Any]], numbers: int, *, marked: Collection[object] = ()) -> list[int]:
    """The checksums of rows that begin with so many numbers: signed, as SQLite keeps them.

    `marked`: the ids of rows that get a mark, which is a bit of the checksum. Raises TypeError for a row in which the
    numbers are not whole.
    """
    factors = _FACTORS[:numbers]
    sums = []
    for row in rows:
        upper = sum(map(mul, map(index, row[:numbers]), factors)) % _PRIME  # a text times a number takes gigabytes
        own = upper << 32 | _of_columns(row)
        sums.append(_SIGN | own ^ _MARK if row[0] in marked else own)
    return sums


def is_marked(stored: int | None) -> bool:
    """Return whether the row of a checksum is marked."""
    return stored is not None and stored < 0


def is_sound(row: Sequence[Any]) -> bool:
    """Return whether the columns of a row match its checksum, which is the last column."""
    stored = row[-1]
    return isinstance(stored, int) and stored & _LOWER == _of_columns(row[:-1]) ^ (_MARK if stored < 0 else 0)


def _of_columns(row: Sequence[Any]) -> int:
    """The CRC-32 of values, of which the last one may be a blob."""
    if type(row[-1]) is bytes:
        return crc32("\0".join(map(str, row[:-1])).encode("utf-8", "surrogatepass"), crc32(row[-1]))
    return crc32("\0".join(map(str, row)).encode("utf-8", "surrogatepass"))


# -- First rows with checksums -----------------------------------------------------------------------------------------

SUMS = 7  # the table version that introduced them
_FIRST_ROWS_KEY = "sums_since"
_NEVER = 1 << 62


class FirstSummedRows(NamedTuple):
    """The least ids of a document and of a passage whose rows must have a checksum."""

    document: int
    passage: int


def first_summed_rows(db: sqlite3.Connection) -> FirstSummedRows:
    """The first rows from which on all have a checksum."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version < SUMS:
        return FirstSummedRows(_NEVER, _NEVER)
    return FirstSummedRows(*json.loads(get_meta(db, _FIRST_ROWS_KEY) or "[0, 0]"))


def set_first_summed_rows(db: sqlite3.Connection, since: FirstSummedRows) -> None:
    """Store the first rows from which on all have a checksum."""
    set_meta(db, _FIRST_ROWS_KEY, json.dumps(since))


# -- Damage ------------------------------------------------------------------------------------------------------------

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
    """Replace invalid UTF-8 while the block runs: the error would not name the row."""
    before = db.text_factory
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        yield
    finally:
        db.text_factory = before


def damaged_passage(db: sqlite3.Connection, passage: object) -> IndexDamaged:
    """The error of a passage whose row is missing or does not match its checksum."""
    return IndexDamaged(f"{_file(db)} is damaged: {told_of_passage(db, passage)}")


def damaged_document(db: sqlite3.Connection, document: object) -> IndexDamaged:
    """The error of a document whose row is missing or does not match its checksum."""
    return IndexDamaged(f"{_file(db)} is damaged: {document_damage(db, document)}")


def damaged_whole(db: sqlite3.Connection, what: str) -> IndexDamaged:
    """The error of damage that belongs to no single document."""
    return IndexDamaged(f"{_file(db)} is damaged: {what}; remove {folder_of(db)} and index again")


def told_of_passage(db: sqlite3.Connection, passage: object) -> str:
    """Describe a damaged passage, with the remedy."""
    return f"passage {passage} {_named(db, _OF_PASSAGE, passage)}"


def document_damage(db: sqlite3.Connection, document: object) -> str:
    """Describe a damaged document row, with the remedy."""
    return f"the row of document {document} {_named(db, _OF_DOCUMENT, document)}"


def _named(db: sqlite3.Connection, query: str, id_: object) -> str:
    folder = folder_of(db)
    try:
        found = db.execute(query, {"id": id_}).fetchone()
    except sqlite3.Error:
        found = None
    if found is None or not isinstance(found[0], str):
        return f"does not match its checksum; remove {folder} and index again"
    path, is_added = found
    removing = index_command("remove", "--index", folder, path)
    adding = "add it again" if is_added else f"run: {index_command('index', '--name', folder, path)}"
    return f"of {path} does not match its checksum; run: {removing}, then {adding}"


def _file(db: sqlite3.Connection) -> str:
    return str(folder_of(db) / "index.sqlite")


# -- Table digests -----------------------------------------------------------------------------------------------------

_DIGESTS_KEY = "seals"
_GIVEN = (  # `main`: of the tables themselves, not of views for an earlier version
    "SELECT key, value FROM main.meta WHERE key != 'seals' ORDER BY key",
    "SELECT * FROM main.roots ORDER BY id",
)
_DERIVED = (
    "SELECT * FROM main.segments ORDER BY id",
    "SELECT * FROM main.removed ORDER BY first_passage",
    "SELECT card, generation, sums FROM main.fit",
)
_COUNTS = "SELECT (SELECT count(*) FROM main.documents), (SELECT count(*) FROM main.record_metadata)"


class TableDigests(NamedTuple):
    """The two digests, and the numbers of documents and of records with metadata."""

    given: str
    derived: str
    documents: int
    records: int


def update_digests(db: sqlite3.Connection) -> None:
    """Store the digests of the small tables, at the end of a write."""
    set_meta(db, _DIGESTS_KEY, json.dumps(_current_digests(db)))


def check_digests(db: sqlite3.Connection, *, derived: bool = True) -> None:
    """Compare the small tables with their digests, without `derived` only the given ones. Raises IndexDamaged.

    Tables of an earlier version have no digests.
    """
    stored = get_digests(db)
    if stored is None:
        return
    found = _current_digests(db, derived=derived)
    if (found.given, found.documents, found.records) != (stored.given, stored.documents, stored.records):
        raise damaged_whole(db, "its settings, roots or counts do not match their digest")
    if derived and found.derived != stored.derived:
        cure = rebuild_command(folder_of(db))
        raise IndexDamaged(f"the list of segments in {folder_of(db)} does not match its digest; run: {cure}")


def is_manifest_sound(db: sqlite3.Connection) -> bool:
    """Return whether the derived tables match their digest."""
    stored = get_digests(db)
    return stored is None or stored.derived == _current_digests(db).derived


def get_digests(db: sqlite3.Connection) -> TableDigests | None:
    """Read the digests; None in an index of an earlier version. Raises IndexDamaged if they are missing otherwise."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    text = get_meta(db, _DIGESTS_KEY)
    if version < SUMS and text is None:
        return None
    try:
        return TableDigests(*json.loads(text or ""))
    except (ValueError, TypeError) as error:
        raise damaged_whole(db, "its table digests are invalid") from error


def _current_digests(db: sqlite3.Connection, *, derived: bool = True) -> TableDigests:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return TableDigests(
        _digest(db, _GIVEN, version), _digest(db, _DERIVED, 0) if derived else "", *db.execute(_COUNTS).fetchone()
    )


def _digest(db: sqlite3.Connection, queries: tuple[str, ...], version: int) -> str:
    digest = blake2b(str(version).encode(), digest_size=8)
    for query in queries:
        rows = db.execute(query).fetchall()
        for row in rows:
            for value in row:
                if type(value) is bytes:
                    digest.update(value)
        plain = [[len(value) if type(value) is bytes else value for value in row] for row in rows]
        digest.update(repr(plain).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
