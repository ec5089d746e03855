"""One generation of an index, opened for searching, and how one query reads it.

An `IndexReader` has the files of the generation, which are opened at first use, and remembers what queries have read.
An `IndexView` is that together with the read transaction of one query: it gives the rows and the vectors of passages,
documents and sentences by their ids. Rows are compared with their checksums when they are first read.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges, distinct
from semsearch.arrays.types import Float32, Int64, UInt8
from semsearch.arrays.vectors import from_bytes, to_bytes
from semsearch.dense.engines import open_stores
from semsearch.dense.vector_store import SegmentsReader, StoredVectors, VectorStore, no_vectors
from semsearch.errors import IndexDamaged, IndexNotTrusted, rebuild_command
from semsearch.lexical.bm25 import WordSearch
from semsearch.lexical.postings import LexicalSegment
from semsearch.results.documents import Facets
from semsearch.search.passage_parts import PassageParts
from semsearch.storage.checksums import check_digests
from semsearch.storage.database import SEGMENTS, IndexDatabase
from semsearch.storage.document_rows import DocumentRow, check_all_documents, require_documents
from semsearch.storage.fitted import fit_stamp, load_embedder
from semsearch.storage.passage_rows import PassageRow, SentenceSpans, require_passages, spans_of, stored_texts
from semsearch.storage.schema import get_address, get_languages, get_stamp
from semsearch.storage.segments import Kind, Segment, get_removed, get_segments
from semsearch.system.open_cache import OpenCache
from semsearch.text.languages import ENGLISH, language_of_passage
from semsearch.text.tokens import letters_of
from semsearch.topics.topic_model import Halves, Topics, open_topics
from semsearch.trust import external_references, last_recorded, not_allowed, refusal
from semsearch.word_vectors.multilingual import as_multilingual
from semsearch.word_vectors.table import WordVectors
from semsearch.word_vectors.text_words import ReadTexts

if TYPE_CHECKING:
    import sqlite3

    from semsearch.embedding.embedder import SentenceEmbedder

_LOG = logging.getLogger(__name__)
_language_of_passage = lru_cache(maxsize=4096)(language_of_passage)  # the same passages are found again
_LANGUAGES = "SELECT id, language FROM documents WHERE id IN (SELECT value FROM json_each(?))"
_STORES = "stores"  # a key of what successive generations share


# -- Caches ------------------------------------------------------------------------------------------------------------

Key = TypeVar("Key")
Value = TypeVar("Value")


class ReadCache(Generic[Key, Value]):
    """Values by their keys, read when they are first needed; emptied before it has more than `most`.

    Threads may share it: at worst, two read the same.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, Value] = {}

    def of(self, keys: Iterable[Key], read: Callable[[list[Key]], Mapping[Key, Value]]) -> dict[Key, Value]:
        """The value of each different key, in order; keys for which `read` returns nothing are left out."""
        values, wanted = self._values, dict.fromkeys(keys)
        missing = [key for key in wanted if key not in values]
        if not missing:
            return {key: values[key] for key in wanted}
        new = read(missing)
        result = {key: new[key] if key in new else values[key] for key in wanted if key in new or key in values}
        if len(values) + len(new) > self._most:
            values = self._values = {}
        values.update(new)
        return result


class QueryCaches:
    """The caches of one generation, whose rows do not change. Threads may share them.

    Without one of these caches a warm query takes 1.1 to 1.4 times as long.
    """

    def __init__(self) -> None:
        self.passages = ReadCache[int, PassageRow](4096)  # some megabytes
        self.documents = ReadCache[int, DocumentRow](4096)
        self.parts = ReadCache[int, PassageParts](4096)  # ten megabytes
        self.letters = ReadCache[int, bytes](4096)
        self.languages = ReadCache[int, str](1 << 16)  # of documents
        self.spans = ReadCache[int, Int64](1 << 16)  # ten megabytes
        self.titles = ReadCache[int, Float32](20_000)  # twenty megabytes at 256 dimensions
        self.sentences = ReadCache[int, UInt8](8192)  # those of passages that are not stored: twenty-five megabytes
        self.words = ReadTexts()
        self.facets = ReadCache[Hashable, Facets](32)  # some kilobytes each
        self.filtered = ReadCache[Hashable, tuple[IdRanges | None, Sequence[str]]](64)  # passages, and notices
        self.has_checked_documents = False


@dataclass(frozen=True, slots=True)
class IndexView:
    """An index as one read transaction sees it: its rows by `db`, the opened files of its generation by `reader`."""

    db: sqlite3.Connection
    reader: IndexReader
    federated: Sequence[WordSearch] = ()  # the words of other indexes that are searched together with this one

    @property
    def lexical(self) -> WordSearch:
        """The words of the passages, with idfs over all indexes that are searched together."""
        return self.reader.lexical.with_idf_of(self.federated) if self.federated else self.reader.lexical

    # -- rows, which are all there: else these raise IndexDamaged ------------------------------------------------------

    def passages(self, ids: Iterable[int]) -> dict[int, PassageRow]:
        """The rows of passages, by id."""
        return self.reader.caches.passages.of(ids, partial(require_passages, self.db))

    def documents_of(self, passages: Iterable[PassageRow]) -> dict[int, DocumentRow]:
        """The rows of the documents that passages are in, by id."""
        ids = [passage.document_id for passage in passages]
        return self.reader.caches.documents.of(ids, partial(require_documents, self.db))

    def letters(self, ids: Iterable[int]) -> dict[int, bytes]:
        """The letters of passages, which are the same in near-duplicates, by id."""

        def read(missing: list[int]) -> dict[int, bytes]:
            return {id_: letters_of(row.text) for id_, row in self.passages(missing).items()}

        return self.reader.caches.letters.of(ids, read)

    def spans(self, ids: Int64) -> SentenceSpans:
        """The sentences and neighbours of passages with rising ids. (n,)"""

        def read(missing: list[int]) -> dict[int, Int64]:
            return dict(zip(missing, spans_of(self.db, np.array(missing, dtype=np.int64)), strict=True))

        rows = [*self.reader.caches.spans.of(ids.tolist(), read).values()]
        numbers = np.array(rows, dtype=np.int64).reshape(-1, 7)
        document, first, count, first_passage, passages, headed, code = numbers.T
        before, after = ids > first_passage, ids + 1 < first_passage + passages
        return SentenceSpans(first, count, before, after, document, passages, headed > 0, code)

    def languages_of_documents(self, ids: Int64) -> list[str]:
        """The language of each document; English if none was detected. (n,)"""

        def read(missing: list[int]) -> dict[int, str]:
            return {id_: code or ENGLISH for id_, code in self.db.execute(_LANGUAGES, (json.dumps(missing),))}

        codes = self.reader.caches.languages.of(ids.tolist(), read)
        return [codes.get(id_, ENGLISH) for id_ in ids.tolist()]

    def languages_of(self, passages: Sequence[PassageRow]) -> list[str]:
        """The language of each passage, which may be another than its document's."""
        if self.reader.languages == (ENGLISH,):
            return [ENGLISH] * len(passages)
        of_documents = self.languages_of_documents(np.array([row.document_id for row in passages], dtype=np.int64))
        return [_language_of_passage(row.text, code) for row, code in zip(passages, of_documents, strict=True)]

    def check_documents(self) -> None:
        """Compare the rows of all documents, once, before a filter reads them. Raises IndexDamaged."""
        if not self.reader.caches.has_checked_documents:
            check_all_documents(self.db)
        self.reader.caches.has_checked_documents = True

    # -- vectors -------------------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> SentenceEmbedder | None:
        """The fitted embedder; None in an index without sentences."""
        return self.reader.embedder(self.db)

    def vectors_of(self, ids: Int64, dimension: int) -> Float32:
        """The stored vectors of passages, zero where there is none. (n,) -> (n, d + k)"""
        return self.reader.passage_vectors.fetch(ids).filled(dimension)

    def titles(self, documents: Int64) -> Float32:
        """The vectors of the titles of documents, what each is about in its author's few words; zero without any.

        They are embedded when a document is first found: a hundred take one or two milliseconds. (n,) -> (n, d)
        """
        embedder = self.embedder
        assert embedder is not None  # they are compared with a query's vector

        def read(missing: list[int]) -> dict[int, Float32]:
            documents = require_documents(self.db, missing)
            titles = [document.descriptive_title for document in documents.values()]
            languages = [document.language for document in documents.values()]
            return dict(zip(documents, embedder.transform(titles, languages), strict=True))

        ids, which = np.unique(documents, return_inverse=True)
        rows = np.array([*self.reader.caches.titles.of(ids.tolist(), read).values()], dtype=np.float32)
        return np.asarray(rows[which.reshape(-1)])

    def sentences(self, ids: Int64, spans: SentenceSpans) -> StoredVectors:
        """The vectors of all sentences of passages, one after the other. `spans`: those of the passages. (p,)

        Where they are not stored (by the settings, or since an engine has the vectors), they are made from their texts
        and rounded as stored ones are: scores are the same.
        """
        embedder = None if self.reader.stores_sentences else self.embedder
        starts = np.cumsum(spans.counts) - spans.counts
        if embedder is None:
            numbers = np.repeat(spans.firsts - starts, spans.counts) + np.arange(spans.counts.sum())
            return self.reader.sentence_vectors.fetch(numbers)
        by_passage = self.reader.caches.sentences.of(ids.tolist(), partial(self._embedded, embedder))
        n, by_start = int(spans.counts.sum()), zip(starts.tolist(), map(by_passage.get, ids.tolist()), strict=True)
        parts = [(first, rows) for first, rows in by_start if rows is not None and len(rows)]
        if not parts:
            return no_vectors(n)
        positions = [np.arange(first, first + len(rows)) for first, rows in parts]
        return StoredVectors(np.concatenate(positions), from_bytes(np.concatenate([rows for _, rows in parts])), n)

    def _embedded(self, embedder: SentenceEmbedder, ids: Sequence[int]) -> dict[int, UInt8]:
        """The vectors of the sentences of each passage, as they would be stored."""
        texts = [*stored_texts(self.db, require_passages(self.db, ids).values())]
        languages = [passage.language for passage in texts for _ in passage.sentences]
        rows = to_bytes(embedder.transform([text for passage in texts for text in passage.sentences], languages))
        ends = np.cumsum([len(passage.sentences) for passage in texts])[:-1]
        return dict(zip([passage.passage_id for passage in texts], np.split(rows, ends), strict=True))


# -- The reader of one generation --------------------------------------------------------------------------------------

_SAMPLE = 256  # passages: the spread is within a twentieth of that over all


class IndexReader:
    """One generation of an index, opened for searching. Threads may share it, each with a connection of its own.

    A segment, a store or an embedder that the `previous` reader of the index has opened is not opened again. To be
    used only in a read transaction that sees this generation. Raises FileNotFoundError if a segment has gone: the
    transaction is then older than the grace that a writer gives.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        database: IndexDatabase,
        vectors: Callable[[], WordVectors],
        *,
        previous: IndexReader | None = None,
    ) -> None:
        check_digests(db)
        self.stamp = get_stamp(db)
        self.generation: int = self.stamp[0]
        self.order = database.times_replaced, self.generation  # the newest one has the largest
        self._segments = get_segments(db)
        self._removed = get_removed(db)
        self._mapped: list[Segment] = []  # whose files have been opened
        self.caches = QueryCaches()
        languages = get_languages(db)
        self.language_documents: dict[str, int] = languages  # how many documents are in each
        self.languages: tuple[str, ...] = tuple(languages) or (ENGLISH,)  # by whose rules questions are read
        self._documents = int(db.execute("SELECT count(*) FROM documents").fetchone()[0])
        self.fit = fit_stamp(db)
        self.word_vectors = vectors  # the index's, opened when first needed
        self._embedder: SentenceEmbedder | None = None
        self._in_languages: OpenCache[tuple[str, ...], SentenceEmbedder] = OpenCache()  # embedders of more languages
        self._may_read_files = False
        self._trust_checked_at: int | None = None  # `last_recorded` at the last check
        self._address = get_address(db)
        self._database, self._folder = database, database.folder / SEGMENTS
        self._references = external_references(database, db)
        is_next = previous is not None and previous._address == self._address
        self._opened: OpenCache[Hashable, Any] = previous._opened if previous and is_next else OpenCache()
        self._opened.keep({_STORES, *(segment.file for segment in self._segments), self.fit})

    def languages_beside(self, language: str | None) -> tuple[str, ...]:
        """The languages by whose rules a question in one of them is read: not those of a few stray documents."""
        if language not in self.languages:
            return self.languages
        least = tuning.TUNING.stray_language * sum(self.language_documents.values())
        return tuple(code for code in self.languages if code == language or self.language_documents[code] >= least)

    def may_read_files(self) -> bool:
        """Whether files of hits may be checked for changes: not of a copy, nor of roots that are not allowed, which is
        logged once."""
        if not (self._may_read_files or self._database.is_copy) and self._trust_checked_at != (now := last_recorded()):
            refused = not_allowed(self._database, self._references, ["root"])
            self._may_read_files = not refused
            if refused:
                _warn(f"changed files are not noticed: {refusal(self._database, refused)}")
            self._trust_checked_at = now
        return self._may_read_files

    def check_files(self) -> None:
        """Check that no file was cut off since it was mapped: to read on would end the process. Raises IndexDamaged."""
        folder = self._folder
        for segment in self._mapped:
            with suppress(FileNotFoundError):  # swept, but still mapped
                size = os.stat(f"{folder}/{segment.file}").st_size  # noqa: PTH116  # every query pays it
                if size < segment.size:
                    cure = rebuild_command(self._database.folder)
                    raise IndexDamaged(f"{folder / segment.file} has {size} bytes, not {segment.size}; run: {cure}")

    def embedder(self, db: sqlite3.Connection) -> SentenceEmbedder | None:
        """The fitted embedder; None in an index without sentences."""
        if self._embedder is None and self.fit is not None:
            self._embedder = self._opened.get(self.fit, lambda: load_embedder(db, self.word_vectors()))
        return self._embedder

    def embedder_of(self, embedder: SentenceEmbedder, languages: Iterable[str]) -> SentenceEmbedder:
        """The embedder, if it knows these languages; else a copy that knows them too, which is kept."""
        several = as_multilingual(embedder.chosen_.vectors)
        lacking = sorted({*languages} - {ENGLISH, *(several.tables if several is not None else ())})

        def extended() -> SentenceEmbedder:
            other = copy(embedder)
            other.add_languages(lacking)
            return other

        return self._in_languages.get(tuple(lacking), extended) if lacking else embedder

    def spread(self, query: Float32) -> float:
        """The standard deviation of a query's cosines with the passages, from a sample; a unit vector or zero. (d,)

        It says how much a cosine of this query means in this index, whatever filters allow. To few passages the usual
        spread is added, since one that answers would count for much.
        """
        tuned, count = tuning.TUNING, self._sample.shape[1]
        squares = float(np.square(query @ self._sample).sum(dtype=np.float64))  # Σ (cosine - mean)²
        return float(np.sqrt((squares + tuned.spread_prior * tuned.usual_spread**2) / (count + tuned.spread_prior)))

    @cached_property
    def _sample(self) -> Float32:
        """Vectors of passages, evenly spread over the index, without their mean. (d, n)"""
        ids = IdRanges.union(segment.id_ranges for segment in self._of("words"))
        rows = distinct(np.linspace(0, len(ids) - 1, min(_SAMPLE, len(ids))).astype(np.int64))
        sample = self.halves.general(self.passage_vectors.fetch(ids.ids(rows)).rows)
        return np.ascontiguousarray((sample - sample.sum(axis=0) / max(len(sample), 1)).T)

    @cached_property
    def topics(self) -> Topics | None:
        """The topics learned from the collection; None if the index was not adapted."""
        for segment in self._of("topics"):
            self._mapped.append(segment)
            topics: Topics = self._opened.get(
                segment.file, partial(open_topics, self._folder / segment.file, segment.sums)
            )
            return topics
        return None

    @cached_property
    def halves(self) -> Halves:
        """The division of passages' vectors into general and topic halves."""
        return Halves(0 if self.topics is None else self.topics.dimension)

    @property
    def stores_sentences(self) -> bool:
        """Whether the vectors of sentences are stored; if not, `IndexView.sentences` makes them."""
        return bool(self._of("sentence")) or self.fit is None

    @cached_property
    def lexical(self) -> WordSearch:
        """The lexical retriever of the generation."""
        segments, removed = self._of("words"), self._removed["passage"]
        opened = [
            self._opened.get(segment.file, partial(LexicalSegment, self._folder / segment.file, segment))
            for segment in segments
        ]
        gone = [segment.id_ranges.rows_in(removed) for segment in segments]
        alive = [~of_segment if of_segment.any() else None for of_segment in gone]
        self._mapped += segments
        return WordSearch(opened, alive, documents=self._documents, languages=self.languages)

    @cached_property
    def passage_vectors(self) -> SegmentsReader:
        """The vectors of the generation's passages. Raises IndexNotTrusted for a store that is not allowed."""
        return self._open_vectors("passage")

    @cached_property
    def sentence_vectors(self) -> SegmentsReader:
        """The stored vectors of sentences; without some, `IndexView.sentences` makes them. Raises IndexNotTrusted."""
        return self._open_vectors("sentence")

    def _open_vectors(self, kind: Kind) -> SegmentsReader:
        if refused := not_allowed(self._database, self._references, ["store"]):
            raise IndexNotTrusted(f"{refusal(self._database, refused)}; search by words alone with: --mode lexical")
        if segments := self._of(kind):
            self._mapped += [] if self._address is not None else segments  # with an engine there are no files
            stores: Mapping[Kind, VectorStore] = self._opened.get(
                _STORES, partial(open_stores, self._address, self._database.folder)
            )
            return stores[kind].open(segments, self._removed[kind])
        return SegmentsReader([], self._removed[kind])

    def _of(self, kind: Kind) -> list[Segment]:
        return [segment for segment in self._segments if segment.kind == kind]


@lru_cache(maxsize=256)
def _warn(message: str) -> None:
    """Log a warning once."""
    _LOG.warning(message)
