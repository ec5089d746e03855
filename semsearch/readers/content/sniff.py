"""Recognise a file's format by its first bytes, whatever its name says.

Only formats that begin with a signature are recognised: PDF, zip archives by their members, and old Office files,
pictures, sound and programs, for which there is no reader.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import IO

_PDF_WITHIN = 1024  # bytes that may stand before a PDF's sign, as every viewer allows
_ARCHIVES = (  # a member that only files of a format have
    ("word/document.xml", "docx"),
    ("ppt/presentation.xml", "pptx"),
    ("xl/workbook.xml", "xlsx"),
    ("META-INF/container.xml", "epub"),
)
_OPEN_DOCUMENT = {b"application/vnd.oasis.opendocument.text": "odt"}
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>])", re.I | re.S
)
_MAILBOX = re.compile(rb"From \S+ [^\r\n]*\d\d:\d\d:\d\d[^\r\n]*\r?\n(?:>?[!-9;-~]+:)")
_HEAD = 4096  # bytes in which text says what it is
_UNREADABLE = (
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"\x1f\x8b\x08", "compressed with gzip"),
    (b"BZh9", "compressed with bzip2"),
    (b"\xfd7zXZ\0", "compressed with xz"),
    (b"\x28\xb5\x2f\xfd", "compressed with Zstandard"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"ID3", "sound"),
    (b"OggS", "sound"),
    (b"fLaC", "sound"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file, or one with a password"),
    (b"{\\rtf", "an RTF document"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\0asm", "a program"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"\0\1\0\0", "a font"),
    (b"OTTO", "a font"),
)
_INNER = (  # signs that follow a length
    (re.compile(rb"....ftyp(?:heic|heix|mif1|avif)", re.DOTALL), "a picture"),
    (re.compile(rb"....ftyp", re.DOTALL), "a film or sound"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "a picture"),
    (re.compile(rb"RIFF....", re.DOTALL), "a film or sound"),
)


def format_by_content(data: bytes) -> str | None:
    """The name of the format that a file's bytes are in, if they say so."""
    if data.startswith(b"%PDF-") or (b"%PDF-" in data[:_PDF_WITHIN] and b"\0" in data[:65536]):
        return "pdf"
    return archive_format(io.BytesIO(data)) if data.startswith(b"PK\x03\x04") else None


def text_format_by_content(data: bytes) -> str | None:
    """The name of the format that a text is in, if it says so itself: a web page, or a mailbox."""
    head = data[:_HEAD]
    if _HTML.match(head):
        return "html"
    return "mail" if _MAILBOX.match(head) else None


def unreadable_kind(data: bytes) -> str | None:
    """Describe a file of a kind that no reader is for, such as "a PNG picture"; None if it is not recognised."""
    if data.startswith(b"PK\x03\x04"):
        return "a zip archive"
    if b"\0" not in data[:4096] and not data.startswith(b"{\\rtf"):  # words that begin like a sign: "ID3 is ..."
        return None
    outer = (kind for sign, kind in _UNREADABLE if data.startswith(sign))
    return next(outer, None) or next((kind for sign, kind in _INNER if sign.match(data)), None)


def archive_format(file: Path | IO[bytes]) -> str | None:
    """The name of the format that a zip archive is in, if it is that of a known one."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 100:
                kind = archive.read("mimetype").strip()
                if kind in _OPEN_DOCUMENT:
                    return _OPEN_DOCUMENT[kind]
            return next((kind for member, kind in _ARCHIVES if member in names), None)
    except Exception:  # a damaged archive is told by the reader that its name says, if any
        return None
