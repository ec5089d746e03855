"""The rows of passages: written with checksums, compared with them when they are read; texts, places."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from semsearch.arrays.types import Bool, Int32, Int64
from semsearch.storage.checksums import (
    damaged_index,
    damaged_passage,
    matches_checksum,
    numbers_checksum,
    passage_damage,
    replacing_invalid_utf8,
    stored_numbers_checksum,
    with_checksums,
)
from semsearch.storage.document_rows import DocumentRow, documents_changing, require_documents
from semsearch.text.languages import language_of_parts, language_of_passage
from semsearch.text.passage_words import PassageRecord
from semsearch.text.terms import with_parts
from semsearch.text.text_lengths import heading_text

# -- Rows --------------------------------------------------------------------------------------------------------------


class PassageRow(NamedTuple):
    """A passage with the offsets of its sentences (n, 5): start, end, source start, source end, line."""

    id: int
    document_id: int
    first_sentence: int
    line: int
    page: int | None
    headings: tuple[str, ...]
    text: str
    sentences: Int32
    places: str | None = None  # JSON: (number of a sentence, the place from there on)
    is_of_record: bool = False  # the passage is a record with metadata of its own

    def sentence(self, number: int) -> str:
        """The text of the sentence with a number, counted from 0."""
        start, end = self.sentences[number, :2].tolist()
        return self.text[start:end]

    def place(self, number: int) -> str | None:
        """The place of the sentence with a number, counted from 0, in the document's own terms."""
        current: str | None = None
        for first, place in json.loads(self.places) if self.places else ():
            if first > number:
                break
            current = place
        return current

    @property
    def sentence_texts(self) -> list[str]:
        """The texts of all sentences, in order."""
        return [self.text[start:end] for start, end in self.sentences[:, :2].tolist()]


PASSAGE_COLUMNS = "id, document_id, first_sentence, sentence_count, line, page, headings, text, places, sentences"
PASSAGE_NUMBERS = 4  # the first columns, which the upper half of the checksum covers
_AT_ONCE = 1024  # passages whose documents are read together
SENTENCE_BYTES = 20  # bytes that a sentence takes in the column `sentences`
_INSERT_PASSAGE = f"INSERT INTO passages ({PASSAGE_COLUMNS}, sum) VALUES ({', '.join('?' * 11)})"
_PASSAGES = f"SELECT {PASSAGE_COLUMNS}, sum FROM passages"
_PASSAGES_BY_ID = f"{_PASSAGES} WHERE id IN (SELECT value FROM json_each(?))"
_PASSAGES_BETWEEN = f"{_PASSAGES} WHERE id >= ? AND id < ? ORDER BY id"


def insert_passages(db: sqlite3.Connection, rows: Sequence[Sequence[Any]], records: Collection[int]) -> None:
    """Write rows of `PASSAGE_COLUMNS` with their checksums. `records`: the ids of those of records with metadata."""
    db.executemany(_INSERT_PASSAGE, with_checksums(rows, PASSAGE_NUMBERS, marked=records))


def get_passages(db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, PassageRow]:
    """Read passages by id; ids that are not in the index are left out. Raises IndexDamaged."""
    rows = db.execute(_PASSAGES_BY_ID, (json.dumps([int(id_) for id_ in ids]),))
    return {row[0]: _checked(db, row) for row in rows}


def require_passages(db: sqlite3.Connection, ids: Collection[int]) -> dict[int, PassageRow]:
    """Read passages by id, which segments or documents say are there. Raises IndexDamaged if one is not."""
    passages = get_passages(db, ids)
    if len(passages) < len({*ids}):
        raise damaged_passage(db, min({*ids} - passages.keys()))
    return passages


def passages_between(db: sqlite3.Connection, first: int, last: int) -> Iterator[PassageRow]:
    """Read the passages with ids from `first` to below `last`, rising. Raises IndexDamaged."""
    return (_checked(db, row) for row in db.execute(_PASSAGES_BETWEEN, (first, last)))


def each_passage(db: sqlite3.Connection, first: int, last: int) -> Iterator[PassageRow]:
    """Yield the passages with ids from `first` to below `last`, of which a document says that it has them all.

    Raises IndexDamaged.
    """
    expected = first
    for row in passages_between(db, first, last):
        if row.id != expected:
            break
        expected += 1
        yield row
    if expected < last:
        raise damaged_passage(db, expected)


def find_damaged_passages(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the rows that do not match their checksums, a line each with the remedy."""
    with replacing_invalid_utf8(db):
        for row in db.execute(f"{_PASSAGES} ORDER BY id"):
            if not matches_checksum(row):
                yield passage_damage(db, row[0])


def _checked(db: sqlite3.Connection, row: Sequence[Any]) -> PassageRow:
    """The passage of a row that ends with its checksum. Raises IndexDamaged if that is not the checksum of it."""
    if not matches_checksum(row):
        raise damaged_passage(db, row[0])
    return _passage(row)


def _passage(row: Sequence[Any]) -> PassageRow:
    id_, document_id, first_sentence, _, line, page, headings, text, places, sentences, checksum = row
    offsets = np.frombuffer(sentences, dtype="<i4").reshape(-1, 5)
    return PassageRow(
        id_,
        document_id,
        first_sentence,
        line,
        page,
        _headings(headings),
        text,
        offsets,
        places,
        is_of_record=checksum < 0,
    )


@lru_cache(maxsize=1024)  # passages that stand together share theirs
def _headings(data: str) -> tuple[str, ...]:
    return tuple(json.loads(data))


# -- Passages at a place of a document, whose passages have ids from `first` to below `last` ---------------------------

_AT = {  # which passage is at a place
    "sentence": "first_sentence <= :place AND :place < first_sentence + sentence_count",
    "line": "line <= :place ORDER BY line DESC, id",  # the last that begins there or before
    "page": "page >= :place ORDER BY id",  # the first that begins there or after
}


def passage_at(
    db: sqlite3.Connection, first: int, last: int, of: Literal["sentence", "line", "page"], place: int
) -> int | None:
    """The id of the passage that has a sentence, begins at a line or before it, or on a page or after it."""
    query = f"SELECT id FROM passages WHERE id >= :first AND id < :last AND {_AT[of]} LIMIT 1"
    row = db.execute(query, {"first": first, "last": last, "place": place}).fetchone()
    return None if row is None else int(row[0])


def passages_on_page(db: sqlite3.Connection, first: int, last: int, page: int) -> list[PassageRow]:
    """Read those of the passages with ids from `first` to below `last` that begin on a page. Raises IndexDamaged."""
    rows = db.execute("SELECT id FROM passages WHERE id >= ? AND id < ? AND page = ? ORDER BY id", (first, last, page))
    passages = get_passages(db, [id_ for (id_,) in rows])
    return [passages[id_] for id_ in sorted(passages)]


# -- Texts -------------------------------------------------------------------------------------------------------------


def with_documents(db: sqlite3.Connection, passages: Iterable[PassageRow]) -> Iterator[tuple[PassageRow, DocumentRow]]:
    """Yield passages with the documents that they are in. Raises IndexDamaged."""
    rest = iter(passages)
    while batch := [*islice(rest, _AT_ONCE)]:
        documents = require_documents(db, {row.document_id for row in batch})
        yield from ((row, documents[row.document_id]) for row in batch)


def stored_record(row: PassageRow, document: DocumentRow) -> PassageRecord:
    """A stored passage in the form in which it was when it was read of its file."""
    return PassageRecord(
        headings=json.dumps(row.headings),
        above=heading_text(document.title, row.headings),
        line=row.line,
        page=row.page,
        text=row.text,
        offsets=row.sentences.tobytes(),
        sentences=len(row.sentences),
        places=row.places,
        format=document.format,
    )


class StoredTexts(NamedTuple):
    """The texts of a passage that are embedded: its headings and its sentences."""

    passage_id: int
    first_sentence: int
    heading: str
    sentences: list[str]
    language: str


def stored_texts(db: sqlite3.Connection, passages: Iterable[PassageRow]) -> Iterator[StoredTexts]:
    """Yield the texts of passages, in their order. Raises IndexDamaged."""
    for row, document in with_documents(db, passages):
        texts = [with_parts(text, document.format) for text in row.sentence_texts]
        language = language_of_passage(row.text, document.language)
        above = with_parts(heading_text(document.title, row.headings), document.format)
        yield StoredTexts(row.id, row.first_sentence, above, texts, language)


def find_languages(db: sqlite3.Connection) -> None:
    """Find the language of each document again, by the text of its first passages, and store it."""
    documents = db.execute("SELECT id, first_passage, passages FROM documents").fetchall()
    with documents_changing(db, [id_ for id_, *_ in documents]):
        for id_, first, count in documents:
            language = language_of_parts(row.text for row in each_passage(db, first, first + count))
            db.execute("UPDATE documents SET language = ? WHERE id = ?", (language, id_))


# -- Sentences and neighbours, which candidates are ranked by before their texts are read ------------------------------

_OF_PASSAGE = numbers_checksum(["passages.id", "document_id", "passages.first_sentence", "sentence_count"])
_OF_DOCUMENT = numbers_checksum(["document_id", "first_passage", "documents.passages"])
_IS_TEST = """'/' || documents.path GLOB '*[-/_.][tT]est[-/_.s]*' OR documents.path GLOB '*[a-z]Test*.*'
    OR '/' || documents.path GLOB '*[-/_.]spec[-/_.s]*'"""
_SPANS = f"""SELECT document_id, passages.first_sentence, sentence_count, first_passage, documents.passages,
    length(passages.headings) > 2,
    CASE WHEN documents.format NOT IN ('code', 'python') THEN 0 WHEN {_IS_TEST} THEN 2 ELSE 1 END,
    passages.id, {_OF_PASSAGE} = {stored_numbers_checksum("passages.sum")}
    AND {_OF_DOCUMENT} = {stored_numbers_checksum("documents.sum")}, length(passages.sentences)
    FROM passages JOIN documents ON documents.id = document_id
    WHERE passages.id IN (SELECT value FROM json_each(?))"""


class SentenceSpans(NamedTuple):
    """The sentences of passages, in the order asked for: id of the first, and number; and whether the document has a
    passage before each, and one after; that document's id and number of passages; and whether the passage is below a
    heading; and 1 if it is source code, 2 if that is a test, else 0. (n,) each"""

    firsts: Int64
    counts: Int64
    before: Bool
    after: Bool
    documents: Int64
    passages: Int64
    below_heading: Bool
    code: Int64


def spans_of(db: sqlite3.Connection, ids: Int64) -> Int64:
    """The numbers of passages with rising ids, and of their documents: document, first sentence, number of sentences,
    the document's first passage, its number of passages, 1 if there are headings, and 1 if it is source code, 2
    if that is a test. (n,) -> (n, 7). Raises IndexDamaged.
    """
    rows = db.execute(_SPANS, (json.dumps(ids.tolist()),)).fetchall()
    try:
        numbers = np.array(rows, dtype=np.int64).reshape(-1, 10)
    except (TypeError, ValueError, OverflowError):  # no numbers
        _raise_damage(db, ids)
        raise
    numbers = numbers[np.argsort(numbers[:, 7])]
    stored_ids, are_sound, size = numbers[:, 7:].T
    if not are_sound.all():
        _raise_damage(db, ids)
    if not np.array_equal(stored_ids, ids):
        _raise_damage(db, ids)
        raise damaged_index(db, "passages are missing")
    count, rest = np.divmod(size, SENTENCE_BYTES)  # a product could overflow
    wrong = np.flatnonzero((count != numbers[:, 2]) | (rest != 0))
    if len(wrong):  # somebody's millions of sentences would take all memory
        raise damaged_passage(db, int(stored_ids[wrong[0]]))
    return numbers[:, :7]


def _raise_damage(db: sqlite3.Connection, ids: Int64) -> None:
    """Raise IndexDamaged for passages of which one, or its document, has gone or is not as it was written."""
    require_documents(db, {row.document_id for row in require_passages(db, ids.tolist()).values()})
