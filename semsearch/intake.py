"""Documents into rows and out of them: the catalogue, the words for the lexical index, and those for the vectors.

Everything happens inside the caller's write transaction. Ids come from counters that only grow.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from semsearch.documents import Document
from semsearch.rows import each_passage, get_count, get_documents, heading_text, set_meta
from semsearch.spool import SpoolWriter
from semsearch.words import WordsWriter

if TYPE_CHECKING:
    from semsearch.passages import Passage

_BATCH = 2048  # passages
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

    def __init__(self, db: sqlite3.Connection, spool: SpoolWriter, words: WordsWriter) -> None:
        self._db = db
        self._spool = spool
        self._words = words
        self._next_document = get_count(db, "next_document") or 1
        self._next_passage = self.first_passage = get_count(db, "next_passage") or 1
        self._next_sentence = self._first_sentence = get_count(db, "next_sentence") or 1
        self._documents: list[tuple[Any, ...]] = []
        self._passages: list[tuple[Any, ...]] = []
        self._texts: list[tuple[int, str, str]] = []

    @property
    def passages(self) -> int:
        return self._next_passage - self.first_passage

    @property
    def sentences(self) -> int:
        return self._next_sentence - self._first_sentence

    def take_in(self, origin: Origin, document: Document) -> None:
        """Add one document. Any earlier version of it must be gone."""
        from semsearch.passages import each_passage  # start-up time: a sync without changes cuts nothing

        title = _storable(document.title)
        first_passage, first_sentence = self._next_passage, self._next_sentence
        words = 0
        for piece in each_passage(document):
            self._take_passage(title, piece)
            words += piece.text.count(" ") + piece.text.count("\n") + 1
            if len(self._passages) >= _BATCH:
                self.flush()
        place = origin.path, origin.file if origin.file != origin.path else None
        what = title, document.format, json.dumps(dict(document.metadata), allow_nan=False)
        state = origin.size, origin.mtime_ns, origin.checked_ns, origin.digest
        held = first_passage, self._next_passage - first_passage, first_sentence, self._next_sentence - first_sentence
        when = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        self._documents.append((self._next_document, origin.root_id, *place, *what, *state, *held, words, when))
        self._next_document += 1

    def _take_passage(self, title: str, piece: Passage) -> None:
        text, headings = piece.text, piece.headings
        places = [(s.start, s.end, s.source_start, s.source_end, s.line) for s in piece.sentences]
        offsets = np.array(places, dtype="<i4").tobytes()
        id_, first = self._next_passage, self._next_sentence
        self._passages.append(
            (id_, self._next_document, first, len(places), piece.line, piece.page, json.dumps(headings), text, offsets)
        )
        above = heading_text(title, headings)
        self._texts.append((id_, above, text))
        self._spool.add(id_, first, above, [text[place[0] : place[1]] for place in places])
        self._next_passage += 1
        self._next_sentence += len(places)

    def flush(self) -> None:
        """Write everything gathered so far."""
        self._spool.flush()
        add_words(self._words, self._texts)
        self._db.executemany(_INSERT_DOCUMENT, self._documents)
        self._db.executemany(_INSERT_PASSAGE, self._passages)
        self._documents, self._passages, self._texts = [], [], []
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
        add_words(words, texts)


def add_words(words: WordsWriter, texts: Sequence[tuple[int, str, str]]) -> None:
    """Passages by id, headings and text into the lexical index."""
    if texts:
        ids, above, bodies = zip(*texts, strict=True)
        words.add(np.array(ids, dtype=np.int64), above, bodies)


def _storable(text: str) -> str:
    """Without lone surrogates, which are no characters and which no database takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
