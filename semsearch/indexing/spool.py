"""The spool: word ids of passages between reading and embedding, in a temporary file.

The common components are known only when all sentences have been counted, so each sentence is needed a few times. Its
words are kept as ids, and its out-of-vocabulary words as text, in a file without a name, which the operating system
deletes with the process. They are read batch by batch: indexing needs memory for a batch, not for the corpus.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from semsearch.arrays.types import Bool, Int32, Int64
from semsearch.text.ragged import OovWords, Ragged

_HEADER = 40  # five int64: passages, rows, words, unknown words, their bytes


@dataclass(frozen=True, slots=True)
class SpooledBatch:
    """The words of some passages. Each has a row for its title and headings, then a row for each of its sentences."""

    passage_ids: Int64  # (p,) rising
    first_sentences: Int64  # (p,)
    sentence_counts: Int64  # (p,)
    words: Ragged  # Σ (1 + sentence count) rows

    @property
    def starts(self) -> Int64:
        """The index of each passage's first row, that of its headings, and the end. (p + 1,)"""
        return np.concatenate(([0], np.cumsum(self.sentence_counts + 1)))

    @property
    def is_sentence(self) -> Bool:
        """Flags of the rows that are sentences, not headings. (Σ (1 + sentence count),)"""
        is_sentence = np.ones(len(self.words), dtype=np.bool_)
        is_sentence[self.starts[:-1]] = False
        return is_sentence

    @property
    def sentences(self) -> Ragged:
        """The words of the sentences, without the headings."""
        return self.words.take(np.flatnonzero(self.is_sentence))

    @property
    def sentence_ids(self) -> Int64:
        """The ids of all sentences, in order."""
        ends = np.cumsum(self.sentence_counts)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - self.sentence_counts, self.sentence_counts)
        return np.asarray(np.repeat(self.first_sentences, self.sentence_counts) + within)

    def part(self, first: int, last: int) -> SpooledBatch:
        """The passages from number `first` up to, not including, `last`, with ids from 0 on."""
        starts = self.starts
        words = self.words.part(int(starts[first]), int(starts[last]))
        return batch_of(self.sentence_counts[first:last], words)

    @staticmethod
    def concatenate(batches: Sequence[SpooledBatch]) -> SpooledBatch:
        """The passages of all batches, in order, with ids from 0 on."""
        counts = np.concatenate([np.zeros(0, dtype=np.int64), *(batch.sentence_counts for batch in batches)])
        return batch_of(counts, Ragged.concatenate([batch.words for batch in batches]).with_distinct_unknown())


def batch_of(sentence_counts: Int64, words: Ragged) -> SpooledBatch:
    """Make a batch whose passages and sentences have ids from 0 on. (p,), Σ (1 + sentence count) rows"""
    firsts = np.cumsum(sentence_counts) - sentence_counts
    return SpooledBatch(np.arange(len(sentence_counts), dtype=np.int64), firsts, sentence_counts, words)


class Spool:
    """A sequence of batches that can be read again and again. A context manager: closing deletes the file."""

    def __init__(self, folder: Path) -> None:
        self._file = cast(BinaryIO, tempfile.TemporaryFile(dir=folder))  # noqa: SIM115  # the spool closes it
        self._end = 0
        self.sentences = 0
        self.largest_id = -1  # of its words
        self.renumber: Callable[[Int32], Int32] | None = None  # what their ids are turned into when they are read

    def append(self, batch: SpooledBatch) -> None:
        """Append a batch."""
        words, unknown = batch.words, batch.words.unknown_words
        sizes = [len(batch.passage_ids), len(words), len(words.ids), len(unknown), len(unknown.data)]
        numbers = (np.array(sizes), batch.passage_ids, batch.first_sentences, batch.sentence_counts, words.indptr)
        self._file.seek(self._end)
        for array in (*numbers, unknown.bounds):
            self._file.write(np.ascontiguousarray(array, dtype=np.int64).data)
        self._file.write(np.ascontiguousarray(unknown.hashes).data)
        self._file.write(np.ascontiguousarray(words.ids, dtype=np.int32).data)
        self._file.write(np.ascontiguousarray(unknown.data).data)
        self._end = self._file.tell()
        self.sentences += int(batch.sentence_counts.sum())
        self.largest_id = max(self.largest_id, int(words.ids.max(initial=-1)))

    def __iter__(self) -> Iterator[SpooledBatch]:
        offset = 0
        while offset < self._end:
            self._file.seek(offset)
            passages, rows, words, unknown, letters = np.frombuffer(self._file.read(_HEADER), dtype=np.int64).tolist()
            size = 8 * (3 * passages + rows + 1 + unknown + 1)
            numbers = np.frombuffer(self._file.read(size), dtype=np.int64)
            hashes = np.frombuffer(self._file.read(8 * unknown), dtype=np.uint64)
            ids = np.frombuffer(self._file.read(4 * words), dtype=np.int32)
            ids = ids if self.renumber is None else self.renumber(ids)
            data = np.frombuffer(self._file.read(letters), dtype=np.uint8)
            offset += _HEADER + size + 8 * unknown + 4 * words + letters
            last = 3 * passages + rows + 1
            yield SpooledBatch(
                numbers[:passages],
                numbers[passages : 2 * passages],
                numbers[2 * passages : 3 * passages],
                Ragged(ids, numbers[3 * passages : last], OovWords(hashes, data, numbers[last:])),
            )

    def close(self) -> None:
        """Close and delete the file."""
        self._file.close()

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
