"""Add and remove documents: their rows, their words for the lexical index, and their word ids for the vectors.

Word ids go to the spool, and postings to a `WordsWriter`. A removed document leaves its vectors and postings in the
segments, where they are skipped until the next merge. Ids are never used again: they come from counters that only grow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from semsearch.indexing.read_files import Chunk, PreparedFile, Preparer
from semsearch.indexing.spool import Spool, SpooledBatch
from semsearch.lexical.postings import GatheredPostings, WordsWriter
from semsearch.sources.roots import ADDED
from semsearch.sources.unchanged import PresentFile, reading_label
from semsearch.storage.document_rows import (
    insert_documents,
    insert_readings,
    insert_records,
)
from semsearch.storage.passage_rows import insert_passages
from semsearch.storage.schema import set_meta
from semsearch.text.passage_words import PassageRecord

if TYPE_CHECKING:
    import sqlite3


BATCH = 2048  # passages, or documents, that are taken in together


class Intake:
    """Takes documents in; an earlier version of each must have been removed. `first_passage`: the first new id.

    What comes without its words gets them from the `preparer`; the next ids are among the single values, `meta`.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        spool: Spool,
        words: WordsWriter,
        preparer: Callable[[], Preparer],
        meta: Mapping[str, str],
    ) -> None:
        self._db = db
        self._spool = spool
        self._words = words
        self._preparer = preparer
        self.passages = self.sentences = 0  # taken in
        self._next_document = int(meta.get("next_document", 1))
        self.first_passage = self._next_passage = int(meta.get("next_passage", 1))
        self._next_sentence = int(meta.get("next_sentence", 1))
        self._waiting: list[tuple[PresentFile, PreparedFile]] = []
        self._waiting_passages = 0

    def take(self, file: PresentFile, prepared: PreparedFile) -> None:
        """Add a document that was read, together with the next ones."""
        self._waiting.append((file, prepared))
        self._waiting_passages += len(prepared.records)
        if self._waiting_passages >= BATCH or len(self._waiting) >= BATCH:
            self._take_waiting()

    def take_chunk(self, files: Sequence[PresentFile], chunk: Chunk) -> None:
        """Add the files of a prepared chunk, but those that could not be read."""
        self._add_words(chunk.batch, chunk.postings)
        for file, prepared in zip(files, chunk.files, strict=True):
            if not prepared.reason:
                first = self._next_passage, self._next_sentence
                words = self._add_passages(prepared.records)
                self._add_document(file, prepared, *first, words=words)

    def take_large(self, file: PresentFile, prepared: PreparedFile, records: Iterable[PassageRecord]) -> None:
        """Add a document part by part: its passages are never in memory together."""
        first, words, rest = (self._next_passage, self._next_sentence), 0, iter(records)
        while part := tuple(islice(rest, BATCH)):
            prepared = self._preparer().with_language(replace(prepared, records=part))
            self._add_words(*self._preparer().words_of(part, [prepared.language] * len(part)))
            words += self._add_passages(part)
        self._add_document(file, prepared, *first, words=words)

    def finish(self) -> None:
        """Add the documents that are waiting for others, and write the next ids."""
        self._take_waiting()
        set_meta(self._db, "next_document", self._next_document)
        set_meta(self._db, "next_passage", self._next_passage)
        set_meta(self._db, "next_sentence", self._next_sentence)

    def _take_waiting(self) -> None:
        if self._waiting:
            files, prepared = zip(*self._waiting, strict=True)
            self._waiting, self._waiting_passages = [], 0
            self.take_chunk(files, self._preparer().chunk_of(prepared))

    def _add_words(self, batch: SpooledBatch, postings: GatheredPostings) -> None:
        """Add the words of the next passages."""
        if len(batch.passage_ids):
            ids, firsts = batch.passage_ids + self._next_passage, batch.first_sentences + self._next_sentence
            self._words.take(ids, postings)
            self._spool.append(replace(batch, passage_ids=ids, first_sentences=firsts))

    def _add_passages(self, records: Sequence[PassageRecord]) -> int:
        """Write the rows of the next document's passages; about how many words they have."""
        rows, of_records = list[tuple[Any, ...]](), list[tuple[int, int, str]]()
        for record in records:
            ids = self._next_passage, self._next_document, self._next_sentence, record.sentences
            where = record.line, record.page, record.headings
            rows.append((*ids, *where, record.text, record.places, record.offsets))
            if record.metadata is not None:
                of_records.append((self._next_passage, self._next_document, record.metadata))
            self._next_passage += 1
            self._next_sentence += record.sentences
        self.passages += len(rows)
        self.sentences += sum(record.sentences for record in records)
        words = sum(record.text.count(" ") + record.text.count("\n") + 1 for record in records)
        insert_passages(self._db, rows, {row[0] for row in of_records})
        if of_records:
            insert_records(self._db, of_records)
        return words

    def _add_document(
        self, file: PresentFile, prepared: PreparedFile, first_passage: int, first_sentence: int, *, words: int
    ) -> None:
        """Write the row of a document whose passages have been added."""
        reader = "" if file.root_id == ADDED else reading_label(prepared.format, file.columns)
        ids = self._next_document, first_passage, self._next_passage - first_passage, file.root_id
        where = file.path, file.file if file.file != file.path else None
        state = prepared.size, prepared.mtime_ns, prepared.checked_ns, prepared.digest
        sentences = first_sentence, self._next_sentence - first_sentence
        when = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        what = prepared.title, prepared.format, prepared.metadata
        insert_readings(self._db, [(self._next_document, *prepared.reading)])
        insert_documents(self._db, [(*ids, *where, *what, *state, *sentences, words, when, prepared.language, reader)])
        self._next_document += 1
