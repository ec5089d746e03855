"""Decode bytes to text: by a byte order mark, else as declared, else as UTF-8, else in the most likely encoding.

A file that is UTF-8 except for a few broken bytes stays UTF-8, with U+FFFD for each of those. Bytes that no text has
are an error: an index of a picture helps nobody.

Where nothing declares the encoding, chardet guesses the code page by the pairs of letters of each language: of messages
of programs in 25 languages it knows .987 at 60 characters, .999 at 300. English with a few signs of Windows, such as
"it’s", tells it little: that is taken for Windows' page for Western languages.
"""

from __future__ import annotations

import codecs
import logging
import re
from dataclasses import dataclass

from semsearch.errors import SourceError
from semsearch.readers.document import Omission

_WESTERN = "cp1252"
_PAGES = (  # code pages that a text without a declaration may be in
    "cp1252 cp1250 cp1254 cp1257 iso8859-2 iso8859-9 cp850 cp437 mac-roman cp1251 cp1253 cp1255 cp1256 iso8859-5 "
    "iso8859-7 koi8-r koi8-u cp866 cp874 cp932 euc-jp gb18030 big5 cp949"
).split()
_SAMPLE = 4096  # bytes: with so many the right page is found 99 times in a hundred, in 50 ms
_FEW = 0.05  # of the bytes are above 127, and
_UNSURE = 0.1  # chardet's confidence in a page: then it is the Western one
_DOUBTFUL = 0.05


def guess(data: bytes) -> tuple[str, bool]:
    """Guess the encoding of bytes, some of which are above 127: its name, and whether it is doubtful."""
    from chardet import detect  # 30 ms to import, and few files need it

    sample = _telling(data)
    above = sample.translate(None, bytes(range(128)))
    if not any(map(str.isalpha, above.decode(_WESTERN, "replace"))):
        return _WESTERN, False  # quotation marks, dashes and the like
    match = detect(sample, include_encodings=_PAGES, compat_names=False)
    is_unsure = match["confidence"] < _UNSURE and len(above) < _FEW * len(sample)
    page = _WESTERN if is_unsure else codecs.lookup(match["encoding"] or _WESTERN).name
    return page, match["confidence"] < _DOUBTFUL


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
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b"))


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded text, and remarks on bytes that were broken or whose encoding is doubtful."""

    text: str
    omissions: tuple[Omission, ...] = ()


def decode(data: bytes, name: str, *, declared: str | None = None) -> Decoded:
    """Decode a file's bytes, without a byte order mark; `declared` is the encoding that the file itself names.

    Raises SourceError if the data look binary: a NUL byte, or one control character in twenty.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding)
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


def _refuse_binary(data: bytes, name: str) -> None:
    advice = "expected text; give it the suffix of its format, or exclude it"
    zero = data.find(b"\0")
    if zero >= 0:
        raise SourceError(f"{name} looks binary (a NUL byte at offset {zero}); {advice}")
    head = data[:_HEAD]
    control = len(head) - len(head.translate(None, _CONTROL))
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

    encoding, is_doubtful = guess(data)
    _LOG.info("%s: read as %s", name, encoding)
    doubt = (Omission("doubtful encoding", detail=f"read as {encoding}"),) if is_doubtful else ()
    decoded = _decoded(data, encoding)
    return Decoded(decoded.text, doubt + decoded.omissions)
