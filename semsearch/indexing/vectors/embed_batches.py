"""Embed batches of passages and write the vectors to the stores: one for each passage, one for each sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import tee

import numpy as np
import numpy.typing as npt

from semsearch.dense.store import Questions, VectorStore
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.indexing.reading.spool import Spool, SpooledBatch
from semsearch.results.state.reports import Progress
from semsearch.storage.segments import Kind, Segment
from semsearch.system.threads import Spread
from semsearch.text.ragged import Ragged
from semsearch.topics.joined import join
from semsearch.topics.passages import TopicVectors

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PassageEmbedding:
    """Embeds passages with an embedder and their topics, if there are any. `questions` serve to measure recall."""

    embedder: SentenceEmbedder
    topics: TopicVectors | None
    questions: Questions

    def of(self, batches: Iterable[SpooledBatch], spread: Spread) -> Iterator[tuple[SpooledBatch, Float32, Float32]]:
        """Each batch, with the vectors of its passages and of its sentences. (p, d + k), (s, d)"""
        batches, again = tee(batches)
        work = partial(_vectors, self.embedder.transforming_both)
        for batch, (whole, single) in zip(again, spread.in_order(work, batches), strict=True):
            yield batch, whole if self.topics is None else join(whole, self.topics.of(batch.passage_ids)), single


def _vectors(
    transform_both: Callable[[Ragged, Int64], tuple[Float32, Float32]], batch: SpooledBatch
) -> tuple[Float32, Float32]:
    """The general vectors of a batch's passages and of its sentences. (p, d), (s, d)"""
    rows, whole = transform_both(batch.words, batch.starts)
    return whole, rows[batch.is_sentence]


def write_vectors(
    spools: Iterable[Spool],
    embedding: PassageEmbedding,
    stores: Mapping[Kind, VectorStore],
    *,
    number: int,
    spread: Spread,
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
