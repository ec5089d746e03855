"""The terms of a query: without its stop words, in each language of the index; and how many of them texts have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import Stemmer

from semsearch.text.languages.english_stop_words import STOP_WORDS
from semsearch.text.languages.rules import ENGLISH, RULES
from semsearch.text.languages.stemming import lowered, plain, stems
from semsearch.text.languages.stop_words import stop_words
from semsearch.text.terms.lexicon import Lexicon
from semsearch.text.terms.term_hashes import (
    cut,
    hashes_of,
    joined_words,
    pairs,
    sequences,
    word_chunks,
    written_together,
)
from semsearch.text.tokens import UInt64, WordChunk, hash_chunks, hash_words, words

_ONLY_ENGLISH = (ENGLISH,)


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The terms that a query is searched by (t,), and the lower-case words that each of them stands for (t,)."""

    terms: UInt64
    words: list[str]


def of_question(question: str, languages: Sequence[str] = _ONLY_ENGLISH) -> UInt64:
    """The terms to search for a query, repetitions included. Stop words count only if it has no other words."""
    return of_questions([question], languages)[0]


def named_terms(question: str, languages: Sequence[str] = _ONLY_ENGLISH) -> QuestionTerms:
    """Like `of_question`, with the words that the terms stand for; joined words with what joins them."""
    asked = _without_stop_words(question, languages)
    shared = [*word_chunks([asked], ENGLISH)]
    of_each = [
        _named(asked, language, shared if _has_english_words(asked, language) else word_chunks([asked], language))
        for language in languages
    ]
    return of_each[0] if len(of_each) == 1 else _merged(of_each)


def of_questions(questions: Sequence[str], languages: Sequence[str] = _ONLY_ENGLISH) -> list[UInt64]:
    """Like `of_question`, but for several queries, which in English are stemmed and hashed together."""
    if tuple(languages) != _ONLY_ENGLISH:
        return [named_terms(question, languages).terms for question in questions]
    stemmer = Stemmer.Stemmer("english")
    found: list[UInt64] = []
    for chunk in hash_chunks([_without_stop_words(question) for question in questions]):
        together = written_together(chunk)
        owners = np.repeat(np.arange(len(chunk.counts)), chunk.counts)
        found_stems = stemmer.stemWords([plain(word) for word in chunk.words(np.arange(len(chunk.hashes)))])
        terms = np.concatenate((hash_words(found_stems).hashes, pairs(chunk, together)))
        owners = np.concatenate((owners, owners[together]))
        order, ends = np.argsort(owners, kind="stable"), np.cumsum(np.bincount(owners, minlength=len(chunk.counts)))
        found += np.split(terms[order], ends[:-1])
    return found


def content_words(question: str) -> list[str]:
    """The words of a query without stop words, unless it has no others; each once, in order."""
    return list(dict.fromkeys(words(_without_stop_words(question))))


def count_shared(question: str, texts: Sequence[str], languages: Sequence[str] = _ONLY_ENGLISH) -> list[int]:
    """Count the distinct terms of a query that each text has, in the language in which it has the most of them."""
    if tuple(languages) == _ONLY_ENGLISH:
        return _count_shared_in_english(question, texts)
    asked, most = np.unique(of_questions([question], languages)[0]), np.zeros(len(texts), dtype=np.int64)
    for language in languages:
        lexicon = Lexicon()
        found = lexicon.in_language(texts, language)
        held = np.isin(lexicon.terms[found.numbers], asked)
        pairs = np.unique(np.stack((found.texts[held], found.numbers[held])), axis=1)
        most = np.maximum(most, np.bincount(pairs[0], minlength=len(texts)))
    return [int(count) for count in most]


def _count_shared_in_english(question: str, texts: Sequence[str]) -> list[int]:
    """As `count_shared`.

    An English stem begins with its word's first letter, so that only words with the first letter of one of the query's
    are stemmed. Letters outside ASCII may lose their accents, and such words are always stemmed.
    """
    asked = np.unique(of_questions([question])[0], return_index=True)[0]
    if not len(asked):
        return [0] * len(texts)
    stemmer, begins = Stemmer.Stemmer("english"), _first_letters(words(question))
    shared: list[int] = []
    for chunk in hash_chunks(texts):
        near, together = np.flatnonzero(begins[chunk.data[chunk.starts]]), written_together(chunk)
        _, firsts, which = np.unique(chunk.hashes[near], return_index=True, return_inverse=True)
        near_stems = stemmer.stemWords([plain(word) for word in chunk.words(near[firsts])])
        terms = np.concatenate((hash_words(near_stems).hashes[which.reshape(-1)], pairs(chunk, together)))
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
    for letter in {plain(word)[0] for word in found}:
        if letter.isascii():
            begins[[ord(letter), ord(letter.upper())]] = True
    return begins


def _without_stop_words(question: str, languages: Sequence[str] = _ONLY_ENGLISH) -> str:
    """A query without its stop words, or all of it if it has no others. Pieces with joined words stay whole."""
    idle = STOP_WORDS if tuple(languages) == _ONLY_ENGLISH else _idle_words(question, languages)
    pieces = [piece for piece in question.split() if not _is_idle(piece, idle)]
    return " ".join(pieces) or question


def _idle_words(question: str, languages: Sequence[str]) -> frozenset[str]:
    """The stop words of that language of an index of which a query has the most; of two, of the one named first."""
    found = words(question)
    return stop_words(max(languages, key=lambda language: sum(word in stop_words(language) for word in found)))


def _is_idle(piece: str, idle: frozenset[str]) -> bool:
    """Return whether a piece of a query has only stop words, or no words."""
    return piece.lower() in idle or all(word in idle for word in words(piece))


def _has_english_words(question: str, language: str) -> bool:
    """Return whether the words of a query in a language are those that it has in English, before they are stemmed."""
    return language == ENGLISH or (question.isascii() and lowered(question, language) == question)


def _named(question: str, language: str, chunks: Iterable[WordChunk]) -> QuestionTerms:
    """The terms of all words of a query, by the rules of one language. `chunks`: its words in that language."""
    if RULES[language].sequences:
        return QuestionTerms(sequences([question], language).hashes, cut([question], language)[0])
    terms: list[UInt64] = [np.zeros(0, dtype=np.uint64)]
    names: list[str] = []
    for chunk in chunks:  # so few words are not worth remembering
        found, joined = chunk.words(np.arange(len(chunk.hashes))), joined_words(chunk, language)
        terms += [hashes_of(stems(found, language)), pairs(chunk, joined)]
        names += [*found, *(chunk.word(index, through=index + 1).replace("  ", "") for index in joined.tolist())]
    return QuestionTerms(np.concatenate(terms), names)


def _merged(of_each: Sequence[QuestionTerms]) -> QuestionTerms:
    """The terms of a query in any of several languages, each as often as in that which has it most often."""
    merged: dict[int, list[str]] = {}
    for found in of_each:
        own: dict[int, list[str]] = {}
        for term, word in zip(found.terms.tolist(), found.words, strict=True):
            own.setdefault(term, []).append(word)
        merged.update({term: names for term, names in own.items() if len(names) > len(merged.get(term, ()))})
    terms = [term for term, names in merged.items() for _ in names]
    return QuestionTerms(np.array(terms, dtype=np.uint64), [word for names in merged.values() for word in names])
