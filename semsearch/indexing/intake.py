"""Add and remove documents: their rows, their words for the lexical index, and their word ids for the vectors.

Rows are written some thousands at a time; word ids go to the spool, and postings to a `WordsWriter`. A removed document
leaves its vectors and postings in the segments, where they are skipped until the next merge. Ids are never used again:
they come from counters that only grow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from semsearch.indexing.read_files import Chunk, Prepared
from semsearch.indexing.spool import Spool, SpooledBatch, batch_of
from semsearch.lexical.postings import WordsWriter
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.sources.roots import ADDED
from semsearch.sources.unchanged import label_of
from semsearch.storage.document_rows import (
    delete_document,
    extent_of,
    insert_documents,
    insert_readings,
    insert_records,
)
from semsearch.storage.passage_rows import (
    find_languages,
    insert_passages,
    passages_between,
    sound_passages,
    stored_texts,
    with_documents,
)
from semsearch.storage.schema import get_all_meta, get_count, set_meta
from semsearch.text.languages import SAMPLE, language_of_parts
from semsearch.text.passage_records import PassageRecord, PassageWords, find_words
from semsearch.text.ragged import Ragged
from semsearch.text.text_lengths import heading_text
from semsearch.text.tokens import with_parts

if TYPE_CHECKING:
    import sqlite3


_BATCH = 2048  # passages
_TEXTS = 4096  # headings and sentences that go to the spool together


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


class Intake:
    """Takes documents in; an earlier version of each must have been removed.

    `first_passage` is the id of the first new passage, `next_document` the id that the next document gets. Passages go
    to the spool in batches that do not depend on how the documents came, so the sums over them are the same.
    """

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
        self._spool = spool
        self._ids_of = ids_of
        self._words = words
        self._languages = languages
        meta = get_all_meta(db)
        self.next_document = int(meta.get("next_document", 1))
        self.first_passage = self._next_passage = int(meta.get("next_passage", 1))
        self._first_sentence = self._next_sentence = int(meta.get("next_sentence", 1))
        # rows that are not written yet
        self._documents: list[tuple[Any, ...]] = []
        self._readings: list[tuple[int, int, str]] = []
        self._passages: list[tuple[Any, ...]] = []
        self._record_metadata: list[tuple[int, int, str]] = []
        # passages that are not in the spool yet: first those whose words are known, then the others, with languages
        self._batches: list[SpooledBatch] = []
        self._records: list[tuple[PassageRecord, str]] = []
        self._texts = 0  # headings and sentences of both

    @property
    def passages(self) -> int:
        """The number of passages taken in."""
        return self._next_passage - self.first_passage

    @property
    def sentences(self) -> int:
        """The number of sentences taken in."""
        return self._next_sentence - self._first_sentence

    def take(self, source: DocumentSource, file: Prepared, records: Iterable[PassageRecord] | None = None) -> None:
        """Add a document that was read: with its own passages, or these `records`, which need not be in memory."""
        language, records = self._language_of(file.records if records is None else records)
        first_passage, first_sentence, words = self._next_passage, self._next_sentence, 0
        for record in records:
            self._records.append((record, language))
            words += _count_words(record)
            if self._add_passage(record):
                self._put_together()
        self._add_document(source, file, first_passage, first_sentence, words=words, language=language)

    def take_chunk(self, chunk: Chunk, sources: Sequence[DocumentSource | None]) -> None:
        """Add the files of a prepared chunk that have a source; those without one could not be read."""
        self._find_words()
        passages = len(chunk.batch.passage_ids)
        if passages:
            self._words.take(np.arange(self._next_passage, self._next_passage + passages), chunk.postings)
        taken = spooled = 0
        for file, source in zip(chunk.files, sources, strict=True):
            if source is None:
                continue
            first_passage, first_sentence = self._next_passage, self._next_sentence
            for record in file.records:
                taken += 1
                if self._add_passage(record):
                    self._batches.append(chunk.batch.part(spooled, taken))
                    self._put_together()
                    spooled = taken
            words = sum(map(_count_words, file.records))
            self._add_document(source, file, first_passage, first_sentence, words=words, language=file.language)
        self._batches.append(chunk.batch.part(spooled, passages))

    def flush(self) -> None:
        """Write the rows gathered so far, and put the words into the spool."""
        self._spool_words()
        insert_documents(self._db, self._documents)
        insert_readings(self._db, self._readings)
        insert_passages(self._db, self._passages, {row[0] for row in self._record_metadata})
        insert_records(self._db, self._record_metadata)
        self._documents, self._readings, self._passages, self._record_metadata = [], [], [], []
        set_meta(self._db, "next_document", self.next_document)
        set_meta(self._db, "next_passage", self._next_passage)
        set_meta(self._db, "next_sentence", self._next_sentence)

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

    def _add_passage(self, record: PassageRecord) -> bool:
        """Gather the row of a passage; return whether there are enough texts to put them together."""
        ids = self._next_passage, self.next_document, self._next_sentence, record.sentences
        where = record.line, record.page, record.headings
        self._passages.append((*ids, *where, record.text, record.places, record.offsets))
        if record.metadata is not None:
            self._record_metadata.append((self._next_passage, self.next_document, record.metadata))
        self._next_passage += 1
        self._next_sentence += record.sentences
        self._texts += 1 + record.sentences
        return self._texts >= _TEXTS or len(self._passages) >= _BATCH

    def _add_document(
        self,
        source: DocumentSource,
        file: Prepared,
        first_passage: int,
        first_sentence: int,
        *,
        words: int,
        language: str,
    ) -> None:
        reader = "" if source.root_id == ADDED else label_of(file.format, source.columns)
        ids = self.next_document, first_passage, self._next_passage - first_passage, source.root_id
        where = source.path, source.file if source.file != source.path else None
        state = source.size, source.mtime_ns, source.checked_ns, source.digest
        sentences = first_sentence, self._next_sentence - first_sentence
        when = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        what = file.title, file.format, file.metadata
        self._documents.append((*ids, *where, *what, *state, *sentences, words, when, language, reader))
        self._readings.append((self.next_document, *file.reading))
        self.next_document += 1

    def _put_together(self) -> None:
        """Put the last passages into the spool; write the rows too, if there are enough."""
        if len(self._passages) >= _BATCH:
            self.flush()
        else:
            self._spool_words()

    def _spool_words(self) -> None:
        """Put the words of the last passages into the spool, as one batch."""
        self._find_words()
        batch = SpooledBatch.concatenate(self._batches)
        if len(batch.passage_ids):
            first_passage = self._next_passage - len(batch.passage_ids)
            first_sentence = self._next_sentence - int(batch.sentence_counts.sum())
            ids, sentences = first_passage + batch.passage_ids, first_sentence + batch.first_sentences
            self._spool.append(replace(batch, passage_ids=ids, first_sentences=sentences))
        self._batches, self._texts = [], 0

    def _find_words(self) -> None:
        """Find the words of the last passages, for the dense and the lexical index."""
        if self._records:
            records, languages = zip(*self._records, strict=True)
            words = find_words(records, languages)
            self._words.add_words(np.arange(self._next_passage - len(records), self._next_passage), words)
            self._batches.append(batch_of(words.sentence_counts, self._ids_of(words)))
            self._records = []


def forget(
    db: sqlite3.Connection, document_ids: Iterable[int], *, generation: int
) -> Iterator[tuple[list[str], list[str]]]:
    """Delete documents and yield their sentences with the language of each. Vectors and postings stay, as removed.

    A damaged passage is deleted with the others, since that repairs an index; its sentences are not yielded.
    """
    for id_ in document_ids:
        extent = extent_of(db, id_)
        if extent is None:
            continue
        texts = stored_texts(db, sound_passages(db, extent.first_passage, extent.first_passage + extent.passages))
        while batch := list(islice(texts, _BATCH)):
            languages = [passage.language for passage in batch for _ in passage.sentences]
            yield [text for passage in batch for text in passage.sentences], languages
        delete_document(db, id_, extent, generation=generation)


def rewrite_words(db: sqlite3.Connection, words: WordsWriter) -> None:
    """Find the language of each document, and write the lexical index of all passages, again from the stored text."""
    languages = find_languages(db)
    for first in range(1, get_count(db, "next_passage"), _BATCH):
        rows = with_documents(db, passages_between(db, first, first + _BATCH))
        for language, run in groupby(rows, key=lambda pair: languages[pair[1].id]):
            pairs = list(run)
            ids = np.array([row.id for row, _ in pairs], dtype=np.int64)
            above = [with_parts(heading_text(document.title, row.headings), document.format) for row, document in pairs]
            words.add(ids, above, [with_parts(row.text, document.format) for row, document in pairs], language)


def _count_words(record: PassageRecord) -> int:
    """The approximate number of words in a passage."""
    return record.text.count(" ") + record.text.count("\n") + 1
