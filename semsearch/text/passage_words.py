"""The words of passages, found once for both halves of an index.

The vectors are made of the words of each sentence, the lexical index of those of each passage. Between two sentences
there is white space, so that a passage has the words of its sentences. Only where two sentences touch ("vec![1]") may a
word, or two that are written together, be of both: such a passage is looked at once more as a whole.
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
    """The words of p passages."""

    sentence_counts: Int64  # (p,)
    chunks: Sequence[WordChunk]  # Σ (1 + sentence count) texts: of each passage its title and headings, its sentences
    whole: Int64  # the passages in which sentences touch, rising (w,)
    whole_chunks: Sequence[WordChunk]  # w texts: these passages without their headings


def find_words(cuts: Sequence[Cut]) -> PassageWords:
    """The words of passages, their titles and headings."""
    texts: list[str] = []
    for cut in cuts:
        texts.append(cut.above)
        texts += cut.sentence_texts
    counts = np.array([cut.sentences for cut in cuts], dtype=np.int64)
    whole = _with_touching(cuts, counts)
    whole_texts = [cuts[place].text for place in whole.tolist()]
    return PassageWords(counts, list(hash_chunks(texts)), whole, list(hash_chunks(whole_texts)))


def _with_touching(cuts: Sequence[Cut], counts: Int64) -> Int64:
    """The passages that have two sentences with nothing between them, rising."""
    spans = np.frombuffer(b"".join([cut.offsets for cut in cuts]), dtype="<i4").reshape(-1, 5)[:, :2]
    owners = np.repeat(np.arange(len(cuts)), counts)
    touching = (spans[1:, 0] == spans[:-1, 1]) & (owners[1:] == owners[:-1])
    return np.asarray(np.unique(owners[1:][touching]))
