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
from dataclasses import dataclass

import numpy as np

from semsearch.arrays.types import Float32, Int32
from semsearch.embedding.word_finder import as_multilingual
from semsearch.lexical.bm25 import TermLookup, WordSearch
from semsearch.lexical.spelling import Edit
from semsearch.results.options import Correction
from semsearch.search.query_syntax import QuerySyntax
from semsearch.text.languages import ENGLISH, RULES, stop_words
from semsearch.text.terms import LONGEST, hashes_of, lowered, pair_terms, spelled, stems, without_prefixes
from semsearch.text.tokens import words
from semsearch.word_vectors.language_table import LanguageTable
from semsearch.word_vectors.multilingual import language_table
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
    "swapped": 0.0,
    "doubled": 0.0,
    "missing": -0.5,
    "extra": -0.5,
    "other": -1.0,
    "several": -3.0,
}
_FIRST_LETTER = -2.0  # people seldom mistake it

_PIECES = re.compile(r"\S+")
_OPENING, _CLOSING = "\"'([{“„«‘¿¡", "\"'.,;:!?)]}”“»’…"
_ENDING = re.compile(r"['’][A-Za-z]{1,2}$")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a query that may be corrected: query[start:end]."""

    text: str  # in lower case
    start: int
    end: int


def correct(
    query: str,
    syntax: QuerySyntax | None,
    lexical: WordSearch,
    vectors: Callable[[], WordVectors],
    held: AbstractSet[str] = frozenset(),
    uncorrected: AbstractSet[str] = frozenset(),
) -> tuple[str, tuple[Correction, ...]]:
    """The query as it is searched for, and what was corrected in it.

    `held`: words of it that passages have; `uncorrected`: words that stay, since another index has them.
    """
    asked, query = query, unicodedata.normalize("NFC", query)
    idle = frozenset[str]().union(*map(stop_words, lexical.languages))
    found = _words_of(query, syntax, lexical.languages)
    if len(found) > _MOST_WORDS or all(word.text in held or _is_left(word.text, idle) for word in found):
        return asked, ()
    corrector = _Corrector(lexical, vectors, idle, uncorrected)
    unknown = corrector.take([word.text for word in found])
    if not any(unknown):
        return asked, ()
    corrected, made, done, position = list[str](), list[Correction](), 0, 0
    while position < len(found) and len(made) < _MOST_CORRECTED:
        taken = 1
        instead = None
        if any(unknown[position : position + 2]) and position + 1 < len(found):
            pair = found[position : position + 2]
            instead = corrector.joined(query[pair[0].start : pair[1].end], pair[0].text + pair[1].text)
            taken = 2 if instead else 1
        if instead is None and unknown[position]:
            instead = corrector.instead_of(found[position].text)
        if instead is not None:
            start, end = found[position].start, found[position + taken - 1].end
            corrected += [query[done:start], instead]
            if taken > 1 or not corrector.is_form(found[position].text, instead):
                made.append(Correction(query[start:end], instead))
            done = end
        position += taken
    return "".join([*corrected, query[done:]]) if done else asked, tuple(made)


def _words_of(query: str, syntax: QuerySyntax | None, languages: Sequence[str]) -> list[_Word]:
    """The words of a query that may be corrected: between spaces and hyphens, of letters only, in no quoted phrase."""
    quoted = {word for phrase in (syntax.must if syntax else ()) for word in words(phrase)}
    lower, chosen = lowered(query, languages[0]), list[_Word]()
    for match in _PIECES.finditer(query):
        piece = match.group()
        start = match.start() + len(piece) - len(piece.lstrip(_OPENING))
        core = _ENDING.sub("", piece.lstrip(_OPENING).rstrip(_CLOSING))
        for part in re.finditer(r"[^-‐]+", core) if _is_word(core, languages) else ():
            first, end = start + part.start(), start + part.end()
            if (text := lower[first:end].lower()) not in quoted:
                chosen.append(_Word(text, first, end))
    return chosen


def _is_left(word: str, idle: AbstractSet[str]) -> bool:
    """Whether a word is never corrected: it is short, long or a stop word."""
    return not SHORTEST <= len(word) <= LONGEST or word in idle


def _is_word(core: str, languages: Sequence[str]) -> bool:
    """Whether a piece of a query has letters only, no capital inside, and perhaps hyphens: it is no identifier."""
    parts = re.split("[-‐]", core)
    if core.isascii():
        return all(part.isalpha() and (part[1:].islower() or not part[1:]) for part in parts)
    if any(RULES[language].sequences for language in languages):
        return False
    return all(map(_has_letters_only, parts)) and not any(part[1:] != part[1:].lower() for part in parts)


def _has_letters_only(part: str) -> bool:
    """Whether a text is one word of letters, and marks on them such as vowel signs; a Chinese character is a word."""
    if not part or any(unicodedata.category(char)[0] not in "LM" for char in part):
        return False
    return len(words(part)) == 1 or any(unicodedata.category(char) in ("Mn", "Mc") for char in part)


class _Corrector:
    """Finds words instead of others, of which the `idle` ones are no context."""

    def __init__(
        self,
        lexical: WordSearch,
        vectors: Callable[[], WordVectors],
        idle: AbstractSet[str],
        uncorrected: AbstractSet[str],
    ) -> None:
        self._idle = idle
        self._lexical = lexical
        self._vectors = vectors
        self._kept = uncorrected
        self._context: list[list[Int32]] = []  # of each other word, its rows by segment
        self._tables = _tables_of(lexical.languages, vectors)

    def take(self, words: Sequence[str]) -> list[bool]:
        """Take the words of a query: which no passage has, nor the word vectors know well. Others are the context."""
        may_be = [word for word in words if word not in self._kept and not _is_left(word, self._idle)]
        frequencies = self._frequencies(may_be) if may_be else ()
        strange = {word for word, p in zip(may_be, frequencies, strict=True) if p < _KNOWN}
        if not strange:
            return [False] * len(words)
        rows = _rows_of(self._lexical, words)
        telling = (own for word, each in zip(words, rows, strict=True) if word not in self._idle for own in each)
        self._context = sorted(telling, key=_count)[:_MOST_COMPARED]
        return [not own and word in strange for word, own in zip(words, rows, strict=True)]

    def joined(self, asked: str, word: str) -> str | None:
        """The word that two words are, written together, if passages have it."""
        return word if " " in asked and len(word) <= LONGEST and _rows_of(self._lexical, [word])[0] else None

    def is_form(self, word: str, other: str) -> bool:
        """Whether a word is another form of one that passages have, as far as their endings tell: it is no mistake.

        English stems tell that already.
        """
        if not self._tables:
            return False
        word, other = (without_prefixes(each, self._tables) for each in (word, other))
        longest = max(len(word), len(other))
        alike = next(
            (at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other))
        )
        most = longest // 2 if not _LONG_ENDINGS.isdisjoint(self._tables) else min(_ENDING_LETTERS, longest // 3)
        return word == other or (alike >= SHORTEST and longest - alike <= most)

    def instead_of(self, word: str) -> str | None:
        """The likeliest word, or two words, for one that no passage has; None if there is none."""
        if (hyphenated := self._hyphenated(word)) is not None:
            return hyphenated
        if self._is_compound(word):
            return self._divided(word)
        found = self._similar(word, 1)
        if not found:
            divided = self._divided(word)
            if divided is not None or len(word) < _LONG:
                return divided
            found = self._similar(word, 2)
        return self._likeliest(found)

    def _similar(self, word: str, edits: int) -> dict[str, tuple[float, list[Int32]]]:
        """The words of passages that edits make of a word: the logarithm of their likelihood, and their rows."""
        found: dict[str, tuple[float, list[Int32]]] = {}
        similar = self._lexical.similar_words(word, edits)
        lookup = self._lexical.find(np.array([term for _, term in similar], dtype=np.uint64))
        rows_of = _rows_by_term(lookup)
        for each, term in similar:
            rows = rows_of.get(term)
            if rows is not None and not (edits > 1 and each.is_first):
                likelihood = _LIKELIHOOD[each.edit] + _FIRST_LETTER * each.is_first
                found[each.word] = math.log(_count(rows)) + likelihood, rows
        return found

    def _likeliest(self, found: dict[str, tuple[float, list[Int32]]]) -> str | None:
        """The word that is likeliest together with the others, which becomes one of them; None of none."""
        if not found:
            return None
        best = sorted(found, key=lambda word: (-found[word][0], word))[:_MOST_COMPARED]
        if len(best) > 1 and self._context:
            best.sort(key=lambda word: -found[word][0] - self._fit(found[word][1]))
        self._context.append(found[best[0]][1])
        return best[0]

    def _fit(self, rows: list[Int32]) -> float:
        """Σ_o log((n_wo + μ n_o / N) / (n_w + μ)) over the other words o."""
        size = _count(rows)
        share = _MU / max(self._lexical.passages, 1)
        return sum(math.log((_shared(rows, other) + share * _count(other)) / (size + _MU)) for other in self._context)

    def _hyphenated(self, word: str) -> str | None:
        """The word with a hyphen, as passages have it: "co-citation"; None if none has."""
        places = range(1, len(word))
        own = hashes_of([part for place in places for part in (word[:place], word[place:])])
        terms = pair_terms(own[::2], own[1::2])
        rows = _rows_by_term(self._lexical.find(terms))
        pairs = zip(places, terms.tolist(), strict=True)
        _, place = max([(_count(rows[term]), place) for place, term in pairs if term in rows], default=(0, 0))
        return f"{word[:place]}-{word[place:]}" if place else None

    def _divided(self, word: str) -> str | None:
        """The two words that were written together: of all such, those that most passages have together."""
        parts = [(word[:place], word[place:]) for place in range(_PART, len(word) - _PART + 1)]
        rows = _rows_of(self._lexical, [part for both in parts for part in both])
        found = [
            (max(_shared(one, two) for one in own for two in other), f"{first} {second}")
            for (first, second), own, other in zip(parts, rows[::2], rows[1::2], strict=True)
            if own and other and not (self._tables and (self._frequencies([first, second]) < _KNOWN).any())
        ]
        most, divided = max(found, default=(0.0, ""))
        return divided if most else None

    def _frequencies(self, words: Sequence[str]) -> Float32:
        """p(w) of words in general text of the language that has each most, 0 if no word vectors have it. (n,)"""
        found = _frequencies_in(self._vectors(), words)
        for language, table in self._tables.items():
            found = np.maximum(found, _frequencies_in(table, [spelled(word, language) for word in words]))
        return found

    def _is_compound(self, word: str) -> bool:
        """Whether a word is made of two that the word vectors of a language know."""
        for language, table in self._tables.items():
            whole = spelled(word, language)
            places = range(SHORTEST, len(whole) - SHORTEST + 1)
            known = table.lookup(hashes_of([part for at in places for part in (whole[:at], whole[at:])])) >= 0
            if (known[::2] & known[1::2]).any():
                return True
        return False


def _tables_of(languages: Sequence[str], vectors: Callable[[], WordVectors]) -> dict[str, LanguageTable]:
    """The word vectors of languages besides English, where these belong to the index's."""
    if [*languages] == [ENGLISH]:
        return {}
    opened = vectors()
    several = as_multilingual(opened)
    tables = {code: language_table(code, opened if several is None else several.english) for code in languages}
    return {code: table for code, table in tables.items() if table is not None}


def _frequencies_in(vectors: WordVectors | LanguageTable, words: Sequence[str]) -> Float32:
    ids = vectors.lookup(hashes_of(words))
    return np.where(ids < 0, np.float32(0), vectors.frequencies[np.maximum(ids, 0)])


def _rows_of(lexical: WordSearch, words: Sequence[str]) -> list[list[list[Int32]]]:
    """The rows of the passages that have each word, by segment, for each language in which some have it."""
    terms = [hashes_of(stems(words, language)).tolist() for language in lexical.languages]
    rows = _rows_by_term(lexical.find(np.array(terms, dtype=np.uint64).ravel()))
    return [[rows[term] for term in dict.fromkeys(own) if term in rows] for own in zip(*terms, strict=True)]


def _rows_by_term(lookup: TermLookup) -> dict[int, list[Int32]]:
    """The rows of each term that passages have, by segment."""
    found = zip(lookup.terms.tolist(), lookup.idf.tolist(), lookup.lists, strict=True)
    return {term: [rows for rows, _ in lists] for term, idf, lists in found if idf}


def _count(rows: Sequence[Int32]) -> int:
    return sum(map(len, rows))


def _shared(one: Sequence[Int32], two: Sequence[Int32]) -> float:
    """The number of rows that two lists have both, segment by segment; estimated where both are long."""
    shared = 0.0
    for first, second in zip(one, two, strict=True):
        short, long = (first, second) if len(first) < len(second) else (second, first)
        if len(short):
            step = -(-len(short) // _MOST_ROWS)
            wanted = short[::step]
            shared += step * np.count_nonzero(long.take(long.searchsorted(wanted), mode="clip") == wanted)
    return shared


# -- Words that another index has --------------------------------------------------------------------------------------


def held_words(lexical: WordSearch, words: frozenset[str]) -> set[str]:
    """Those of some words that passages have."""
    chosen = sorted(words)
    return {word for word, rows in zip(chosen, _rows_of(lexical, chosen), strict=True) if rows}
