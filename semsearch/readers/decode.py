"""Bytes to text: by a byte order mark, else as declared, else UTF-8, else as guess.py says.

A file that is UTF-8 but for a few broken bytes stays UTF-8, with U+FFFD for each of those. Bytes that no text has are
an error: an index of a picture helps nobody.
"""

from __future__ import annotations

import codecs
import logging
import re

from semsearch.errors import SourceError

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
_SINGLE_BYTE = ("cp", "iso8859", "koi8", "mac")  # their text is never valid UTF-8, but UTF-8 is often declared so
_HEAD = 4096  # bytes in which a declaration or a binary file's control characters are looked for
_SAMPLE = 1 << 16  # bytes for charset-normalizer, which is slow
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b"))


def decode(data: bytes, name: str, *, declared: str | None = None) -> str:
    """The text of a file's bytes, without a byte order mark; `declared` is the encoding that the file itself names.

    Raises SourceError if it looks binary: a NUL byte, or one control character in twenty.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    _refuse_binary(data, name)
    for likely in ("utf-8", declared) if declared and declared.startswith(_SINGLE_BYTE) else (declared, "utf-8"):
        if likely is not None:
            try:
                return data.decode(likely)
            except UnicodeDecodeError:
                pass
    return _guess(data, name)


def declared_encoding(data: bytes) -> str | None:
    """The encoding that a <meta> tag or an XML declaration names, if Python knows it."""
    found = _DECLARED.search(data[:_HEAD])
    if not found:
        return None
    try:
        encoding = codecs.lookup(found[1].decode("ascii", errors="replace"))
    except LookupError:
        return None
    if not getattr(encoding, "_is_text_encoding", True) or encoding.name.startswith(("utf-16", "utf-32")):
        return None  # a declaration that could be read so far is not in UTF-16
    return "cp1252" if encoding.name in ("iso8859-1", "ascii") else encoding.name  # as every browser does


def _refuse_binary(data: bytes, name: str) -> None:
    advice = "expected text; rename it to what it is or exclude it"
    zero = data.find(b"\0")
    if zero >= 0:
        raise SourceError(f"{name} looks binary (a NUL byte at offset {zero}); {advice}")
    head = data[:_HEAD]
    control = len(head) - len(head.translate(None, _CONTROL))
    if control * 20 > len(head):
        raise SourceError(
            f"{name} looks binary ({control} control characters in its first {len(head)} bytes); {advice}"
        )


def _guess(data: bytes, name: str) -> str:
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    longer = len(data) - len(data.translate(None, bytes(range(128, 256))))  # bytes over 127
    if longer > 4 * broken:  # most of them do form characters: it is UTF-8, damaged
        _LOG.info("%s: %d broken UTF-8 sequences replaced", name, broken)
        return text
    from semsearch.readers.guess import guess_encoding  # here for start-up time: few files need it

    first = next(place for place, byte in enumerate(data) if byte > 127)
    start = max(0, first - _SAMPLE // 4)
    encoding = guess_encoding(data[start : start + _SAMPLE])
    _LOG.info("%s: read as %s", name, encoding)
    return data.decode(encoding, errors="replace")
