"""The sentences of a training corpus in their order, and which of them are neighbours."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch.text.ragged import Ragged
from semsearch.train.corpus import Corpus, Stages

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

LONGEST = 119  # words of a sentence: the CBOS paper takes sentences under 120


@dataclass(frozen=True, slots=True)
class Sentences:
    """n sentences as word ids, and the number of each one's file (n,). `texts` has an empty text more at the end."""

    texts: Ragged
    files: Int32

    def __len__(self) -> int:
        return len(self.files)

    @property
    def any_neighbours(self) -> bool:
        """Return whether any file has two sentences."""
        return bool((self.files[1:] == self.files[:-1]).any())

    def neighbours(self, chosen: Int64, k: int) -> Int64:
        """The k sentences before and the k after each; n, the empty one, beyond its file's ends. (b,) -> (b, 2k)"""
        near = chosen[:, None] + np.array([offset for offset in range(-k, k + 1) if offset])
        inside = (near >= 0) & (near < len(self))
        same_file = self.files[np.where(inside, near, 0)] == self.files[chosen][:, None]
        return np.where(inside & same_file, near, len(self))


def read_sentences(corpus: Corpus, progress: Stages | None = None) -> Sentences:
    """Read the sentences of a corpus as word ids, without words that get no vector and sentences that have no others.

    A sentence of more than `LONGEST` words is cut in parts.
    """
    ids, lengths, files = array("i"), array("i"), array("i")  # they grow in place: no second copy at the end
    read = 0
    for number, texts in corpus.sentences():
        own = parts_of(texts.lengths)
        ids.frombytes(texts.ids.tobytes())
        lengths.frombytes(own.tobytes())
        files.frombytes(np.full(len(own), number, dtype=np.int32).tobytes())
        read += len(texts.ids)
        if progress:
            progress("reading sentences", read, int(corpus.counts.sum()))
    bounds = np.concatenate(([0], np.cumsum(np.frombuffer(lengths, dtype=np.int32), dtype=np.int64)))
    texts = Ragged(np.frombuffer(ids, dtype=np.int32), np.append(bounds, bounds[-1]))
    return Sentences(texts, np.frombuffer(files, dtype=np.int32))


def parts_of(lengths: Int64, most: int = LONGEST) -> Int32:
    """Cut sentences of the given lengths (n,) into parts of at most `most` words, none empty; gives their lengths."""
    parts = -(-lengths // most)
    result = np.full(int(parts.sum()), most, dtype=np.int32)
    last = np.cumsum(parts)[parts > 0] - 1
    result[last] = (lengths - most * (parts - 1))[parts > 0]
    return result
