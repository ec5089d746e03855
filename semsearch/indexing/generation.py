"""The segments of a new generation: fit or keep the embedder, write vectors, merge what has become too many.

The embedder's weights and components are frozen when an index is first filled, and stay so: documents added later never
change the vectors of earlier ones. Only a small index that has doubled is fitted anew by itself, since its components
were a guess; a large one on `refit`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import Runs
from semsearch.dense.faiss_segment import Vectors
from semsearch.dense.faiss_writer import SegmentWriter
from semsearch.dense.scan_plan import LISTED
from semsearch.embedding.components import Statistics
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.indexing.merge_policy import Size, to_compact, to_merge
from semsearch.indexing.probe_questions import questions_of
from semsearch.indexing.spool import Batch, Spool, SpoolWriter
from semsearch.lexical.segment import Words
from semsearch.lexical.writer import WordsWriter
from semsearch.results.reports import Progress
from semsearch.settings import Settings
from semsearch.storage.catalogue import stored_texts
from semsearch.storage.database import SEGMENTS
from semsearch.storage.fitted import Fit, load_embedder, load_fit, save_fit, save_today
from semsearch.storage.manifest import get_removed, get_segments, note_scans
from semsearch.storage.segments import KINDS, LARGEST, LARGEST_WORDS, VECTORS, Kind, Segment
from semsearch.system.threads import aside, in_order
from semsearch.text.ragged import Ragged
from semsearch.text.tokens import WordChunk
from semsearch.topics.joined import join
from semsearch.topics.model import Topics, named_topics, write_topics
from semsearch.topics.passages import TopicVectors
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3


Float32 = npt.NDArray[np.float32]
Questions = Callable[[npt.NDArray[np.int64]], Float32]
Rule = Callable[[Kind, list[Size]], list[int]]  # the positions of what is to be rewritten together

REFIT_BELOW = 20_000  # sentences at the last fit: from then on components hardly turn
_CHUNK = 1 << 15  # vectors copied at a time


class Generation:
    """One generation in the making, inside a write transaction."""

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
        self.largest = largest
        self.threads = 1  # that embed; what comes out is the same
        self._scanning = settings.scanning(listed=listed)
        self._settings = settings
        self._vectors = vectors
        self._progress = progress
        self._gone: Statistics | None = None
        self.words = WordsWriter(folder / SEGMENTS, generation=number)

    @cached_property
    def fit(self) -> Fit | None:
        """As the last generation left it."""
        return load_fit(self.db, self._vectors())

    def tokenize(self, texts: Sequence[str]) -> Ragged:
        """Texts to word ids, fitted or not."""
        return self._settings.embedder(self._vectors()).tokenize(texts)

    def ids_of(self, chunks: Iterable[WordChunk]) -> Ragged:
        """The same for texts whose words have been found."""
        return self._settings.embedder(self._vectors()).ids_of(chunks)

    def drop_words(self) -> None:
        """Retire the lexical index; `words` gets all passages anew."""
        self._name([], retired=[segment for segment in get_segments(self.db) if segment.kind == "words"])

    def subtract(self, sentences: Sequence[str]) -> None:
        """Take note of sentences that are removed."""
        if self.fit is not None:
            sums = self.fit.embedder.statistics_of(self.tokenize(sentences))
            self._gone = sums if self._gone is None else self._gone + sums

    def embed(self, new: Spool, *, first_new: int, refit: bool = False) -> bool:
        """Vectors for the passages in `new`, with ids from `first_new`; whether the embedder was fitted anew."""
        words = self.words.finish()
        self._name(words, retired=[])
        fit = None if refit else self.fit
        if fit is None:
            return self._embed_everything(new, first_new)
        fit.embedder.expect(new.words)
        today = fit.today if self._gone is None else fit.today - self._gone
        for batch in new:
            today = today + fit.embedder.statistics_of(batch.sentences)
        if is_due(fitted=fit.embedder.statistics_.sentences, today=today.sentences):
            return self._embed_everything(new, first_new)
        topics = named_topics(self.folder / SEGMENTS, get_segments(self.db))
        topical = None if topics is None else TopicVectors(topics, self._opened(words), self.folder)
        questions = partial(questions_of, self.db, fit.embedder, topics)
        self._name(self._segments_of([new], fit.embedder, new.sentences, topical, questions), retired=[])
        self._merge()
        save_today(self.db, today)
        return False

    def compact(self) -> None:
        """Rewrite segments into as few as there need be, without anything removed."""
        self._rewrite(lambda kind, sizes: to_compact(sizes, largest=self._most(kind)))

    def _embed_everything(self, new: Spool, first_new: int) -> bool:
        was_fitted = self.db.execute("SELECT 1 FROM fit").fetchone() is not None
        with ExitStack() as stack:
            spools = [new]
            texts = stored_texts(self.db, first_new)
            if (first := next(texts, None)) is not None:
                old = stack.enter_context(Spool(self.folder))
                writer = SpoolWriter(old, self.tokenize)
                for stored in chain([first], texts):
                    writer.add(stored.passage_id, stored.first_sentence, stored.heading, stored.sentences)
                writer.flush()
                spools = [old, new]
            total = sum(spool.sentences for spool in spools)
            segments: list[Segment] = []
            if total:
                self._settings.check_frequencies(self.folder)
                embedder = self._settings.embedder(self._vectors())
                embedder.expect(sum(spool.words for spool in spools))
                words = self._opened([segment for segment in get_segments(self.db) if segment.kind == "words"])
                learn = partial(self._learn_topics, words, get_removed(self.db, "words"))
                with aside(learn, threads=self.threads) as learned:  # of the postings, while the fit reads the spools
                    embedder.fit_ragged(
                        lambda: (batch.sentences for spool in spools for batch in spool), threads=self.threads
                    )
                    topics, topical = learned()
                if topics is not None:
                    segments = [write_topics(topics, self.folder / SEGMENTS, generation=self.number)]
                questions = partial(questions_of, self.db, embedder, topics)
                segments += self._segments_of(spools, embedder, total, topical, questions)
                save_fit(self.db, embedder, self.number)
            else:
                self.db.execute("DELETE FROM fit")
        fitted = (*VECTORS, "topics")
        self._name(segments, retired=[segment for segment in get_segments(self.db) if segment.kind in fitted])
        self._merge()
        return was_fitted and total > 0

    def _learn_topics(self, words: list[Words], removed: Runs) -> tuple[Topics, TopicVectors] | tuple[None, None]:
        """Topics of all passages, and theirs, if they are wanted and there are enough passages."""
        from semsearch.topics.fit import fit_topics  # start-up time: only a fit needs scipy's sparse matrices

        topics = fit_topics(words, removed) if self._settings.adapt else None
        return (None, None) if topics is None else (topics, TopicVectors(topics, words, self.folder))

    def _opened(self, words: list[Segment]) -> list[Words]:
        return [Words(self.folder / SEGMENTS / segment.file, segment) for segment in words]

    def _segments_of(
        self,
        spools: Iterable[Spool],
        embedder: SentenceEmbedder,
        total: int,
        topics: TopicVectors | None,
        questions: Questions,
    ) -> list[Segment]:
        """Embed and write all batches, as segments of both kinds."""
        embed, done = partial(_embedded, embedder, topics), 0
        with self._writer("passage", questions) as passages, self._writer("sentence") as sentences:
            for batch, whole, single in in_order(embed, _batches(spools), threads=self.threads):
                passages.add(batch.passage_ids, whole)
                sentences.add(batch.sentence_ids, single)
                done += len(single)
                self._progress(Progress("embedding", sentences=done, total_sentences=total))
            self._progress(Progress("writing", sentences=done, total_sentences=total))
            return passages.finish() + sentences.finish()

    def _merge(self) -> None:
        """Rewrite what has become too many, or too much of it removed."""
        listed = self._scanning.gathering
        self._rewrite(
            lambda kind, sizes: to_merge(sizes, largest=self._most(kind), listed=listed if kind == "passage" else None)
        )

    def _most(self, kind: Kind) -> int:
        """What a segment of a kind may hold."""
        return LARGEST_WORDS if kind == "words" else self.largest

    def _rewrite(self, rule: Rule) -> None:
        """Rewrite segments where a rule says so, and forget what is removed from all of them."""
        for kind in KINDS:
            removed = get_removed(self.db, kind)
            segments = [segment for segment in get_segments(self.db) if segment.kind == kind]
            sizes = [Size(len(segment.runs), segment.runs.overlap(removed)) for segment in segments]
            chosen = [segments[place] for place in rule(kind, sizes)]
            if chosen:
                self._name(self._rewritten(kind, chosen, removed), retired=chosen)
        self._drop_removed()

    def _rewritten(self, kind: Kind, segments: list[Segment], removed: Runs) -> list[Segment]:
        """What segments hold that is not removed, as new segments in the order of their ids."""
        if kind == "words":
            words = WordsWriter(self.folder / SEGMENTS, generation=self.number)
            words.merge(self._opened(segments), removed)
            return words.finish()
        opened = [Vectors(self.folder / SEGMENTS / segment.file, segment) for segment in segments]
        pieces = [
            (first, count, source) for source in opened for first, count in source.segment.runs.without(removed).ranges
        ]
        with self._writer(kind, self._stored_questions) as writer:
            for first, count, source in sorted(pieces, key=lambda piece: piece[0]):
                for start in range(first, first + count, _CHUNK):
                    ids = np.arange(start, min(start + _CHUNK, first + count), dtype=np.int64)
                    writer.add(ids, source.rows(source.segment.runs.below(ids)))
            return writer.finish()

    def _stored_questions(self, passage_ids: npt.NDArray[np.int64]) -> Float32:
        """Questions about passages, embedded as the stored fit does."""
        embedder = load_embedder(self.db, self._vectors())
        if embedder is None:
            return np.zeros((0, 0), dtype=np.float32)
        topics = named_topics(self.folder / SEGMENTS, get_segments(self.db))
        return questions_of(self.db, embedder, topics, passage_ids)

    def _drop_removed(self) -> None:
        """Forget the removal of what no segment holds any more."""
        rows = self.db.execute("SELECT first_passage, passages, first_sentence, sentences FROM removed").fetchall()
        if not rows:
            return
        removed = np.array(rows, dtype=np.int64)
        is_held = np.zeros(len(rows), dtype=np.bool_)
        for kind in KINDS:
            first, count = removed[:, 2:].T if kind == "sentence" else removed[:, :2].T
            held = Runs.of(run for s in get_segments(self.db) if s.kind == kind for run in s.runs.ranges)
            is_held |= held.below(first + count) > held.below(first)
        gone = [(first,) for first in removed[~is_held, 0].tolist()]
        self.db.executemany("DELETE FROM removed WHERE first_passage = ?", gone)

    def _name(self, new: list[Segment], *, retired: list[Segment]) -> None:
        """Name new segment files in the database, and retire old ones."""
        now = time.time()
        self.db.executemany("DELETE FROM segments WHERE file = ?", [(segment.file,) for segment in retired])
        self.db.executemany(
            "INSERT OR REPLACE INTO retired VALUES (?, ?)", [(segment.file, now) for segment in retired]
        )
        self.db.executemany(
            "INSERT INTO segments (kind, file, size, count, runs, digest, generation) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(s.kind, s.file, s.size, len(s.runs), s.runs.to_bytes(), s.digest, self.number) for s in new],
        )
        note_scans(self.db, new, retired)

    def _writer(self, kind: Kind, questions: Questions | None = None) -> SegmentWriter:
        """Of sentences' vectors some are read by their numbers, and nothing ever scans them."""
        return SegmentWriter(
            self.folder / SEGMENTS,
            kind,
            generation=self.number,
            largest=self.largest,
            scanning=self._scanning if kind == "passage" else None,
            questions=questions,
        )


def is_due(*, fitted: float, today: float) -> bool:
    """Whether an index that was fitted on so many sentences, and has so many today, is to be fitted anew."""
    return fitted < REFIT_BELOW and today >= max(1, 2 * fitted)


def _embedded(embedder: SentenceEmbedder, topics: TopicVectors | None, batch: Batch) -> tuple[Batch, Float32, Float32]:
    """The vectors of a batch's passages and of its sentences. (p, d + k), (s, d)"""
    rows, whole = embedder.transform_both(batch.words, batch.starts)
    if topics is not None:
        whole = join(whole, topics.of(batch.passage_ids))
    return batch, whole, rows[batch.is_sentence]


def _batches(spools: Iterable[Spool]) -> Iterator[Batch]:
    for spool in spools:
        yield from spool
