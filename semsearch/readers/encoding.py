"""Decode bytes to text: by a byte order mark, else as declared, else as UTF-8, else in the most likely encoding.

A file that is UTF-8 except for a few broken bytes stays UTF-8, with U+FFFD for each of those. Bytes that no text has
are an error: an index of a picture helps nobody.

Where nothing declares the encoding, chardet estimates how likely each code page is, by the pairs of letters of each
language. It is weak on short or mostly English texts, and takes "it’s" for Icelandic. So its estimates are weighted by
what the text would look like: signs and letters that cannot occur where they do count against a page, quotation marks,
dashes and the like in their proper positions count for it; and where there is little evidence, a page that is more in
use is likelier. The numbers were chosen on translations of some programs' messages, and measured on those of others.
A guess is doubtful if another page that gives another text comes close, or if no evidence supports it.
"""

from __future__ import annotations

import codecs
import logging
import re
from dataclasses import dataclass

from semsearch.errors import SourceError
from semsearch.results.omissions import Omission

WESTERN = "cp1252"
_LATIN = {  # by Python's name of each: how much it is in use, for texts of few characters
    WESTERN: 1.6, "cp1250": 1.0, "cp1254": 0.9, "cp1257": 0.8, "iso8859-2": 1.0, "iso8859-9": 0.3, "cp850": 0.7,
    "cp437": 0.6, "mac-roman": 0.7,
}  # fmt: skip
_OTHERS = {
    "cp1251": 1.0, "cp1253": 1.0, "cp1255": 0.6, "cp1256": 0.6, "iso8859-5": 1.0, "iso8859-7": 1.0, "koi8-r": 1.0,
    "koi8-u": 1.0, "cp866": 1.0, "cp874": 1.0, "cp932": 1.0, "euc_jp": 1.0, "gb18030": 1.0, "big5": 1.0, "cp949": 1.0,
}  # fmt: skip
_NEVER_NONE = 0.001
_SINGLE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_SINGLES = 0.3  # of the bytes above 127: over half of sentences in 14 Latin languages, an eighth at most in 8 others
_UNLIKE = 0.1  # times as likely is a page of another script then
_FEW = 2  # characters: at so many, the use of a page counts by its root
_SAMPLE = 4096  # bytes: with so many the right page is found 99 times in a hundred, in 50 ms
_CLOSE = 0.5  # a page may be so much less likely and still a rival, of a text of a few characters
_SURE = 0.06  # likelihood below which nothing speaks for a page
_OTHER_SCRIPTS = "\u0370-\u06ff\u0e00-\u0e7f"
_IMPOSSIBLE = re.compile(  # signs within words, capitals after small letters, two scripts in a word, frames, no letters
    r"[^\W\d_][¡¢£¤¥¦¨¯±´¸¼½¾¿ƒ„‚ˆ˜§©¬®²³¶¹»«×÷…†‡‰‹›•™“”€‘](?=[^\W\d_])"
    r"|[a-zà-öø-ÿ][À-ÖØ-ÞĄĆĘŁŃŚŹŻČĎĚŇŘŠŤŮŽ](?=[a-zà-öø-ÿ]|\b)"
    rf"|[A-Za-z][{_OTHER_SCRIPTS}]|[{_OTHER_SCRIPTS}][A-Za-z]|(?<=[a-zа-яё])[А-ЯЁ]|[\u2500-\u25ff\x80-\x9f\ufffd]"
)
# letters that are not words by themselves
_ALONE = re.compile(r"(?<![^\W\d_])[ÀÂÃÄÅÆÇÈÊËÌÍÎÏÐÑÒÔÕÖØÙÛÜÝÞßâãäåæçêëìïðñòôõöøùûüÿþ](?![^\W\d_])")
_SIGNS = re.compile(  # that stand where they belong
    r"(?<=\w)’(?=\w|\s|$)|(?<!\w)[“‘„](?=\S)|(?<=\S)”(?!\w)|(?<=\s)[–—](?=\s)|(?<=\d)–(?=\d)|(?<=\S)…(?=\s|$)"
    r"|(?<![^\W\d_])€(?![^\W\d_])|(?:^|(?<=\s))[•·](?=\s)|£(?=\d)|(?<=\d)[°²³½](?!\d)|(?<!\w)[©§](?=\s)"
    r"|(?<!\w)[½¼¾±](?=[\s\d])|(?<=\s)×(?=\s)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Guess:
    """A guessed encoding, by its name, and whether it is doubtful."""

    encoding: str
    doubtful: bool


@dataclass(frozen=True, slots=True)
class _Reading:
    """The text of the bytes in one code page, and how likely it is."""

    encoding: str
    text: str
    others: int  # characters that are not ASCII
    signs: int  # of these, signs where they belong
    likelihood: float


def guess(data: bytes) -> Guess:
    """Guess the encoding of bytes, some of which are above 127; a few bytes may be broken."""
    from chardet import detect_all  # 30 ms to import, and few files need it

    sample = _telling(data)
    names = [name.replace("_", "-") for name in (*_LATIN, *_OTHERS)]
    estimates = detect_all(sample, ignore_threshold=True, include_encodings=names, compat_names=False)
    likelihoods: dict[str, float] = {WESTERN: _NEVER_NONE}
    for match in estimates:
        name = codecs.lookup(match["encoding"] or WESTERN).name
        likelihoods[name] = max(match["confidence"], likelihoods.get(name, 0.0))
    readings = [_reading(sample, name, likelihood) for name, likelihood in likelihoods.items()]
    best = max(readings, key=lambda reading: reading.likelihood)
    rival = max((reading.likelihood for reading in readings if reading.text != best.text), default=0.0)
    return Guess(best.encoding, _is_doubtful(best, rival))


def is_latin(sample: bytes) -> bool:
    """Return whether bytes above 127 are single ones among ASCII letters, as in Latin text, not side by side."""
    above = len(sample) - len(sample.translate(None, bytes(range(128, 256))))
    return len(_SINGLE.findall(sample)) > _SINGLES * above


def _telling(data: bytes) -> bytes:
    """A sample of the lines that have bytes above 127, without half a character at its end."""
    if len(data) <= _SAMPLE:
        return data
    sample = b"".join(line for line in data.splitlines(keepends=True) if not line.isascii())
    if len(sample) <= _SAMPLE:
        return sample
    cut = sample[:_SAMPLE]
    whole = max(cut.rfind(end) for end in b"\n .,")  # no second byte of a character is one of these
    return cut[:whole] if whole > _SAMPLE // 2 else cut


def _reading(sample: bytes, encoding: str, likelihood: float) -> _Reading:
    text = sample.decode(encoding, errors="replace")
    others = max(1, len(text) - len(text.encode("ascii", "ignore")))
    strange = len(_IMPOSSIBLE.findall(text)) + len(_ALONE.findall(text)) / 2
    signs = len(_SIGNS.findall(text))
    usual = (_LATIN.get(encoding) or _OTHERS.get(encoding, 1.0)) ** (_FEW / (_FEW + others))
    if encoding not in _LATIN and is_latin(sample):
        usual *= _UNLIKE
    plausible = max(0.01, 1 - strange / others) ** 2 * (1 + signs / others)
    return _Reading(encoding, text, others, signs, likelihood * usual * plausible + 0.02 * signs / others)


def _is_doubtful(best: _Reading, rival: float) -> bool:
    if best.signs == best.others:
        return False
    close = 1 + _CLOSE / (1 + best.others / 5)
    return best.likelihood < rival * close or best.likelihood < _SURE


# -- Decoding ----------------------------------------------------------------------------------------------------------

_LOG = logging.getLogger(__name__)

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_NOT_OF_TEXTS = frozenset(
    ("undefined", "idna", "punycode", "unicode-escape", "raw-unicode-escape")
)  # Python's own uses
_SINGLE_BYTE = ("cp", "iso8859", "koi8", "mac")  # their text is never valid UTF-8, but UTF-8 is often declared so
_HEAD = 4096  # bytes in which a declaration or a binary file's control characters are looked for
_BLOCKS = 3  # of 256 characters: ASCII, typographic signs, and one script
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b"))


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded text, and remarks on bytes that were broken or whose encoding is doubtful."""

    text: str
    omissions: tuple[Omission, ...] = ()


def decode(data: bytes, name: str, *, declared: str | None = None) -> Decoded:
    """Decode a file's bytes, without a byte order mark; `declared` is the encoding that the file itself names.

    UTF-16 is recognised without a mark too. Raises SourceError if the data look binary: a NUL byte, or one control
    character in twenty.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding)
    if unmarked := _unmarked_utf16(data):
        return _decoded(data, unmarked)
    _refuse_binary(data, name)
    for likely in ("utf-8", declared) if declared and declared.startswith(_SINGLE_BYTE) else (declared, "utf-8"):
        if likely is not None:
            try:
                text = data.decode(likely)
                if likely == "utf-7":
                    text.encode()  # it can write half a character
                return Decoded(text)
            except UnicodeError:
                pass
    return _guessed(data, name)


def _decoded(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(data.decode(encoding))
    except UnicodeDecodeError:
        text = data.decode(encoding, errors="replace")
        return Decoded(text, (Omission("broken bytes", text.count("\ufffd")),))


def declared_encoding(data: bytes) -> str | None:
    """The encoding that a <meta> tag or an XML declaration names, if Python knows it."""
    match = _DECLARED.search(data[:_HEAD])
    if not match:
        return None
    encoding = text_encoding(match[1].decode("ascii", errors="replace"))
    if encoding is None or encoding.startswith(("utf-16", "utf-32")):
        return None  # a declaration that could be read so far is not in UTF-16
    return "cp1252" if encoding in ("iso8859-1", "ascii") else encoding  # as every browser does


def text_encoding(name: str) -> str | None:
    """Python's name of an encoding that a file declares; None for one that Python does not know, or no text is in."""
    try:
        encoding = codecs.lookup(name)
    except (LookupError, ValueError):  # a name with a NUL
        return None
    is_of_texts = getattr(encoding, "_is_text_encoding", True) and encoding.name not in _NOT_OF_TEXTS
    return encoding.name if is_of_texts else None


def _unmarked_utf16(data: bytes) -> str | None:
    """Recognise UTF-16 without a mark: every other byte is one of very few, and zero for spaces.

    That holds for alphabetic scripts. Chinese without a mark looks binary.
    """
    head = data[:_HEAD]
    if b"\0" not in head or len(data) % 2:
        return None
    for encoding, high, low in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        plain = bytes(below for above, below in zip(high, low, strict=True) if not above)
        if plain and len(set(high)) <= _BLOCKS and not _controls(plain):
            return encoding
    return None


def _controls(data: bytes) -> int:
    """Count the bytes that are control characters that no text has."""
    return len(data) - len(data.translate(None, _CONTROL))


def _refuse_binary(data: bytes, name: str) -> None:
    advice = "expected text; give it the suffix of its format, or exclude it"
    zero = data.find(b"\0")
    if zero >= 0:
        raise SourceError(f"{name} looks binary (a NUL byte at offset {zero}); {advice}")
    head = data[:_HEAD]
    control = _controls(head)
    if control * 20 > len(head):
        raise SourceError(
            f"{name} looks binary ({control} control characters in its first {len(head)} bytes); {advice}"
        )


def _guessed(data: bytes, name: str) -> Decoded:
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    longer = len(data) - len(data.translate(None, bytes(range(128, 256))))  # bytes over 127
    if longer > 4 * broken:  # most of them do form characters: it is UTF-8, damaged
        _LOG.info("%s: %d broken UTF-8 sequences replaced", name, broken)
        return Decoded(text, (Omission("broken bytes", broken),))

    guessed = guess(data)
    _LOG.info("%s: read as %s", name, guessed.encoding)
    doubt = (Omission("doubtful encoding", detail=f"read as {guessed.encoding}"),) if guessed.doubtful else ()
    decoded = _decoded(data, guessed.encoding)
    return Decoded(decoded.text, doubt + decoded.omissions)
