"""Turn texts into terms of the lexical index: word stems, and pairs of words that are written together.

A stem (Snowball's English) makes "index", "indexes" and "indexing" one term. Words with a single joining character
between them (utf-8, read_bytes, 3.11; not std::vec, which has two) also count as one more term, so that a name that is
queried as it is written beats its parts. A term is identified by a 64-bit hash.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import Stemmer

from semsearch.arrays.hash_table import HashIndex
from semsearch.text.stop_words import STOP_WORDS
from semsearch.text.tokens import UInt64, WordChunk, hash_chunks, hash_words, mix, normalise, words

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

_JOINERS = np.zeros(256, dtype=np.bool_)
_JOINERS[list(b"-_./:+@#'&")] = True
_PAIR = np.uint64(0xD6E8FEB86659FD93)  # any odd number: makes the pair (a, b) another term than (b, a)


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of n texts: their numbers (t,), the index of each one's text (t,), and each text's word count (n,)."""

    numbers: Int32
    texts: Int64
    lengths: Int64


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The terms that a query is searched by (t,), and the lower-case words that each of them stands for (t,)."""

    terms: UInt64
    words: list[str]


class Lexicon:
    """Numbers terms from 0 on, and remembers the stem of every word it has seen."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english", 0)  # no cache of its own: here no word comes twice
        self._words = HashIndex()  # a word's hash to the number of its stem
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
            together = _together(chunk)
            numbers += [self._stems(chunk), self.number(_pairs(chunk, together))]
            texts += [owners, owners[together]]
            lengths.append(chunk.counts)
            done += len(chunk.counts)
        return Terms(np.concatenate(numbers), np.concatenate(texts), np.concatenate(lengths))

    def of_question(self, question: str) -> UInt64:
        """The terms to search for a query, repetitions included. Stop words count only if it has no other words."""
        return of_questions([question])[0]

    def named(self, question: str) -> QuestionTerms:
        """Like `of_question`, with the words that the terms stand for; joined words with what joins them."""
        terms: list[UInt64] = [np.zeros(0, dtype=np.uint64)]
        names: list[str] = []
        for chunk in hash_chunks([_without_stop_words(question)]):  # so few words are not worth remembering
            found, together = chunk.words(np.arange(len(chunk.hashes))), _together(chunk)
            stems = self._stemmer.stemWords([_plain(word) for word in found])
            terms += [hash_words(stems).hashes, _pairs(chunk, together)]
            names += [*found, *(chunk.word(index, through=index + 1) for index in together.tolist())]
        return QuestionTerms(np.concatenate(terms), names)

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

    def _stems(self, chunk: WordChunk) -> Int32:
        numbers = self._words.look_up(chunk.hashes)
        unseen = np.flatnonzero(numbers < 0)
        if len(unseen):
            new, first, which = np.unique(chunk.hashes[unseen], return_index=True, return_inverse=True)
            stems = self._stemmer.stemWords([_plain(word) for word in chunk.words(unseen[first])])
            stem_numbers = self.number(hash_words(stems).hashes)
            self._words.insert(new, stem_numbers)
            numbers[unseen] = stem_numbers[which.reshape(-1)]
        return numbers


def content_words(question: str) -> list[str]:
    """The words of a query without stop words, unless it has no others; each once, in order."""
    return list(dict.fromkeys(words(_without_stop_words(question))))


def of_questions(questions: Sequence[str]) -> list[UInt64]:
    """Like `Lexicon.of_question`, but for several queries, which are stemmed and hashed together."""
    stemmer = Stemmer.Stemmer("english")
    found: list[UInt64] = []
    for chunk in hash_chunks([_without_stop_words(question) for question in questions]):
        together = _together(chunk)
        owners = np.repeat(np.arange(len(chunk.counts)), chunk.counts)
        stems = stemmer.stemWords([_plain(word) for word in chunk.words(np.arange(len(chunk.hashes)))])
        terms = np.concatenate((hash_words(stems).hashes, _pairs(chunk, together)))
        owners = np.concatenate((owners, owners[together]))
        order, ends = np.argsort(owners, kind="stable"), np.cumsum(np.bincount(owners, minlength=len(chunk.counts)))
        found += np.split(terms[order], ends[:-1])
    return found


def count_shared(question: str, texts: Sequence[str]) -> list[int]:
    """Count the distinct terms of a query that each text has.

    An English stem begins with its word's first letter, so that only words with the first letter of one of the query's
    are stemmed. Letters outside ASCII may lose their accents, and such words are always stemmed.
    """
    asked = np.unique(of_questions([question])[0], return_index=True)[0]
    if not len(asked):
        return [0] * len(texts)
    stemmer, begins = Stemmer.Stemmer("english"), _first_letters(words(question))
    shared: list[int] = []
    for chunk in hash_chunks(texts):
        near, together = np.flatnonzero(begins[chunk.data[chunk.starts]]), _together(chunk)
        _, firsts, which = np.unique(chunk.hashes[near], return_index=True, return_inverse=True)
        stems = stemmer.stemWords([_plain(word) for word in chunk.words(near[firsts])])
        terms = np.concatenate((hash_words(stems).hashes[which.reshape(-1)], _pairs(chunk, together)))
        owners = np.repeat(np.arange(len(chunk.counts)), chunk.counts)[np.concatenate((near, together))]
        numbers = np.minimum(np.searchsorted(asked, terms), len(asked) - 1)
        held = asked[numbers] == terms
        has = np.zeros((len(chunk.counts), len(asked)), dtype=np.bool_)
        has[owners[held], numbers[held]] = True
        shared += np.count_nonzero(has, axis=1).tolist()
    return shared


def _first_letters(found: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return which bytes a word with the same stem as one of these may begin with. (256,)"""
    begins = np.zeros(256, dtype=np.bool_)
    begins[128:] = True
    for letter in {_plain(word)[0] for word in found}:
        if letter.isascii():
            begins[[ord(letter), ord(letter.upper())]] = True
    return begins


def _without_stop_words(question: str) -> str:
    """A query without its stop words, or all of it if it has no others. Pieces with joined words stay whole."""
    pieces = [piece for piece in question.split() if not _is_idle(piece)]
    return " ".join(pieces) or question


def _is_idle(piece: str) -> bool:
    """Return whether a piece of a query has only stop words, or no words."""
    return piece.lower() in STOP_WORDS or all(word in STOP_WORDS for word in words(piece))


def _plain(word: str) -> str:
    """A word without accents, for people leave them out."""
    if word.isascii():
        return word
    decomposed = "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))
    plain = normalise(decomposed).replace(" ", "")
    return plain if words(plain) == [plain] else word  # half-width katakana would become several words


def _pairs(chunk: WordChunk, positions: Int64) -> UInt64:
    """The terms of the words at the given positions, each joined with the next word."""
    return mix(chunk.hashes[positions] * _PAIR + chunk.hashes[positions + 1])


def _together(chunk: WordChunk) -> Int64:
    """The positions of words that a single joining character, which never ends a text, connects with the next word."""
    ends = chunk.ends[:-1]
    return np.flatnonzero((chunk.starts[1:] - ends == 1) & _JOINERS[chunk.data[ends]])
