"""The words of passages, found once for both the vectors and the lexical index.

The vectors are made of the words of each sentence, the lexical index of those of each passage. Sentences are separated
by white space, so that a passage has the words of its sentences. Only where two sentences touch ("vec![1]") may a word,
or a pair of joined words, belong to both: such a passage is tokenised once more as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.text.tokens import WordChunk, hash_chunks

if TYPE_CHECKING:
    from semsearch.text.passage_records import Cut

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PassageWords:
    """The words of p passages, with their titles and headings."""

    sentence_counts: Int64  # (p,)
    chunks: Sequence[WordChunk]  # Σ (1 + sentence count) texts: of each passage its title and headings, its sentences
    whole: Int64  # positions of the passages in which sentences touch, rising (w,)
    whole_chunks: Sequence[WordChunk]  # w texts: these passages without their headings


def find_words(cuts: Sequence[Cut]) -> PassageWords:
    """Find the words of passages, and of the titles and headings above them."""
    texts: list[str] = []
    for cut in cuts:
        texts.append(cut.above)
        texts += cut.sentence_texts
    counts = np.array([cut.sentences for cut in cuts], dtype=np.int64)
    whole = _with_touching(cuts, counts)
    whole_texts = [cuts[index].text for index in whole.tolist()]
    return PassageWords(counts, list(hash_chunks(texts)), whole, list(hash_chunks(whole_texts)))


def _with_touching(cuts: Sequence[Cut], counts: Int64) -> Int64:
    """The positions of passages that have two sentences with nothing between them, rising."""
    spans = np.frombuffer(b"".join([cut.offsets for cut in cuts]), dtype="<i4").reshape(-1, 5)[:, :2]
    owners = np.repeat(np.arange(len(cuts)), counts)
    touching = (spans[1:, 0] == spans[:-1, 1]) & (owners[1:] == owners[:-1])
    return np.asarray(np.unique(owners[1:][touching]))
