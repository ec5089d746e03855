"""Read the rows of documents and passages as frozen records."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from semsearch.text.headings import heading_text

Int32 = npt.NDArray[np.int32]


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

    def sentence(self, number: int) -> str:
        """The text of the sentence with a number, counted from 0."""
        start, end = self.sentences[number, :2].tolist()
        return self.text[start:end]

    def place(self, number: int) -> str | None:
        """The place of the sentence with a number, counted from 0, in the document's own terms."""
        found: str | None = None
        for first, place in json.loads(self.places) if self.places else ():
            if first > number:
                break
            found = place
        return found

    @property
    def sentence_texts(self) -> list[str]:
        """The texts of all sentences, in order."""
        return [self.text[start:end] for start, end in self.sentences[:, :2].tolist()]


_DOCUMENTS = """SELECT documents.id, coalesce(roots.path, ''), documents.path,
    CASE WHEN roots.id IS NULL THEN documents.path WHEN roots.single THEN roots.path
    ELSE rtrim(roots.path, '/') || '/' || coalesce(documents.file, documents.path) END,
    title, format, metadata, first_passage, passages, first_sentence, sentences, size, mtime_ns, digest
    FROM documents LEFT JOIN roots ON roots.id = root_id
    WHERE documents.id IN (SELECT value FROM json_each(?))"""
_METADATA = 6  # index of the column in these rows
_PASSAGES = """SELECT id, document_id, first_sentence, line, page, headings, text, sentences, places
    FROM passages WHERE id IN (SELECT value FROM json_each(?))"""
_SPANS = """SELECT passages.id, passages.first_sentence, sentence_count, passages.id > first_passage,
    passages.id + 1 < first_passage + documents.passages, document_id
    FROM passages JOIN documents ON documents.id = document_id
    WHERE passages.id IN (SELECT value FROM json_each(?))"""
_SENTENCES = "SELECT id, text, sentences FROM passages WHERE id IN (SELECT value FROM json_each(?))"
_TITLED = "SELECT id, path, coalesce(title, '') FROM documents WHERE id IN (SELECT value FROM json_each(?))"
_RANGE = """SELECT id, document_id, first_sentence, line, page, headings, text, sentences, places
    FROM passages WHERE id >= ? AND id < ? ORDER BY id"""


def get_documents(db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, DocumentRow]:
    """Read documents by id; ids that are not in the index are left out."""
    found: dict[int, DocumentRow] = {}
    for row in db.execute(_DOCUMENTS, _list(ids)):
        fields = [*row]
        fields[_METADATA] = json.loads(row[_METADATA], parse_constant=_nothing)
        found[row[0]] = DocumentRow(*fields)
    return found


def _nothing(_: str) -> None:
    """NaN and infinities are not JSON, though Python writes and reads them."""


def get_passages(db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, PassageRow]:
    """Read passages by id; ids that are not in the index are left out."""
    rows = db.execute(_PASSAGES, _list(ids))
    return {row[0]: _passage(row) for row in rows}


def get_sentence_texts(db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, list[str]]:
    """Read the texts of the sentences of passages, by the passages' ids; those not in the index are left out."""
    return {id_: _sentence_texts(text, sentences) for id_, text, sentences in db.execute(_SENTENCES, _list(ids))}


@dataclass(frozen=True, slots=True)
class SentenceSpans:
    """The sentences of passages, in the order asked for: id of the first, and number; and whether the document has a
    passage before each, and one after; and that document's id. (n,) each"""

    firsts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    before: npt.NDArray[np.bool_]
    after: npt.NDArray[np.bool_]
    documents: npt.NDArray[np.int64]


def get_spans(db: sqlite3.Connection, ids: npt.NDArray[np.int64]) -> SentenceSpans:
    """Find the sentences and neighbours of passages with rising ids; count 0 for a passage that is not there."""
    rows = db.execute(_SPANS, (json.dumps(ids.tolist()),))
    found = np.array(rows.fetchall(), dtype=np.int64).reshape(-1, 6)
    spans = np.zeros((5, len(ids)), dtype=np.int64)
    spans[:, np.searchsorted(ids, found[:, 0])] = found[:, 1:].T
    return SentenceSpans(spans[0], spans[1], spans[2] > 0, spans[3] > 0, spans[4])


class Titled(NamedTuple):
    """A document's path below its root, or the id that a program gave, and its title."""

    path: str
    title: str


def get_titled(db: sqlite3.Connection, documents: Iterable[int]) -> dict[int, Titled]:
    """Read the paths and titles of documents by id; ids that are not in the index are left out."""
    return {id_: Titled(path, title) for id_, path, title in db.execute(_TITLED, _list(documents))}


def each_passage(db: sqlite3.Connection, first: int, last: int) -> Iterator[PassageRow]:
    """Yield the passages with ids from `first` to below `last`, rising."""
    for row in db.execute(_RANGE, (first, last)):
        yield _passage(row)


@dataclass(frozen=True, slots=True)
class StoredTexts:
    """The texts of a passage that are embedded: its headings and its sentences."""

    passage_id: int
    first_sentence: int
    heading: str
    sentences: list[str]


def stored_texts(db: sqlite3.Connection, last: int, *, first: int = 0) -> Iterator[StoredTexts]:
    """Yield the texts of the passages with ids from `first` to below `last`, rising."""
    rows = db.execute(
        "SELECT passages.id, passages.first_sentence, title, headings, text, passages.sentences FROM passages "
        "JOIN documents ON documents.id = document_id WHERE passages.id >= ? AND passages.id < ? ORDER BY passages.id",
        (first, last),
    )
    for id_, first_sentence, title, headings, text, sentences in rows:
        texts = _sentence_texts(text, sentences)
        yield StoredTexts(id_, first_sentence, heading_text(title, json.loads(headings)), texts)


def _sentence_texts(text: str, sentences: bytes) -> list[str]:
    offsets = np.frombuffer(sentences, dtype="<i4").reshape(-1, 5)[:, :2].tolist()
    return [text[start:end] for start, end in offsets]


def _passage(row: Sequence[Any]) -> PassageRow:
    id_, document_id, first_sentence, line, page, headings, text, sentences, places = row
    offsets = np.frombuffer(sentences, dtype="<i4").reshape(-1, 5)
    return PassageRow(id_, document_id, first_sentence, line, page, _headings(headings), text, offsets, places)


@lru_cache(maxsize=1024)  # passages that stand together share theirs
def _headings(data: str) -> tuple[str, ...]:
    return tuple(json.loads(data))


def _list(ids: Iterable[int]) -> tuple[str]:
    """Ids as the one parameter of `json_each(?)`: a list of any length, without SQL made of strings."""
    return (json.dumps([int(id_) for id_ in ids]),)
