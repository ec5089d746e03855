"""Texts to the ids of their words in a table of word vectors."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from semsearch.text.ragged import Ragged
from semsearch.text.tokens import WordChunk
from semsearch.text.unknown_words import UnknownWords
from semsearch.word_vectors.table import WordVectors


def word_ids(chunks: Iterable[WordChunk], vectors: WordVectors, *, keep_unknown: bool) -> Ragged:
    """The ids of each text's words. Words that the table lacks are left out, or kept as unknown words of the texts."""
    parts: list[npt.NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
    counts: list[npt.NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
    unknown_words: list[UnknownWords] = []
    for chunk in chunks:
        parts.append(vectors.lookup(chunk.hashes))
        counts.append(chunk.counts)
        if keep_unknown:
            unknown_words.append(UnknownWords.in_chunk(chunk, np.flatnonzero(parts[-1] < 0)))
    ids, indptr = np.concatenate(parts), np.cumsum(np.concatenate(counts))
    if not keep_unknown:
        return Ragged(ids, indptr).only(ids >= 0)
    distinct, which = UnknownWords.concatenate(unknown_words).distinct()
    ids[ids < 0] = -1 - which
    return Ragged(ids, indptr, distinct)
