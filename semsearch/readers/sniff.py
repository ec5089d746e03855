"""What a file is by its first bytes, whatever its name says.

Told are formats that begin with a sign of their own: PDF, zip archives by what is in them, and the old Office files,
pictures, sound and programs, which no reader here is for.
"""

from __future__ import annotations

import io
import zipfile

_PDF_WITHIN = 1024  # bytes that may stand before a PDF's sign, as every viewer allows
_ARCHIVES = (  # a member that only files of a format have
    ("word/document.xml", "docx"),
    ("ppt/presentation.xml", "pptx"),
    ("xl/workbook.xml", "xlsx"),
    ("META-INF/container.xml", "epub"),
)
_OPEN_DOCUMENT = {b"application/vnd.oasis.opendocument.text": "odt"}
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
)


def format_by_content(data: bytes) -> str | None:
    """The name of the format that a file's bytes are in, if they say so."""
    if data.startswith(b"%PDF-") or (b"%PDF-" in data[:_PDF_WITHIN] and b"\0" in data[:65536]):
        return "pdf"
    return _archived(data) if data.startswith(b"PK\x03\x04") else None


def unreadable_kind(data: bytes) -> str | None:
    """What a file is that no reader here is for, in words."""
    if data.startswith(b"PK\x03\x04"):
        return "a zip archive"
    if b"\0" not in data[:4096] and not data.startswith(b"{\\rtf"):  # words that begin like a sign: "ID3 is ..."
        return None
    return next((kind for sign, kind in _UNREADABLE if data.startswith(sign)), None)


def _archived(data: bytes) -> str | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 100:
                kind = archive.read("mimetype").strip()
                if kind in _OPEN_DOCUMENT:
                    return _OPEN_DOCUMENT[kind]
            return next((kind for member, kind in _ARCHIVES if member in names), None)
    except Exception:  # a damaged archive is told by the reader that its name says, if any
        return None
