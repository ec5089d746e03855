"""Languages: the stemmer, the letters, the name and the stop words of each, and which one a text is in.

Stemmers are Snowball's (Porter 1980, and many others since). An accent is taken off after stemming, for stemmers go by
it, and only where a word stays the same word without it: the ñ of año and the ı of Turkish are letters of their own.
Languages without spaces between words are searched by sequences of characters: pairs in Chinese, Japanese and Korean
(Nie et al. 2000), whose characters also count singly; longer ones in scripts that have fewer letters.

A query is searched without its stop words, unless it has no other words. Those of other languages than English are the
short ones of stopwords-iso. Its lists were gathered for classifying texts, and have words of which one may well ask:
world, year, good. Nearly all words of up to four letters in them are articles, pronouns, prepositions and question
words; without the longer ones questions are answered better than with all or none (docs/research/measurements.md).

The language of a text is known by its script, its function words, and the bigrams that chardet counts. A script that
one language has settles it. Of the languages that share one, chardet's guess is taken if the text has about as many
function words of it as of any other language. Whatever is not clearly another language counts as English, by whose
rules all text was taken before there were others: source code, tables, names, a text of a few words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

ENGLISH = "en"
SEQUENCE = 3  # letters, with their marks, of Thai and its like; see docs/research/measurements.md


@dataclass(frozen=True, slots=True)
class LanguageRules:
    """The rules of one language."""

    stemmer: str | None = None  # as Snowball calls it; None: words stay as they are
    letters: str = ""  # that keep their accents
    is_latin: bool = True  # if not, words in Latin letters are taken for English
    folds: bool = True  # whether accents are taken off at all
    pairs: bool = False  # of characters that are words by themselves
    sequences: bool = False  # of letters, for words are not parted


def _other(stemmer: str | None = None, letters: str = "") -> LanguageRules:
    """The rules of a language that is not written in Latin letters."""
    return LanguageRules(stemmer, letters, is_latin=False)


_CHARACTERS = LanguageRules(is_latin=False, folds=False, pairs=True)
_UNPARTED = LanguageRules(is_latin=False, folds=False, sequences=True)

RULES: dict[str, LanguageRules] = {
    "ar": _other("arabic"),
    "be": _other(None, "йў"),
    "bg": _other(None, "й"),
    "bn": LanguageRules(is_latin=False, folds=False),
    "ca": LanguageRules("catalan", "ç"),
    "cs": LanguageRules("czech"),
    "da": LanguageRules("danish", "åæø"),
    "de": LanguageRules("german"),
    "el": _other("greek"),
    "en": LanguageRules("english"),
    "es": LanguageRules("spanish", "ñ"),
    "et": LanguageRules("estonian", "õäöü"),
    "fa": _other("persian"),
    "fi": LanguageRules("finnish", "åäö"),
    "fr": LanguageRules("french"),
    "ga": LanguageRules("irish"),
    "gu": LanguageRules(is_latin=False, folds=False),
    "he": _other(None),
    "hi": LanguageRules("hindi", is_latin=False, folds=False),
    "hr": LanguageRules(None),
    "hu": LanguageRules("hungarian", "öőüű"),
    "hy": _other("armenian"),
    "id": LanguageRules("indonesian"),
    "is": LanguageRules(None, "ðþæöåáéíóúý"),
    "it": LanguageRules("italian"),
    "ja": _CHARACTERS,
    "ka": _other(None),
    "km": _UNPARTED,
    "ko": _CHARACTERS,
    "lo": _UNPARTED,
    "lt": LanguageRules("lithuanian"),
    "lv": LanguageRules(None),
    "mk": _other(None, "ѓќ"),
    "ms": LanguageRules(None),
    "my": _UNPARTED,
    "ne": LanguageRules("nepali", is_latin=False, folds=False),
    "nl": LanguageRules("dutch"),
    "no": LanguageRules("norwegian", "åæø"),
    "pl": LanguageRules("polish"),
    "pt": LanguageRules("portuguese"),
    "ro": LanguageRules("romanian"),
    "ru": _other("russian", "й"),
    "sk": LanguageRules(None),
    "sl": LanguageRules(None),
    "sr": _other("serbian"),
    "sv": LanguageRules("swedish", "åäö"),
    "ta": LanguageRules("tamil", is_latin=False, folds=False),
    "te": LanguageRules(is_latin=False, folds=False),
    "th": _UNPARTED,
    "tr": LanguageRules("turkish", "çğöşü"),
    "uk": _other(None, "йї"),
    "ur": _other(None),
    "vi": LanguageRules(None, folds=False),
    "zh": _CHARACTERS,
}


# -- Names -------------------------------------------------------------------------------------------------------------

_NAMES = dict(
    line.split(maxsplit=1)
    for line in """
    ar Arabic
    be Belarusian
    bg Bulgarian
    bn Bengali
    ca Catalan
    cs Czech
    da Danish
    de German
    el Greek
    en English
    es Spanish
    et Estonian
    fa Persian
    fi Finnish
    fr French
    ga Irish
    gu Gujarati
    he Hebrew
    hi Hindi
    hr Croatian
    hu Hungarian
    hy Armenian
    id Indonesian
    is Icelandic
    it Italian
    ja Japanese
    ka Georgian
    km Khmer
    ko Korean
    lo Lao
    lt Lithuanian
    lv Latvian
    mk Macedonian
    ms Malay
    my Burmese
    ne Nepali
    nl Dutch
    no Norwegian
    pl Polish
    pt Portuguese
    ro Romanian
    ru Russian
    sk Slovak
    sl Slovenian
    sr Serbian
    sv Swedish
    ta Tamil
    te Telugu
    th Thai
    tr Turkish
    uk Ukrainian
    ur Urdu
    vi Vietnamese
    zh Chinese
    """.strip().splitlines()
)


def name_of(language: str) -> str:
    """The name of a language, by its code."""
    return _NAMES[language]


STOP_WORDS = frozenset(
    """
    a about above after again against all am an and any are aren as at be because been before being below between
    both but by can cannot could couldn did didn do does doesn doing don down during each few for from further had
    hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself
    just let may me more most must mustn my myself no nor not of off on once only or other ought our ours ourselves
    out over own same shan she should shouldn so some such than that the their theirs them themselves then there
    these they this those through to too under until up us very was wasn we were weren what when where which while
    who whom whose why will with won would wouldn you your yours yourself yourselves
    """.split()
)


# -- Stop words --------------------------------------------------------------------------------------------------------

LONGEST = 4  # letters


@lru_cache(maxsize=64)
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language, by its code; none of one that has no list."""
    if language == ENGLISH:
        return STOP_WORDS
    from stopwordsiso import has_lang, stopwords  # 15 ms to import, and indexes in English need none

    listed = stopwords(language) if has_lang(language) else ()
    return frozenset([word for word in listed if len(word) <= LONGEST])


# -- Detection ---------------------------------------------------------------------------------------------------------

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
_SCRIPTS = {
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "Cyrillic": "\u0400-\u052f",
    "hy": "\u0531-\u0587",
    "he": "\u05d0-\u05ea",
    "Arabic": "\u0620-\u06d3",
    "Devanagari": "\u0904-\u0939",
    "bn": "\u0985-\u09b9",
    "gu": "\u0a85-\u0ab9",
    "ta": "\u0b85-\u0bb9",
    "te": "\u0c05-\u0c39",
    "th": "\u0e01-\u0e2e",
    "lo": "\u0e81-\u0eae",
    "my": "\u1000-\u102a",
    "ka": "\u10d0-\u10ff",
    "km": "\u1780-\u17b3",
    "Kana": "\u3041-\u30fe",
    "Han": "\u3400-\u4dbf\u4e00-\u9fff",
    "ko": "\uac00-\ud7a3",
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


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """The letters of each script, compiled when a text is first not in Latin letters: it takes 3 ms."""
    return {script: re.compile(f"[{characters}]+") for script, characters in _SCRIPTS.items()}


def script_of(text: str) -> str:
    """The script of a text: the code of the language that alone has it, or the name of a script that several share."""
    if len(text.encode("utf-8", "replace")) < _LONGER * len(text):
        return "Latin"  # letters of all others take two bytes or more
    likely = _likely_script(text)
    if likely:
        return likely
    counts = {script: _count(script, text) for script in _SCRIPTS}
    kana, han = counts.pop("Kana"), counts.pop("Han")
    counts["ja" if kana > _KANA * han else "zh"] = kana + han
    most = max(counts, key=lambda script: counts[script])
    return most if counts[most] > _LETTERS * sum(map(str.isalpha, text)) else "Latin"


def _likely_script(text: str) -> str:
    """The script of the first letters outside ASCII, if most of these and many of all characters have it; else empty.

    One script is counted where `script_of` counts them all.
    """
    first = next((name for name, pattern in _patterns().items() if pattern.match(text, _first_foreign(text))), "")
    many = max(_LETTERS * len(text), (len(text) - len(text.encode("ascii", "ignore"))) / 2)
    if first not in ("Kana", "Han"):
        return first if first and _count(first, text) > many else ""
    kana, han = _count("Kana", text), _count("Han", text)
    return ("ja" if kana > _KANA * han else "zh") if kana + han > many else ""


def _count(script: str, text: str) -> int:
    return sum(map(len, _patterns()[script].findall(text)))


_FOREIGN_LETTER = re.compile(r"[^\W\d_\x00-\x7f]")


def _first_foreign(text: str) -> int:
    match = _FOREIGN_LETTER.search(text)
    return match.start() if match else len(text)


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
