"""Languages: the stemmer, the letters, the name and the stop words of each. Which one a text is in: detect_language.py.

Stemmers are Snowball's (Porter 1980, and many others since). An accent is taken off after stemming, for stemmers go by
it, and only where a word stays the same word without it: the ñ of año and the ı of Turkish are letters of their own.
Languages without spaces between words are searched by sequences of characters: pairs in Chinese, Japanese and Korean
(Nie et al. 2000), whose characters also count singly; longer ones in scripts that have fewer letters.

A query is searched without its stop words, unless it has no other words. Those of other languages than English are the
short ones of stopwords-iso. Its lists were gathered for classifying texts, and have words of which one may well ask:
world, year, good. Nearly all words of up to four letters in them are articles, pronouns, prepositions and question
words; without the longer ones questions are answered better than with all or none (docs/research/measurements.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

ENGLISH = "en"
SEQUENCE = 3  # letters, with their marks, of Thai and its like; see docs/research/measurements.md


@dataclass(frozen=True, slots=True)
class LanguageRules:
    """The rules of one language."""

    name: str
    stemmer: str | None = None  # as Snowball calls it; None: words stay as they are
    letters: str = ""  # that keep their accents
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
    return frozenset({word for word in listed_stop_words(language) if len(word) <= LONGEST})


def listed_stop_words(language: str) -> frozenset[str]:
    """The stop words of a language in stopwords-iso, long ones too."""
    from stopwordsiso import has_lang, stopwords  # 15 ms to import, and indexes in English need none

    return frozenset(stopwords(language) if has_lang(language) else ())
