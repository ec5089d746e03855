"""A lexicon: it numbers the terms of texts (semsearch.text.terms.term_hashes), and stems every word once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch.arrays.hash_table import HashIndex
from semsearch.text.languages.rules import ENGLISH, RULES
from semsearch.text.languages.stemming import stems
from semsearch.text.terms.term_hashes import hashes_of, joined_words, pairs, sequences, word_chunks, written_together
from semsearch.text.tokens import HashedWords, UInt64, WordChunk, hash_chunks

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of n texts: their numbers (t,), the index of each one's text (t,), and each text's word count (n,)."""

    numbers: Int32
    texts: Int64
    lengths: Int64

    def and_then(self, more: Terms) -> Terms:
        """These terms, and then those of more texts."""
        return Terms(
            np.concatenate((self.numbers, more.numbers)),
            np.concatenate((self.texts, more.texts + len(self.lengths))),
            np.concatenate((self.lengths, more.lengths)),
        )


class Lexicon:
    """Numbers terms from 0 on, and remembers the stem of every word it has seen."""

    def __init__(self) -> None:
        self._words: dict[str, HashIndex] = {ENGLISH: HashIndex()}  # by language: a word's hash to its stem's number
        self._numbers = HashIndex()  # a term to its number
        self._terms: list[UInt64] = []

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def terms(self) -> UInt64:
        """All terms, in the order of their numbers. (len(self),)"""
        return np.concatenate([np.zeros(0, dtype=np.uint64), *self._terms])

    def of(self, texts: Sequence[str]) -> Terms:
        """The terms of each text, repetitions included."""
        return self.of_chunks(hash_chunks(texts))

    def of_chunks(self, chunks: Iterable[WordChunk]) -> Terms:
        """Like `of`, but for texts whose words have been found already."""
        numbers: list[Int32] = [np.zeros(0, dtype=np.int32)]
        texts: list[Int64] = [np.zeros(0, dtype=np.int64)]
        lengths: list[Int64] = [np.zeros(0, dtype=np.int64)]
        done = 0
        for chunk in chunks:
            owners = np.repeat(np.arange(done, done + len(chunk.counts)), chunk.counts)
            together = written_together(chunk)
            numbers += [self._stems(chunk, ENGLISH), self.number(pairs(chunk, together))]
            texts += [owners, owners[together]]
            lengths.append(chunk.counts)
            done += len(chunk.counts)
        return Terms(np.concatenate(numbers), np.concatenate(texts), np.concatenate(lengths))

    def in_language(self, texts: Sequence[str], language: str) -> Terms:
        """The terms of each text of a language, repetitions included."""
        if language == ENGLISH:
            return self.of(texts)
        own = self.in_order(texts, language)
        numbers, owners = [self.number(own.hashes)], [np.repeat(np.arange(len(texts)), np.diff(own.indptr))]
        done = 0
        for chunk in word_chunks(texts, language):
            of_word = np.repeat(np.arange(done, done + len(chunk.counts)), chunk.counts)
            joined = joined_words(chunk, language)
            numbers.append(self.number(pairs(chunk, joined)))
            owners.append(of_word[joined])
            done += len(chunk.counts)
        return Terms(np.concatenate(numbers), np.concatenate(owners), np.diff(own.indptr))

    def in_order(self, texts: Sequence[str], language: str = ENGLISH) -> HashedWords:
        """The terms of the words of each text, in their order; none for joined words."""
        if language != ENGLISH and RULES[language].sequences:
            return sequences(texts, language)
        numbers, counts = [np.zeros(0, dtype=np.int32)], [np.zeros(1, dtype=np.int64)]
        for chunk in word_chunks(texts, language):
            numbers.append(self._stems(chunk, language))
            counts.append(chunk.counts)
        return HashedWords(self.terms[np.concatenate(numbers)], np.cumsum(np.concatenate(counts)))

    def number(self, terms: UInt64) -> Int32:
        """The numbers of terms; new terms get the next numbers. (n,) -> (n,)"""
        numbers = self._numbers.look_up(terms)
        unseen = np.flatnonzero(numbers < 0)
        if len(unseen):
            new, which = np.unique(terms[unseen], return_inverse=True)
            new_numbers = np.arange(len(self), len(self) + len(new), dtype=np.int32)
            self._numbers.insert(new, new_numbers)
            self._terms.append(new)
            numbers[unseen] = new_numbers[which.reshape(-1)]
        return numbers

    def _stems(self, chunk: WordChunk, language: str) -> Int32:
        seen = self._words.setdefault(language, HashIndex())
        numbers = seen.look_up(chunk.hashes)
        unseen = np.flatnonzero(numbers < 0)
        if len(unseen):
            new, first, which = np.unique(chunk.hashes[unseen], return_index=True, return_inverse=True)
            stem_numbers = self.number(hashes_of(stems(chunk.words(unseen[first]), language)))
            seen.insert(new, stem_numbers)
            numbers[unseen] = stem_numbers[which.reshape(-1)]
        return numbers
