"""Words to stems, by the rules of a language. Two words of one stem are one term of the lexical index."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import Stemmer

from semsearch.text.languages.rules import ENGLISH, RULES
from semsearch.text.tokens import normalise, words

_NOT_DECOMPOSED = str.maketrans("ıł", "il")  # Unicode has them as letters of their own; people type them without


def stems(found: Sequence[str], language: str) -> list[str]:
    """The stem of each word of a text in a language. Words are lower-case and composed. (n) -> (n)"""
    if language == ENGLISH:
        return _snowball("english", [plain(word) for word in found])
    rules = RULES[language]
    result = list(found) if rules.stemmer is None else _snowball(rules.stemmer, found)
    if rules.folds:
        result = [_folded(word, rules.letters) for word in result]
    if not rules.is_latin:
        for position in [number for number, word in enumerate(found) if word.isascii()]:
            result[position] = _snowball("english", [found[position]])[0]
    return result


def lowered(text: str, language: str) -> str:
    """A text whose letters the tokeniser will lower as the language does: in Turkish, I is the capital of ı."""
    return text.replace("İ", "i").replace("I", "ı") if language == "tr" else text


def plain(word: str) -> str:
    """A word without accents, for people leave them out."""
    if word.isascii():
        return word
    decomposed = "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))
    bare = normalise(decomposed).replace(" ", "")
    return bare if words(bare) == [bare] else word  # half-width katakana would become several words


def _folded(word: str, letters: str) -> str:
    """A word without the accents of its letters, but for letters that are no others with an accent."""
    if word.isascii():
        return word
    return "".join(char if char.isascii() or char in letters else _bare(char) for char in word)


def _bare(char: str) -> str:
    decomposed = unicodedata.normalize("NFKD", char)
    return "".join(part for part in decomposed if not unicodedata.combining(part)).translate(_NOT_DECOMPOSED)


def _snowball(name: str, found: Sequence[str]) -> list[str]:
    stemmer = Stemmer.Stemmer(name, 0)  # no cache of its own: here no word comes twice
    return [str(stem) for stem in stemmer.stemWords(list(found))]
