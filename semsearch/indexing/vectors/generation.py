"""Make a new generation: fit the embedder or keep it, write vectors, merge segments that are too many, name them.

The embedder's weights and components are frozen when an index is first filled: documents added later never change the
vectors of earlier ones. Only a small index that has doubled is fitted again by itself, since its components were a
guess; a large one only by `refit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.scan_plan import LISTED
from semsearch.dense.store import VectorStore
from semsearch.embedding.components import SentenceSums
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.indexing.reading.spool import Spool, SpoolWriter
from semsearch.indexing.vectors.embed_batches import PassageEmbedding, write_vectors
from semsearch.indexing.vectors.merging import Merger
from semsearch.indexing.vectors.probe_questions import questions_of
from semsearch.lexical.segment import LexicalSegment
from semsearch.lexical.writer import WordsWriter
from semsearch.results.state.reports import Progress
from semsearch.settings import Settings
from semsearch.storage.catalogue import stored_texts
from semsearch.storage.database import SEGMENTS
from semsearch.storage.fitted import Fit, load_embedder, load_fit, save_fit, save_today
from semsearch.storage.manifest import get_removed, get_segments, name_segments
from semsearch.storage.segments import LARGEST, VECTORS, Kind, Segment
from semsearch.stores.registry import get_address, open_stores
from semsearch.system.threads import Spread, Threads, aside
from semsearch.text.ragged import Ragged
from semsearch.text.tokens import WordChunk
from semsearch.topics.model import Topics, named_topics, write_topics
from semsearch.topics.passages import TopicVectors
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3


Float32 = npt.NDArray[np.float32]

REFIT_BELOW = 20_000  # sentences at the last fit: with more of them components hardly turn


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
        spread: Spread | None = None,
        largest: int = LARGEST,
        listed: int = LISTED,
    ) -> None:
        self.db = db
        self.folder = folder
        self.number = number
        self.spread: Spread = spread or Threads()  # of fitting and embedding; the result does not depend on it
        self.words: WordsWriter = WordsWriter(folder / SEGMENTS, generation=number)
        self._largest, self._listed = largest, listed
        self._settings = settings
        self._vectors = vectors
        self._progress = progress
        self._gone: SentenceSums | None = None

    @cached_property
    def _stores(self) -> Mapping[Kind, VectorStore]:
        """The stores of vectors, where the index says by now that they are."""
        scanning = self._settings.scanning(listed=self._listed)
        return open_stores(get_address(self.db), self.folder, scanning=scanning, largest=self._largest)

    @cached_property
    def _merger(self) -> Merger:
        return Merger(self.db, self.folder, self.number, self._stores, self._stored_questions)

    @cached_property
    def fit(self) -> Fit | None:
        """The fit of the last generation; None if nothing was fitted yet."""
        return load_fit(self.db, self._vectors())

    def tokenize(self, texts: Sequence[str]) -> Ragged:
        """Convert texts to word ids, fitted or not."""
        return self._settings.embedder(self._vectors()).tokenize(texts)

    def ids_of(self, chunks: Iterable[WordChunk]) -> Ragged:
        """Convert texts whose words have been found to word ids, fitted or not."""
        return self._settings.embedder(self._vectors()).ids_of(chunks)

    def drop_words(self) -> None:
        """Retire the lexical index, before all passages are written to `words` again."""
        self._name([], retired=self._named("words"))

    def subtract(self, sentences: Sequence[str]) -> None:
        """Subtract removed sentences from today's sums."""
        if self.fit is not None:
            sums = self.fit.embedder.statistics_of(self.tokenize(sentences))
            self._gone = sums if self._gone is None else self._gone + sums

    def embed(self, new: Spool, *, first_new: int, refit: bool = False) -> bool:
        """Embed the passages in `new`, which have ids from `first_new` on; return whether the embedder was refitted."""
        words = self.words.finish()
        self._name(words)
        fit = None if refit else self.fit
        if fit is None:
            return self._embed_everything(new, first_new)
        fit.embedder.expect(new.words)
        today = fit.today if self._gone is None else fit.today - self._gone
        for sums in self.spread.in_order(fit.embedder.summing, (batch.sentences for batch in new)):
            today = today + sums
        if is_due(fitted=fit.embedder.statistics_.sentences, today=today.sentences):
            return self._embed_everything(new, first_new)
        topics = named_topics(self.folder / SEGMENTS, get_segments(self.db))
        topical = None if topics is None else TopicVectors(topics, self._opened(words), self.folder)
        self._name(self._write_vectors([new], fit.embedder, topics, topical))
        self._merger.merge()
        save_today(self.db, today)
        return False

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
                writer.add(stored.passage_id, stored.first_sentence, stored.heading, stored.sentences)
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
        embedder = self._settings.embedder(self._vectors())
        embedder.expect(sum(spool.words for spool in spools))
        learn = partial(self._learn_topics, self._opened(self._named("words")), get_removed(self.db, "words"))
        with aside(learn, threads=self.spread.threads) as learned:  # of the postings, while the fit reads the spools
            embedder.fit_ragged(lambda: (batch.sentences for spool in spools for batch in spool), spread=self.spread)
            topics, topical = learned()
        segments = [] if topics is None else [write_topics(topics, self.folder / SEGMENTS, generation=self.number)]
        segments += self._write_vectors(spools, embedder, topics, topical)
        save_fit(self.db, embedder, self.number)
        return segments

    def _learn_topics(
        self, segments: list[LexicalSegment], removed: IdRanges
    ) -> tuple[Topics, TopicVectors] | tuple[None, None]:
        """Learn topics, and make all passages' topic vectors, if they are wanted and there are enough passages."""
        from semsearch.topics.fit import fit_topics  # start-up time: only a fit needs scipy's sparse matrices

        topics = fit_topics(segments, removed) if self._settings.adapt else None
        return (None, None) if topics is None else (topics, TopicVectors(topics, segments, self.folder))

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

    def _stored_questions(self, passage_ids: npt.NDArray[np.int64]) -> Float32:
        """Questions about passages, embedded by the stored fit."""
        embedder = load_embedder(self.db, self._vectors())
        if embedder is None:
            return np.zeros((0, 0), dtype=np.float32)
        topics = named_topics(self.folder / SEGMENTS, get_segments(self.db))
        return questions_of(self.db, embedder, topics, passage_ids)

    def _opened(self, segments: list[Segment]) -> list[LexicalSegment]:
        return [LexicalSegment(self.folder / SEGMENTS / segment.file, segment) for segment in segments]

    def _named(self, *kinds: Kind) -> list[Segment]:
        """The segments of some kinds that the manifest names now."""
        return [segment for segment in get_segments(self.db) if segment.kind in kinds]

    def _name(self, new: Sequence[Segment], *, retired: Sequence[Segment] = ()) -> None:
        name_segments(self.db, new, retired=retired, number=self.number)


def is_due(*, fitted: float, today: float) -> bool:
    """Return whether an index that was fitted on some number of sentences is due for a refit, by today's number."""
    return fitted < REFIT_BELOW and today >= max(1, 2 * fitted)
