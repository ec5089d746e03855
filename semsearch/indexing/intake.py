"""Add and remove documents: their rows, their words for the lexical index, and their word ids for the vectors.

Word ids go to the spool, and postings to a `WordsWriter`. A removed document leaves its vectors and postings in the
segments, where they are skipped until the next merge. Ids are never used again: they come from counters that only grow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from semsearch.indexing.read_files import Chunk, Prepared, Preparer
from semsearch.indexing.spool import Spool, SpooledBatch
from semsearch.lexical.postings import GatheredPostings, WordsWriter
from semsearch.readers.registry import NO_COLUMNS, Columns
from semsearch.sources.roots import ADDED
from semsearch.sources.unchanged import label_of
from semsearch.storage.document_rows import (
    insert_documents,
    insert_readings,
    insert_records,
)
from semsearch.storage.passage_rows import insert_passages
from semsearch.storage.schema import get_all_meta, set_meta
from semsearch.text.passage_words import PassageRecord

if TYPE_CHECKING:
    import sqlite3


BATCH = 2048  # passages, or documents, that are taken in together


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
    """Takes documents in; an earlier version of each must have been removed. `first_passage`: the first new id.

    What comes without its words gets them from the `preparer`.
    """

    def __init__(
        self, db: sqlite3.Connection, spool: Spool, words: WordsWriter, preparer: Callable[[], Preparer]
    ) -> None:
        self._db = db
        self._spool = spool
        self._words = words
        self._preparer = preparer
        meta = get_all_meta(db)
        self._next_document = int(meta.get("next_document", 1))
        self.first_passage = self._next_passage = int(meta.get("next_passage", 1))
        self._first_sentence = self._next_sentence = int(meta.get("next_sentence", 1))
        self._waiting: list[tuple[Prepared, DocumentSource]] = []
        self._waiting_passages = 0

    @property
    def passages(self) -> int:
        """The number of passages taken in."""
        return self._next_passage - self.first_passage

    @property
    def sentences(self) -> int:
        """The number of sentences taken in."""
        return self._next_sentence - self._first_sentence

    def take(self, source: DocumentSource, file: Prepared) -> None:
        """Add a document that was read, together with the next ones."""
        self._waiting.append((file, source))
        self._waiting_passages += len(file.records)
        if self._waiting_passages >= BATCH or len(self._waiting) >= BATCH:
            self._take_waiting()

    def take_chunk(self, chunk: Chunk, sources: Sequence[DocumentSource | None]) -> None:
        """Add the files of a prepared chunk that have a source; those without one could not be read."""
        self._add_words(chunk.batch, chunk.postings)
        for file, source in zip(chunk.files, sources, strict=True):
            if source is not None:
                first = self._next_passage, self._next_sentence
                self._add_passages(file.records)
                self._add_document(source, file, *first, words=sum(map(_count_words, file.records)))

    def take_large(self, source: DocumentSource, file: Prepared, records: Iterable[PassageRecord]) -> None:
        """Add a document part by part: its passages are never in memory together."""
        first, words, rest = (self._next_passage, self._next_sentence), 0, iter(records)
        while part := tuple(islice(rest, BATCH)):
            file = self._preparer().with_language(replace(file, records=part))
            self._add_words(*self._preparer().words_of(part, [file.language] * len(part)))
            self._add_passages(part)
            words += sum(map(_count_words, part))
        self._add_document(source, file, *first, words=words)

    def finish(self) -> None:
        """Add the documents that are waiting for others, and write the next ids."""
        self._take_waiting()
        set_meta(self._db, "next_document", self._next_document)
        set_meta(self._db, "next_passage", self._next_passage)
        set_meta(self._db, "next_sentence", self._next_sentence)

    def _take_waiting(self) -> None:
        if self._waiting:
            files, sources = zip(*self._waiting, strict=True)
            self._waiting, self._waiting_passages = [], 0
            self.take_chunk(self._preparer().chunk_of(files), sources)

    def _add_words(self, batch: SpooledBatch, postings: GatheredPostings) -> None:
        """Add the words of the next passages."""
        if len(batch.passage_ids):
            ids, firsts = batch.passage_ids + self._next_passage, batch.first_sentences + self._next_sentence
            self._words.take(ids, postings)
            self._spool.append(replace(batch, passage_ids=ids, first_sentences=firsts))

    def _add_passages(self, records: Sequence[PassageRecord]) -> None:
        """Write the rows of the next document's passages."""
        rows, of_records = list[tuple[Any, ...]](), list[tuple[int, int, str]]()
        for record in records:
            ids = self._next_passage, self._next_document, self._next_sentence, record.sentences
            where = record.line, record.page, record.headings
            rows.append((*ids, *where, record.text, record.places, record.offsets))
            if record.metadata is not None:
                of_records.append((self._next_passage, self._next_document, record.metadata))
            self._next_passage += 1
            self._next_sentence += record.sentences
        insert_passages(self._db, rows, {row[0] for row in of_records})
        insert_records(self._db, of_records)

    def _add_document(
        self, source: DocumentSource, file: Prepared, first_passage: int, first_sentence: int, *, words: int
    ) -> None:
        """Write the row of a document whose passages have been added."""
        reader = "" if source.root_id == ADDED else label_of(file.format, source.columns)
        ids = self._next_document, first_passage, self._next_passage - first_passage, source.root_id
        where = source.path, source.file if source.file != source.path else None
        state = source.size, source.mtime_ns, source.checked_ns, source.digest
        sentences = first_sentence, self._next_sentence - first_sentence
        when = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        what = file.title, file.format, file.metadata
        insert_documents(self._db, [(*ids, *where, *what, *state, *sentences, words, when, file.language, reader)])
        insert_readings(self._db, [(self._next_document, *file.reading)])
        self._next_document += 1


def _count_words(record: PassageRecord) -> int:
    """The approximate number of words in a passage."""
    return record.text.count(" ") + record.text.count("\n") + 1
