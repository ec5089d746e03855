"""The words of passages, found once for both the vectors and the lexical index.

The vectors are made of the words of each sentence, the lexical index of those of each passage. Sentences are separated
by white space, so that a passage has the words of its sentences. Only where two sentences touch ("vec![1]") may a word,
or a pair of joined words, belong to both: such a passage is tokenised once more as a whole. So are, for the lexical
index, passages in other languages than English, whose terms are not those of English words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.text.languages.rules import ENGLISH
from semsearch.text.tokens import WordChunk, hash_chunks

if TYPE_CHECKING:
    from semsearch.text.passage_records import PassageRecord

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ForeignTexts:
    """Texts of one language other than English, with the positions of their passages."""

    language: str
    passages: Int64  # (q,) rising
    above: list[str]  # titles and headings
    texts: list[str]


@dataclass(frozen=True, slots=True)
class PassageWords:
    """The words of p passages, with their titles and headings."""

    sentence_counts: Int64  # (p,)
    chunks: Sequence[WordChunk]  # Σ (1 + sentence count) texts: of each passage its title and headings, its sentences
    whole: Int64  # positions of the passages in which sentences touch, rising (w,)
    whole_chunks: Sequence[WordChunk]  # w texts: these passages without their headings
    foreign: Sequence[ForeignTexts] = ()  # passages whose terms are not those of these words


def find_words(records: Sequence[PassageRecord], languages: Sequence[str] = ()) -> PassageWords:
    """Find the words of passages, and of the titles and headings above them.

    `languages`: that of each passage; if there are none, all are English.
    """
    texts: list[str] = []
    for record in records:
        texts.append(record.above)
        texts += record.sentence_texts
    counts = np.array([record.sentences for record in records], dtype=np.int64)
    whole = _with_touching(records, counts)
    whole_texts = [records[index].text for index in whole.tolist()]
    foreign = [_foreign(records, languages, language) for language in sorted({*languages} - {ENGLISH})]
    return PassageWords(counts, list(hash_chunks(texts)), whole, list(hash_chunks(whole_texts)), foreign)


def _foreign(records: Sequence[PassageRecord], languages: Sequence[str], language: str) -> ForeignTexts:
    positions = [position for position, own in enumerate(languages) if own == language]
    own = [records[position] for position in positions]
    texts = [record.above for record in own], [record.text for record in own]
    return ForeignTexts(language, np.array(positions, dtype=np.int64), *texts)


def _with_touching(records: Sequence[PassageRecord], counts: Int64) -> Int64:
    """The positions of passages that have two sentences with nothing between them, rising."""
    spans = np.frombuffer(b"".join([record.offsets for record in records]), dtype="<i4").reshape(-1, 5)[:, :2]
    owners = np.repeat(np.arange(len(records)), counts)
    touching = (spans[1:, 0] == spans[:-1, 1]) & (owners[1:] == owners[:-1])
    return np.asarray(np.unique(owners[1:][touching]))
