"""The rows of roots, documents and passages, read as frozen records; those of roots are written here, too."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from semsearch.arrays.types import Bool, Int32, Int64
from semsearch.readers.records import Columns
from semsearch.sources.roots import Root
from semsearch.storage.checked_rows import (
    DOCUMENT_WITH_SUM,
    DocumentColumns,
    PassageColumns,
    check_document,
    documents_by_id,
    documents_changing,
    needed_passages,
    passages_between,
    passages_by_id,
    sound_passages_between,
    spans_of,
)
from semsearch.storage.checksums import ABSOLUTE, damaged_document, damaged_passage
from semsearch.text.detect_language import language_of_parts, language_of_passage
from semsearch.text.text_lengths import heading_text
from semsearch.text.tokens import with_parts

# -- Roots -------------------------------------------------------------------------------------------------------------

_ROOTS = "SELECT id, path, single, include, exclude, text_columns, metadata_columns, options FROM roots ORDER BY id"


def get_roots(db: sqlite3.Connection) -> list[Root]:
    """Read the roots of an index."""
    roots = []
    for id_, path, single, include, exclude, text, metadata, options in db.execute(_ROOTS):
        columns = Columns(tuple(json.loads(text)), tuple(json.loads(metadata)))
        globs = tuple(json.loads(include)), tuple(json.loads(exclude))
        roots.append(Root(id_, path, bool(single), *globs, columns=columns, options=options))
    return roots


def set_root(db: sqlite3.Connection, root: Root) -> None:
    """Write a root, in place of an earlier one with its id."""
    lists = root.include, root.exclude, root.columns.text, root.columns.metadata
    db.execute(
        "INSERT OR REPLACE INTO roots VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (root.id, root.path, int(root.single), *map(json.dumps, lists), root.options),
    )


def delete_roots(db: sqlite3.Connection, roots: Iterable[Root]) -> None:
    """Delete roots; documents of theirs must have been deleted or moved."""
    db.executemany("DELETE FROM roots WHERE id = ?", [(root.id,) for root in roots])


def get_root_places(db: sqlite3.Connection) -> list[str]:
    """Read the paths of the roots; of those in stores the URIs with which they are reached."""
    return [place for (place,) in db.execute("SELECT path || options FROM roots ORDER BY id")]


# -- Documents and passages --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A row of the documents, with its root: all that a hit shows of a document."""

    id: int
    root: str  # "" for a text that a program added
    path: str  # below the root; or the id that the program gave
    absolute: str  # the path to open, with forward slashes; or the id
    title: str
    format: str
    metadata: Mapping[str, Any]
    first_passage: int
    passages: int
    first_sentence: int
    sentences: int
    size: int  # of the file, and
    mtime_ns: int  # its time, both as they were when it was last read or compared
    digest: str  # of its bytes


@dataclass(frozen=True, slots=True)
class PassageRow:
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
    is_of_record: bool = False  # which has metadata of its own

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


_DOCUMENTS = f"""SELECT coalesce(roots.path, ''), {ABSOLUTE}, {DOCUMENT_WITH_SUM}
    FROM documents LEFT JOIN roots ON roots.id = root_id
    WHERE documents.id IN (SELECT value FROM json_each(?))"""


def get_documents(db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, DocumentRow]:
    """Read documents by id; ids that are not in the index are left out. Raises IndexDamaged."""
    documents: dict[int, DocumentRow] = {}
    for root, absolute, *row in db.execute(_DOCUMENTS, (json.dumps([int(id_) for id_ in ids]),)):
        check_document(db, row)
        documents[row[0]] = _document(root, absolute, DocumentColumns(*row[:-1]))
    return documents


def need_documents(db: sqlite3.Connection, ids: Collection[int]) -> dict[int, DocumentRow]:
    """Read documents by id, which passages say are there. Raises IndexDamaged if one is not."""
    documents = get_documents(db, ids)
    for id_ in ids:
        if id_ not in documents:
            raise damaged_document(db, id_)
    return documents


_SHOWN = {field.name for field in fields(DocumentRow)} & {*DocumentColumns._fields} - {"metadata"}


def _document(root: str, absolute: str, columns: DocumentColumns) -> DocumentRow:
    shown = {name: getattr(columns, name) for name in _SHOWN}
    return DocumentRow(root=root, absolute=absolute, metadata=json.loads(columns.metadata), **shown)


def get_passages(db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, PassageRow]:
    """Read passages by id; ids that are not in the index are left out. Raises IndexDamaged."""
    return {row.id: passage_row(row) for row in passages_by_id(db, ids)}


def need_passages(db: sqlite3.Connection, ids: Collection[int]) -> dict[int, PassageRow]:
    """Read passages by id, which segments or documents say are there. Raises IndexDamaged if one is not."""
    return {row.id: passage_row(row) for row in needed_passages(db, [*ids])}


@dataclass(frozen=True, slots=True)
class TitledText:
    """The text of a passage, with what stands above it."""

    passage_id: int
    document_id: int
    title: str
    headings: tuple[str, ...]
    text: str
    format: str  # of the document


def get_titled_texts(db: sqlite3.Connection, ids: Sequence[int]) -> list[TitledText]:
    """Read the texts of passages by id, which are all there, with titles and headings. Raises IndexDamaged."""
    return _titled(db, needed_passages(db, ids))


def get_titled_texts_between(db: sqlite3.Connection, first: int, last: int) -> list[TitledText]:
    """Read those of the passages with ids from `first` to below `last`, rising. Raises IndexDamaged."""
    return _titled(db, [*passages_between(db, first, last)])


def _titled(db: sqlite3.Connection, rows: Sequence[PassageColumns]) -> list[TitledText]:
    titles = get_titled(db, {row.document_id for row in rows})
    texts = []
    for row in rows:
        titled = titles.get(row.document_id)
        if titled is None:
            raise damaged_document(db, row.document_id)
        headings = _headings(row.headings)
        texts.append(TitledText(row.id, row.document_id, titled.title, headings, row.text, titled.format))
    return texts


def get_sentence_texts(db: sqlite3.Connection, ids: Sequence[int]) -> dict[int, list[str]]:
    """Read what is embedded of the sentences of passages, which are all there, by their ids. Raises IndexDamaged."""
    rows = needed_passages(db, ids)
    titles = get_titled(db, {row.document_id for row in rows})
    formats = {document: titled.format for document, titled in titles.items()}
    return {row.id: _sentence_texts(row.text, row.sentences, formats.get(row.document_id, "")) for row in rows}


def languages_of_passages(db: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    """Find the languages of passages by id, which are all there. Raises IndexDamaged."""
    rows = needed_passages(db, ids)
    titles = get_titled(db, {row.document_id for row in rows})
    return {
        row.id: language_of_passage(row.text, titles[row.document_id].language)
        for row in rows
        if row.document_id in titles
    }


@dataclass(frozen=True, slots=True)
class SentenceSpans:
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


def get_spans(db: sqlite3.Connection, ids: Int64) -> SentenceSpans:
    """Find the sentences and neighbours of passages with rising ids. Raises IndexDamaged, also for one not there."""
    return spans_from(ids, spans_of(db, ids))


def spans_from(ids: Int64, numbers: Int64) -> SentenceSpans:
    """Sentences and neighbours of passages, from what `spans_of` read. (n,), (n, 7)"""
    document, first, count, first_passage, passages, headed, code = numbers.T
    before, after = ids > first_passage, ids + 1 < first_passage + passages
    return SentenceSpans(first, count, before, after, document, passages, headed > 0, code)


class Titled(NamedTuple):
    """A document's path below its root, or the id that a program gave, its title, and its language, "" if unknown."""

    path: str
    title: str
    format: str = "text"
    language: str = ""


def get_titled(db: sqlite3.Connection, documents: Iterable[int]) -> dict[int, Titled]:
    """Read the paths and titles of documents by id; ids that are not in the index are left out."""
    return {row.id: Titled(row.path, row.title, row.format, row.language) for row in documents_by_id(db, documents)}


def each_passage(db: sqlite3.Connection, first: int, last: int) -> Iterator[PassageRow]:
    """Yield the passages with ids from `first` to below `last`, of which a document says that it has them all.

    Raises IndexDamaged.
    """
    expected = first
    for row in passages_between(db, first, last):
        if row.id != expected:
            break
        expected += 1
        yield passage_row(row)
    if expected < last:
        raise damaged_passage(db, expected)


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


def sound_passages(db: sqlite3.Connection, first: int, last: int) -> Iterator[PassageRow]:
    """Yield the passages with ids from `first` to below `last` that are as they were written, and no other."""
    return map(passage_row, sound_passages_between(db, first, last))


def find_languages(db: sqlite3.Connection) -> dict[int, str]:
    """Find the language of each document again, by the text of its first passages, and store it; by document."""
    documents = db.execute("SELECT id, first_passage, passages FROM documents").fetchall()
    languages: dict[int, str] = {}
    with documents_changing(db, [id_ for id_, *_ in documents]):
        for id_, first, count in documents:
            languages[id_] = language_of_parts(row.text for row in each_passage(db, first, first + count))
            db.execute("UPDATE documents SET language = ? WHERE id = ?", (languages[id_], id_))
    return languages


@dataclass(frozen=True, slots=True)
class StoredTexts:
    """The texts of a passage that are embedded: its headings and its sentences."""

    passage_id: int
    first_sentence: int
    heading: str
    sentences: list[str]
    language: str


def stored_texts(db: sqlite3.Connection, last: int, *, first: int = 0) -> Iterator[StoredTexts]:
    """Yield the texts of the passages with ids from `first` to below `last`, rising."""
    titles: dict[int, Titled] = {}
    for row in passages_between(db, first, last):
        if row.document_id not in titles:
            titles = get_titled(db, [row.document_id])
        titled = titles.get(row.document_id)
        if titled is None:
            raise damaged_document(db, row.document_id)
        texts = _sentence_texts(row.text, row.sentences, titled.format)
        language = language_of_passage(row.text, titled.language)
        above = with_parts(heading_text(titled.title, _headings(row.headings)), titled.format)
        yield StoredTexts(row.id, row.first_sentence, above, texts, language)


def _sentence_texts(text: str, sentences: bytes, format: str) -> list[str]:
    offsets = np.frombuffer(sentences, dtype="<i4").reshape(-1, 5)[:, :2].tolist()
    return [with_parts(text[start:end], format) for start, end in offsets]


def passage_row(row: PassageColumns) -> PassageRow:
    """The record of a row."""
    return PassageRow(
        id=row.id,
        document_id=row.document_id,
        first_sentence=row.first_sentence,
        line=row.line,
        page=row.page,
        headings=_headings(row.headings),
        text=row.text,
        sentences=np.frombuffer(row.sentences, dtype="<i4").reshape(-1, 5),
        places=row.places,
        is_of_record=row.is_of_record,
    )


@lru_cache(maxsize=1024)  # passages that stand together share theirs
def _headings(data: str) -> tuple[str, ...]:
    return tuple(json.loads(data))
