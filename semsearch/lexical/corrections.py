"""Misspelt words of a query: what is searched for instead of a word that the index does not have.

A word is corrected if no passage has it in any form, the word vectors do not know it well, and it is one edit away from
words of the passages (two, if it has eight letters and more, the first of them right), is two of them written together,
or one of them written apart. Of several words the likeliest is taken, as in a noisy channel (Kernighan, Church and Gale
1990): by the number of passages that have it, n_w, and by the edit.

    log n_w + log P(edit)

Quoted phrases, excluded words, stop words, numbers and what looks like an identifier are taken as they are. So is a
query with the syntax "plain".
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from typing import NamedTuple

import numpy as np

from semsearch.arrays.types import Float32, Int32
from semsearch.lexical.bm25 import WordSearch
from semsearch.lexical.spelling import Edit
from semsearch.results.origin import Correction
from semsearch.text.languages import ENGLISH, RULES, stop_words
from semsearch.text.terms import LONGEST, lowered, spelled, stems, without_prefixes
from semsearch.text.tokens import hashes_of, words
from semsearch.word_vectors.language_table import LanguageTable
from semsearch.word_vectors.multilingual import english_of, language_table
from semsearch.word_vectors.table import WordVectors

SHORTEST = 4  # letters of a word that is corrected
_PART = 3  # letters, at least, of words that were written together
_ENDING_LETTERS = 3  # at most, in which the forms of a word differ
_LONG_ENDINGS = frozenset(("hu", "tr"))  # languages whose words may have many, one after the other
_LONG = 8  # letters of a word that may have two mistakes
_KNOWN = 2e-7  # p(w) in general text of a word that is not taken for a mistake: see docs/research/measurements.md
_MOST_WORDS = 32  # of a query; longer ones are passages of text
_MOST_CORRECTED = 8

_LIKELIHOOD: dict[Edit, float] = {  # natural logarithms
    "swapped": 0.0, "doubled": 0.0, "missing": -0.5, "extra": -0.5, "other": -1.0, "several": -3.0
}  # fmt: skip
_FIRST_LETTER = -2.0  # people seldom mistake it

_PIECES = re.compile(r"\S+")
_OPENING, _CLOSING = "\"'([{“„«‘¿¡", "\"'.,;:!?)]}”“»’…"
_ENDING = re.compile(r"['’][A-Za-z]{1,2}$")


Rows = list[Int32]  # of the passages that have a word, by segment


class _Word(NamedTuple):
    """A word of a query that may be corrected: query[start:end]."""

    text: str  # in lower case
    start: int
    end: int


def correct(
    typed: str,
    phrases: Sequence[str],
    lexical: WordSearch,
    vectors: Callable[[], WordVectors],
    *,
    indexed_words: AbstractSet[str] = frozenset(),
    language: str | None = None,
) -> tuple[str, tuple[Correction, ...]]:
    """Correct the misspelt words of a query; the corrections are those of mistakes, not of other forms of a word.

    Quoted `phrases` stay, as do `indexed_words`, which passages have. In an English query (`language`) every correction
    is that of a mistake. `vectors` opens the word vectors, if they are needed.
    """
    query = unicodedata.normalize("NFC", typed)
    unchanged = frozenset[str]().union(indexed_words, *map(stop_words, lexical.languages))
    query_words = _words_of(query, phrases, lexical.languages)
    doubtful = {word.text for word in query_words if SHORTEST <= len(word.text) <= LONGEST} - unchanged
    if not doubtful or len(query_words) > _MOST_WORDS:
        return typed, ()
    corrector = _Corrector(lexical, vectors)
    unknown = corrector.unknown(sorted(doubtful))
    parts, corrections, done = list[str](), list[Correction](), 0
    for word, following in zip(query_words, [*query_words[1:], None], strict=True):
        is_unknown = word.text in unknown
        if word.start < done or len(corrections) == _MOST_CORRECTED:
            continue
        end, replacement, is_mistake = word.end, None, True
        if (
            following is not None
            and (is_unknown or following.text in unknown)
            and " " in query[word.start : following.end]
            and corrector.has(word.text + following.text)
        ):
            end, replacement = following.end, word.text + following.text
        elif is_unknown:
            replacement = corrector.replacement_for(word.text)
            is_mistake = replacement is not None and (
                language == ENGLISH or not corrector.is_form(word.text, replacement)
            )
        if replacement is not None:
            parts += [query[done : word.start], replacement]
            corrections += [Correction(query[word.start : end], replacement)] if is_mistake else []
            done = end
    return "".join([*parts, query[done:]]) if done else typed, tuple(corrections)


def _words_of(query: str, phrases: Sequence[str], languages: Sequence[str]) -> list[_Word]:
    """The words of a query that may be corrected: between spaces and hyphens, of letters only, in no quoted phrase."""
    quoted = {word for phrase in phrases for word in words(phrase)}
    lower, chosen = lowered(query, languages[0]), list[_Word]()
    for match in _PIECES.finditer(query):
        piece = match.group().lstrip(_OPENING)
        start, core = match.end() - len(piece), _ENDING.sub("", piece.rstrip(_CLOSING))
        for part in re.finditer(r"[^-‐]+", core) if _is_word(core, languages) else ():
            first, end = start + part.start(), start + part.end()
            if (text := lower[first:end].lower()) not in quoted:
                chosen.append(_Word(text, first, end))
    return chosen


def _is_word(core: str, languages: Sequence[str]) -> bool:
    """Whether a piece of a query has letters only, no capital inside, and perhaps hyphens: it is no identifier."""
    if not core.isascii() and any(RULES[language].sequences for language in languages):
        return False
    return all(_is_letters(part) and part[1:] == part[1:].lower() for part in re.split("[-‐]", core))


def _is_letters(part: str) -> bool:
    """Whether a text is one word of letters, and marks on them such as vowel signs; a Chinese character is a word."""
    kinds = {unicodedata.category(char)[0] for char in part}
    return bool(kinds) and kinds <= {"L", "M"} and (part.isascii() or "M" in kinds or len(words(part)) == 1)


class _Corrector:
    """The frequencies of words in passages, and in general text of the index's languages."""

    def __init__(self, lexical: WordSearch, vectors: Callable[[], WordVectors]) -> None:
        self._lexical, self._vectors = lexical, vectors
        self._tables: dict[str, LanguageTable] = {}  # of languages besides English, where the index is in some
        if [*lexical.languages] != [ENGLISH]:
            english = english_of(vectors())
            tables = {code: language_table(code, english) for code in lexical.languages}
            self._tables = {code: table for code, table in tables.items() if table is not None}

    def unknown(self, words: Sequence[str]) -> set[str]:
        """The words that no passage has, nor the word vectors know well."""
        rare = [word for word, p in zip(words, self._frequencies(words), strict=True) if p < _KNOWN]
        if not rare:
            return set()
        return {word for word, rows in zip(rare, self._rows_of(rare), strict=True) if not rows}

    def has(self, word: str) -> bool:
        """Whether passages have a word."""
        return len(word) <= LONGEST and bool(self._rows_of([word])[0])

    def is_form(self, word: str, other: str) -> bool:
        """Whether a word is another form of one that passages have, as far as their endings tell: it is no mistake.

        English stems tell that already.
        """
        if not self._tables:
            return False
        word, other = (without_prefixes(form, self._tables) for form in (word, other))
        longest, shortest = max(len(word), len(other)), min(len(word), len(other))
        alike = next((at for at in range(shortest) if word[at] != other[at]), shortest)
        most = longest // 2 if not _LONG_ENDINGS.isdisjoint(self._tables) else min(_ENDING_LETTERS, longest // 3)
        return word == other or (alike >= SHORTEST and longest - alike <= most)

    def replacement_for(self, word: str) -> str | None:
        """The likeliest word, or two words, for one that no passage has; None if there is none."""
        replacement = self._likeliest(word, 1) or self._split(word)
        return self._likeliest(word, 2) if replacement is None and len(word) >= _LONG else replacement

    def _likeliest(self, word: str, edits: int) -> str | None:
        """The word of passages that is likeliest of those that edits make of a word."""
        similar = self._lexical.similar_words(word, edits)
        rows_of = self._rows_by_term([term for _, term in similar])
        likelihoods = {
            other.word: math.log(_count(rows_of[term])) + _LIKELIHOOD[other.edit] + _FIRST_LETTER * other.is_first
            for other, term in similar
            if term in rows_of and not (edits > 1 and other.is_first)
        }
        return min(likelihoods, key=lambda other: (-likelihoods[other], other), default=None)

    def _split(self, word: str) -> str | None:
        """The two words that were written together: of all such, those that most passages have together."""
        halves = [(word[:at], word[at:]) for at in range(_PART, len(word) - _PART + 1)]
        rows = self._rows_of([half for pair in halves for half in pair])
        together = [
            (max(_shared(one, two) for one in firsts for two in seconds), f"{first} {second}")
            for (first, second), firsts, seconds in zip(halves, rows[::2], rows[1::2], strict=True)
            if firsts and seconds and not (self._tables and (self._frequencies([first, second]) < _KNOWN).any())
        ]
        most, divided = max(together, default=(0, ""))
        return divided if most else None

    def _frequencies(self, words: Sequence[str]) -> Float32:
        """p(w) of words in general text of the language that has each most, 0 if no word vectors have it. (n,)"""
        p = _frequencies_in(self._vectors(), words)
        for language, table in self._tables.items():
            p = np.maximum(p, _frequencies_in(table, [spelled(word, language) for word in words]))
        return p

    def _rows_of(self, words: Sequence[str]) -> list[list[Rows]]:
        """The rows of the passages that have each word, for each language in which some have it."""
        terms = [hashes_of(stems(words, language)).tolist() for language in self._lexical.languages]
        rows = self._rows_by_term([term for of_language in terms for term in of_language])
        return [[rows[term] for term in dict.fromkeys(forms) if term in rows] for forms in zip(*terms, strict=True)]

    def _rows_by_term(self, terms: Sequence[int]) -> dict[int, Rows]:
        """The rows of each term that passages have."""
        lookup = self._lexical.find(np.array(terms, dtype=np.uint64))
        postings = zip(lookup.terms.tolist(), lookup.idf.tolist(), lookup.lists, strict=True)
        return {term: [rows for rows, _ in lists] for term, idf, lists in postings if idf}


def _frequencies_in(vectors: WordVectors | LanguageTable, words: Sequence[str]) -> Float32:
    ids = vectors.lookup(hashes_of(words))
    return np.where(ids < 0, np.float32(0), vectors.frequencies[np.maximum(ids, 0)])


def _count(rows: Rows) -> int:
    return sum(map(len, rows))


def _shared(one: Rows, two: Rows) -> int:
    """The number of rows that two words have both."""
    return sum(len(np.intersect1d(*pair, assume_unique=True)) for pair in zip(one, two, strict=True))


# -- Verbs in two words ------------------------------------------------------------------------------------------------

PLAIN_VERBS: Mapping[str, str] = {  # what documents say, by what is typed
    "disable": "(?:turn|switch)(?:ed|ing|e?s)? {} off",
    "enable": "(?:turn|switch)(?:ed|ing|e?s)? {} on",
    "exclude": "(?:leav(?:e|es|ing)|left|keep(?:s|ing)?|kept) {} out",
    "restore": "(?:get(?:s|ting)?|got|bring(?:s|ing)?|brought) {} back",
    "remove": "(?:get(?:s|ting)?|got) rid of",
    "combine": "put(?:s|ting)? {} together",
}
_TYPED = [
    (verb, re.compile(r"\b" + typed.replace(" {} ", r"(?: [\w'-]+){0,4}? ") + r"\b", re.IGNORECASE))
    for verb, typed in PLAIN_VERBS.items()
]


def with_plain_verb(question: str) -> str:
    """An English question with the verb that documents use where it is typed as two: "turn off" is "disable", too."""
    verb = next((verb for verb, typed in _TYPED if typed.search(question)), None)
    return question if verb is None else f"{question} {verb}"
