"""Detect which language a text is in: by its script, its function words, and the bigrams that chardet counts.

A script that one language has settles it. Of the languages that share one, chardet's guess is taken if the text has
about as many function words of it as of any other language. Whatever is not clearly another language counts as English,
by whose rules all text was taken before there were others: source code, tables, names, a text of a few words.

The language of a question, of which the word vectors know more, is guessed by semsearch.word_vectors.guess_language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from semsearch.text.languages import ENGLISH, RULES, STOP_WORDS, stop_words

SAMPLE = 1000  # characters of a document, which are looked at
_ENGLISH_WORDS = frozenset(
    "the of and to in is that for with as are on by this be it from an or which at was not".split()
)
_ENOUGH = 0.12  # of a text's words: so many of these, and it is English
_AGREED = 0.06  # of a text's words are function words of the language that chardet names; Turkish has few
_ALONE = 0.15  # of another language
_LEAD = 1.5  # times as many function words as of English
_NEAR = 0.8  # of the most function words that any language has in the text
_FEWEST = 3  # different words of one, by which it is known
_LETTERS = 0.3  # of a text's letters, in another script
_KANA = 0.05  # for each Chinese character: so many, and the text is Japanese
_GLANCE = 400  # characters
_FEW = 20  # words
_LONGER = 1.25  # times as many bytes as characters
_IN_ENGLISH = (" the ", " and ", " of ")  # a passage with one of these, in a document in English, is in English
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = {  # the first and the last letter of each range
    "el": "\u0370\u03ff\u1f00\u1fff",
    "Cyrillic": "\u0400\u052f",
    "hy": "\u0531\u0587",
    "he": "\u05d0\u05ea",
    "Arabic": "\u0620\u06d3",
    "Devanagari": "\u0904\u0939",
    "bn": "\u0985\u09b9",
    "gu": "\u0a85\u0ab9",
    "ta": "\u0b85\u0bb9",
    "te": "\u0c05\u0c39",
    "th": "\u0e01\u0e2e",
    "lo": "\u0e81\u0eae",
    "my": "\u1000\u102a",
    "ka": "\u10d0\u10ff",
    "km": "\u1780\u17b3",
    "Kana": "\u3041\u30fe",
    "Han": "\u3400\u4dbf\u4e00\u9fff",
    "ko": "\uac00\ud7a3",
}
_SHARED = {  # languages that share a script; the first is taken where nothing speaks for another
    "Latin": tuple(code for code, rules in RULES.items() if rules.is_latin),
    "Cyrillic": ("ru", "uk", "be", "bg", "mk", "sr"),
    "Arabic": ("ar", "fa", "ur"),
    "Devanagari": ("hi", "ne"),
}


def sharing_script(script: str) -> tuple[str, ...]:
    """The languages that have a script, as `script_of` names it."""
    return _SHARED.get(script, (script,))


def language_of(text: str) -> str:
    """The language of a text by its ISO 639-1 code; English if it is not clearly another one."""
    sample = text[:SAMPLE]
    script = script_of(sample)
    if script not in _SHARED:
        return script
    if script == "Latin" and _is_english(sample[:_GLANCE].lower().split()):
        return ENGLISH
    words = _WORD.findall(sample.lower())
    if script == "Latin":
        english = sum(word in _ENGLISH_WORDS for word in words)
        return ENGLISH if not words or english >= _ENOUGH * len(words) else _in_latin(sample, words, english)
    function_words = _function_words(words, script)
    return _chosen(_guess(sample), function_words) if function_words else _SHARED[script][0]


def clear_language_of(text: str, known: Iterable[str]) -> str | None:
    """The language of a short text, such as a question; None if it is not clear from script or function words.

    A text is taken to be in a `known` language that has its script, and in Latin letters about as many of its words.
    """
    sharing = _SHARED.get(script_of(text), ())
    if ENGLISH not in sharing and not set(sharing).isdisjoint(known):
        return None
    language, words = language_of(text), _WORD.findall(text.lower())
    if ENGLISH in sharing:
        stop_word_counts = {code: len(set(words) & stop_words(code)) for code in (language, *known)}
        if any(stop_word_counts[code] >= _NEAR * stop_word_counts[language] for code in known if code != language):
            return None
    english = sum(word in _ENGLISH_WORDS for word in words)
    return language if language != ENGLISH or english >= max(2, _ENOUGH * len(words)) else None


def is_clearly_english(text: str) -> bool:
    """Whether a short text, such as a question, has two stop words of English or more, and more than of any other
    language that has its script: 1153 of XQuAD's 1190 questions in English, and one of those in German."""
    if script_of(text) != "Latin":
        return False
    distinct = set(_WORD.findall(text.lower()))
    counts = [len(distinct & stop_words(code)) for code in _SHARED["Latin"] if code != ENGLISH]
    return len(distinct & STOP_WORDS) > max(1, *counts)


def _is_english(words: list[str]) -> bool:
    """Whether a glance at the first words is enough: most documents are in English, and need no more."""
    return len(words) >= _FEW and sum(word in _ENGLISH_WORDS for word in words) >= _ENOUGH * len(words)


def language_of_parts(parts: Iterable[str]) -> str:
    """The language of a document, given by its parts, of which the first few are looked at."""
    sample = ""
    for part in parts:
        sample += f"{part}\n"
        if len(sample) >= SAMPLE:
            break
    return language_of(sample)


def language_of_passage(text: str, language: str) -> str:
    """The language of a passage of a document in a language: another one if its script or its words say so.

    English if that of the document was not detected, which is then empty.
    """
    if not language:
        return ENGLISH
    if language == ENGLISH:
        if text.isascii() or any(word in text for word in _IN_ENGLISH):
            return ENGLISH  # most passages; it takes a millionth of a second
        return language_of(text)
    script = script_of(text[:SAMPLE])
    if script == "Latin" and language in _SHARED["Latin"]:
        return ENGLISH if _is_english(text[:_GLANCE].lower().split()) else language
    return language if language in _SHARED.get(script, (script,)) else language_of(text)


def script_of(text: str) -> str:
    """The script of a text: the code of the language that alone has it, or the name of a script that several share."""
    if len(text.encode("utf-8", "replace")) < _LONGER * len(text):
        return "Latin"  # letters of all others take two bytes or more
    counts = Counter[str]()
    for letter, count in Counter(text).items():
        counts[_script_of_letter(letter)] += count
    kana, han = counts.pop("Kana", 0), counts.pop("Han", 0)
    counts["ja" if kana > _KANA * han else "zh"] = kana + han
    counts.pop("", None)
    script, most = counts.most_common(1)[0]
    return script if most > _LETTERS * sum(map(str.isalpha, text)) else "Latin"


@lru_cache(maxsize=4096)
def _script_of_letter(letter: str) -> str:
    """The script that has a letter; empty for Latin letters and all else."""
    for script, ranges in _SCRIPTS.items():
        if any(first <= letter <= last for first, last in zip(ranges[::2], ranges[1::2], strict=True)):
            return script
    return ""


def _in_latin(sample: str, words: list[str], english: int) -> str:
    """The language of a text in Latin letters that has few function words of English."""
    function_words = _function_words(words, "Latin")
    if max(function_words.values(), default=0) < max(_FEWEST, _AGREED * len(words), _LEAD * english):
        return ENGLISH
    guess = _guess(sample)
    language = _chosen(guess, function_words)
    enough = max((_AGREED if language == guess else _ALONE) * len(words), _LEAD * english)
    different = sum(language in _telling("Latin").get(word, ()) for word in set(words))
    return language if function_words[language] >= enough and different >= _FEWEST else ENGLISH


def _function_words(words: list[str], script: str) -> Counter[str]:
    """How many of some words are function words of each language of a script."""
    telling = _telling(script)
    return Counter(language for word in words for language in telling.get(word, ()))


def _chosen(guess: str, function_words: Counter[str]) -> str:
    """The guessed language, unless another has many more function words in the text."""
    best = max(function_words, key=lambda language: function_words[language])
    return guess if function_words[guess] >= _NEAR * function_words[best] else best


@lru_cache(maxsize=8)
def _telling(script: str) -> dict[str, list[str]]:
    """Function words with the languages of a script that have them; no English words, nor letters of formulas."""
    languages: dict[str, list[str]] = {}
    for language in _SHARED[script]:
        for word in stop_words(language) - STOP_WORDS:
            if len(word) > 1:
                languages.setdefault(word, []).append(language)
    return languages


def _guess(sample: str) -> str:
    """The language that chardet names; empty if it names none."""
    from chardet import detect  # 30 ms to import, and English is known without it

    return str(detect(sample.encode("utf-8", "replace"))["language"] or "")
