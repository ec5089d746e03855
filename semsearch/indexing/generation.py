"""A new generation of an index, written in one transaction under the writer's lock.

    BEGIN ─ documents out, documents in, their words to the spool ─ fit or keep the fit ─ segment files ─ COMMIT

`new_generation` is the whole of it: whatever happens before the COMMIT (semsearch.storage.database) leaves the previous
generation whole. SQLite rolls the rows back, and the files of the attempt are removed, here or, if the process was
killed, after the next write. Files of earlier generations are removed as soon as no reader can need them.

The embedder's weights and components are frozen when an index is first filled: documents added later never change the
vectors of earlier ones. Only a small index that has doubled is refitted automatically, since its components were a
rough estimate; a large one only by `refit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain, islice, tee
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Float32, Int32, UInt8
from semsearch.arrays.vectors import to_bytes
from semsearch.dense.engines import open_stores
from semsearch.dense.vector_store import VectorStore
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.indexing.intake import BATCH, Intake
from semsearch.indexing.read_files import Preparer
from semsearch.indexing.segment_merging import Merger, drop_attempt, reclaim_space
from semsearch.indexing.spool import Spool, SpooledBatch
from semsearch.lexical.postings import LexicalSegment, WordsWriter
from semsearch.results.reports import Progress
from semsearch.settings import Settings
from semsearch.storage.database import SEGMENTS, CommitInDoubt, write_transaction
from semsearch.storage.document_rows import count_contents, delete_document, first_passages_of_languages
from semsearch.storage.fitted import delete_fit, fit_stamp, get_fitted_sentences, load_embedder, save_fit
from semsearch.storage.passage_rows import (
    find_languages,
    passages_between,
    stored_record,
    with_documents,
)
from semsearch.storage.schema import get_address, get_all_meta, get_languages, get_meta, set_languages, set_meta
from semsearch.storage.segments import VECTORS, Kind, Segment, get_removed, get_segments, update_manifest
from semsearch.system.memory import release_freed
from semsearch.system.parallel import Executor, in_background, in_order
from semsearch.text.languages import ENGLISH
from semsearch.text.passage_words import find_words
from semsearch.topics.topic_model import Topics, join, named_topics, write_topics
from semsearch.word_vectors.multilingual import MultilingualVectors, as_multilingual, language_table, languages_in
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.indexing.index_writer import IndexWriter
    from semsearch.topics.topic_fit import TopicVectors

REFIT_BELOW = 20_000  # sentences at the last fit: with more, components hardly change


@contextmanager
def new_generation(
    writer: IndexWriter,
    settings: Settings | None = None,
    vectors: Callable[[], WordVectors] | None = None,
    *,
    threads: int = 1,
    is_rebuild: bool = False,
    check_manifest: bool = True,
) -> Iterator[Generation]:
    """Make a new generation, which is committed at the end of the block if it has called `finish`.

    Fitting and embedding use `threads`. `vectors` are the word vectors of `settings`, if these are not the stored ones.
    After the commit unused disk space is reclaimed: after a refit or rebuild (`is_rebuild`) nearly all, else if it is
    much. `check_manifest`: a damaged list of segments raises IndexDamaged; False if all segments are made again.
    """
    database = writer.database
    (database.folder / SEGMENTS).mkdir(exist_ok=True)
    try:
        with (
            write_transaction(
                database,
                check_manifest=check_manifest,
                after_commit=partial(reclaim_space, database=database, is_rebuild=is_rebuild),
            ) as db,
            Spool(database.folder) as spool,
            threadpool_limits(1),  # several threads of linear algebra, beside several of ours, only wait for each other
        ):
            settings = settings or Settings.from_json(get_meta(db, "settings"))
            yield Generation(
                db,
                spool,
                folder=database.folder,
                settings=settings,
                vectors=vectors or partial(writer.vectors.of, settings),
                on_progress=writer.on_progress,
                executor=writer.executor,
                threads=threads,
            )
    except CommitInDoubt:
        raise
    except BaseException:
        with suppress(Exception), database.reading() as db:  # the error is what counts; the next write tries too
            drop_attempt(db, database.folder)
        raise


class Generation:
    """A new generation while it is written: documents are removed and added; `finish` makes their vectors.

    `intake` takes documents in, `words` writes their postings. The `executor`, if there is one, reads files in other
    processes. Fitting and embedding use `threads`, on which the result does not depend.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        spool: Spool,
        *,
        folder: Path,
        settings: Settings,
        vectors: Callable[[], WordVectors],
        on_progress: Callable[[Progress], None],
        executor: Executor | None,
        threads: int,
    ) -> None:
        self.db = db
        self.folder = folder
        self.settings = settings
        self.vectors = cache(vectors)
        self.on_progress = on_progress
        self.executor = executor
        self._threads = threads
        meta = get_all_meta(db)
        self.number: int = int(meta.get("generation", 0)) + 1
        self.words: WordsWriter = WordsWriter(folder / SEGMENTS, generation=self.number)
        self.intake: Intake = Intake(db, spool, self.words, lambda: self.preparer, meta)
        self._spool = spool
        self._has_removed = False

    @cached_property
    def preparer(self) -> Preparer:
        """Finds the words of texts, by the settings and word vectors of this generation."""
        return Preparer(self.settings, self.vectors())

    @cached_property
    def _stores(self) -> Mapping[Kind, VectorStore]:
        """The vector stores, at the address in the database: a rebuild may have changed it in this transaction."""
        settings = self.settings
        address = get_address(self.db)
        return open_stores(address, self.folder, exact=settings.exact, sentences=settings.sentence_vectors)

    @cached_property
    def _merger(self) -> Merger:
        return Merger(self.db, self.folder, self.number, self._stores)

    @cached_property
    def _fitted(self) -> SentenceEmbedder | None:
        """The embedder of the last generation; None if nothing was fitted yet."""
        return load_embedder(self.db, self.vectors())

    def remove(self, document_ids: Iterable[int]) -> None:
        """Remove documents by their ids, also damaged ones. Their vectors and postings stay until the next merge."""
        for id_ in document_ids:
            self._has_removed |= delete_document(self.db, id_, generation=self.number)

    def finish(self, *, refit: bool = False, rewrite_words: bool = False) -> bool:
        """Write what is still in memory, and the vectors; return whether the embedder was refitted.

        `rewrite_words`: with a refit, write the lexical index again too, and find the languages of all documents.
        """
        self.intake.finish()
        if rewrite_words:
            find_languages(self.db)
        set_languages(self.db)
        set_meta(self.db, "generation", self.number)
        if not (self.intake.passages or self._has_removed or refit):
            return False
        if refit:
            return self._embed_everything(rewrite_words=rewrite_words)
        self._update_manifest(self.words.finish())
        if self._has_doubled() or (embedder := self._embedder_for_new()) is None:
            return self._embed_everything()
        self._embed_new(embedder)
        return False

    # -- Keep the fit --------------------------------------------------------------------------------------------------

    def _has_doubled(self) -> bool:
        """Return whether a small index has twice the sentences that it was fitted to."""
        fitted = get_fitted_sentences(self.db) or 0
        return fitted < REFIT_BELOW and count_contents(self.db).sentences >= max(1, 2 * fitted)

    def _embedder_for_new(self) -> SentenceEmbedder | None:
        """The embedder, to which languages of new passages are added: no stored vector changes. None without a fit, or
        if a refit is needed: earlier passages in an added language were embedded without its word vectors.
        """
        embedder = self._fitted
        if embedder is None:
            return None
        if not (languages := _languages_in([self._spool], self.vectors())):
            return embedder
        fitted_vectors = as_multilingual(embedder.chosen_.vectors)
        fitted_languages = () if fitted_vectors is None else fitted_vectors.tables
        if not (added := [code for code in languages if code not in fitted_languages]):
            return embedder
        first_passages = first_passages_of_languages(self.db)
        if any(first_passages.get(code, self.intake.first_passage) < self.intake.first_passage for code in added):
            return None
        embedder.add_languages(added)
        fitted = get_fitted_sentences(self.db) or 0
        save_fit(self.db, embedder, generation=self.number, sentences=fitted)
        return embedder

    def _embed_new(self, embedder: SentenceEmbedder) -> None:
        """Embed the new passages with the fit of the earlier ones."""
        self._spool.renumber = renumbering(embedder.chosen_.vectors)
        topics = named_topics(self.folder / SEGMENTS, get_segments(self.db, "topics"))
        topic_vectors = (
            None if topics is None else self._topic_vectors(topics, self._lexical_segments(self.words.segments))
        )
        self._update_manifest(self._write_vectors([self._spool], embedder, topic_vectors))
        self._merger.merge()

    # -- Fit again -----------------------------------------------------------------------------------------------------

    def _embed_everything(self, *, rewrite_words: bool = False) -> bool:
        """Fit to all passages, stored and new ones, and embed them; return whether there was an earlier fit."""
        was_fitted = fit_stamp(self.db) is not None
        segments: list[Segment] = []
        with Spool(self.folder) as stored:
            self._spool_stored(stored, rewrite_words=rewrite_words)
            if rewrite_words:
                self._update_manifest(self.words.finish(), retired=get_segments(self.db, "words"))
            if stored.sentences or self._spool.sentences:
                segments = self._fit_and_write([stored, self._spool])
            else:
                delete_fit(self.db)
        self._update_manifest(segments, retired=get_segments(self.db, *VECTORS, "topics"))
        self._merger.merge()
        return was_fitted and bool(segments)

    def _spool_stored(self, spool: Spool, *, rewrite_words: bool) -> None:
        """Put the words of all stored passages into a spool, some passages at a time, and into the lexical index."""
        stored = with_documents(self.db, passages_between(self.db, 0, self.intake.first_passage))
        while pairs := [*islice(stored, BATCH)]:
            records, languages = [stored_record(*pair) for pair in pairs], [document.language for _, document in pairs]
            words = find_words(records, languages)
            ids = np.array([passage.id for passage, _ in pairs], dtype=np.int64)
            firsts = np.array([passage.first_sentence for passage, _ in pairs], dtype=np.int64)
            spool.append(replace(self.preparer.batch_of(words), passage_ids=ids, first_sentences=firsts))
            if rewrite_words:
                self.words.take(ids, self.preparer.postings_of(words))

    def _fit_and_write(self, spools: Sequence[Spool]) -> list[Segment]:
        """Fit the embedder, learn topics, embed all passages with both; the segments of vectors and topics."""
        release_freed()  # memory of the reading
        vectors = self.vectors()
        for spool in spools:
            spool.renumber = None  # from the last fit, if `_embedder_for_new` tried to keep that
        if languages := _languages_in(spools, vectors):
            tables = [table for code in languages if (table := language_table(code, vectors)) is not None]
            documents = get_languages(self.db)
            english = documents.get(ENGLISH, 0) / max(sum(documents.values()), 1)
            vectors = MultilingualVectors(vectors, tables, are_strays=english > 1 - tuning.TUNING.stray_language)
        for spool in spools:
            spool.renumber = renumbering(vectors)
        embedder = self.settings.embedder(vectors)
        lexical = self._lexical_segments(get_segments(self.db, "words"))
        learn = partial(self._learn_topics, lexical, get_removed(self.db)["words"])
        with in_background(learn, threads=self._threads) as learned:  # while the fit reads, or before it
            count = sum(spool.sentences for spool in spools)
            embedder.fit_ragged(lambda: (batch.sentences for spool in spools for batch in spool), count=count)
            topics, topic_vectors = learned()
        release_freed()  # memory of the fit
        segments = [] if topics is None else [write_topics(topics, self.folder / SEGMENTS, generation=self.number)]
        segments += self._write_vectors(spools, embedder, topic_vectors)
        save_fit(self.db, embedder, generation=self.number, sentences=count_contents(self.db).sentences)
        return segments

    def _learn_topics(
        self, segments: list[LexicalSegment], removed: IdRanges
    ) -> tuple[Topics, TopicVectors] | tuple[None, None]:
        """Learn topics and all passages' topic vectors, if topics are on and there are enough passages."""
        from semsearch.topics.topic_fit import fit_topics

        topics = fit_topics(segments, removed) if self.settings.adapt else None
        if topics is None:
            return None, None
        topic_vectors = self._topic_vectors(topics, segments)
        release_freed()
        return topics, topic_vectors

    def _topic_vectors(self, topics: Topics, segments: list[LexicalSegment]) -> TopicVectors:
        # SciPy takes a third of a second, and most syncs change nothing
        from semsearch.topics.topic_fit import TopicVectors

        return TopicVectors(topics, segments, self.folder)

    # -- Write vectors -------------------------------------------------------------------------------------------------

    def _write_vectors(
        self, spools: Sequence[Spool], embedder: SentenceEmbedder, topic_vectors: TopicVectors | None
    ) -> list[Segment]:
        """Embed the batches of some spools; the segments of passages and sentences."""
        done, total = 0, sum(spool.sentences for spool in spools)
        batches, again = tee(chain.from_iterable(spools))
        embedded = in_order(partial(_embed_batch, embedder), batches, threads=self._threads)
        stores = self._stores
        with (
            stores["passage"].writer(self.number) as passages,
            stores["sentence"].writer(self.number) if "sentence" in stores else nullcontext() as sentences,
        ):
            for batch, (general, sentence_rows) in zip(again, embedded, strict=True):
                ids = batch.passage_ids
                passages.add(ids, general if topic_vectors is None else join(general, topic_vectors.of(ids)))
                if sentences is not None:
                    sentences.add(batch.sentence_ids, sentence_rows)
                done += len(sentence_rows)
                self.on_progress(Progress("embedding", sentences=done, total_sentences=total))
            self.on_progress(Progress("writing", sentences=done, total_sentences=total))
            return passages.finish() + ([] if sentences is None else sentences.finish())

    def _lexical_segments(self, segments: list[Segment]) -> list[LexicalSegment]:
        return [LexicalSegment(self.folder / SEGMENTS / segment.file, segment) for segment in segments]

    def _update_manifest(self, new: Sequence[Segment], *, retired: Sequence[Segment] = ()) -> None:
        update_manifest(self.db, new, retired=retired, number=self.number)


def renumbering(vectors: WordVectors) -> Callable[[Int32], Int32] | None:
    """The function that turns word ids as reading found them into rows of `vectors`; None if they are the same."""
    multilingual = as_multilingual(vectors)
    return None if multilingual is None else multilingual.renumbered


def _languages_in(spools: Sequence[Spool], vectors: WordVectors) -> list[str]:
    """The languages other than English whose tables have words of spooled texts."""
    largest = max((spool.largest_id for spool in spools), default=-1)
    if largest < len(vectors):
        return []
    return sorted({code for spool in spools for batch in spool for code in languages_in(batch.words.ids)})


def _embed_batch(embedder: SentenceEmbedder, batch: SpooledBatch) -> tuple[Float32, UInt8]:
    """The general vectors of a batch's passages, and those of its sentences as bytes. (p, d), (s, d)"""
    rows, passages = embedder.transform_both(batch.words, batch.starts)
    return passages, to_bytes(rows[batch.is_sentence])
