"""Decode bytes to text: by a byte order mark, else as declared, else as UTF-8, else as guess.py says.

A file that is UTF-8 except for a few broken bytes stays UTF-8, with U+FFFD for each of those. Bytes that no text has
are an error: an index of a picture helps nobody.
"""

from __future__ import annotations

import codecs
import logging
import re
from dataclasses import dataclass

from semsearch.errors import SourceError
from semsearch.results.state.problems import Omission

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
    found = _DECLARED.search(data[:_HEAD])
    if not found:
        return None
    encoding = text_encoding(found[1].decode("ascii", errors="replace"))
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
    advice = "expected text; rename it to what it is or exclude it"
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
    from semsearch.readers.content.guess import guess  # here for start-up time: few files need it

    guessed = guess(data)
    _LOG.info("%s: read as %s", name, guessed.encoding)
    doubt = (Omission("doubtful encoding", detail=f"read as {guessed.encoding}"),) if guessed.doubtful else ()
    decoded = _decoded(data, guessed.encoding)
    return Decoded(decoded.text, doubt + decoded.omissions)
