"""The spool: word ids of passages between reading and embedding, in a temporary file.

The common components are known only when all sentences have been counted, so each sentence is needed a few times. Its
words are kept as ids, and its out-of-vocabulary words as text, in a file without a name, which the operating system
deletes with the process. They are read batch by batch: indexing needs memory for a batch, not for the corpus.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from semsearch.arrays.types import Bool, Int32, Int64
from semsearch.text.ragged import OovWords, Ragged

_ROWS = 4096  # headings and sentences that are embedded together


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
        starts = self.starts
        is_sentence = np.ones(starts[-1], dtype=np.bool_)
        is_sentence[starts[:-1]] = False
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

    def parts(self) -> Iterator[SpooledBatch]:
        """The batch in parts of so many rows as are embedded together, or of one passage."""
        starts, first = self.starts, 0
        if starts[-1] <= _ROWS:
            yield self
            return
        while first < len(self.passage_ids):
            last = max(first + 1, int(np.searchsorted(starts, starts[first] + _ROWS, side="right")) - 1)
            which, words = slice(first, last), self.words.part(int(starts[first]), int(starts[last]))
            numbers = self.passage_ids[which], self.first_sentences[which], self.sentence_counts[which]
            yield SpooledBatch(*numbers, words)
            first = last


class Spool(AbstractContextManager["Spool"]):
    """A sequence of batches that can be read again and again. Leaving its `with` block deletes the file."""

    def __init__(self, folder: Path) -> None:
        self._file = cast(BinaryIO, tempfile.TemporaryFile(dir=folder))  # noqa: SIM115  # the spool closes it
        self._end = 0
        self.sentences = 0
        self.largest_id = -1  # of its words
        self.renumber: Callable[[Int32], Int32] | None = None  # what their ids are turned into when they are read

    def append(self, batch: SpooledBatch) -> None:
        """Append a batch, in parts if it is large."""
        self._file.seek(self._end)
        for part in batch.parts():
            words, unknown = part.words, part.words.unknown_words
            numbers = part.passage_ids, part.first_sentences, part.sentence_counts
            for array in (*numbers, words.ids, words.indptr, unknown.hashes, unknown.data, unknown.bounds):
                np.save(self._file, array, allow_pickle=False)
            self.sentences += int(part.sentence_counts.sum())
            self.largest_id = max(self.largest_id, int(words.ids.max(initial=-1)))
        self._end = self._file.tell()

    def __iter__(self) -> Iterator[SpooledBatch]:
        offset = 0
        while offset < self._end:
            self._file.seek(offset)
            passages, firsts, counts, ids, indptr, hashes, data, bounds = [np.load(self._file) for _ in range(8)]
            offset = self._file.tell()
            ids = ids if self.renumber is None else self.renumber(ids)
            yield SpooledBatch(passages, firsts, counts, Ragged(ids, indptr, OovWords(hashes, data, bounds)))

    def __exit__(self, *_: object) -> None:
        self._file.close()
