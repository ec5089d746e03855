"""Make a new generation: fit the embedder or keep it, write vectors, merge segments if there are too many.

The embedder's weights and components are frozen when an index is first filled: documents added later never change the
vectors of earlier ones. Only a small index that has doubled is refitted automatically, since its components were a
rough estimate; a large one only by `refit`.

The recall of the vector scan is measured with probe questions: a few words of the index's own sentences, as a user
would type them. Whole sentences are nearer to their passages and easier to find, so settings that suffice for a few
words suffice for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Float32, Int32, Int64, UInt8
from semsearch.arrays.vectors import to_bytes
from semsearch.dense.engines import get_address, open_stores
from semsearch.dense.scan_plan import LISTED
from semsearch.dense.vector_store import Questions, VectorStore
from semsearch.embedding.components import SentenceSums
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.embedding.word_finder import as_multilingual
from semsearch.indexing.segment_merging import Merger
from semsearch.indexing.spool import Spool, SpooledBatch, SpoolWriter
from semsearch.lexical.postings import LexicalSegment
from semsearch.lexical.postings_writer import WordsWriter
from semsearch.results.reports import Progress
from semsearch.settings import Settings
from semsearch.storage.catalogue import stored_texts
from semsearch.storage.database import SEGMENTS
from semsearch.storage.fitted import Fit, load_embedder, load_fit, save_fit, save_today
from semsearch.storage.meta import get_languages
from semsearch.storage.segments import LARGEST, VECTORS, Kind, Segment, get_removed, get_segments, name_segments
from semsearch.system.memory import release_freed
from semsearch.system.threads import Threads, aside
from semsearch.text.languages import ENGLISH
from semsearch.text.passage_records import PassageWords
from semsearch.text.ragged import Ragged
from semsearch.text.tokens import words
from semsearch.topics.topic_fit import TopicVectors, fit_topics
from semsearch.topics.topic_model import Topics, join, named_topics, write_topics
from semsearch.word_vectors.multilingual import MultilingualVectors, language_table, languages_in
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3


# -- Embedding batches of passages -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PassageEmbedding:
    """Embeds passages with an embedder and, if any, topics. `questions` are probe questions to measure recall."""

    embedder: SentenceEmbedder
    topics: TopicVectors | None
    questions: Questions

    def of(self, batches: Iterable[SpooledBatch], spread: Threads) -> Iterator[tuple[SpooledBatch, Float32, UInt8]]:
        """Each batch, with the vectors of its passages, and those of its sentences as bytes. (p, d + k), (s, d)"""
        batches, again = tee(batches)
        work = partial(_vectors, self.embedder.transforming_both)
        for batch, (whole, single) in zip(again, spread.in_order(work, batches), strict=True):
            yield batch, whole if self.topics is None else join(whole, self.topics.of(batch.passage_ids)), single


def _vectors(
    transform_both: Callable[[Ragged, Int64], tuple[Float32, Float32]], batch: SpooledBatch
) -> tuple[Float32, UInt8]:
    """The general vectors of a batch's passages, and those of its sentences as bytes. (p, d), (s, d)

    As bytes they are a quarter to send, and the process that writes need not encode them.
    """
    rows, whole = transform_both(batch.words, batch.starts)
    return whole, to_bytes(rows[batch.is_sentence])


def write_vectors(
    spools: Iterable[Spool],
    embedding: PassageEmbedding,
    stores: Mapping[Kind, VectorStore],
    *,
    number: int,
    spread: Threads,
    total: int,
    progress: Callable[[Progress], None],
) -> list[Segment]:
    """Embed all batches of some spools and write segments of both kinds, as part of generation `number`.

    `total` is the number of sentences, for the progress.
    """
    done = 0
    with (
        stores["passage"].writer(number, questions=embedding.questions) as passages,
        stores["sentence"].writer(number) as sentences,
    ):
        for batch, whole, single in embedding.of(_batches(spools), spread):
            passages.add(batch.passage_ids, whole)
            sentences.add(batch.sentence_ids, single)
            done += len(single)
            progress(Progress("embedding", sentences=done, total_sentences=total))
        progress(Progress("writing", sentences=done, total_sentences=total))
        return passages.finish() + sentences.finish()


def _batches(spools: Iterable[Spool]) -> Iterator[SpooledBatch]:
    for spool in spools:
        yield from spool


# -- Probe questions for measuring recall ------------------------------------------------------------------------------

WORDS = 3


def few_words(sentence: str) -> str:
    """The longest words of a sentence, in their order; of equally long ones the first."""
    sentence_words = list(enumerate(words(sentence)))
    longest = sorted(sentence_words, key=lambda numbered: (-len(numbered[1]), numbered[0]))[:WORDS]
    return " ".join(word for _, word in sorted(longest))


def questions_of(
    db: sqlite3.Connection, embedder: SentenceEmbedder, topics: Topics | None, passage_ids: Int64
) -> Float32:
    """Embed a probe question about the middle sentence of each passage, unless it has no known words. (≤ n, d)"""
    texts, stored_languages = list[str](), list[str]()
    for id_ in passage_ids.tolist():
        for stored in stored_texts(db, id_ + 1, first=id_):
            texts.append(few_words(stored.sentences[len(stored.sentences) // 2]))
            stored_languages.append(stored.language)
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    vectors = embedder.transform(texts, stored_languages)
    if topics is not None:
        languages = tuple(get_languages(db)) or (ENGLISH,)
        vectors = join(vectors, np.stack([topics.of_question(text, languages) for text in texts]))
    return vectors[vectors.any(axis=1)]


# -- The generation ----------------------------------------------------------------------------------------------------

REFIT_BELOW = 20_000  # sentences at the last fit: with more, components hardly change


class Generation:
    """A new generation in the making, inside a write transaction. `number` is that of the last generation plus one."""

    def __init__(
        self,
        db: sqlite3.Connection,
        folder: Path,
        *,
        number: int,
        settings: Settings,
        vectors: Callable[[], WordVectors],
        progress: Callable[[Progress], None],
        largest: int = LARGEST,
        listed: int = LISTED,
    ) -> None:
        self.db = db
        self.folder = folder
        self.number = number
        self.spread = Threads()  # of fitting and embedding; the result does not depend on it
        self.words: WordsWriter = WordsWriter(folder / SEGMENTS, generation=number)
        self._largest, self._listed = largest, listed
        self._settings = settings
        self._vectors = vectors
        self._progress = progress
        self._gone: SentenceSums | None = None

    @cached_property
    def _stores(self) -> Mapping[Kind, VectorStore]:
        """The vector stores, at the address that the index has by now."""
        scanning, sentences = self._settings.scanning(listed=self._listed), self._settings.sentence_vectors
        address = get_address(self.db)
        return open_stores(address, self.folder, scanning=scanning, largest=self._largest, sentences=sentences)

    @cached_property
    def _merger(self) -> Merger:
        return Merger(self.db, self.folder, self.number, self._stores, self._stored_questions)

    @cached_property
    def fit(self) -> Fit | None:
        """The fit of the last generation; None if nothing was fitted yet."""
        return load_fit(self.db, self._vectors())

    def tokenize(self, texts: Sequence[str], languages: Sequence[str]) -> Ragged:
        """Convert texts in these languages to word ids, fitted or not."""
        return self._settings.embedder(self._vectors()).read_texts(texts, languages)

    def ids_of(self, words: PassageWords) -> Ragged:
        """Convert passages whose words have been found to word ids, fitted or not."""
        return self._settings.embedder(self._vectors()).read_passages(words)

    def drop_words(self) -> None:
        """Retire the lexical index, before all passages are written again."""
        self._name([], retired=self._named("words"))

    def subtract(self, sentences: Sequence[str], languages: Sequence[str]) -> None:
        """Subtract removed sentences from today's sums."""
        if self.fit is not None:
            sums = self.fit.embedder.statistics_of(self.fit.embedder.tokenize(sentences, languages))
            self._gone = sums if self._gone is None else self._gone + sums

    def embed(self, new: Spool, *, first_new: int, refit: bool = False) -> bool:
        """Embed the passages in `new`, which have ids from `first_new` on; return whether the embedder was refitted."""
        words = self.words.finish()
        self._name(words)
        fit = None if refit else self.fit
        if fit is not None and (lacking := self._lacking(fit.embedder, new)):
            fit = self._extended(fit, lacking, first_new)
        if fit is None:
            return self._embed_everything(new, first_new)
        new.renumber = renumbering(fit.embedder.chosen_.vectors)
        fit.embedder.expect(new.words)
        today = fit.today if self._gone is None else fit.today - self._gone
        for sums in self.spread.in_order(fit.embedder.summing, (batch.sentences for batch in new)):
            today = today + sums
        if is_due(fitted=fit.embedder.statistics_.sentences, today=today.sentences):
            return self._embed_everything(new, first_new)
        topics = named_topics(self.folder / SEGMENTS, get_segments(self.db, "topics"))
        topical = None if topics is None else TopicVectors(topics, self._opened(words), self.folder)
        self._name(self._write_vectors([new], fit.embedder, topics, topical))
        self._merger.merge()
        if fit is not self.fit:
            save_fit(self.db, fit.embedder, self.number)
        save_today(self.db, today)
        return False

    def _lacking(self, embedder: SentenceEmbedder, new: Spool) -> list[str]:
        """The languages of new passages that the embedder does not know."""
        known = as_multilingual(embedder.chosen_.vectors)
        return [code for code in _languages_in([new], self._vectors()) if known is None or code not in known.tables]

    def _extended(self, fit: Fit, languages: Sequence[str], first_new: int) -> Fit | None:
        """The fit with more languages, of which the index had no text: no vector changes. None if a refit is needed.

        An index of an earlier version has such text, whose vectors are not in the space of the language's own.
        """
        before = {language for language, first in _first_passages(self.db) if first < first_new}
        if not before.isdisjoint(languages):
            return None
        embedder = SentenceEmbedder.from_bytes(fit.embedder.to_bytes(), self._vectors())
        embedder.add_languages(languages)
        return Fit(embedder, fit.today)

    def compact(self) -> None:
        """Rewrite segments into as few as possible, without removed ids."""
        self._merger.compact()

    def _embed_everything(self, new: Spool, first_new: int) -> bool:
        """Fit to all passages and embed them: the stored ones, with ids below `first_new`, and those in `new`."""
        was_fitted = self.db.execute("SELECT 1 FROM fit").fetchone() is not None
        segments: list[Segment] = []
        with Spool(self.folder) as old:
            writer = SpoolWriter(old, self.tokenize)
            for stored in stored_texts(self.db, first_new):
                writer.add(stored.passage_id, stored.first_sentence, stored.heading, stored.sentences, stored.language)
            writer.flush()
            if old.sentences or new.sentences:
                segments = self._fit_and_write([old, new])
            else:
                self.db.execute("DELETE FROM fit")
        self._name(segments, retired=self._named(*VECTORS, "topics"))
        self._merger.merge()
        return was_fitted and bool(segments)

    def _fit_and_write(self, spools: Sequence[Spool]) -> list[Segment]:
        """Fit the embedder, learn topics, embed all passages with both; the segments of vectors and topics."""
        self._settings.check_frequencies(self.folder)
        release_freed()  # what reading has left
        vectors = self._vectors()
        for spool in spools:
            spool.renumber = None  # of the last fit, if that was tried first
        if languages := _languages_in(spools, vectors):
            tables = (language_table(code, vectors) for code in languages)
            vectors = MultilingualVectors(vectors, [table for table in tables if table is not None])
        for spool in spools:
            spool.renumber = renumbering(vectors)
        embedder = self._settings.embedder(vectors)
        embedder.expect(sum(spool.words for spool in spools))
        learn = partial(self._learn_topics, self._opened(self._named("words")), get_removed(self.db, "words"))
        with aside(learn, threads=self.spread.threads) as learned:  # of the postings: while the fit reads, or before it
            embedder.fit_ragged(lambda: (batch.sentences for spool in spools for batch in spool), spread=self.spread)
            topics, topical = learned()
        release_freed()  # what the fit has left
        segments = [] if topics is None else [write_topics(topics, self.folder / SEGMENTS, generation=self.number)]
        segments += self._write_vectors(spools, embedder, topics, topical)
        save_fit(self.db, embedder, self.number)
        return segments

    def _learn_topics(
        self, segments: list[LexicalSegment], removed: IdRanges
    ) -> tuple[Topics, TopicVectors] | tuple[None, None]:
        """Learn topics and all passages' topic vectors, if topics are on and there are enough passages."""
        topics = fit_topics(segments, removed) if self._settings.adapt else None
        if topics is None:
            return None, None
        topical = TopicVectors(topics, segments, self.folder)
        release_freed()
        return topics, topical

    def _write_vectors(
        self, spools: Sequence[Spool], embedder: SentenceEmbedder, topics: Topics | None, topical: TopicVectors | None
    ) -> list[Segment]:
        """Embed the batches of some spools; the segments of both kinds."""
        return write_vectors(
            spools,
            PassageEmbedding(embedder, topical, partial(questions_of, self.db, embedder, topics)),
            self._stores,
            number=self.number,
            spread=self.spread,
            total=sum(spool.sentences for spool in spools),
            progress=self._progress,
        )

    def _stored_questions(self, passage_ids: Int64) -> Float32:
        """Probe questions about passages, embedded by the stored fit."""
        embedder = load_embedder(self.db, self._vectors())
        if embedder is None:
            return np.zeros((0, 0), dtype=np.float32)
        topics = named_topics(self.folder / SEGMENTS, get_segments(self.db, "topics"))
        return questions_of(self.db, embedder, topics, passage_ids)

    def _opened(self, segments: list[Segment]) -> list[LexicalSegment]:
        return [LexicalSegment(self.folder / SEGMENTS / segment.file, segment) for segment in segments]

    def _named(self, *kinds: Kind) -> list[Segment]:
        """The segments of some kinds that the manifest names now."""
        return get_segments(self.db, *kinds)

    def _name(self, new: Sequence[Segment], *, retired: Sequence[Segment] = ()) -> None:
        name_segments(self.db, new, retired=retired, number=self.number)


def renumbering(vectors: WordVectors) -> Callable[[Int32], Int32] | None:
    """What turns ids of words found while reading into those of word vectors; None if they are the same."""
    several = as_multilingual(vectors)
    return None if several is None else several.renumbered


def _languages_in(spools: Sequence[Spool], vectors: WordVectors) -> list[str]:
    """The languages other than English whose tables have words of spooled texts."""
    largest = max((spool.largest_id for spool in spools), default=-1)
    if largest < len(vectors):
        return []
    return sorted({code for spool in spools for batch in spool for code in languages_in(batch.words.ids)})


def _first_passages(db: sqlite3.Connection) -> list[tuple[str, int]]:
    """Each language of the documents, with the id of its first passage."""
    return db.execute("SELECT language, min(first_passage) FROM documents GROUP BY language").fetchall()


def is_due(*, fitted: float, today: float) -> bool:
    """Return whether an index that was fitted on some number of sentences is due for a refit, by today's number."""
    return fitted < REFIT_BELOW and today >= max(1, 2 * fitted)
