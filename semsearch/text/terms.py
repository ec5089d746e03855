"""Terms of the lexical index: stems of words and pairs of words, numbered by a lexicon; and the terms of a query.

A stem (Snowball's, of the text's language) makes "index", "indexes" and "indexing" one term. Words with a single
joining character between them (utf-8, read_bytes, 3.11; not std::vec, which has two) also count as one more term, so
that a name that is queried as it is written beats its parts. Where characters are words (Chinese), two that stand
together are one more term; where words are not separated (Thai), terms are sequences of letters. A term is identified
by a 64-bit hash, the same in all languages.

A lexicon numbers the terms of texts, and stems every word once. A query has the terms that it would have in any
language of the index, without its stop words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
import Stemmer

from semsearch.arrays.hash_table import HashIndex, Numbering
from semsearch.arrays.types import Bool, Int32, Int64, UInt64
from semsearch.text.languages import ENGLISH, RULES, SEQUENCE, STOP_WORDS, stop_words
from semsearch.text.tokens import (
    HashedWords,
    WordChunk,
    hash_chunks,
    hash_spans,
    hashes_of,
    mix,
    normalise,
    words,
)

_NOT_DECOMPOSED = str.maketrans("ıł", "il")  # Unicode has them as letters of their own; people type them without


def stems(words: Sequence[str], language: str) -> list[str]:
    """The stem of each word of a text in a language. Words are lower-case and composed. (n) -> (n)"""
    if language == ENGLISH:
        return _snowball("english", [plain(word) for word in words])
    rules = RULES[language]
    result = list(words) if rules.stemmer is None else _snowball(rules.stemmer, words)
    if rules.folds:
        result = [_folded(word, rules.letters) for word in result]
    if not rules.is_latin:
        latin = [number for number, word in enumerate(words) if word.isascii()]
        for number, stem in zip(latin, _snowball("english", [words[number] for number in latin]), strict=True):
            result[number] = stem
    return result


def as_english(language: str, languages: Sequence[str]) -> bool:
    """Whether words in letters of ASCII have the same terms in a language as in English, another of these languages."""
    rules = RULES[language]
    return language != ENGLISH and ENGLISH in languages and not (rules.is_latin or rules.sequences)


def lowered(text: str, language: str) -> str:
    """A text whose letters the tokeniser will lower as the language does: in Turkish, I is the capital of ı."""
    return text.replace("İ", "i").replace("I", "ı") if language == "tr" else text


# also the line that lengthens letters
_VOWEL_SIGNS = re.compile("[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]")
_VARIANTS: dict[str, tuple[tuple[str, str], ...]] = {
    "de": (("ß", "ss"), ("ẞ", "ss")),
    "el": (("ς", "σ"),),
    "fa": (("ك", "ک"), ("ي", "ی")),
    "ro": (("ş", "ș"), ("ţ", "ț"), ("Ş", "ș"), ("Ţ", "ț")),
}


def spelled(text: str, language: str) -> str:
    """A text as tables of word vectors spell words, which have but one of the forms of a letter, and no vowel signs."""
    text = lowered(text, language)
    if language in ("ar", "fa", "he"):
        text = _VOWEL_SIGNS.sub("", text)
    elif language == "el":
        text = text.lower()  # the last letter of ΛΌΓΟΣ becomes ς
    for variant, letter in _VARIANTS.get(language, ()):
        text = text.replace(variant, letter)
    return text


_PREFIXES = {  # conjunctions, prepositions and articles that are written as one with the word
    "ar": re.compile("[وف]?(?:[بك]?ال|لل|[بكلس])?(?=...)"),
    "he": re.compile("ו?(?:כש|[שבלמכ])?ה?(?=...)"),
}


def without_prefixes(word: str, languages: Iterable[str]) -> str:
    """A word without the short words that Arabic and Hebrew write as one with the next."""
    for language in languages:
        if language in _PREFIXES and (match := _PREFIXES[language].match(word)):
            return word[match.end() :]
    return word


def plain(word: str) -> str:
    """A word without accents, for people leave them out."""
    if word.isascii():
        return word
    decomposed = "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))
    bare = normalise(decomposed).replace(" ", "")
    return bare if words(bare) == [bare] else word  # half-width katakana would become several words


def _folded(word: str, letters: str) -> str:
    """A word without the accents of its letters, but for letters that are no others with an accent."""
    return word if word.isascii() else word.translate(_folding(letters))


class _Folding(dict[int, str]):
    """The replacement of each character in a folded word, computed when it first occurs."""

    def __init__(self, letters: str) -> None:
        super().__init__({ord(letter): letter for letter in letters})

    def __missing__(self, code: int) -> str:
        decomposed = unicodedata.normalize("NFKD", chr(code))
        bare = "".join(part for part in decomposed if not unicodedata.combining(part)).translate(_NOT_DECOMPOSED)
        self[code] = bare
        return bare


_folding = lru_cache(_Folding)


def _snowball(name: str, words: Sequence[str]) -> list[str]:
    stemmer = Stemmer.Stemmer(name, 0)  # no cache of its own: here no word comes twice
    return [str(stem) for stem in stemmer.stemWords(list(words))]


# -- What is searched besides a text's own words -----------------------------------------------------------------------

CODE = frozenset(("code", "python"))  # formats whose identifiers are searched by their parts, too
_IDENTIFIER = re.compile(r"[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*")
_PART = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]+")
_IN_GROUPS = re.compile(r"\b[A-Z]{2}\d\d(?: [A-Z\d]{4}){2,7}(?: [A-Z\d]{1,3})?\b")  # the number of an account: an IBAN
_MAY_BE_GROUPS = re.compile(r"[A-Z]\d\d [A-Z\d]{4} ")


def with_parts(text: str, format: str) -> str:
    """A text, and then what is also searched for it: numbers as one word, and of source code the parts of identifiers.

    The tokeniser divides others: `getHTTPResponse` has the parts get, HTTP and Response, as `get_http_response` has.
    """
    text = with_whole_numbers(text)
    if format not in CODE:
        return text
    parts = [part for identifier in _IDENTIFIER.findall(text) for part in _PART.findall(identifier) if len(part) > 1]
    return f"{text} {' '.join(parts)}" if parts else text


def with_whole_numbers(text: str) -> str:
    """A text, and then each IBAN that it has in groups as one word: "DE89 3704 0044 …" is searched as DE8937040044…."""
    if not _MAY_BE_GROUPS.search(text):
        return text
    return " ".join([text, *(number.replace(" ", "") for number in _IN_GROUPS.findall(text))])


# -- Term hashes -------------------------------------------------------------------------------------------------------


_JOINERS = np.zeros(256, dtype=np.bool_)
_JOINERS[list(b"-_./:+@#'&")] = True
_PAIR = np.uint64(0xD6E8FEB86659FD93)  # any odd number: makes the pair (a, b) another term than (b, a)


def word_chunks(texts: Sequence[str], language: str) -> Iterable[WordChunk]:
    """The words of texts in a language."""
    if language == ENGLISH:
        return hash_chunks(texts)
    return hash_chunks(texts, marks=True, spell=partial(lowered, language=language) if language == "tr" else None)


def sequences(texts: Sequence[str], language: str) -> HashedWords:
    """The terms of texts whose words are not parted: all sequences of a few letters, in order."""
    parts = cut(texts, language)
    ends = np.cumsum([0, *map(len, parts)])
    return HashedWords(hashes_of([part for of_one in parts for part in of_one]), ends)


def cut(texts: Sequence[str], language: str) -> list[list[str]]:
    """Cut each text into words and these into sequences of `SEQUENCE` letters; words in Latin letters, into stems."""
    cut: list[list[str]] = []
    for chunk in word_chunks(texts, language):
        stems_left = iter(stems(chunk.words(np.arange(len(chunk.hashes))), language))
        for count in chunk.counts.tolist():
            cut.append([part for word in islice(stems_left, count) for part in _letters(word)])
    return cut


def _letters(word: str) -> list[str]:
    """The sequences of letters of a word; the whole word if it is short, or in Latin letters."""
    if word.isascii():
        return [word]
    return [word[first : first + SEQUENCE] for first in range(max(len(word) - SEQUENCE, 0) + 1)]


def pairs(chunk: WordChunk, positions: Int64) -> UInt64:
    """The terms of the words at the given positions, each joined with the next word."""
    return pair_terms(chunk.hashes[positions], chunk.hashes[positions + 1])


def pair_terms(first: UInt64, second: UInt64) -> UInt64:
    """The terms of words joined with other words, by the hashes of both. (n,), (n,) -> (n,)"""
    if not len(first):
        return first
    return mix(first * _PAIR + second)


def joined_words(chunk: WordChunk, language: str) -> Int64:
    """The positions of words that count as one more term with the next word."""
    if not RULES[language].pairs:
        return written_together(chunk)
    return np.union1d(written_together(chunk), _side_by_side(chunk))


def _side_by_side(chunk: WordChunk) -> Int64:
    """The positions of Chinese, Japanese and Korean characters that stand directly before another one.

    The tokeniser has put a space on either side of each, and a separator between two of them is one more.
    """
    if not len(chunk.starts):
        return chunk.starts
    first = chunk.data[chunk.starts]
    sizes = chunk.ends - chunk.starts
    alone = ((sizes == 3) & (first > 0xE0)) | ((sizes == 4) & (first >= 0xF0))  # the bytes of one such character
    gaps = chunk.starts[1:] - chunk.ends[:-1]
    return np.flatnonzero(alone[:-1] & alone[1:] & (gaps == 2))


def written_together(chunk: WordChunk) -> Int64:
    """The positions of words that a single joining character, which never ends a text, connects with the next word."""
    ends = chunk.ends[:-1]
    return np.flatnonzero((chunk.starts[1:] - ends == 1) & _JOINERS[chunk.data[ends]])


# -- Lexicon -----------------------------------------------------------------------------------------------------------


class Terms(NamedTuple):
    """The terms of n texts: their numbers (t,), the index of each one's text (t,), and each text's word count (n,)."""

    numbers: Int32
    texts: Int64
    lengths: Int64

    def and_then(self, following: Terms) -> Terms:
        """These terms, and then those of more texts."""
        return Terms(
            np.concatenate((self.numbers, following.numbers)),
            np.concatenate((self.texts, following.texts + len(self.lengths))),
            np.concatenate((self.lengths, following.lengths)),
        )


SHORTEST, LONGEST = 3, 32  # letters of the words that corrections come from
_AT_ONCE = 8192  # words that are hashed at once


class Spellings:
    """Words of letters as they are spelled, each with the number of its term: what a misspelt word is corrected to."""

    def __init__(self) -> None:
        self._seen = HashIndex()
        self._letters = bytearray()
        self._ends: list[Int64] = [np.zeros(1, dtype=np.int64)]
        self._numbers: list[Int32] = [np.zeros(0, dtype=np.int32)]

    def add(self, spelled: Sequence[bytes], numbers: Int32) -> None:
        """Add words, in UTF-8, with their terms' numbers (n,). Those that are there are passed over."""
        for first in range(0, len(spelled), _AT_ONCE):
            part, part_numbers = spelled[first : first + _AT_ONCE], numbers[first : first + _AT_ONCE]
            ends = np.cumsum([0, *map(len, part)])
            keys = hash_spans(np.frombuffer(b"".join(part), dtype=np.uint8), ends[:-1], ends[1:])
            keys = mix(keys + part_numbers.astype(np.uint64) * _PAIR)
            firsts = np.unique(keys, return_index=True)[1]  # two languages may have the same word and term
            new = np.sort(firsts[self._seen.look_up(keys[firsts]) < 0])
            self._seen.insert(keys[new], np.zeros(len(new), dtype=np.int32))
            self._ends.append(len(self._letters) + np.cumsum(np.diff(ends)[new]))
            self._letters += b"".join(map(part.__getitem__, new.tolist()))
            self._numbers.append(part_numbers[new])

    def add_words(self, words: Sequence[str], numbers: Int32) -> None:
        """Add words of texts with their terms' numbers (n,), unless they are short or have digits."""
        chosen = [
            index
            for index, word in enumerate(words)
            if SHORTEST <= len(word) <= LONGEST
            and (word.isalpha() or not (word.isascii() or any(map(str.isnumeric, word))))
        ]
        self.add([words[index].encode() for index in chosen], numbers[chosen])

    def of(self, is_wanted: Bool) -> tuple[list[bytes], Int32]:
        """The words of wanted terms, and the numbers of these. (terms,) -> n words, (n,)"""
        numbers, ends = np.concatenate(self._numbers), np.concatenate(self._ends)
        chosen = np.flatnonzero(is_wanted[numbers])
        letters, spans = bytes(self._letters), zip(ends[chosen].tolist(), ends[chosen + 1].tolist(), strict=True)
        self._numbers, self._ends = [numbers], [ends]
        return [letters[start:end] for start, end in spans], numbers[chosen]


class Lexicon:
    """Numbers terms from 0 on, and remembers the stem of every word it has seen.

    For postings, it also remembers how words are spelled; `keeps_spellings` is False for all else.
    """

    def __init__(self, *, keeps_spellings: bool = True) -> None:
        self.spellings = Spellings()
        self._keeps_spellings = keeps_spellings
        self._words = defaultdict[str, HashIndex](HashIndex)  # by language: a word's hash to its stem's number
        self.numbering = Numbering()  # of terms

    @property
    def terms(self) -> UInt64:
        """All terms, in the order of their numbers. (t,)"""
        return self.numbering.in_order

    def of(self, texts: Sequence[str]) -> Terms:
        """The terms of each text, repetitions included."""
        return self.of_chunks(hash_chunks(texts))

    def of_chunks(self, chunks: Iterable[WordChunk], language: str = ENGLISH) -> Terms:
        """Like `of`, but for texts whose words have been found already."""
        numbers: list[Int32] = [np.zeros(0, dtype=np.int32)]
        texts: list[Int64] = [np.zeros(0, dtype=np.int64)]
        lengths: list[Int64] = [np.zeros(0, dtype=np.int64)]
        done = 0
        for chunk in chunks:
            owners = np.repeat(np.arange(done, done + len(chunk.counts)), chunk.counts)
            together = joined_words(chunk, language)
            numbers += [self.stem_numbers(chunk, language), self.numbering.of(pairs(chunk, together))]
            texts += [owners, owners[together]]
            lengths.append(chunk.counts)
            done += len(chunk.counts)
        return Terms(np.concatenate(numbers), np.concatenate(texts), np.concatenate(lengths))

    def in_language(self, texts: Sequence[str], language: str) -> Terms:
        """The terms of each text of a language, repetitions included."""
        if not RULES[language].sequences:
            return self.of_chunks(word_chunks(texts, language), language)
        terms = self.in_order(texts, language)
        numbers, owners = [self.numbering.of(terms.hashes)], [np.repeat(np.arange(len(texts)), np.diff(terms.indptr))]
        done = 0
        for chunk in word_chunks(texts, language):
            of_word = np.repeat(np.arange(done, done + len(chunk.counts)), chunk.counts)
            joined = joined_words(chunk, language)
            numbers.append(self.numbering.of(pairs(chunk, joined)))
            owners.append(of_word[joined])
            done += len(chunk.counts)
        return Terms(np.concatenate(numbers), np.concatenate(owners), np.diff(terms.indptr))

    def in_order(self, texts: Sequence[str], language: str = ENGLISH) -> HashedWords:
        """The terms of the words of each text, in their order; none for joined words."""
        if language != ENGLISH and RULES[language].sequences:
            return sequences(texts, language)
        numbers, counts = [np.zeros(0, dtype=np.int32)], [np.zeros(1, dtype=np.int64)]
        for chunk in word_chunks(texts, language):
            numbers.append(self.stem_numbers(chunk, language))
            counts.append(chunk.counts)
        return HashedWords(self.terms[np.concatenate(numbers)], np.cumsum(np.concatenate(counts)))

    def stem_numbers(self, chunk: WordChunk, language: str) -> Int32:
        """The number of the stem of each word of a chunk, by the rules of a language."""
        seen = self._words[language]
        numbers = seen.look_up(chunk.hashes)
        unseen = np.flatnonzero(numbers < 0)
        if len(unseen):
            new, first, which = np.unique(chunk.hashes[unseen], return_index=True, return_inverse=True)
            new_words = chunk.words(unseen[first])
            stem_numbers = self.numbering.of(hashes_of(stems(new_words, language)))
            if self._keeps_spellings:
                self.spellings.add_words(new_words, stem_numbers)
            seen.insert(new, stem_numbers)
            numbers[unseen] = stem_numbers[which.reshape(-1)]
        return numbers


# -- Question terms ----------------------------------------------------------------------------------------------------

_ONLY_ENGLISH = (ENGLISH,)


class QuestionTerms(NamedTuple):
    """The terms that a query is searched by (t,), the lower-case words that each of them stands for (t,), and the
    hashes of these, 0 for two joined words (t,)."""

    terms: UInt64
    words: list[str]
    hashes: UInt64


def question_terms(question: str, languages: Sequence[str] = _ONLY_ENGLISH) -> UInt64:
    """The terms to search for a query, repetitions included. Stop words count only if it has no other words."""
    return named_terms(question, languages).terms


def named_terms(question: str, languages: Sequence[str] = _ONLY_ENGLISH) -> QuestionTerms:
    """Like `question_terms`, with the words that the terms stand for; joined words with what joins them."""
    asked = with_whole_numbers(without_stop_words(question, languages))
    of_each = [
        _named(asked, language) for language in languages if not (asked.isascii() and as_english(language, languages))
    ]
    return of_each[0] if len(of_each) == 1 else _merged(of_each)


def content_words(question: str) -> list[str]:
    """The words of a query without stop words, unless it has no others; each once, in order."""
    return list(dict.fromkeys(words(without_stop_words(question))))


def without_stop_words(question: str, languages: Sequence[str] = _ONLY_ENGLISH) -> str:
    """A query without its stop words, or all of it if it has no others. Pieces with joined words stay whole."""
    ignored = STOP_WORDS if tuple(languages) == _ONLY_ENGLISH else _ignored_words(question, languages)
    pieces = [piece for piece in question.split() if not _is_ignored(piece, ignored)]
    return " ".join(pieces) or question


def _ignored_words(question: str, languages: Sequence[str]) -> frozenset[str]:
    """The stop words of that language of an index of which a query has the most; of two, of the one named first."""
    question_words = words(question)
    return stop_words(max(languages, key=lambda language: sum(word in stop_words(language) for word in question_words)))


def _is_ignored(piece: str, ignored: frozenset[str]) -> bool:
    """Return whether a piece of a query has only stop words, or no words."""
    if piece.isascii() and piece.isalpha():
        return piece.lower() in ignored
    return piece.lower() in ignored or all(word in ignored for word in words(piece))


def _named(question: str, language: str) -> QuestionTerms:
    """The terms of all words of a query, by the rules of one language."""
    if RULES[language].sequences:
        terms_in_order = sequences([question], language).hashes
        return QuestionTerms(terms_in_order, cut([question], language)[0], terms_in_order)
    terms, hashes = [np.zeros(0, dtype=np.uint64)], [np.zeros(0, dtype=np.uint64)]
    names: list[str] = []
    for chunk in word_chunks([question], language):  # so few words are not worth remembering
        chunk_words, joined = chunk.words(np.arange(len(chunk.hashes))), joined_words(chunk, language)
        terms += [hashes_of(stems(chunk_words, language)), pairs(chunk, joined)]
        hashes += [chunk.hashes, np.zeros(len(joined), dtype=np.uint64)]
        names += [*chunk_words, *(chunk.word(index, through=index + 1).replace("  ", "") for index in joined.tolist())]
    return QuestionTerms(np.concatenate(terms), names, np.concatenate(hashes))


def _merged(of_each: Sequence[QuestionTerms]) -> QuestionTerms:
    """The terms of a query in any of several languages, each as often as in that which has it most often."""
    merged: dict[int, list[str]] = {}
    hashes: dict[str, int] = {}
    for in_language in of_each:
        hashes.update(zip(in_language.words, in_language.hashes.tolist(), strict=True))
        names_of: dict[int, list[str]] = {}
        for term, word in zip(in_language.terms.tolist(), in_language.words, strict=True):
            names_of.setdefault(term, []).append(word)
        merged.update({term: names for term, names in names_of.items() if len(names) > len(merged.get(term, ()))})
    terms, words = [term for term, names in merged.items() for _ in names], [*chain.from_iterable(merged.values())]
    of_words = np.array([hashes[word] for word in words], dtype=np.uint64)
    return QuestionTerms(np.array(terms, dtype=np.uint64), words, of_words)
