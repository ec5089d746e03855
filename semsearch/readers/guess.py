"""Which encoding bytes are in, where they are not UTF-8 and nothing says it.

charset-normalizer knows languages by their letters, but of a short or mostly English text all Latin code pages look
alike to it, and "café" came out as "cafķ". So first the script is told by a simple sign: in Latin text the bytes above
127 stand singly among ASCII letters, in any other script they stand side by side. Then only the code pages are asked
about that files are really in, and for Latin text Windows' Western one (1252) is taken unless another is clearly
likelier.

Not told apart from it are a few words of Czech or Polish, and Hungarian and Romanian of any length, whose letters are
nearly all in 1252 too ("õ" for "ő"). Such files are better converted to UTF-8.
"""

from __future__ import annotations

import re

from charset_normalizer import CharsetMatch, from_bytes

_WESTERN = "cp1252"
_LATIN = (_WESTERN, "cp1250", "cp1254", "cp1257", "iso8859_2", "cp850", "mac_roman")
_OTHER = (
    "cp1251", "koi8_r", "cp866", "iso8859_5", "cp1253", "cp1255", "cp1256", "cp874", "cp932", "euc_jp", "gb18030",
    "big5", "cp949",
)  # fmt: skip
_SINGLE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_SINGLES = 0.3  # of the bytes above 127: over half of sentences in 14 Latin languages, an eighth at most in 8 others
_LEAD = 0.02  # in coherence or chaos, both from 0 to 1: English and French 0.013 at most, Czech 0.033 at least
_IN_WORDS = re.compile(  # signs where only letters can be: as letters, they are from another page
    r"[^\W\d_](?:[¡¢£¤¥¦¨¯±´¸¼½¾¿ƒ„‚ˆ˜]|[§©¬®²³¶¹»«×÷…†‡‰‹›•™“”](?=[^\W\d_]))"
)
_STRAY = 0.05  # of the characters that are not ASCII may be such, by mistake
_KANA = re.compile("[\u3041-\u30ff]")


def guess_encoding(sample: bytes) -> str:
    """The name of an encoding. `sample` has bytes above 127; some of them may not be text in it."""
    if is_latin(sample):
        return _latin_encoding(sample)
    matches = list(from_bytes(sample, cp_isolation=list(_OTHER)))
    if not matches:
        return _WESTERN
    if matches[0].coherence == 0:  # no language was recognised: Japanese never is
        matches.sort(key=lambda match: -len(_KANA.findall(str(match))))
    return matches[0].encoding


def is_latin(sample: bytes) -> bool:
    """Whether the bytes above 127, as letters, are those of a Latin script."""
    above = len(sample) - len(sample.translate(None, bytes(range(128, 256))))
    return len(_SINGLE.findall(sample)) > _SINGLES * above


def _latin_encoding(sample: bytes) -> str:
    matches = list(from_bytes(sample, cp_isolation=list(_LATIN)))
    matches = [match for match in matches if _has_words(str(match))] or matches
    western = next((match for match in matches if _WESTERN in match.could_be_from_charset), None)
    if not matches or (western and not _is_likelier(matches[0], western)):
        return _WESTERN
    if matches[0].coherence == 0 and _has_words(sample.decode(_WESTERN, errors="replace")):
        return _WESTERN
    return matches[0].encoding


def _has_words(text: str) -> bool:
    """Whether its letters other than ASCII's are letters, as far as can be told."""
    others = len(text) - len(text.encode("ascii", "ignore"))
    strange = len(_IN_WORDS.findall(text)) + text.count("\ufffd")
    return strange <= _STRAY * others


def _is_likelier(match: CharsetMatch, western: CharsetMatch) -> bool:
    return match.coherence > western.coherence + _LEAD or match.chaos < western.chaos - _LEAD
