"""Checksums of rows, digests of small tables, and the errors that report damage, with the commands that repair it.

SQLite returns what the disk returns. Of 186 damaged bytes that changed a row, these checksums found 140, SQLite's own
integrity check 3. The checksum of a row has 64 bits. The lower half is the CRC-32 of all columns, ids included, so it
also detects a row in another's place. The upper half covers the numbers by which candidates are ranked before their
texts are read: a multilinear hash modulo a prime, which SQL computes where the rows are; its highest bit is a mark.

A damaged document is removed, which needs none of its damaged rows, and its file is indexed again. Two digests cover
the small tables: the primary ones (single values, roots, and the counts of documents and records), and those that
`--rebuild` derives again (the manifest of segments, the removed ids, the fit). A write compares both before it begins,
so that it never confirms damage, and updates them at its end; a reader compares them when it opens a generation.
Nothing here protects from deliberate changes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from operator import index, mul
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from semsearch.errors import IndexDamaged, index_command, rebuild_command
from semsearch.storage.schema import DIGESTS, get_meta, set_meta
from semsearch.system.locations import working_folder

# -- Checksums of rows -------------------------------------------------------------------------------------------------

_SIGN = -1 << 63
_LOWER = 0xFFFFFFFF
_PRIME = (1 << 31) - 1
_MARK = 0xA5A5A5A5  # by which the lower half differs in a row that is marked
_FACTORS = (0x9E3779, 0x85EBCA, 0xC2B2AE, 0x27D4EB)  # for ids to 2^37, four products stay below 2^63


def with_checksums(
    rows: Iterable[Sequence[Any]], numbers: int, *, marked: Collection[object] = ()
) -> list[tuple[Any, ...]]:
    """Append to each row its checksum, signed, as SQLite keeps it. The first `numbers` columns are whole numbers.

    `marked`: the ids of rows that get a mark. Raises TypeError for a number that is not whole.
    """
    factors = _FACTORS[:numbers]
    summed = []
    for row in rows:
        upper = sum(map(mul, map(index, row[:numbers]), factors)) % _PRIME  # a text times a number takes gigabytes
        checksum = upper << 32 | _crc(row)
        summed.append((*row, _SIGN | checksum ^ _MARK if row[0] in marked else checksum))
    return summed


def matches_checksum(row: Sequence[Any]) -> bool:
    """Return whether the columns of a row match its checksum, which is the last column."""
    stored = row[-1]
    return isinstance(stored, int) and stored & _LOWER == _crc(row[:-1]) ^ (_MARK if stored < 0 else 0)


def numbers_checksum(columns: Sequence[str]) -> str:
    """The SQL that computes the upper half of a row's checksum, from its columns of numbers."""
    products = " + ".join(f"{name} * {factor}" for name, factor in zip(columns, _FACTORS, strict=False))
    return f"({products}) % {_PRIME}"


def stored_numbers_checksum(column: str) -> str:
    """The SQL that takes the upper half from a stored checksum, without the mark."""
    return f"({column} >> 32 & {_PRIME})"


def _crc(row: Sequence[Any]) -> int:
    """The CRC-32 of values, of which the last one may be a blob."""
    if type(row[-1]) is bytes:
        return crc32("\0".join(map(str, row[:-1])).encode("utf-8", "surrogatepass"), crc32(row[-1]))
    return crc32("\0".join(map(str, row)).encode("utf-8", "surrogatepass"))


# -- Damage ------------------------------------------------------------------------------------------------------------

ABSOLUTE = """CASE WHEN roots.id IS NULL THEN documents.path WHEN roots.single THEN roots.path
    ELSE rtrim(roots.path, '/') || '/' || coalesce(documents.file, documents.path) END"""  # the path to open; or the id
_NAMED = f"SELECT {ABSOLUTE}, roots.id IS NULL FROM documents LEFT JOIN roots ON roots.id = root_id WHERE "
_OF_PASSAGE = _NAMED + "first_passage <= :id AND :id < first_passage + passages ORDER BY first_passage DESC LIMIT 1"
_OF_DOCUMENT = _NAMED + "documents.id = :id"


def folder_of(db: sqlite3.Connection) -> Path:
    """The folder of an open index, relative to the current folder if it lies there."""
    folder = Path(db.execute("PRAGMA database_list").fetchone()[2]).parent
    here = working_folder()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


@contextmanager
def replacing_invalid_utf8(db: sqlite3.Connection) -> Iterator[None]:
    """Replace invalid UTF-8 in what the block reads: SQLite's error would not name the row."""
    before = db.text_factory
    db.text_factory = partial(str, encoding="utf-8", errors="replace")
    try:
        yield
    finally:
        db.text_factory = before


def damaged_passage(db: sqlite3.Connection, passage: object) -> IndexDamaged:
    """The error of a passage whose row is missing or does not match its checksum."""
    return IndexDamaged(f"{folder_of(db) / 'index.sqlite'} is damaged: {passage_damage(db, passage)}")


def damaged_document(db: sqlite3.Connection, document: object) -> IndexDamaged:
    """The error of a document whose row is missing or does not match its checksum."""
    return IndexDamaged(f"{folder_of(db) / 'index.sqlite'} is damaged: {document_damage(db, document)}")


def damaged_index(db: sqlite3.Connection, what: str) -> IndexDamaged:
    """The error of damage that belongs to no single document."""
    folder = folder_of(db)
    return IndexDamaged(f"{folder / 'index.sqlite'} is damaged: {what}; remove {folder} and index again")


def passage_damage(db: sqlite3.Connection, passage: object) -> str:
    """Describe a damaged passage, with the remedy."""
    return f"passage {passage} {_remedy(db, _OF_PASSAGE, passage)}"


def document_damage(db: sqlite3.Connection, document: object) -> str:
    """Describe a damaged document row, with the remedy."""
    return f"the row of document {document} {_remedy(db, _OF_DOCUMENT, document)}"


def _remedy(db: sqlite3.Connection, query: str, id_: object) -> str:
    folder = folder_of(db)
    try:
        row = db.execute(query, {"id": id_}).fetchone()
    except sqlite3.Error:
        row = None
    if row is None or not isinstance(row[0], str):
        return f"does not match its checksum; remove {folder} and index again"
    path, is_added = row
    removing = index_command("remove", "--index", folder, path)
    adding = "add it again" if is_added else f"run: {index_command('index', '--name', folder, path)}"
    return f"of {path} does not match its checksum; run: {removing}, then {adding}"


# -- Digests of tables -------------------------------------------------------------------------------------------------

_PRIMARY = (f"SELECT key, value FROM meta WHERE key != '{DIGESTS}' ORDER BY key", "SELECT * FROM roots ORDER BY id")
_DERIVED = (
    "SELECT * FROM segments ORDER BY id",
    "SELECT * FROM removed ORDER BY first_passage",
    "SELECT card, generation, sentences, sums FROM fit",
)
_COUNTS = "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM record_metadata)"


class TableDigests(NamedTuple):
    """The two digests, and the numbers of documents and of records with metadata."""

    primary: str
    derived: str
    documents: int
    records: int


def update_digests(db: sqlite3.Connection) -> None:
    """Store the digests of the small tables, at the end of a write."""
    set_meta(db, DIGESTS, json.dumps(_current_digests(db)))


def check_digests(db: sqlite3.Connection, *, derived: bool = True) -> None:
    """Compare the primary tables, and the `derived` ones, with their digests. Raises IndexDamaged."""
    stored, current = get_digests(db), _current_digests(db, derived=derived)
    if (current.primary, current.documents, current.records) != (stored.primary, stored.documents, stored.records):
        raise damaged_index(db, "its settings, roots or counts do not match their digest")
    if derived and current.derived != stored.derived:
        cure = rebuild_command(folder_of(db))
        raise IndexDamaged(f"the list of segments in {folder_of(db)} does not match its digest; run: {cure}")


def is_manifest_intact(db: sqlite3.Connection) -> bool:
    """Return whether the derived tables match their digest."""
    return get_digests(db).derived == _current_digests(db).derived


def get_digests(db: sqlite3.Connection) -> TableDigests:
    """Read the digests. Raises IndexDamaged if they are missing or invalid."""
    try:
        return TableDigests(*json.loads(get_meta(db, DIGESTS) or ""))
    except (ValueError, TypeError, RecursionError) as error:
        raise damaged_index(db, "its table digests are invalid") from error


def _current_digests(db: sqlite3.Connection, *, derived: bool = True) -> TableDigests:
    return TableDigests(
        _digest(db, _PRIMARY), _digest(db, _DERIVED) if derived else "", *db.execute(_COUNTS).fetchone()
    )


def _digest(db: sqlite3.Connection, queries: tuple[str, ...]) -> str:
    digest = blake2b(digest_size=8)
    for query in queries:
        rows = db.execute(query).fetchall()
        for row in rows:
            for value in row:
                if type(value) is bytes:
                    digest.update(value)
        plain = [[len(value) if type(value) is bytes else value for value in row] for row in rows]
        digest.update(repr(plain).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
