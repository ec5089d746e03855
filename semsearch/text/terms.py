"""Texts to the terms of the lexical index: word stems, and pairs of words that are written together.

A stem (Snowball's English) makes "index", "indexes" and "indexing" one term. Words with a single joining character
between them (utf-8, read_bytes, 3.11; not std::vec, which has two) also count as one more term, so that a name that is
asked for as it is written beats its parts. A term is known by a 64-bit hash.
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
    """Terms (t,) of n texts by number, the text that each stands in (t,), and how many words each text has (n,)."""

    numbers: Int32
    texts: Int64
    lengths: Int64


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """What a question is looked for by: the terms (t,), and the lower-case words that each of them stands for (t,)."""

    terms: UInt64
    words: list[str]


class Lexicon:
    """Gives terms numbers, from 0 on, and remembers the stem of every word it has seen."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english", 0)  # no memory of its own: here no word comes twice
        self._words = HashIndex()  # a word's hash to the number of its stem
        self._numbers = HashIndex()  # a term to its number
        self._terms: list[UInt64] = []

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def terms(self) -> UInt64:
        """All terms, by number."""
        return np.concatenate([np.zeros(0, dtype=np.uint64), *self._terms])

    def of(self, texts: Sequence[str]) -> Terms:
        """The terms of each text, with repetitions."""
        return self.of_chunks(hash_chunks(texts))

    def of_chunks(self, chunks: Iterable[WordChunk]) -> Terms:
        """The same for texts whose words have been found."""
        numbers: list[Int32] = [np.zeros(0, dtype=np.int32)]
        places: list[Int64] = [np.zeros(0, dtype=np.int64)]
        lengths: list[Int64] = [np.zeros(0, dtype=np.int64)]
        done = 0
        for chunk in chunks:
            owners = np.repeat(np.arange(done, done + len(chunk.counts)), chunk.counts)
            together = _together(chunk)
            numbers += [self._stems(chunk), self.number(_pairs(chunk, together))]
            places += [owners, owners[together]]
            lengths.append(chunk.counts)
            done += len(chunk.counts)
        return Terms(np.concatenate(numbers), np.concatenate(places), np.concatenate(lengths))

    def of_question(self, question: str) -> UInt64:
        """The terms to look for, repetitions included; stop words only where there is nothing else."""
        return of_questions([question])[0]

    def named(self, question: str) -> QuestionTerms:
        """The same with the words they stand for: as in the question, joined ones with what joins them."""
        terms: list[UInt64] = [np.zeros(0, dtype=np.uint64)]
        names: list[str] = []
        for chunk in hash_chunks([_without_stop_words(question)]):  # so few words are not worth being remembered
            found, together = chunk.words(np.arange(len(chunk.hashes))), _together(chunk)
            stems = self._stemmer.stemWords([_plain(word) for word in found])
            terms += [hash_words(stems).hashes, _pairs(chunk, together)]
            names += [*found, *(chunk.word(place, through=place + 1) for place in together.tolist())]
        return QuestionTerms(np.concatenate(terms), names)

    def number(self, terms: UInt64) -> Int32:
        """The numbers of terms; new ones get new numbers. (n,) -> (n,)"""
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
            new, places, which = np.unique(chunk.hashes[unseen], return_index=True, return_inverse=True)
            stems = self._stemmer.stemWords([_plain(word) for word in chunk.words(unseen[places])])
            stem_numbers = self.number(hash_words(stems).hashes)
            self._words.insert(new, stem_numbers)
            numbers[unseen] = stem_numbers[which.reshape(-1)]
        return numbers


def content_words(question: str) -> list[str]:
    """The words that a question is about, each once, in order."""
    return list(dict.fromkeys(words(_without_stop_words(question))))


def of_questions(questions: Sequence[str]) -> list[UInt64]:
    """What `Lexicon.of_question` gives for each of some questions, which are stemmed and hashed together."""
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
    """How many different terms of a question each text has.

    English stems begin as their words do, so that only words with the first letter of one that is asked for are
    stemmed. Letters outside ASCII may lose their accents, and are always looked at.
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
    """Which bytes a word may begin with whose stem is that of one of these. (256,)"""
    begins = np.zeros(256, dtype=np.bool_)
    begins[128:] = True
    for letter in {_plain(word)[0] for word in found}:
        if letter.isascii():
            begins[[ord(letter), ord(letter.upper())]] = True
    return begins


def _without_stop_words(question: str) -> str:
    """What is left of a question, or all of it where nothing would be left. Pieces with joined words stay whole."""
    pieces = [piece for piece in question.split() if not _is_idle(piece)]
    return " ".join(pieces) or question


def _is_idle(piece: str) -> bool:
    """Whether a piece of a question has stop words only, or no words."""
    return piece.lower() in STOP_WORDS or all(word in STOP_WORDS for word in words(piece))


def _plain(word: str) -> str:
    """A word without accents, for people leave them out."""
    if word.isascii():
        return word
    decomposed = "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))
    plain = normalise(decomposed).replace(" ", "")
    return plain if words(plain) == [plain] else word  # half-width katakana would become several words


def _pairs(chunk: WordChunk, places: Int64) -> UInt64:
    """The terms for the words at these places with their next ones."""
    return mix(chunk.hashes[places] * _PAIR + chunk.hashes[places + 1])


def _together(chunk: WordChunk) -> Int64:
    """The places of words that a single joining character, which never ends a text, connects with the next word."""
    ends = chunk.ends[:-1]
    return np.flatnonzero((chunk.starts[1:] - ends == 1) & _JOINERS[chunk.data[ends]])
