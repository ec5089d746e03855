"""What is done to the words of each language: its stemmer, and the letters that are more than a letter with an accent.

Stemmers are Snowball's (Porter 1980, and many others since). An accent is taken off after stemming, for stemmers go by
it, and only where a word stays the same word without it: the ñ of año and the ı of Turkish are letters of their own.
Languages without spaces between words are searched by sequences of characters: pairs in Chinese, Japanese and Korean
(Nie et al. 2000), whose characters also count singly; longer ones in scripts that have fewer letters.
"""

from __future__ import annotations

from dataclasses import dataclass

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
