"""One generation of an index, opened for searching: vectors, words, embedder. Nothing is loaded before its use."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache, partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, cast

import numpy as np

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges, distinct
from semsearch.arrays.types import Bool, Float32, Float64, Int64
from semsearch.dense.engines import StoreAddress, get_own_address, open_stores
from semsearch.dense.vector_store import VectorReader, VectorStore
from semsearch.embedding.word_finder import as_multilingual
from semsearch.errors import IndexNotTrusted
from semsearch.lexical.bm25 import WordSearch
from semsearch.lexical.postings import LexicalSegment
from semsearch.search.kept_rows import Kept, OnDemandSentences, ReadRows, ReadTexts, TitleVectors
from semsearch.search.passage_parts import PassageParts
from semsearch.storage.catalogue import PassageRow, SentenceSpans
from semsearch.storage.checked_rows import check_all_documents
from semsearch.storage.checksums import check_digests
from semsearch.storage.database import SEGMENTS, IndexDatabase
from semsearch.storage.fitted import fit_stamp, load_embedder
from semsearch.storage.meta import get_languages, get_stamp
from semsearch.storage.segments import VECTORS, Kind, Segment, get_removed, get_segments
from semsearch.system.open_cache import OpenCache, opened_property
from semsearch.text.detect_language import language_of_passage
from semsearch.text.languages import ENGLISH
from semsearch.topics.topic_model import Halves, Topics, open_topics
from semsearch.trust import explained, last_recorded, named_outside, not_allowed
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.stored_vectors import StoredVectors
    from semsearch.embedding.embedder import SentenceEmbedder

_LOG = logging.getLogger(__name__)
_language_of_passage = lru_cache(maxsize=4096)(language_of_passage)  # the same passages are found again

# -- The reader of one generation --------------------------------------------------------------------------------------

_MOST_PARTS = 4096  # passages whose parts are kept: some ten megabytes
_MOST_LANGUAGES = 1 << 16  # documents whose language is kept
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
        self.parts: Kept[int, PassageParts] = Kept(_MOST_PARTS)  # of the passages that answers had, by id
        self._are_documents_checked = False
        self.unmatched_filters: dict[str, tuple[str, ...]] = {}  # what each filter lacks (semsearch.search.filter_sql)
        languages = get_languages(db)
        self.language_documents: dict[str, int] = languages  # how many documents are in each
        self.languages: tuple[str, ...] = tuple(languages) or (ENGLISH,)  # by whose rules questions are read
        self._documents = int(db.execute("SELECT count(*) FROM documents").fetchone()[0])
        self._fit = fit_stamp(db)
        self._vectors = vectors
        self._embedder: SentenceEmbedder | None = None
        self._titles: TitleVectors | None = None
        self._in_languages: dict[str, SentenceEmbedder] = {}  # copies that know more languages than the index has
        self._language_of: Kept[int, str] = Kept(_MOST_LANGUAGES)
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
        known = self._language_of.of(wanted, lambda ids: dict(db.execute(_LANGUAGES, (json.dumps(ids),)).fetchall()))
        return [known.get(id_) or ENGLISH for id_ in wanted]

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
                sample = self.halves.general(self.passage_vectors.fetch(ids.ids(rows)).rows)
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

    def sentences(self, db: sqlite3.Connection, passage_ids: Int64, spans: SentenceSpans) -> StoredVectors:
        """The vectors of all sentences of passages, one after the other: stored, or made if they are not kept. (p,)

        `spans`: the id of each passage's first sentence and the number of its sentences.
        """
        if not self._of("sentence"):  # by the settings, or since an engine has the vectors
            embedder = self.embedder(db)
            if embedder is not None and self._fit is not None:
                made = self._shared.sentences.get(self._fit, lambda: OnDemandSentences(embedder))
                return made.of(db, passage_ids, spans.counts)
        begins = np.cumsum(spans.counts) - spans.counts
        ids = np.repeat(spans.firsts - begins, spans.counts) + np.arange(spans.counts.sum())
        return self.sentence_vectors.fetch(ids)

    @opened_property
    def lexical(self) -> WordSearch:
        """The lexical retriever of the generation."""
        segments, removed = self._of("words"), self._removed["passage"]
        opened = [self._shared.words.get(each.file, partial(self._open_segment, each)) for each in segments]
        alive = [_alive(each, removed) for each in segments]
        return WordSearch(opened, alive, documents=self._documents, languages=self.languages)

    @opened_property
    def passage_vectors(self) -> VectorReader:
        """The vectors of the generation's passages. Raises IndexNotTrusted for a store that is not allowed."""
        return self._open_vectors("passage")

    @opened_property
    def sentence_vectors(self) -> VectorReader:
        """The stored vectors of sentences; not all indexes have them: ask for `sentences`. Raises IndexNotTrusted."""
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
