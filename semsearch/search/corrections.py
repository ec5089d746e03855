"""Misspelt words of a query: what is searched for instead of a word that the index does not have.

A word is corrected if no passage has it in any form, the word vectors do not know it well, and it is one edit away from
words of the passages (two, if it has eight letters and more, the first of them right), is two of them written together,
or one of them written apart. Of several words the likeliest is taken, as in a noisy channel (Kernighan, Church and Gale
1990): by the number of passages that have it, by the edit, and by how many of these have the query's other words too.

    log n_w + log P(edit) + Σ_o log((n_wo + μ n_o / N) / (n_w + μ))       o: the other words

Quoted phrases, excluded words, stop words, numbers and what looks like an identifier are taken as they are. So is a
query with the syntax "plain".
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence, Set as AbstractSet
from typing import NamedTuple

import numpy as np

from semsearch.arrays.types import Float32, Int32
from semsearch.lexical.bm25 import TermLookup, WordSearch
from semsearch.lexical.spelling import Edit
from semsearch.results.origin import Correction
from semsearch.text.languages import ENGLISH, RULES, stop_words
from semsearch.text.terms import LONGEST, hashes_of, lowered, spelled, stems, without_prefixes
from semsearch.text.tokens import words
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
_MOST_COMPARED = 8  # words that are compared with the query's other words, and how many of those
_MOST_ROWS = 4096  # that are counted; of more, every so many
_MU = 2.0  # passages: so many have the other words as often as any

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
    held: AbstractSet[str] = frozenset(),
) -> tuple[str, tuple[Correction, ...]]:
    """The query as it is searched for, and what was corrected in it.

    `phrases` that it quotes stay, as do `held` words, which passages have.
    """
    query = unicodedata.normalize("NFC", typed)
    idle = frozenset[str]().union(*map(stop_words, lexical.languages))
    query_words = _words_of(query, phrases, lexical.languages)
    if len(query_words) > _MOST_WORDS or all(word.text in held or _stays(word.text, idle) for word in query_words):
        return typed, ()
    corrector = _Corrector(lexical, vectors, idle)
    is_unknown = corrector.take([word.text for word in query_words])
    parts, corrections, done = list[str](), list[Correction](), 0
    for at, word in enumerate(query_words):
        if word.start < done or len(corrections) == _MOST_CORRECTED or not any(is_unknown[at : at + 2]):
            continue
        end, instead, is_mistake = word.end, None, True
        following = query_words[at + 1] if at + 1 < len(query_words) else word
        if " " in query[word.start : following.end] and corrector.has(word.text + following.text):
            end, instead = following.end, word.text + following.text
        elif is_unknown[at]:
            instead = corrector.instead_of(word.text)
            is_mistake = instead is not None and not corrector.is_form(word.text, instead)
        if instead is not None:
            parts += [query[done : word.start], instead]
            corrections += [Correction(query[word.start : end], instead)] if is_mistake else []
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


def _stays(word: str, idle: AbstractSet[str]) -> bool:
    """Whether a word is never corrected: it is short, long or a stop word."""
    return not SHORTEST <= len(word) <= LONGEST or word in idle


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
    """Finds words instead of others, of which the `idle` ones are no context."""

    def __init__(self, lexical: WordSearch, vectors: Callable[[], WordVectors], idle: AbstractSet[str]) -> None:
        self._lexical, self._vectors, self._idle = lexical, vectors, idle
        self._context: list[Rows] = []  # of the other words
        self._tables: dict[str, LanguageTable] = {}  # of languages besides English, where the index is in some
        if [*lexical.languages] != [ENGLISH]:
            english = english_of(vectors())
            tables = {code: language_table(code, english) for code in lexical.languages}
            self._tables = {code: table for code, table in tables.items() if table is not None}

    def take(self, words: Sequence[str]) -> list[bool]:
        """Take the words of a query: which no passage has, nor the word vectors know well. Others are the context."""
        may_be = [word for word in words if not _stays(word, self._idle)]
        strange = {word for word, p in zip(may_be, self._frequencies(may_be), strict=True) if p < _KNOWN}
        rows_of_words = _rows_of(self._lexical, words) if strange else [[]] * len(words)
        telling = [
            rows
            for word, by_language in zip(words, rows_of_words, strict=True)
            if word not in self._idle
            for rows in by_language
        ]
        self._context = sorted(telling, key=_count)[:_MOST_COMPARED]
        return [not rows and word in strange for word, rows in zip(words, rows_of_words, strict=True)]

    def has(self, word: str) -> bool:
        """Whether passages have a word."""
        return len(word) <= LONGEST and bool(_rows_of(self._lexical, [word])[0])

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

    def instead_of(self, word: str) -> str | None:
        """The likeliest word, or two words, for one that no passage has; None if there is none."""
        similar = self._similar(word, 1)
        if not similar and (divided := self._divided(word)) is not None:
            return divided
        if not similar and len(word) >= _LONG:
            similar = self._similar(word, 2)
        return self._likeliest(similar) if similar else None

    def _similar(self, word: str, edits: int) -> dict[str, tuple[float, Rows]]:
        """The words of passages that edits make of a word: the logarithm of their likelihood, and their rows."""
        similar = self._lexical.similar_words(word, edits)
        rows_of = _rows_by_term(self._lexical.find(np.array([term for _, term in similar], dtype=np.uint64)))
        return {
            other.word: (
                math.log(_count(rows_of[term])) + _LIKELIHOOD[other.edit] + _FIRST_LETTER * other.is_first,
                rows_of[term],
            )
            for other, term in similar
            if term in rows_of and not (edits > 1 and other.is_first)
        }

    def _likeliest(self, similar: dict[str, tuple[float, Rows]]) -> str:
        """The word that is likeliest together with the others, which becomes one of them."""
        best = sorted(similar, key=lambda word: (-similar[word][0], word))[:_MOST_COMPARED]
        if len(best) > 1 and self._context:
            best.sort(key=lambda word: -similar[word][0] - self._fit(similar[word][1]))
        self._context.append(similar[best[0]][1])
        return best[0]

    def _fit(self, rows: Rows) -> float:
        """Σ_o log((n_wo + μ n_o / N) / (n_w + μ)) over the other words o."""
        size, share = _count(rows), _MU / max(self._lexical.passages, 1)
        return sum(math.log((_shared(rows, other) + share * _count(other)) / (size + _MU)) for other in self._context)

    def _divided(self, word: str) -> str | None:
        """The two words that were written together: of all such, those that most passages have together."""
        halves = [(word[:at], word[at:]) for at in range(_PART, len(word) - _PART + 1)]
        rows = _rows_of(self._lexical, [half for pair in halves for half in pair])
        together = [
            (max(_shared(one, two) for one in firsts for two in seconds), f"{first} {second}")
            for (first, second), firsts, seconds in zip(halves, rows[::2], rows[1::2], strict=True)
            if firsts and seconds and not (self._tables and (self._frequencies([first, second]) < _KNOWN).any())
        ]
        most, divided = max(together, default=(0.0, ""))
        return divided if most else None

    def _frequencies(self, words: Sequence[str]) -> Float32:
        """p(w) of words in general text of the language that has each most, 0 if no word vectors have it. (n,)"""
        p = _frequencies_in(self._vectors(), words)
        for language, table in self._tables.items():
            p = np.maximum(p, _frequencies_in(table, [spelled(word, language) for word in words]))
        return p


def _frequencies_in(vectors: WordVectors | LanguageTable, words: Sequence[str]) -> Float32:
    ids = vectors.lookup(hashes_of(words))
    return np.where(ids < 0, np.float32(0), vectors.frequencies[np.maximum(ids, 0)])


def _rows_of(lexical: WordSearch, words: Sequence[str]) -> list[list[Rows]]:
    """The rows of the passages that have each word, for each language in which some have it."""
    terms = [hashes_of(stems(words, language)).tolist() for language in lexical.languages]
    rows = _rows_by_term(lexical.find(np.array(terms, dtype=np.uint64).ravel()))
    return [[rows[term] for term in dict.fromkeys(forms) if term in rows] for forms in zip(*terms, strict=True)]


def _rows_by_term(lookup: TermLookup) -> dict[int, Rows]:
    """The rows of each term that passages have."""
    postings = zip(lookup.terms.tolist(), lookup.idf.tolist(), lookup.lists, strict=True)
    return {term: [rows for rows, _ in lists] for term, idf, lists in postings if idf}


def _count(rows: Rows) -> int:
    return sum(map(len, rows))


def _shared(one: Rows, two: Rows) -> float:
    """The number of rows that two words have both; estimated where both have many."""
    shared = 0.0
    for short, long in (sorted(pair, key=len) for pair in zip(one, two, strict=True)):
        if len(short):
            step = -(-len(short) // _MOST_ROWS)
            wanted = short[::step]
            shared += step * np.count_nonzero(long.take(long.searchsorted(wanted), mode="clip") == wanted)
    return shared
