"""Stop words by language: the short ones of stopwords-iso.

Its lists were gathered for classifying texts, and have words of which one may well ask: world, year, good. Nearly all
words of up to four letters in them are articles, pronouns, prepositions and question words; without the longer ones
questions are answered better than with all or none (docs/research/measurements.md).
"""

from __future__ import annotations

from functools import lru_cache

from semsearch.text.languages.english_stop_words import STOP_WORDS
from semsearch.text.languages.rules import ENGLISH

LONGEST = 4  # letters


@lru_cache(maxsize=64)
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language, by its code; none of one that has no list."""
    if language == ENGLISH:
        return STOP_WORDS
    from stopwordsiso import has_lang, stopwords  # start-up time: indexes in English need no others

    found = stopwords(language) if has_lang(language) else ()
    return frozenset(word for word in found if len(word) <= LONGEST)
