"""Add and remove documents: their rows, their words for the lexical index, and their word ids for the vectors.

Everything happens inside the caller's write transaction. Ids come from counters that only grow.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from semsearch.indexing.read_files import Chunk, Prepared
from semsearch.indexing.spool import Spool, SpooledBatch, batch_of
from semsearch.lexical.postings_writer import WordsWriter
from semsearch.readers.document import Document
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.sources.roots import ADDED
from semsearch.sources.unchanged import label_of
from semsearch.storage.catalogue import each_passage, get_titled, get_titled_texts_between, sound_passages
from semsearch.storage.checked_rows import (
    documents_changing,
    extent_of,
    insert_documents,
    insert_passages,
    insert_records,
)
from semsearch.storage.meta import LANGUAGES, get_count, set_meta
from semsearch.text.languages import SAMPLE, language_of_parts, language_of_passage
from semsearch.text.passage_records import PassageRecord, PassageWords, each_record, find_words, reading_of, storable
from semsearch.text.ragged import Ragged
from semsearch.text.text_lengths import heading_text
from semsearch.text.tokens import with_parts

if TYPE_CHECKING:
    import sqlite3


_BATCH = 2048  # passages
_TEXTS = 4096  # headings and sentences whose words are found at once
_INSERT_READING = "INSERT INTO readings (document_id, characters, omissions) VALUES (?, ?, ?)"


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """The source of a document: root and path, and the state of the file when it was read."""

    root_id: int
    path: str
    file: str
    digest: str
    size: int = 0
    mtime_ns: int = 0
    checked_ns: int = 0
    columns: Columns = NO_COLUMNS
    reader: str | None = None  # `label_of`; None: of today's reader


class Intake:
    """Takes documents in. `first_passage` is the id of the first new passage."""

    def __init__(
        self,
        db: sqlite3.Connection,
        spool: Spool,
        ids_of: Callable[[PassageWords], Ragged],
        words: WordsWriter,
        *,
        languages: bool = False,
    ) -> None:
        self._db = db
        self._languages = languages
        self._spool = spool
        self._ids_of = ids_of
        self._words = words
        self._next_document = get_count(db, "next_document") or 1
        self.first_passage: int = get_count(db, "next_passage") or 1
        self._next_passage = self.first_passage
        self._next_sentence = self._first_sentence = get_count(db, "next_sentence") or 1
        self._documents: list[tuple[Any, ...]] = []
        self._readings: list[tuple[Any, ...]] = []
        self._passages: list[tuple[Any, ...]] = []
        self._record_metadata: list[tuple[int, int, str]] = []
        self._records: list[PassageRecord] = []  # whose words are still to be found
        self._languages_of_records: list[str] = []
        self._found: list[SpooledBatch] = []  # the passages before these, which go to the spool together with them
        self._texts = 0  # of all of these

    @property
    def next_document(self) -> int:
        """The id that the next document gets."""
        return self._next_document

    @property
    def passages(self) -> int:
        """The number of passages taken in."""
        return self._next_passage - self.first_passage

    @property
    def sentences(self) -> int:
        """The number of sentences taken in."""
        return self._next_sentence - self._first_sentence

    def take_in(self, origin: DocumentSource, document: Document) -> None:
        """Add a document. An earlier version of it must have been removed."""
        metadata = json.dumps(dict(document.metadata), allow_nan=False)
        self._take_records(
            origin,
            title=storable(document.title),
            format=document.format,
            metadata=metadata,
            records=each_record(document),
            reading=reading_of(document),
        )

    def take_prepared(self, origin: DocumentSource, file: Prepared) -> None:
        """Add a file that was read, with its passages. An earlier version of it must have been removed."""
        self._take_records(
            origin,
            title=file.title,
            format=file.format,
            metadata=file.metadata,
            records=file.records,
            reading=file.reading,
        )

    def _take_records(
        self,
        origin: DocumentSource,
        *,
        title: str,
        format: str,
        metadata: str,
        records: Iterable[PassageRecord],
        reading: tuple[int, str],
    ) -> None:
        first_passage, first_sentence, words = self._next_passage, self._next_sentence, 0
        language, records = self._language_of(records)
        for record in records:
            self._add_passage(record)
            self._records.append(record)
            self._languages_of_records.append(language)
            words += _count(record.text)
            if self._is_full(record):
                self._put_together()
        self._readings.append((self._next_document, *reading))
        self._add_document(
            origin,
            title=title,
            format=format,
            metadata=metadata,
            first_passage=first_passage,
            first_sentence=first_sentence,
            words=words,
            language=language,
        )

    def _language_of(self, records: Iterable[PassageRecord]) -> tuple[str, Iterable[PassageRecord]]:
        """The language of a document, if languages are detected; and its records, of which it reads the first."""
        if not self._languages:
            return "", records
        rest = iter(records)
        first: list[PassageRecord] = []
        seen = 0
        for record in rest:
            first.append(record)
            seen += len(record.text)
            if seen >= SAMPLE:
                break
        return language_of_parts(record.text for record in first), chain(first, rest)

    def take_chunk(self, chunk: Chunk, origins: Sequence[DocumentSource | None]) -> None:
        """Add the files of a prepared chunk that have an origin; those without one could not be read.

        The batches in the spool do not depend on the chunks, so the sums over them are those of one process.
        """
        self._find_words()
        passages = len(chunk.batch.passage_ids)
        if passages:
            self._words.take(np.arange(self._next_passage, self._next_passage + passages), chunk.postings)
        number = first = 0
        for file, origin in zip(chunk.files, origins, strict=True):
            if origin is None:
                continue
            first_passage, first_sentence = self._next_passage, self._next_sentence
            for record in file.records:
                self._add_passage(record)
                number += 1
                if self._is_full(record):
                    self._found.append(chunk.batch.part(first, number))
                    self._put_together()
                    first = number
            words = sum(_count(record.text) for record in file.records)
            self._readings.append((self._next_document, *file.reading))
            self._add_document(
                origin,
                title=file.title,
                format=file.format,
                metadata=file.metadata,
                first_passage=first_passage,
                first_sentence=first_sentence,
                words=words,
                language=file.language,
            )
        self._found.append(chunk.batch.part(first, passages))

    def _is_full(self, record: PassageRecord) -> bool:
        """Count the texts of a passage that was added; return whether there are enough to put them together."""
        self._texts += 1 + record.sentences
        return self._texts >= _TEXTS or len(self._passages) >= _BATCH

    def _put_together(self) -> None:
        """Put the last passages into the spool; write the rows too, if there are enough."""
        if len(self._passages) >= _BATCH:
            self.flush()
        else:
            self._spool_found()

    def _add_passage(self, record: PassageRecord) -> None:
        ids = self._next_passage, self._next_document, self._next_sentence
        where = record.line, record.page, record.headings
        self._passages.append((*ids, record.sentences, *where, record.text, record.places, record.offsets))
        if record.metadata is not None:
            self._record_metadata.append((self._next_passage, self._next_document, record.metadata))
        self._next_passage += 1
        self._next_sentence += record.sentences

    def _find_words(self) -> None:
        """Find the words of the last passages, for the dense and the lexical index."""
        if self._records:
            words = find_words(self._records, self._languages_of_records)
            first = self._next_passage - len(self._records)
            self._words.add_words(np.arange(first, self._next_passage), words)
            self._found.append(batch_of(words.sentence_counts, self._ids_of(words)))
            self._records, self._languages_of_records = [], []

    def _spool_found(self) -> None:
        """Put the words of the last passages into the spool, as one batch."""
        self._find_words()
        batch = SpooledBatch.concatenate(self._found)
        first_passage = self._next_passage - len(batch.passage_ids)
        first_sentence = self._next_sentence - int(batch.sentence_counts.sum())
        if len(batch.passage_ids):
            ids, sentences = first_passage + batch.passage_ids, first_sentence + batch.first_sentences
            self._spool.append(replace(batch, passage_ids=ids, first_sentences=sentences))
        self._found, self._texts = [], 0

    def _add_document(
        self,
        origin: DocumentSource,
        *,
        title: str,
        format: str,
        metadata: str,
        first_passage: int,
        first_sentence: int,
        words: int,
        language: str,
    ) -> None:
        where = origin.path, origin.file if origin.file != origin.path else None
        state = origin.size, origin.mtime_ns, origin.checked_ns, origin.digest
        when = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        what = title, format, metadata
        ids = self._next_document, first_passage, self._next_passage - first_passage
        sentences = first_sentence, self._next_sentence - first_sentence
        reader = origin.reader
        if reader is None:
            reader = "" if origin.root_id == ADDED else label_of(format, origin.columns)
        self._documents.append((*ids, origin.root_id, *where, *what, *state, *sentences, words, when, language, reader))
        self._next_document += 1

    def flush(self) -> None:
        """Write the rows gathered so far, and put the words into the spool."""
        self._spool_found()
        insert_documents(self._db, self._documents)
        self._db.executemany(_INSERT_READING, self._readings)
        insert_passages(self._db, self._passages, {row[0] for row in self._record_metadata})
        insert_records(self._db, self._record_metadata)
        self._documents, self._readings, self._passages, self._record_metadata = [], [], [], []
        set_meta(self._db, "next_document", self._next_document)
        set_meta(self._db, "next_passage", self._next_passage)
        set_meta(self._db, "next_sentence", self._next_sentence)


def forget(
    db: sqlite3.Connection, document_ids: Iterable[int], *, generation: int
) -> Iterable[tuple[list[str], list[str]]]:
    """Delete documents and yield their sentences with the language of each. Vectors and postings stay, as removed.

    A damaged passage is deleted with the others, since that repairs an index; its sentences are not yielded.
    """
    for id_ in document_ids:
        if (held := extent_of(db, id_)) is None:
            continue
        last = held.first_passage + held.passages
        rows = sound_passages(db, held.first_passage, last)
        titled = get_titled(db, [id_])[id_]
        while batch := list(islice(rows, _BATCH)):
            codes = [language_of_passage(row.text, titled.language) for row in batch]
            texts = [with_parts(text, titled.format) for row in batch for text in row.sentence_texts]
            yield texts, [code for code, row in zip(codes, batch, strict=True) for _ in row.sentences]
        db.execute("DELETE FROM passages WHERE id >= ? AND id < ?", (held.first_passage, last))
        db.execute("DELETE FROM documents WHERE id = ?", (id_,))
        db.execute("DELETE FROM readings WHERE document_id = ?", (id_,))
        db.execute("DELETE FROM record_metadata WHERE document_id = ?", (id_,))
        if held.passages:
            db.execute("INSERT INTO removed VALUES (?, ?, ?, ?, ?)", (*held, generation))


def rewrite_words(db: sqlite3.Connection, words: WordsWriter) -> None:
    """Find the language of each document, and write the lexical index of all passages, again from the stored text."""
    _find_languages(db)
    languages = dict(db.execute("SELECT id, language FROM documents").fetchall())
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM passages").fetchone()
    for first in range(1, last + 1, _BATCH):
        rows = get_titled_texts_between(db, first, first + _BATCH)
        for language, run in groupby(rows, key=lambda row: languages[row.document_id]):
            texts = [
                (
                    row.passage_id,
                    with_parts(heading_text(row.title, row.headings), row.format),
                    with_parts(row.text, row.format),
                )
                for row in run
            ]
            ids, above, bodies = zip(*texts, strict=True)
            words.add(np.array(ids, dtype=np.int64), above, bodies, language)


def _find_languages(db: sqlite3.Connection) -> None:
    """Find the language of each document by the text of its first passages."""
    documents = db.execute("SELECT id, first_passage, passages FROM documents").fetchall()
    with documents_changing(db, [id_ for id_, *_ in documents]):
        for id_, first, count in documents:
            texts = (row.text for row in each_passage(db, first, first + count))
            db.execute("UPDATE documents SET language = ? WHERE id = ?", (language_of_parts(texts), id_))


def set_languages(db: sqlite3.Connection) -> None:
    """Store the number of documents in each language."""
    rows = db.execute("SELECT language, count(*) FROM documents WHERE language != '' GROUP BY language").fetchall()
    set_meta(db, LANGUAGES, json.dumps(dict(rows)))


def _count(text: str) -> int:
    """The approximate number of words in a text."""
    return text.count(" ") + text.count("\n") + 1
