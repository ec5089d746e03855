"""The words of a segment as they are spelled, and those that a misspelt word may stand for.

A word is looked for among those that have its first two or its last two letters, and about its length: one edit leaves
one of these pairs as it is, but for a swap in the middle of four letters. Of these, few have about the same set of
letters, a bit for each, and only they are compared letter by letter. So a search reads some hundredth of the
vocabulary, 24 bytes and the letters of a word are all that is stored, and it works for all scripts. (SymSpell's table
of deletions would take 113 bytes a word more: docs/research/measurements.md.)

    heads      (W,) uint32, rising: hash of a word's first two letters, and its length
    tails      (W,) uint32, rising: hash of its last two letters, and its length
    tail_words (W,) uint32: the word that each of `tails` is of
    sets       (W,) uint32: the set of its letters, a bit for each, modulo 32
    terms      (W,) uint32: the position of its term
    starts     (W,) uint32: where its letters begin
    letters    (U,) uint8: all words in UTF-8, one after the other

An edit inserts, leaves out or replaces a letter, or swaps two neighbours (Damerau 1964).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Int64, UInt8, UInt32
from semsearch.text.terms import LONGEST

Edit = Literal["swapped", "doubled", "missing", "extra", "other", "several"]
ARRAYS = 6  # of W numbers each

_FIRST, _SECOND = np.uint64(0x9E3779B1), np.uint64(0x85EBCA6B)
_LENGTHS = 64  # more than the longest word has letters
_BITS = np.zeros(1, dtype=np.uint8)  # number of bits that are set in each number below 2^16; NumPy 1 cannot count them
for _ in range(16):
    _BITS = np.concatenate((_BITS, _BITS + np.uint8(1)))


class SimilarWord(NamedTuple):
    """A word that another may stand for, by one edit or several; `number`: the position of its term."""

    word: str
    number: int
    edit: Edit
    is_first: bool  # whether an edit changes the first letter


def to_arrays(spelled: Sequence[bytes], terms: npt.NDArray[np.integer[Any]]) -> tuple[list[UInt32], UInt8]:
    """The arrays of words, and their letters. `terms`: the positions of their terms. (W,)"""
    order = sorted(range(len(spelled)), key=spelled.__getitem__)
    words, positions = [spelled[index] for index in order], np.asarray(terms, dtype=np.uint32)[order]
    characters, sizes = _characters(words)
    ends = np.cumsum(sizes)
    heads = _keys(characters[ends - sizes], characters[ends - sizes + 1], sizes)
    tails = _keys(characters[ends - 2], characters[ends - 1], sizes)
    bits = np.left_shift(np.uint32(1), characters & np.uint32(31))
    sets = np.bitwise_or.reduceat(bits, ends - sizes) if len(words) else bits
    order = np.argsort(heads, kind="stable").tolist()
    letters = [words[index] for index in order]
    starts = np.cumsum([0, *map(len, letters)])[:-1].astype(np.uint32)
    tail_words = np.argsort(tails[order], kind="stable").astype(np.uint32)
    arrays = [heads[order], tails[order][tail_words], tail_words, sets[order], positions[order], starts]
    return arrays, np.frombuffer(b"".join(letters), dtype=np.uint8)


class SpelledWords:
    """The words of a segment: its arrays of numbers (W,), and their letters. `terms`: how many terms it has."""

    def __init__(self, arrays: Sequence[UInt32], letters: UInt8, *, terms: int) -> None:
        self._heads, self._tails, self._tail_words, self._sets, self._terms, self._starts = arrays
        self._letters, self._count = letters, terms

    def __len__(self) -> int:
        return len(self._heads)

    @property
    def is_whole(self) -> bool:
        """Whether all words, terms and letters that it refers to are there. Reads everything."""
        limits = (self._tail_words, len(self)), (self._terms, self._count), (self._starts, len(self._letters))
        in_order = all(bool((array[1:] >= array[:-1]).all()) for array in (self._heads, self._tails, self._starts))
        return in_order and all(not len(array) or int(array.max()) < limit for array, limit in limits)

    def all(self) -> tuple[list[bytes], Int64]:
        """All words, and the positions of their terms. (W,)"""
        edges = [*self._starts.tolist(), len(self._letters)]
        letters = self._letters.tobytes()
        words = [letters[start:end] for start, end in pairwise(edges)]
        return words, self._terms.astype(np.int64)

    def similar(self, word: str, edits: int) -> list[SimilarWord]:
        """The words that at most this many edits, 1 or 2, make of a word of four letters or more.

        Of those that two edits make, it finds the ones whose first two or last two letters are right.
        """
        similar_words: list[SimilarWord] = []
        for index in self._near(word, edits).tolist():
            start = int(self._starts[index])
            end = int(self._starts[index + 1]) if index + 1 < len(self) else len(self._letters)
            other = self._letters[start:end].tobytes().decode(errors="replace")
            edit = edit_between(word, other, edits)
            if edit is not None and self._terms[index] < self._count:
                similar_words.append(SimilarWord(other, int(self._terms[index]), edit, word[0] != other[:1]))
        return similar_words

    def _near(self, word: str, edits: int) -> Int64:
        """The words with about the same letters as a word, and with its first two or last two at their place."""
        characters, _ = _characters([word.encode()])
        size = len(characters)
        lengths = np.array([max(size - edits, 2), min(size + edits, LONGEST)])
        at_head, at_tail = (
            np.searchsorted(edges, _keys(pair[:1].repeat(2), pair[1:].repeat(2), lengths) + np.array([0, 1], np.uint32))
            for edges, pair in ((self._heads, characters[:2]), (self._tails, characters[-2:]))
        )
        near = np.concatenate((np.arange(*at_head), self._tail_words[slice(*at_tail)].astype(np.int64)))
        sizes = np.concatenate((self._heads[slice(*at_head)], self._tails[slice(*at_tail)])) % _LENGTHS
        letters = np.bitwise_or.reduce(np.left_shift(np.uint32(1), characters & np.uint32(31)))
        differing = self._sets.take(near, mode="clip") ^ letters
        count = _BITS[differing & np.uint32(0xFFFF)] + _BITS[differing >> np.uint32(16)]
        # of two edits, one that changes the length leaves one for replacing a letter by another
        near = near[(count + np.abs(sizes.astype(np.int64) - size) <= 2 * edits) & (near < len(self))]
        return np.array(sorted(set(near.tolist())), dtype=np.int64)


def edit_between(typed: str, word: str, edits: int) -> Edit | None:
    """The edit that makes a word of what was typed; None if it takes more than so many, or none."""
    start, most = 0, min(len(typed), len(word))
    while start < most and typed[start] == word[start]:
        start += 1
    end = 0
    while end < most - start and typed[-1 - end] == word[-1 - end]:
        end += 1
    typed_part, word_part = typed[start : len(typed) - end], word[start : len(word) - end]
    if not typed_part and not word_part:
        return None
    if len(typed_part) <= 1 and len(word_part) <= 1:
        letter, near = typed_part or word_part, typed[max(start - 1, 0) : start] + typed[len(typed) - end :][:1]
        if typed_part and word_part:
            return "other"
        if letter in near:
            return "doubled"
        return "missing" if word_part else "extra"
    if len(typed_part) == 2 and typed_part == word_part[::-1]:
        return "swapped"
    return "several" if edits > 1 and _distance(typed_part, word_part, edits) <= edits else None


def _distance(typed: str, word: str, most: int) -> int:
    """The number of edits between two words; any larger number if it is more than `most`."""
    if abs(len(typed) - len(word)) > most:
        return most + 1
    before, row = [0] * (len(word) + 1), [*range(len(word) + 1)]
    for i, letter in enumerate(typed, start=1):
        last, before, row = before, row, [i]
        for j, word_letter in enumerate(word, start=1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != word_letter))
            if i > 1 and j > 1 and letter == word[j - 2] and typed[i - 2] == word_letter:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return int(row[-1])


def _keys(first: UInt32, second: UInt32, sizes: Int64) -> UInt32:
    """A hash of two letters, and a length, which is in the low bits. (n,), (n,), (n,) -> (n,)"""
    hashes = (
        (first.astype(np.uint64) * _FIRST + second.astype(np.uint64) * _SECOND)
        // np.uint64(_LENGTHS)
        * np.uint64(_LENGTHS)
    )
    return np.asarray((hashes + sizes.astype(np.uint64)) & np.uint64(0xFFFFFFFF), dtype=np.uint32)


def _characters(words: Sequence[bytes]) -> tuple[UInt32, Int64]:
    """The characters of words of at least one letter, one after the other, and how many each has. (c,), (n,)"""
    together = b"".join(words)
    is_first = (np.frombuffer(together, dtype=np.uint8) & 0xC0) != 0x80
    ends = np.cumsum([0, *map(len, words)])
    through = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(is_first)))
    return np.frombuffer(together.decode().encode("utf-32-le"), dtype="<u4"), np.diff(through[ends])
