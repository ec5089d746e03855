"""Word ids between reading and embedding: on disk, in the order of the passages.

The common components are known only when all sentences have been counted, so each sentence is needed a few times.
Its words are kept as ids, and those outside the table themselves, in a temporary file without a name, which the
operating system removes with the process, and read back batch by batch: indexing needs memory for a batch, not for the
corpus.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt

from semsearch.text.ragged import Ragged
from semsearch.text.unknown_words import Strangers

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

_HEADER = 40  # five int64: passages, rows, words, strangers, their bytes


@dataclass(frozen=True, slots=True)
class Batch:
    """Some passages' words. Each passage has a row for its title and headings, then a row for each of its sentences."""

    passage_ids: Int64  # (p,) rising
    first_sentences: Int64  # (p,)
    sentence_counts: Int64  # (p,)
    words: Ragged  # Σ (1 + sentence count) rows

    @property
    def starts(self) -> Int64:
        """The row of each passage's headings, and the end. (p + 1,)"""
        return np.concatenate(([0], np.cumsum(self.sentence_counts + 1)))

    @property
    def is_sentence(self) -> Bool:
        """Whether each row is a sentence, not a heading. (Σ (1 + sentence count),)"""
        found = np.ones(len(self.words), dtype=np.bool_)
        found[self.starts[:-1]] = False
        return found

    @property
    def sentences(self) -> Ragged:
        """The sentences' words, without the headings."""
        return self.words.take(np.flatnonzero(self.is_sentence))

    @property
    def sentence_ids(self) -> Int64:
        """The id of each sentence."""
        ends = np.cumsum(self.sentence_counts)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - self.sentence_counts, self.sentence_counts)
        return np.asarray(np.repeat(self.first_sentences, self.sentence_counts) + within)

    @property
    def passages(self) -> Ragged:
        """Each passage's words: its headings' and its sentences'."""
        return self.words.joined(self.starts)


def batch_of(sentence_counts: Int64, words: Ragged) -> Batch:
    """Passages whose ids, and those of their sentences, are counted from 0 on. (p,), Σ (1 + sentence count) rows"""
    firsts = np.cumsum(sentence_counts) - sentence_counts
    return Batch(np.arange(len(sentence_counts), dtype=np.int64), firsts, sentence_counts, words)


class Spool:
    """A sequence of batches that can be read again and again. A context manager: closing forgets it."""

    def __init__(self, folder: Path) -> None:
        self._file = cast(BinaryIO, tempfile.TemporaryFile(dir=folder))  # noqa: SIM115  # the spool closes it
        self._end = 0
        self.sentences = 0
        self.words = 0

    def append(self, batch: Batch) -> None:
        """Keep a batch."""
        words, strangers = batch.words, batch.words.strangers
        sizes = [len(batch.passage_ids), len(words), len(words.ids), len(strangers), len(strangers.data)]
        numbers = (np.array(sizes), batch.passage_ids, batch.first_sentences, batch.sentence_counts, words.indptr)
        self._file.seek(self._end)
        for array in (*numbers, strangers.bounds):
            self._file.write(np.ascontiguousarray(array, dtype=np.int64).data)
        self._file.write(np.ascontiguousarray(strangers.hashes).data)
        self._file.write(np.ascontiguousarray(words.ids, dtype=np.int32).data)
        self._file.write(np.ascontiguousarray(strangers.data).data)
        self._end = self._file.tell()
        self.sentences += int(batch.sentence_counts.sum())
        self.words += len(words.ids)

    def __iter__(self) -> Iterator[Batch]:
        place = 0
        while place < self._end:
            self._file.seek(place)
            passages, rows, words, strangers, letters = np.frombuffer(self._file.read(_HEADER), dtype=np.int64).tolist()
            size = 8 * (3 * passages + rows + 1 + strangers + 1)
            numbers = np.frombuffer(self._file.read(size), dtype=np.int64)
            hashes = np.frombuffer(self._file.read(8 * strangers), dtype=np.uint64)
            ids = np.frombuffer(self._file.read(4 * words), dtype=np.int32)
            data = np.frombuffer(self._file.read(letters), dtype=np.uint8)
            place += _HEADER + size + 8 * strangers + 4 * words + letters
            last = 3 * passages + rows + 1
            yield Batch(
                numbers[:passages],
                numbers[passages : 2 * passages],
                numbers[2 * passages : 3 * passages],
                Ragged(ids, numbers[3 * passages : last], Strangers(hashes, data, numbers[last:])),
            )

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SpoolWriter:
    """Texts of passages into a spool, tokenised some thousands at a time."""

    def __init__(self, spool: Spool, tokenize: Callable[[Sequence[str]], Ragged], *, batch: int = 4096) -> None:
        self._spool = spool
        self._tokenize = tokenize
        self._batch = batch
        self._places: list[tuple[int, int, int]] = []
        self._texts: list[str] = []

    def add(self, passage_id: int, first_sentence: int, heading: str, sentences: Sequence[str]) -> None:
        """One passage; ids must rise."""
        self._places.append((passage_id, first_sentence, len(sentences)))
        self._texts.append(heading)
        self._texts += sentences
        if len(self._texts) >= self._batch:
            self.flush()

    def flush(self) -> None:
        """Put what has been gathered into the spool."""
        if self._places:
            ids, firsts, counts = np.array(self._places, dtype=np.int64).T
            self._spool.append(Batch(ids, firsts, counts, self._tokenize(self._texts)))
            self._places, self._texts = [], []
