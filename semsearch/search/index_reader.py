"""One generation of an index, opened for searching: vectors, words, embedder, rows. Nothing is loaded before its use.

Rows are compared with their checksums when they are first read. An answer needs some rows twice, to find
near-duplicates and to make hits, and in one generation they do not change; so they are kept while it lasts.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges, distinct
from semsearch.arrays.top_k import TopKResult
from semsearch.arrays.types import Bool, Float32, Float64, Int32, Int64, UInt64
from semsearch.dense.engines import StoreAddress, get_own_address, open_stores
from semsearch.dense.vector_store import VectorReader, VectorStore
from semsearch.embedding.word_finder import as_multilingual
from semsearch.errors import IndexNotTrusted
from semsearch.lexical.bm25 import WordSearch
from semsearch.lexical.postings import LexicalSegment
from semsearch.search.on_demand_vectors import TitleVectors
from semsearch.storage.catalogue import DocumentRow, PassageRow, SentenceSpans, need_documents, passage_row, spans_from
from semsearch.storage.checked_rows import PassageColumnsRead, needed_passages, spans_of, text_in
from semsearch.storage.checksums import check_digests
from semsearch.storage.database import SEGMENTS, IndexDatabase
from semsearch.storage.fitted import fit_stamp, load_embedder
from semsearch.storage.meta import get_languages, get_stamp
from semsearch.storage.segments import VECTORS, Kind, Segment, get_removed, get_segments
from semsearch.system.open_cache import OpenCache, opened_property
from semsearch.text.languages import ENGLISH, RULES, language_of_passage
from semsearch.text.near_duplicates import MARKS, marks_of
from semsearch.text.terms import Lexicon, sequences, word_chunks
from semsearch.text.tokens import WordChunk
from semsearch.topics.topic_model import Halves, Topics, open_topics
from semsearch.trust import explained, last_recorded, named_outside, not_allowed
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.stored_vectors import StoredVectors
    from semsearch.embedding.embedder import SentenceEmbedder
    from semsearch.search.on_demand_vectors import OnDemandSentences

_LOG = logging.getLogger(__name__)
_language_of_passage = lru_cache(maxsize=4096)(language_of_passage)  # the same passages are found again

# -- Rows, compared with their checksums -------------------------------------------------------------------------------

_MOST = 4096  # rows that are kept: some megabytes
_MOST_STEMS = 1 << 17  # terms that are remembered
_MOST_TEXTS = 8192  # whose words are kept: ten megabytes of sentences
_MOST_SPANS = 1 << 16  # passages whose numbers are kept: ten megabytes
_NO_WORDS = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int32)


class ReadRows:
    """The rows of one generation that were read lately, and what was found out about them. Threads may share it."""

    def __init__(self) -> None:
        self._kept: dict[int, PassageColumnsRead] = {}
        self._documents: dict[int, DocumentRow] = {}
        self._marks: dict[int, tuple[int, ...]] = {}
        self._span_rows: dict[int, int] = {}  # by passage, the row of its numbers
        self._numbers: Int64 = np.zeros((_MOST_SPANS, 7), dtype=np.int64)  # takes memory as it is filled
        self._count = 0
        self._adding = Lock()

    def texts(self, db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, str]:
        """The texts of passages, which are all there, by id. Raises IndexDamaged."""
        return {id_: text_in(row) for id_, row in self._rows(db, ids).items()}

    def spans(self, db: sqlite3.Connection, ids: Int64) -> SentenceSpans:
        """The sentences and neighbours of passages with rising ids, as `get_spans` finds them. Raises IndexDamaged."""
        wanted = ids.tolist()
        with self._adding:
            rows = [self._span_rows.get(id_, -1) for id_ in wanted]
            numbers = self._numbers.take(rows, axis=0, mode="clip")
        lacking = [at for at, row in enumerate(rows) if row < 0]
        if not lacking:
            return spans_from(ids, numbers)
        numbers[lacking] = read = spans_of(db, ids[lacking])
        with self._adding:
            first = self._count
            if first + len(lacking) > len(self._numbers):
                self._span_rows, first = {}, 0
            if len(lacking) <= len(self._numbers):
                self._count = first + len(lacking)
                self._numbers[first : self._count] = read
                self._span_rows.update({wanted[at]: first + n for n, at in enumerate(lacking)})
        return spans_from(ids, numbers)

    def marks(self, texts: Mapping[int, str]) -> UInt64:
        """What near-duplicates have in common, of passages whose texts these are. n texts -> (n, 3)"""
        kept = self._marks
        lacking = [id_ for id_ in texts if id_ not in kept]
        made = dict(zip(lacking, map(tuple, marks_of([texts[id_] for id_ in lacking]).tolist()), strict=True))
        found = [made[id_] if id_ in made else kept[id_] for id_ in texts]
        if len(kept) + len(made) > _MOST:
            kept = self._marks = {}
        kept.update(made)
        return np.array(found, dtype=np.uint64).reshape(-1, MARKS)

    def with_documents(
        self, db: sqlite3.Connection, ids: Iterable[int]
    ) -> tuple[dict[int, PassageRow], dict[int, DocumentRow]]:
        """The rows of passages and those of their documents, which are all there, by id. Raises IndexDamaged."""
        passages = {id_: passage_row(row) for id_, row in self._rows(db, ids).items()}
        return passages, self._document_rows(db, {passage.document_id for passage in passages.values()})

    def _document_rows(self, db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, DocumentRow]:
        kept, wanted = self._documents, dict.fromkeys(ids)
        lacking = [id_ for id_ in wanted if id_ not in kept]
        read = need_documents(db, lacking) if lacking else {}
        found = {id_: read[id_] if id_ in read else kept[id_] for id_ in wanted}
        if len(kept) + len(read) > _MOST:
            kept = self._documents = {}
        kept.update(read)
        return found

    def _rows(self, db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, PassageColumnsRead]:
        kept, wanted = self._kept, dict.fromkeys(ids)
        lacking = [id_ for id_ in wanted if id_ not in kept]
        read = {row[0]: row for row in needed_passages(db, lacking)} if lacking else {}
        found = {id_: read[id_] if id_ in read else kept[id_] for id_ in wanted}
        if len(kept) + len(read) > _MOST:
            kept = self._kept = {}
        kept.update(read)
        return found


@dataclass(frozen=True, slots=True)
class TextWords:
    """The words of n texts, one text after the other, in three forms, each with the numbers of the texts."""

    hashes: UInt64  # as they are spelled (w,)
    of_hashes: Int64
    terms: UInt64  # as the postings have them (t,)
    of_terms: Int64
    ids: Int32  # in a table of word vectors, without those that it lacks (v,)
    of_ids: Int64


class ReadTexts:
    """The words of texts that were read lately: sentences are quoted again and again. Threads may share it."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, str], tuple[UInt64, UInt64, Int32]] = {}
        self._lexicon = Lexicon(keeps_spellings=False)  # stems each word once
        self._stemming = Lock()

    def words(self, texts: Sequence[str], language: str, table: WordVectors | None = None) -> TextWords:
        """The words of texts in a language; without a table there are no ids."""
        keys = [(text, language, "" if table is None else table.digest) for text in texts]
        kept = self._kept
        lacking = [key for key in dict.fromkeys(keys) if key not in kept]
        forms = self._read([text for text, _, _ in lacking], language, table) if lacking else ()
        read = dict(zip(lacking, zip(*forms, strict=True), strict=True)) if forms else {}
        rows = [read[key] if key in read else kept[key] for key in keys]
        if len(kept) + len(read) > _MOST_TEXTS:
            kept = self._kept = {}
        kept.update(read)
        joined: list[Any] = []
        for form, empty in zip((zip(*rows, strict=True) if rows else ([], [], [])), _NO_WORDS, strict=True):
            joined += [np.concatenate([empty, *form]), np.repeat(np.arange(len(form)), [len(part) for part in form])]
        return TextWords(*joined)

    def _read(
        self, texts: Sequence[str], language: str, table: WordVectors | None
    ) -> tuple[list[UInt64], list[UInt64], list[Int32]]:
        """The words of each text: hashes, terms and ids."""
        chunks = [*word_chunks(texts, language)]
        counts = np.concatenate([chunk.counts for chunk in chunks])
        hashes = np.concatenate([chunk.hashes for chunk in chunks])
        if RULES[language].sequences:
            parts = sequences(texts, language)
            terms, of_terms = parts.hashes, np.diff(parts.indptr)
        else:
            terms, of_terms = self._terms(chunks, language), counts
        several = None if table is None else as_multilingual(table)
        if several is not None and language in several.tables:
            words = several.words_of(texts, language, keep_unknown=False)
            ids, of_ids = words.ids, words.lengths
        elif table is not None:
            ids, of_ids = (table if several is None else several.english).lookup(hashes), counts
        else:
            ids, of_ids = np.zeros(0, dtype=np.int32), np.zeros(len(texts), dtype=np.int64)
        ids_of_texts = [part[part >= 0] for part in _split(ids, of_ids)]
        return _split(hashes, counts), _split(terms, of_terms), ids_of_texts

    def _terms(self, chunks: Sequence[WordChunk], language: str) -> UInt64:
        with self._stemming:
            if len(self._lexicon) > _MOST_STEMS:
                self._lexicon = Lexicon(keeps_spellings=False)
            numbers = [self._lexicon.stem_numbers(chunk, language) for chunk in chunks]
            return np.asarray(self._lexicon.terms[np.concatenate(numbers)])


def _split(words: Any, counts: Int64) -> list[Any]:
    """The words of all texts as those of each."""
    ends = np.cumsum(counts).tolist()
    return [words[end - count : end] for count, end in zip(counts.tolist(), ends, strict=True)]


# -- The reader of one generation --------------------------------------------------------------------------------------

_SAMPLE = 256  # passages: the spread is within a twentieth of that over all
_LANGUAGES = "SELECT id, language FROM documents WHERE id IN (SELECT value FROM json_each(?))"
_Fit = tuple[int, str, bytes]  # what identifies a fitted embedder


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
        self._removed = {kind: get_removed(db, kind) for kind in VECTORS}
        self.read_rows, self.read_texts = ReadRows(), ReadTexts()
        self._are_documents_checked = False
        self.filter_warnings: dict[str, tuple[str, ...]] = {}  # the warnings of each filter
        languages = get_languages(db)
        self.language_documents: dict[str, int] = languages  # how many documents are in each
        self.are_languages_known = bool(languages)  # they are not in an index of an earlier version
        self.languages: tuple[str, ...] = tuple(languages) or (ENGLISH,)  # by whose rules questions are read
        self._documents = int(db.execute("SELECT count(*) FROM documents").fetchone()[0])
        self._fit = fit_stamp(db)
        self._vectors = vectors
        self._embedder: SentenceEmbedder | None = None
        self._titles: TitleVectors | None = None
        self._in_languages: dict[str, SentenceEmbedder] = {}  # copies that know more languages than the index has
        self._language_of: dict[int, str] = {}  # of documents
        self._sample: Float32 | None = None
        self._may_read_files, self._asked_at = False, cast(int | None, None)  # what was recorded when it was asked
        self._opening = RLock()  # a thread that needs what another is opening waits for it
        address = get_own_address(db, database)
        self._database, self._names = database, named_outside(database, db)
        shared = None if previous is None else previous._shared
        self._shared: _Shared = (
            shared if shared is not None and shared.address == address else _Shared(database.folder, address)
        )
        self._shared.keep(self._segments, self._fit)

    @property
    def may_read_files(self) -> bool:
        """Whether it is looked whether files have changed: not those of a copy, nor of roots that are not allowed."""
        if not self._may_read_files and not self._database.is_copy and self._asked_at != (now := last_recorded()):
            lacking = not_allowed(self._database, self._names, ["root"])
            self._may_read_files = not lacking
            with self._opening:
                if lacking and (told := explained(self._database, lacking)) not in self._shared.told:
                    self._shared.told.add(told)
                    _LOG.warning("changed files are not noticed: %s", told)
            self._asked_at = now
        return self._may_read_files

    def check_documents(self, db: sqlite3.Connection) -> None:
        """Compare the rows of all documents, once, before a filter reads them. Raises IndexDamaged."""
        if not self._are_documents_checked:
            from semsearch.storage.checked_rows import check_all_documents  # start-up time: few searches filter

            check_all_documents(db)
            self.read_rows = ReadRows()
        self._are_documents_checked = True

    def embedder(self, db: sqlite3.Connection) -> SentenceEmbedder | None:
        """The fitted embedder; None in an index without sentences."""
        if self._embedder is None and self._fit is not None:
            self._embedder = self._shared.embedders.get(self._fit, lambda: load_embedder(db, self._vectors()))
        return self._embedder

    def embedder_of(self, embedder: SentenceEmbedder, languages: Iterable[str]) -> SentenceEmbedder:
        """The embedder, if it knows these languages; else a copy that knows them too, which is kept."""
        several = as_multilingual(embedder.chosen_.vectors)
        lacking = sorted({*languages} - {ENGLISH, *(several.tables if several is not None else ())})
        if not lacking:
            return embedder
        with self._opening:
            found = self._in_languages.get(key := ",".join(lacking))
            if found is None:
                found = copy(embedder)
                found.add_languages(lacking)
                self._in_languages[key] = found
            return found

    def languages_of(self, db: sqlite3.Connection, documents: Int64) -> list[str]:
        """The language of each document; English if none was detected. (n,)"""
        wanted = documents.tolist()
        lacking = [id_ for id_ in {*wanted} if id_ not in self._language_of]
        if lacking:
            self._language_of.update(db.execute(_LANGUAGES, (json.dumps(lacking),)).fetchall())
        return [self._language_of.get(id_) or ENGLISH for id_ in wanted]

    def languages_of_passages(self, db: sqlite3.Connection, passages: Sequence[PassageRow]) -> list[str]:
        """The language of each passage, which may be another than its document's."""
        if self.languages == (ENGLISH,):
            return [ENGLISH] * len(passages)
        of_documents = self.languages_of(db, np.array([row.document_id for row in passages], dtype=np.int64))
        return [_language_of_passage(row.text, code) for row, code in zip(passages, of_documents, strict=True)]

    def word_vectors(self) -> WordVectors:
        """The index's word vectors, opened when first needed."""
        return self._vectors()

    def titles(self, db: sqlite3.Connection, documents: Int64) -> Float32:
        """The vectors of the titles of documents, made by the fitted embedder; zero where there is none. -> (n, d)"""
        embedder = self.embedder(db)
        assert embedder is not None  # they are compared with a query's vector
        with self._opening:
            titles = self._titles = self._titles or TitleVectors(embedder)
        return titles.of(db, documents)

    def spread(self, queries: Float32) -> Float64:
        """The standard deviation of each query's cosines with the passages, from a sample. (q, d) unit or zero -> (q,)

        It says how much a cosine of this query means in this index, whatever filters allow. To few passages the usual
        spread is added, since one that answers would count for much.
        """
        with self._opening:
            if self._sample is None:
                ids = IdRanges.of(pair for segment in self._of("words") for pair in segment.id_ranges.ranges)
                rows = distinct(np.linspace(0, len(ids) - 1, min(_SAMPLE, len(ids))).astype(np.int64))
                sample = self.halves.general(self.vectors("passage", ids.ids(rows)))
                self._sample = np.ascontiguousarray((sample - sample.sum(axis=0) / max(len(sample), 1)).T)
            sample = self._sample
        tuned, count = tuning.TUNING, sample.shape[1]
        squares = np.zeros(len(queries))
        if count:
            squares = np.square(queries @ sample).sum(axis=1, dtype=np.float64)  # Σ (cosine - mean)²
        total = squares + tuned.spread_prior * tuned.usual_spread**2
        return np.asarray(np.sqrt(total / (count + tuned.spread_prior)))

    @opened_property
    def topics(self) -> Topics | None:
        """The topics learned from the collection; None if the index was not adapted."""
        for segment in self._of("topics"):
            opening = partial(open_topics, self._shared.folder / segment.file, segment.sums)
            return self._shared.topics.get(segment.file, opening)
        return None

    @cached_property
    def halves(self) -> Halves:
        """The division of passages' vectors into general and topic halves."""
        return Halves(0 if self.topics is None else self.topics.dimension)

    def scan(self, queries: Float32, n: int, *, allowed: IdRanges | None = None) -> TopKResult:
        """The n best passages by cosine for each query, best first; fewer if there are fewer. (q, d) -> (q, ≤ n)"""
        return self._passage_vectors.search(queries, n, allowed=allowed)

    def stored(self, kind: Kind, ids: Int64) -> StoredVectors:
        """The stored vectors of these ids (n,). Those of sentences need not be stored: ask for `sentences`."""
        reader = self._passage_vectors if kind == "passage" else self._sentence_vectors
        return reader.fetch(ids)

    def vectors(self, kind: Kind, ids: Int64) -> Float32:
        """The stored vectors of these ids; an id without one has no row. (n,) -> (≤ n, d)"""
        return self.stored(kind, ids).rows

    def sentences(self, db: sqlite3.Connection, passage_ids: Int64, spans: SentenceSpans) -> StoredVectors:
        """The vectors of all sentences of passages, one after the other: stored, or made if they are not kept. (p,)

        `spans`: the id of each passage's first sentence and the number of its sentences.
        """
        if not self._of("sentence"):  # by the settings, or since an engine has the vectors
            embedder = self.embedder(db)
            if embedder is not None and self._fit is not None:
                from semsearch.search.on_demand_vectors import (
                    OnDemandSentences,  # start-up time: most indexes store them
                )

                made = self._shared.sentences.get(self._fit, lambda: OnDemandSentences(embedder))
                return made.of(db, passage_ids, spans.counts)
        begins = np.cumsum(spans.counts) - spans.counts
        ids = np.repeat(spans.firsts - begins, spans.counts) + np.arange(spans.counts.sum())
        return self.stored("sentence", ids)

    @opened_property
    def lexical(self) -> WordSearch:
        """The lexical retriever of the generation."""
        segments, removed = self._of("words"), self._removed["passage"]
        opened = [self._shared.words.get(each.file, partial(self._open_segment, each)) for each in segments]
        alive = [_alive(each, removed) for each in segments]
        return WordSearch(opened, alive, documents=self._documents, languages=self.languages)

    @opened_property
    def _passage_vectors(self) -> VectorReader:
        return self._open_vectors("passage")

    @opened_property
    def _sentence_vectors(self) -> VectorReader:
        return self._open_vectors("sentence")

    def _open_vectors(self, kind: Kind) -> VectorReader:
        if lacking := not_allowed(self._database, self._names, ["store"]):
            raise IndexNotTrusted(f"{explained(self._database, lacking)}; search by words alone with: --mode lexical")
        return self._shared.open_stores()[kind].open(self._of(kind), self._removed[kind])

    def _open_segment(self, segment: Segment) -> LexicalSegment:
        return LexicalSegment(self._shared.folder / segment.file, segment)

    def _of(self, kind: Kind) -> list[Segment]:
        return [segment for segment in self._segments if segment.kind == kind]


class _Shared:
    """Opened files that the readers of successive generations share, and what they have warned of."""

    def __init__(self, folder: Path, address: StoreAddress | None) -> None:
        self.folder = folder / SEGMENTS
        self.address = address
        self._stores: OpenCache[str, Mapping[Kind, VectorStore]] = OpenCache()
        self.words: OpenCache[str, LexicalSegment] = OpenCache()
        self.topics: OpenCache[str, Topics] = OpenCache()
        self.embedders: OpenCache[_Fit, SentenceEmbedder | None] = OpenCache()
        self.sentences: OpenCache[_Fit, OnDemandSentences] = OpenCache()
        self.told: set[str] = set()

    def open_stores(self) -> Mapping[Kind, VectorStore]:
        """The stores of vectors, by kind. Opened late: a search by words alone needs no engine, nor to import one."""
        return self._stores.get("both", partial(open_stores, self.address, self.folder.parent))

    def keep(self, segments: list[Segment], fit: _Fit | None) -> None:
        """Close what neither these segments nor this fit need."""
        names = {segment.file for segment in segments}
        self.words.keep(names)
        self.topics.keep(names)
        for made in (self.embedders, self.sentences):
            made.keep(() if fit is None else (fit,))


def _alive(segment: Segment, removed: IdRanges) -> Bool | None:
    """The rows of a segment that are not removed; None if none is removed."""
    gone = segment.id_ranges.rows_in(removed)
    return ~gone if gone.any() else None
