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
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from semsearch.arrays.types import UInt64
from semsearch.text.tokens import hash_words, mix, words

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


def first_alike(texts: Sequence[str], marked: Sequence[Sequence[int]] | None = None) -> list[int]:
    """For each text, the index of the first text that it is alike to; its own index if no earlier one is.

    `marked`: what `marks_of` gives for them, if it is known.

    A text is compared only with texts that are alike to no earlier one, so that many small steps never lead far. A text
    without words is alike only to the very same text.
    """
    marked = marks_of(texts).tolist() if marked is None else marked
    if len({mark for marks in marked for mark in marks}) == MARKS * len(texts):
        return list(range(len(texts)))  # no two have any in common, as is usual
    letters = [_letters(text) for text in texts]
    known: defaultdict[int | str, list[int]] = defaultdict(list)
    firsts: list[int] = []
    for index, marks in enumerate(marked):
        keys = marks if letters[index] else [texts[index]]
        near = sorted({other for key in keys if key in known for other in known[key]})
        same = (other for other in near if letters[other] == letters[index] or _alike(texts[other], texts[index]))
        first = next(same, index)
        firsts.append(first)
        if first == index:
            for key in keys:
                known[key].append(index)
    return firsts


def marks_of(texts: Sequence[str]) -> UInt64:
    """Three hashes of each text; two texts are compared only if they have one in common. n texts -> (n, 3)"""
    parts = [_marks([_letters(text) for text in texts[i : i + _AT_ONCE]]) for i in range(0, len(texts), _AT_ONCE)]
    return np.concatenate([np.zeros((0, MARKS), dtype=np.uint64), *parts])


def _marks(letters: Sequence[bytes]) -> UInt64:
    """The three pairs of each text's three smallest hashes, each pair mixed into one number. n texts -> (n, 3)"""
    a, b, c = _smallest(letters).T
    return np.stack([(a * _STEP ^ b) * _WAYS[0], (b * _STEP ^ c) * _WAYS[1], (a * _STEP ^ c) * _WAYS[2]], axis=1)


def _letters(text: str) -> bytes:
    """A text in lower case, without white space and the usual punctuation, as UTF-8."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.lower())
        for sign in _TYPOGRAPHY:
            text = text.replace(sign, "")
    return text.encode("utf-8", "surrogatepass").translate(_LOWER, _SIGNS)


def _smallest(letters: Sequence[bytes]) -> UInt64:
    """The smallest hash of each text's pieces, by each hash function; a short text is one piece. n texts -> (n, 3)"""
    padded = [text.ljust(_PIECE, b"\0") for text in letters]
    data = np.frombuffer(b"".join(padded) + bytes(_PIECE), dtype=np.uint8)
    halves: UInt64 = np.ndarray(len(data) - _HALF + 1, dtype="<u8", buffer=data, strides=(1,))  # at every byte
    pieces = (halves[:-_HALF] * _STEP) ^ halves[_HALF:]
    lengths = np.array([len(text) for text in padded], dtype=np.intp)
    starts = np.cumsum(lengths) - lengths
    edges = np.stack((starts, starts + lengths - _PIECE + 1), axis=1).ravel()  # where each text's pieces begin and end
    if not len(edges):
        return np.zeros((0, len(_WAYS)), dtype=np.uint64)
    return np.stack([np.minimum.reduceat(pieces * way, edges)[::2] for way in _WAYS], axis=1)


def _alike(one: str, two: str) -> bool:
    """Return whether two texts whose letters differ are alike, by the definition above."""
    left, right = _hashes(one), _hashes(two)
    if not len(left):
        return one == two
    if np.array_equal(left, right):
        return True
    if min(len(left), len(right)) < SEQUENCE:
        return False
    first, second = _sequences(one), _sequences(two)
    common = len(np.intersect1d(first, second, assume_unique=True))
    return common >= LEAST * (len(first) + len(second) - common) and _numbers(one) == _numbers(two)


@lru_cache(maxsize=512)  # of a megabyte or two: the same passages are found again
def _hashes(text: str) -> UInt64:
    """The hashes of a text's words. (w,)"""
    return hash_words([text]).hashes


@lru_cache(maxsize=512)  # a passage is compared with several others of its page
def _sequences(text: str) -> UInt64:
    """The distinct sequences of a text's words, as hashes. w words -> (≤ w - 4,)"""
    hashes = _hashes(text)
    count = len(hashes) - SEQUENCE + 1
    total: UInt64 = np.zeros(count, dtype=np.uint64)
    for step in range(SEQUENCE):
        total = total * _STEP + hashes[step : step + count]
    return np.unique(mix(total))


def _numbers(text: str) -> list[str]:
    """The words that have a digit, in order."""
    return [word for word in words(text) if any(char.isdigit() for char in word)]
