"""Turn texts into terms of the lexical index: word stems, and pairs of words that are written together.

A stem (Snowball's, of the text's language) makes "index", "indexes" and "indexing" one term. Words with a single
joining character between them (utf-8, read_bytes, 3.11; not std::vec, which has two) also count as one more term, so
that a name that is queried as it is written beats its parts. Where characters are words (Chinese), two that stand
together are one more term; where words are not parted (Thai), terms are sequences of letters. A term is identified by a
64-bit hash, the same in all languages. A query has the terms that it would have in any language of the index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt

from semsearch.text.languages.rules import ENGLISH, RULES, SEQUENCE
from semsearch.text.languages.stemming import lowered, stems
from semsearch.text.tokens import HashedWords, UInt64, WordChunk, hash_chunks, hash_spans, mix

Int64 = npt.NDArray[np.int64]

_JOINERS = np.zeros(256, dtype=np.bool_)
_JOINERS[list(b"-_./:+@#'&")] = True
_PAIR = np.uint64(0xD6E8FEB86659FD93)  # any odd number: makes the pair (a, b) another term than (b, a)


def word_chunks(texts: Sequence[str], language: str) -> Iterable[WordChunk]:
    """The words of texts in a language."""
    if language == ENGLISH:
        return hash_chunks(texts)
    return hash_chunks([lowered(text, language) for text in texts], marks=True)


def sequences(texts: Sequence[str], language: str) -> HashedWords:
    """The terms of texts whose words are not parted: all sequences of a few letters, in order."""
    parts = cut(texts, language)
    ends = np.cumsum([0, *map(len, parts)])
    return HashedWords(hashes_of([part for own in parts for part in own]), ends)


def cut(texts: Sequence[str], language: str) -> list[list[str]]:
    """Cut each text into words and these into sequences of `SEQUENCE` letters; words in Latin letters, into stems."""
    cut: list[list[str]] = []
    for chunk in word_chunks(texts, language):
        found = iter(stems(chunk.words(np.arange(len(chunk.hashes))), language))
        for count in chunk.counts.tolist():
            cut.append([part for word in islice(found, count) for part in _letters(word)])
    return cut


def _letters(word: str) -> list[str]:
    """The sequences of letters of a word; the whole word if it is short, or in Latin letters."""
    if word.isascii():
        return [word]
    return [word[first : first + SEQUENCE] for first in range(max(len(word) - SEQUENCE, 0) + 1)]


def hashes_of(parts: Sequence[str]) -> UInt64:
    """The hash of each stem or part of a word, whatever characters it has. (n,)"""
    encoded = [part.encode() for part in parts]
    ends = np.cumsum(np.array([0, *map(len, encoded)], dtype=np.int64))
    return hash_spans(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends[:-1], ends[1:])


def pairs(chunk: WordChunk, positions: Int64) -> UInt64:
    """The terms of the words at the given positions, each joined with the next word."""
    return mix(chunk.hashes[positions] * _PAIR + chunk.hashes[positions + 1])


def joined_words(chunk: WordChunk, language: str) -> Int64:
    """The positions of words that count as one more term with the next word."""
    if not RULES[language].pairs:
        return written_together(chunk)
    return np.union1d(written_together(chunk), _side_by_side(chunk))


def _side_by_side(chunk: WordChunk) -> Int64:
    """The positions of Chinese, Japanese and Korean characters that stand directly before another one.

    The tokeniser has put a space on either side of each, and a separator between two of them is one more.
    """
    if not len(chunk.starts):
        return chunk.starts
    first = chunk.data[chunk.starts]
    sizes = chunk.ends - chunk.starts
    alone = ((sizes == 3) & (first > 0xE0)) | ((sizes == 4) & (first >= 0xF0))  # the bytes of one such character
    gaps = chunk.starts[1:] - chunk.ends[:-1]
    return np.flatnonzero(alone[:-1] & alone[1:] & (gaps == 2))


def written_together(chunk: WordChunk) -> Int64:
    """The positions of words that a single joining character, which never ends a text, connects with the next word."""
    ends = chunk.ends[:-1]
    return np.flatnonzero((chunk.starts[1:] - ends == 1) & _JOINERS[chunk.data[ends]])
