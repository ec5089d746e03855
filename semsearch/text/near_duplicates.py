"""Near-duplicate texts, found so that a page of hits shows each of them once. Pure.

Two texts are alike if they have the same letters and digits in the same order, whatever the case, white space and
punctuation; or if they share nine tenths of their sequences of five words (of all that either of them has: Jaccard) and
have the same numbers, for two bills made from one form are two bills. Measured on 39,000 passages of handbooks with
their own headings as 1,500 queries: 1,941 passages were hidden behind another, in 13 pairs without having the very same
words, and 3 of these pairs were not copies. Below nine tenths, forms appear that differ in the one word that counts.

Few pairs are compared. If two texts have the share J of their pieces (of sixteen letters) in common, the smallest hash
of all pieces of each is the same with probability J (MinHash, Broder 1997). With three hash functions, texts are
compared if two agree: those with the same letters always, alike ones with probability 0.99 (J is about 0.94 where nine
tenths of the sequences are common), texts on the same subject (J is 0.01) almost never. This costs a third of what
hashing the words of all would.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from semsearch.arrays.types import UInt64
from semsearch.text.tokens import HashedWords, hash_words, words

SEQUENCE = 5  # words
LEAST = 0.9  # share of the sequences that two texts must have in common
_AT_ONCE = 64  # texts: their arrays stay within a core's cache
_HALF = 8  # letters of a piece, which are the bytes of one integer
_PIECE = 2 * _HALF
_STEP = np.uint64(0x9E3779B97F4A7C15)
_WAYS = np.array([0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB], dtype=np.uint64)  # any odd numbers
MARKS = len(_WAYS)  # of a text
_LOWER = bytes(range(256)).lower()
_TYPOGRAPHY = "‘’“”–—…•«»\u00a0\u2009"  # signs that often differ between two copies of one text
_SIGNS = bytes(byte for byte in range(128) if not chr(byte).isalnum())
_NO_DIGITS = bytes(byte for byte in range(256) if not chr(byte).isascii() or not chr(byte).isdigit())


def first_alike(texts: Sequence[str], marked: Sequence[Sequence[int]] | None = None) -> list[int]:
    """For each text, the index of the first text that it is alike to; its own index if no earlier one is.

    `marked`: what `marks_of` gives for them, if it is known.

    A text is compared only with texts that are alike to no earlier one, so that many small steps never lead far. A text
    without words is alike only to the very same text.
    """
    marked = marks_of(texts).tolist() if marked is None else marked
    times = Counter(mark for marks in marked for mark in marks)
    if len(times) == MARKS * len(texts):
        return list(range(len(texts)))  # no two have any in common, as is usual
    firsts = list(range(len(texts)))
    some = [index for index, marks in enumerate(marked) if any(times[mark] > 1 for mark in marks)]
    compared = _ComparedTexts([texts[index] for index in some])
    known: defaultdict[int | str, list[int]] = defaultdict(list)
    for number, index in enumerate(some):
        keys = marked[index] if compared.letters[number] else [texts[index]]
        near = sorted({other for key in keys if key in known for other in known[key]})
        first = next((other for other in near if compared.are_alike(other, number)), number)
        firsts[index] = some[first]
        if first == number:
            for key in keys:
                known[key].append(number)
    return firsts


def marks_of(texts: Sequence[str]) -> UInt64:
    """Three hashes of each text; two texts are compared only if they have one in common. n texts -> (n, 3)"""
    parts = [_marks([_letters(text) for text in texts[i : i + _AT_ONCE]]) for i in range(0, len(texts), _AT_ONCE)]
    return np.concatenate([np.zeros((0, MARKS), dtype=np.uint64), *parts])


def _marks(letters: Sequence[bytes]) -> UInt64:
    """The three pairs of each text's three smallest hashes, each pair mixed into one number. n texts -> (n, 3)"""
    a, b, c = _smallest(letters)
    return np.array([(a * _STEP ^ b) * _WAYS[0], (b * _STEP ^ c) * _WAYS[1], (a * _STEP ^ c) * _WAYS[2]]).T


def _letters(text: str) -> bytes:
    """A text in lower case, without white space and the usual punctuation, as UTF-8."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.lower())
        for sign in _TYPOGRAPHY:
            text = text.replace(sign, "")
    return text.encode("utf-8", "surrogatepass").translate(_LOWER, _SIGNS)


def _smallest(letters: Sequence[bytes]) -> UInt64:
    """The smallest hash of each text's pieces, by each hash function; a short text is one piece. n texts -> (3, n)"""
    padded = [text.ljust(_PIECE, b"\0") for text in letters]
    data = np.frombuffer(b"".join(padded) + bytes(_PIECE), dtype=np.uint8)
    halves = np.array(np.ndarray(len(data) - _HALF + 1, dtype="<u8", buffer=data, strides=(1,)))  # at every byte
    pieces = halves[:-_HALF] * _STEP
    pieces ^= halves[_HALF:]
    ends = np.array([*map(len, padded)], dtype=np.intp).cumsum()
    edges = np.zeros(2 * len(ends), dtype=np.intp)  # where each text's pieces begin and end
    edges[2::2], edges[1::2] = ends[:-1], ends - _PIECE + 1
    smallest: UInt64 = np.zeros((len(_WAYS), len(ends)), dtype=np.uint64)
    hashes = halves[: len(pieces)]  # whose memory is used again
    for way, row in zip(_WAYS, smallest, strict=True):
        np.multiply(pieces, way, out=hashes)
        row[:] = np.minimum.reduceat(hashes, edges)[::2]
    return smallest


class _ComparedTexts:
    """Texts that are compared with each other, and what is found out about them when a comparison needs it."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self.letters = [_letters(text) for text in texts]
        self._digits = [letters.translate(None, _NO_DIGITS) for letters in self.letters]
        self._sequences: dict[int, set[int]] = {}

    def are_alike(self, a: int, b: int) -> bool:
        """Return whether two texts are alike, by the definition above."""
        if self.letters[a] == self.letters[b]:
            return True
        if self._digits[a] != self._digits[b]:  # nor are the numbers the same
            return False
        left, right = self._words_of(a), self._words_of(b)
        if not len(left):
            return self._texts[a] == self._texts[b]
        if np.array_equal(left, right):
            return True
        if min(len(left), len(right)) < SEQUENCE:
            return False
        first, second = self._sequences_of(a), self._sequences_of(b)
        common = len(first & second)
        return common >= LEAST * (len(first) + len(second) - common) and (
            _numbers(self._texts[a]) == _numbers(self._texts[b])
        )

    @cached_property
    def _hashed(self) -> HashedWords:
        return hash_words(self._texts)

    @cached_property
    def _totals(self) -> UInt64:
        """The sequence that begins at each word of all texts, as a hash. Those over a text's end are of no use."""
        hashes = self._hashed.hashes
        total: UInt64 = np.zeros(max(len(hashes) - SEQUENCE + 1, 0), dtype=np.uint64)
        for step in range(SEQUENCE):
            total = total * _STEP + hashes[step : step + len(total)]
        return total

    def _words_of(self, index: int) -> UInt64:
        start, end = self._hashed.indptr[index : index + 2].tolist()
        return self._hashed.hashes[start:end]

    def _sequences_of(self, index: int) -> set[int]:
        """The distinct sequences of a text of as many words or more."""
        if index not in self._sequences:
            start, end = self._hashed.indptr[index : index + 2].tolist()
            self._sequences[index] = set(self._totals[start : end - SEQUENCE + 1].tolist())
        return self._sequences[index]


def _numbers(text: str) -> list[str]:
    """The words that have a digit, in order."""
    return [word for word in words(text) if any(map(str.isdigit, word))]
