"""Languages: the stemmer, the letters, the name and the stop words of each, and which one a text is in.

Stemmers are Snowball's (Porter 1980, and many others since). An accent is taken off after stemming, for stemmers go by
it, and only where a word stays the same word without it: the ñ of año and the ı of Turkish are letters of their own.
Languages without spaces between words are searched by sequences of characters: pairs in Chinese, Japanese and Korean
(Nie et al. 2000), whose characters also count singly; longer ones in scripts that have fewer letters.

A query is searched without its stop words, unless it has no other words. Those of other languages than English are the
short ones of stopwords-iso. Its lists were gathered for classifying texts, and have words of which one may well ask:
world, year, good. Nearly all words of up to four letters in them are articles, pronouns, prepositions and question
words; without the longer ones questions are answered better than with all or none (docs/research/measurements.md).

Which language a text is in is known by its script, and where several share one, by py3langid (Lui and Baldwin 2012). In
Latin letters it is asked only where a text is not clearly English, and has letters or two stop words of another
language; its answer is taken if it is likely. All else counts as English: source code, tables, names, a text of a few
words (docs/research/measurements.md, "Languages"). In Cyrillic ones it is not asked where the letters decide: its model
takes half a second and 100 MB, which a folder in English or Russian need not pay. The language of a question, of which
the word vectors know more, is guessed by semsearch.word_vectors.multilingual.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENGLISH = "en"
SEQUENCE = 3  # letters, with their marks, of Thai and its like; see docs/research/measurements.md


class LanguageRules(NamedTuple):
    """The rules of one language."""

    name: str
    stemmer: str | None = None  # as Snowball calls it; None: words stay as they are
    letters: str = ""  # letters that keep their accents
    is_latin: bool = True  # if not, words in Latin letters are taken for English
    folds: bool = True  # whether accents are taken off at all
    pairs: bool = False  # of characters that are words by themselves
    sequences: bool = False  # of letters, for words are not parted


_latin = LanguageRules
_other = partial(LanguageRules, is_latin=False)
_unfolded = partial(_other, folds=False)
_characters = partial(_unfolded, pairs=True)
_unparted = partial(_unfolded, sequences=True)

RULES: dict[str, LanguageRules] = {
    "ar": _other("Arabic", "arabic"),
    "be": _other("Belarusian", None, "йў"),
    "bg": _other("Bulgarian", None, "й"),
    "bn": _unfolded("Bengali"),
    "ca": _latin("Catalan", "catalan", "ç"),
    "cs": _latin("Czech", "czech"),
    "da": _latin("Danish", "danish", "åæø"),
    "de": _latin("German", "german"),
    "el": _other("Greek", "greek"),
    "en": _latin("English", "english"),
    "es": _latin("Spanish", "spanish", "ñ"),
    "et": _latin("Estonian", "estonian", "õäöü"),
    "fa": _other("Persian", "persian"),
    "fi": _latin("Finnish", "finnish", "åäö"),
    "fr": _latin("French", "french"),
    "ga": _latin("Irish", "irish"),
    "gu": _unfolded("Gujarati"),
    "he": _other("Hebrew"),
    "hi": _unfolded("Hindi", "hindi"),
    "hr": _latin("Croatian"),
    "hu": _latin("Hungarian", "hungarian", "öőüű"),
    "hy": _other("Armenian", "armenian"),
    "id": _latin("Indonesian", "indonesian"),
    "is": _latin("Icelandic", None, "ðþæöåáéíóúý"),
    "it": _latin("Italian", "italian"),
    "ja": _characters("Japanese"),
    "ka": _other("Georgian"),
    "km": _unparted("Khmer"),
    "ko": _characters("Korean"),
    "lo": _unparted("Lao"),
    "lt": _latin("Lithuanian", "lithuanian"),
    "lv": _latin("Latvian"),
    "mk": _other("Macedonian", None, "ѓќ"),
    "ms": _latin("Malay"),
    "my": _unparted("Burmese"),
    "ne": _unfolded("Nepali", "nepali"),
    "nl": _latin("Dutch", "dutch"),
    "no": _latin("Norwegian", "norwegian", "åæø"),
    "pl": _latin("Polish", "polish"),
    "pt": _latin("Portuguese", "portuguese"),
    "ro": _latin("Romanian", "romanian"),
    "ru": _other("Russian", "russian", "й"),
    "sk": _latin("Slovak"),
    "sl": _latin("Slovenian"),
    "sr": _other("Serbian", "serbian"),
    "sv": _latin("Swedish", "swedish", "åäö"),
    "ta": _unfolded("Tamil", "tamil"),
    "te": _unfolded("Telugu"),
    "th": _unparted("Thai"),
    "tr": _latin("Turkish", "turkish", "çğöşü"),
    "uk": _other("Ukrainian", None, "йї"),
    "ur": _other("Urdu"),
    "vi": _latin("Vietnamese", None, folds=False),
    "zh": _characters("Chinese"),
}


def name_of(language: str) -> str:
    """The name of a language, by its code."""
    return RULES[language].name


# -- Stop words --------------------------------------------------------------------------------------------------------

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
LONGEST = 4  # letters of stop words of other languages


@lru_cache(maxsize=64)
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language, by its code; none of one that has no list."""
    if language == ENGLISH:
        return STOP_WORDS
    return frozenset([word for word in _listed_stop_words(language) if len(word) <= LONGEST])


def _listed_stop_words(language: str) -> frozenset[str]:
    """The stop words of a language in stopwords-iso, long ones too."""
    return frozenset(_all_listed().get(language, ()))


@lru_cache(maxsize=1)
def _all_listed() -> dict[str, list[str]]:
    """The file of stopwordsiso. To import the package takes 15 ms more, in which it looks for its own version."""
    package = getattr(find_spec("stopwordsiso"), "origin", "")
    listed: dict[str, list[str]] = json.loads(Path(package).with_name("stopwords-iso.json").read_bytes())
    return listed


# -- Detection ---------------------------------------------------------------------------------------------------------


SAMPLE = 1000  # characters of a document, which are looked at
_ENGLISH_WORDS = frozenset(
    "the of and to in is that for with as are on by this be it from an or which at was not".split()
)
_ENOUGH = 0.12  # of a text's words: so many of these, and it is English
_FEWEST = 3  # different words of a text that may be in another language in Latin letters
_FEW_OTHER = 2  # of its words that are stop words of one other language or have a letter beyond those of English
_MORE_OTHER = 4  # such words of a passage of a document in English, which may be a list of foreign names
_BEYOND = re.compile("[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]")  # Latin letters that English has not
_RUSSIAN, _NOT_RUSSIAN = frozenset("ыэ"), frozenset("іўїє")  # letters of Russian and Belarusian, and not of Russian
_LIKELY = 0.7  # the probability from which on it is
_LETTERS = 0.3  # of a text's letters, in another script
_KANA = 0.05  # kana for each Chinese character from which a text is Japanese
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


def language_of(text: str, *, signs: int = _FEW_OTHER) -> str:
    """The language of a text by its ISO 639-1 code; English if it is not clearly another one.

    `signs`: so many words must speak for another language before it is asked which one it is.
    """
    sample = text[:SAMPLE]
    script = script_of(sample)
    if script not in _SHARED:
        return script
    if script == "Cyrillic" and not _RUSSIAN.isdisjoint(sample.lower()) and _NOT_RUSSIAN.isdisjoint(sample.lower()):
        return "ru"
    if script != "Latin":
        return _likeliest(sample, script)[0]
    if _is_english(sample[:_GLANCE].lower().split()) or _has_more_english(sample):
        return ENGLISH
    if not _may_be_another(_WORD.findall(sample), signs):
        return ENGLISH
    language, probability = _likeliest(sample, script)
    return language if probability >= _LIKELY else ENGLISH


def _has_more_english(text: str) -> bool:
    """Whether a text in Latin letters has two stop words of English or more, and more than of any other language: one
    document of 3,000 in English would load py3langid's model without this."""
    distinct = set(_WORD.findall(text.lower()))
    counts = [len(distinct & stop_words(code)) for code in _SHARED["Latin"] if code != ENGLISH]
    return len(distinct & STOP_WORDS) > max(1, *counts)


def _is_english(words: list[str]) -> bool:
    """Whether a glance at the first words is enough: most documents are in English, and need no more."""
    return len(words) >= _FEW and sum(word in _ENGLISH_WORDS for word in words) >= _ENOUGH * len(words)


def _may_be_another(words: Sequence[str], signs: int) -> bool:
    """Whether a text that is not clearly English, given by its words, has any sign of another language.

    A capital and a letter that English has not make a name, which texts in English have, too.
    """
    distinct = {word.lower() for word in words}
    foreign = {word.lower() for word in words if not word.isascii() and _BEYOND.search(word)}
    if len(distinct) < _FEWEST or any(word in foreign and word[0].islower() for word in words):
        return len(distinct) >= _FEWEST
    english, *others = (len(distinct & listed) for listed in _function_words())
    return max(others) >= english and len(foreign) + max(others) >= signs


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
        return language_of(text, signs=_MORE_OTHER)
    script = script_of(text[:SAMPLE])
    if script == "Latin" and language in _SHARED["Latin"]:
        return ENGLISH if _is_english(text[:_GLANCE].lower().split()) else language
    return language if language in _SHARED.get(script, (script,)) else language_of(text)


def script_of(text: str) -> str:
    """The script of a text: the code of the language that alone has it, or the name of a script that several share."""
    if len(text.encode("utf-8", "replace")) < _LONGER * len(text):
        return "Latin"  # letters of all others take two bytes or more
    counts, letters = dict[str, int](), 0
    for char, count in Counter(text).items():
        script = _script_of_letter(char)
        counts[script] = counts.get(script, 0) + count
        letters += count if char.isalpha() else 0
    kana, han = counts.pop("Kana", 0), counts.pop("Han", 0)
    counts["ja" if kana > _KANA * han else "zh"] = kana + han
    counts.pop("", None)
    script = max(counts, key=counts.__getitem__)
    return script if counts[script] > _LETTERS * letters else "Latin"


@lru_cache(maxsize=4096)
def _script_of_letter(letter: str) -> str:
    """The script that has a letter; empty for Latin letters and all else."""
    for script, ranges in _SCRIPTS.items():
        if any(first <= letter <= last for first, last in zip(ranges[::2], ranges[1::2], strict=True)):
            return script
    return ""


@cache
def _function_words() -> tuple[frozenset[str], ...]:
    """The stop words of each language in Latin letters, English first; no letters of formulas."""
    codes = (ENGLISH, *(code for code in _SHARED["Latin"] if code != ENGLISH))
    return tuple([frozenset([word for word in _listed_stop_words(code) if len(word) > 1]) for code in codes])


@cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # half a second and 100 MB: English is known without it

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([code for sharing in _SHARED.values() for code in sharing])
    return identifier


def _likeliest(text: str, script: str) -> tuple[str, float]:
    """The likeliest of the languages that share a script, and its probability."""
    ranked = _identifier().rank(text)
    return next((code, probability) for code, probability in ranked if code in _SHARED[script])
