"""Documents into rows and out of them: the catalogue, the words for the lexical index, and those for the vectors.

Everything happens inside the caller's write transaction. Ids come from counters that only grow.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from semsearch.indexing.spool import Batch, Spool, batch_of
from semsearch.lexical.writer import WordsWriter
from semsearch.readers.document import Document
from semsearch.storage.catalogue import each_passage, get_documents
from semsearch.storage.meta import get_count, set_meta
from semsearch.text.headings import heading_text
from semsearch.text.passage_words import find_words
from semsearch.text.ragged import Ragged
from semsearch.text.tokens import WordChunk

if TYPE_CHECKING:
    import sqlite3

    from semsearch.indexing.prepare import Chunk
    from semsearch.text.passage_records import Cut

Int64 = npt.NDArray[np.int64]

_BATCH = 2048  # passages
_TEXTS = 4096  # of passages, whose words are found at once
_INSERT_DOCUMENT = (
    "INSERT INTO documents (id, root_id, path, file, title, format, metadata, size, mtime_ns, checked_ns, digest, "
    "first_passage, passages, first_sentence, sentences, words, indexed_at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_PASSAGE = (
    "INSERT INTO passages (id, document_id, first_sentence, sentence_count, line, page, headings, text, sentences) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document comes from, and the state of its file when it was read."""

    root_id: int
    path: str
    file: str
    digest: str
    size: int = 0
    mtime_ns: int = 0
    checked_ns: int = 0


class Intake:
    """Takes documents in. `passages` and `sentences` count what was written; `first_passage` is the first new id."""

    def __init__(
        self,
        db: sqlite3.Connection,
        spool: Spool,
        ids_of: Callable[[Iterable[WordChunk]], Ragged],
        words: WordsWriter,
    ) -> None:
        self._db = db
        self._spool = spool
        self._ids_of = ids_of
        self._words = words
        self._next_document = get_count(db, "next_document") or 1
        self._next_passage = self.first_passage = get_count(db, "next_passage") or 1
        self._next_sentence = self._first_sentence = get_count(db, "next_sentence") or 1
        self._documents: list[tuple[Any, ...]] = []
        self._passages: list[tuple[Any, ...]] = []
        self._cuts: list[Cut] = []  # whose words are still to be found
        self._texts = 0  # of theirs

    @property
    def passages(self) -> int:
        return self._next_passage - self.first_passage

    @property
    def sentences(self) -> int:
        return self._next_sentence - self._first_sentence

    def take_in(self, origin: Origin, document: Document) -> None:
        """Add one document. Any earlier version of it must be gone."""
        from semsearch.text.passage_records import (  # start-up time: a sync without changes cuts nothing
            each_cut,
            storable,
        )

        first_passage, first_sentence, words = self._next_passage, self._next_sentence, 0
        for cut in each_cut(document):
            self._add_passage(cut)
            self._cuts.append(cut)
            self._texts += 1 + cut.sentences
            words += _count(cut.text)
            if self._texts >= _TEXTS:
                self._find_words()
            if len(self._passages) >= _BATCH:
                self.flush()
        metadata = json.dumps(dict(document.metadata), allow_nan=False)
        self._add_document(
            origin, storable(document.title), document.format, metadata, first_passage, first_sentence, words
        )

    def take_chunk(self, chunk: Chunk, origins: Sequence[Origin | None]) -> None:
        """Add the files of a chunk that have an origin: those that could be read."""
        self.flush()
        if len(ids := self._spooled(chunk.batch, self._next_passage, self._next_sentence)):
            self._words.take(ids, chunk.postings)
        for file, origin in zip(chunk.files, origins, strict=True):
            if origin is None:
                continue
            first_passage, first_sentence = self._next_passage, self._next_sentence
            for cut in file.cuts:
                self._add_passage(cut)
            words = sum(_count(cut.text) for cut in file.cuts)
            self._add_document(origin, file.title, file.format, file.metadata, first_passage, first_sentence, words)

    def _add_passage(self, cut: Cut) -> None:
        ids = self._next_passage, self._next_document, self._next_sentence
        self._passages.append((*ids, cut.sentences, cut.line, cut.page, cut.headings, cut.text, cut.offsets))
        self._next_passage += 1
        self._next_sentence += cut.sentences

    def _find_words(self) -> None:
        """The words of the last passages, for both halves of the index."""
        if self._cuts:
            words = find_words(self._cuts)
            batch = batch_of(words.sentence_counts, self._ids_of(words.chunks))
            firsts = self._next_passage - len(self._cuts), self._next_sentence - int(words.sentence_counts.sum())
            self._words.add_words(self._spooled(batch, *firsts), words)
            self._cuts, self._texts = [], 0

    def _spooled(self, batch: Batch, first_passage: int, first_sentence: int) -> Int64:
        """Put a batch into the spool, with ids that are counted on from these; the ids of its passages."""
        ids, sentences = first_passage + batch.passage_ids, first_sentence + batch.first_sentences
        if len(ids):
            self._spool.append(replace(batch, passage_ids=ids, first_sentences=sentences))
        return ids

    def _add_document(
        self,
        origin: Origin,
        title: str,
        format: str,
        metadata: str,
        first_passage: int,
        first_sentence: int,
        words: int,
    ) -> None:
        place = origin.path, origin.file if origin.file != origin.path else None
        state = origin.size, origin.mtime_ns, origin.checked_ns, origin.digest
        held = first_passage, self._next_passage - first_passage, first_sentence, self._next_sentence - first_sentence
        when = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        what = title, format, metadata
        self._documents.append((self._next_document, origin.root_id, *place, *what, *state, *held, words, when))
        self._next_document += 1

    def flush(self) -> None:
        """Write everything gathered so far."""
        self._find_words()
        self._db.executemany(_INSERT_DOCUMENT, self._documents)
        self._db.executemany(_INSERT_PASSAGE, self._passages)
        self._documents, self._passages = [], []
        set_meta(self._db, "next_document", self._next_document)
        set_meta(self._db, "next_passage", self._next_passage)
        set_meta(self._db, "next_sentence", self._next_sentence)


def forget(db: sqlite3.Connection, document_ids: Iterable[int], *, generation: int) -> Iterable[list[str]]:
    """Delete documents, yielding their sentences. Vectors and postings stay, marked as removed."""
    for document in list(get_documents(db, document_ids).values()):
        last = document.first_passage + document.passages
        rows = each_passage(db, document.first_passage, last)
        while batch := list(islice(rows, _BATCH)):
            yield [text for row in batch for text in row.sentence_texts]
        db.execute("DELETE FROM passages WHERE id >= ? AND id < ?", (document.first_passage, last))
        db.execute("DELETE FROM documents WHERE id = ?", (document.id,))
        if document.passages:
            row = (document.first_passage, document.passages, document.first_sentence, document.sentences, generation)
            db.execute("INSERT INTO removed VALUES (?, ?, ?, ?, ?)", row)


def write_words_anew(db: sqlite3.Connection, words: WordsWriter) -> None:
    """Fill the lexical index from the stored text."""
    rows = db.execute(
        "SELECT passages.id, title, headings, text FROM passages JOIN documents ON documents.id = document_id "
        "ORDER BY passages.id"
    )
    while batch := rows.fetchmany(_BATCH):
        texts = [(id_, heading_text(title, json.loads(headings)), text) for id_, title, headings, text in batch]
        ids, above, bodies = zip(*texts, strict=True)
        words.add(np.array(ids, dtype=np.int64), above, bodies)


def _count(text: str) -> int:
    """About how many words."""
    return text.count(" ") + text.count("\n") + 1
