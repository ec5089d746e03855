"""All sentences of a corpus in their order, and which of them are neighbours."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch.text.ragged import Ragged
from semsearch.train.corpus import Corpus, Stages

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

LONGEST = 119  # words of a sentence: the paper of CBOS has them under 120


@dataclass(frozen=True, slots=True)
class Sentences:
    """n sentences as word ids, and the number of the file of each (n,). `texts` has an empty one more at the end."""

    texts: Ragged
    files: Int32

    def __len__(self) -> int:
        return len(self.files)

    @property
    def any_neighbours(self) -> bool:
        """Whether there is a file with two sentences."""
        return bool((self.files[1:] == self.files[:-1]).any())

    def neighbours(self, chosen: Int64, k: int) -> Int64:
        """The k sentences before and the k after each; n, the empty one, where the file has no such. (b,) -> (b, 2k)"""
        places = chosen[:, None] + np.array([offset for offset in range(-k, k + 1) if offset])
        inside = (places >= 0) & (places < len(self))
        same_file = self.files[np.where(inside, places, 0)] == self.files[chosen][:, None]
        return np.where(inside & same_file, places, len(self))


def read_sentences(corpus: Corpus, progress: Stages | None = None) -> Sentences:
    """The sentences of a corpus that have words with a vector; one of more than `LONGEST` words in parts."""
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
    """The lengths of sentences (n,) as those of parts that are at most `most` long, none of them empty."""
    parts = -(-lengths // most)
    result = np.full(int(parts.sum()), most, dtype=np.int32)
    last = np.cumsum(parts)[parts > 0] - 1
    result[last] = (lengths - most * (parts - 1))[parts > 0]
    return result
