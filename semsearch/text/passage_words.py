"""Passages as they are stored, and their words, found once for both the vectors and the lexical index.

The vectors are made of the words of each sentence, the lexical index of those of each passage. Sentences are separated
by white space, so that a passage has the words of its sentences. Only where two sentences touch ("vec![1]") may a word,
or a pair of joined words, belong to both: such a passage is tokenised once more as a whole. So are, for the lexical
index, passages in other languages than English, whose terms are not those of English words.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from semsearch.arrays.types import Int64
from semsearch.text.languages import ENGLISH, language_of_passage
from semsearch.text.terms import with_parts
from semsearch.text.tokens import WordChunk, hash_chunks

SPLITTER_VERSION = "7"  # stored in an index; raised when the boundaries of passages or sentences change
_SPANS = struct.Struct("<ii12x")  # start and end of a sentence in the passage's text, the first two of its five offsets


class PassageRecord(NamedTuple):
    """A passage in the form in which it is stored. (A tuple is sent to another process in a sixth of the time.)"""

    headings: str  # JSON
    above: str  # title and headings, as they are embedded
    line: int
    page: int | None
    text: str
    offsets: bytes  # (n, 5) int32: start, end, source start, source end, line
    sentences: int
    places: str | None = None  # JSON: (number of a sentence, the place from there on)
    metadata: str | None = None  # JSON, of a record's chosen columns; None if there are none
    format: str = "text"  # of the document

    @property
    def sentence_texts(self) -> list[str]:
        """The text of each sentence."""
        return [self.text[start:end] for start, end in _SPANS.iter_unpack(self.offsets)]


class ForeignTexts(NamedTuple):
    """Texts of one language other than English, with the positions of their passages."""

    language: str
    passages: Int64  # (q,) rising
    above: list[str]  # titles and headings
    texts: list[str]


class OtherRows(NamedTuple):
    """Texts to embed in one language other than English: those with the numbers `rows` of all (r,)."""

    language: str
    rows: Int64
    texts: list[str]


class PassageWords(NamedTuple):
    """The words of p passages, with their titles and headings."""

    sentence_counts: Int64  # (p,)
    chunks: Sequence[WordChunk]  # Σ (1 + sentence count) texts: of each passage its title and headings, its sentences
    whole: Int64  # positions of the passages in which sentences touch, rising (w,)
    whole_chunks: Sequence[WordChunk]  # w texts: these passages without their headings
    foreign: Sequence[ForeignTexts] = ()  # passages whose terms are not those of these words
    others: Sequence[OtherRows] = ()  # of the texts of `chunks`, those in other languages


def find_words(records: Sequence[PassageRecord], languages: Sequence[str] = ()) -> PassageWords:
    """Find the words of passages, and of the titles and headings above them.

    `languages`: that of each passage's document, "" if it was not detected; if there are none, all are English.
    """
    texts: list[str] = []
    for record in records:
        texts += [with_parts(text, record.format) for text in (record.above, *record.sentence_texts)]
    counts = np.array([record.sentences for record in records], dtype=np.int64)
    whole = _with_touching(records, counts)
    whole_texts = [with_parts(records[index].text, records[index].format) for index in whole.tolist()]
    foreign = [_foreign(records, languages, language) for language in sorted({*languages} - {ENGLISH, ""})]
    others = _others(records, languages, texts, counts)
    return PassageWords(counts, list(hash_chunks(texts)), whole, list(hash_chunks(whole_texts)), foreign, others)


def _others(
    records: Sequence[PassageRecord], languages: Sequence[str], texts: Sequence[str], counts: Int64
) -> list[OtherRows]:
    """The texts of passages in other languages than English. A passage may be in another than its document."""
    detected = [language_of_passage(record.text, known) for record, known in zip(records, languages, strict=False)]
    if {*detected} <= {ENGLISH}:
        return []
    of_rows = np.repeat(detected, counts + 1)
    others = []
    for language in sorted({*detected} - {ENGLISH}):
        rows = np.flatnonzero(of_rows == language)
        others.append(OtherRows(language, rows, [texts[row] for row in rows.tolist()]))
    return others


def _foreign(records: Sequence[PassageRecord], languages: Sequence[str], language: str) -> ForeignTexts:
    positions = [position for position, foreign in enumerate(languages) if foreign == language]
    foreign = [records[position] for position in positions]
    texts = (
        [with_parts(record.above, record.format) for record in foreign],
        [with_parts(record.text, record.format) for record in foreign],
    )
    return ForeignTexts(language, np.array(positions, dtype=np.int64), *texts)


def _with_touching(records: Sequence[PassageRecord], counts: Int64) -> Int64:
    """The positions of passages that have two sentences with nothing between them, rising."""
    spans = np.frombuffer(b"".join([record.offsets for record in records]), dtype="<i4").reshape(-1, 5)[:, :2]
    owners = np.repeat(np.arange(len(records)), counts)
    touching = (spans[1:, 0] == spans[:-1, 1]) & (owners[1:] == owners[:-1])
    return np.asarray(np.unique(owners[1:][touching]))
