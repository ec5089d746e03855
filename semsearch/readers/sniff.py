"""Recognise the format of a file by its content, and whether a file with an unknown suffix is text.

Formats that begin with a signature are recognised by their first bytes, whatever the name: PDF, rich text, and zip
archives by their members.

Of files without a reader, those that a person might look for are read as text: LICENSE, Makefile, settings
and logs, whatever their ending, and formats known here under another name. Left out are files that are not text, those
that programs write for programs (locks, maps of minified scripts, keys, tables of numbers), and large ones: --include
reads them anyway, since then the user asks for them.
"""

from __future__ import annotations

import io
import logging
import re
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePath

from semsearch.errors import SourceError, install_command
from semsearch.readers.encoding import decode
from semsearch.readers.registry import BUILT_IN, FORMATS, PICTURE, TEXT, Format, format_of
from semsearch.system.source_files import read_source

_LOG = logging.getLogger(__name__)
_ZIP, _GZIP, _PDF = b"PK\x03\x04", b"\x1f\x8b\x08", FORMATS["pdf"].sign
_PDF_WITHIN = 1024  # bytes that may stand before a PDF's sign, as every viewer allows
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # an old Office file, or one with a password
_LIKE_MARKUP = re.compile(rb"[\xef\xbb\xbf \t\r\n]*[<.'=[]|From |[!-9;-~]{1,80}:")  # page, manual page, AsciiDoc, mail
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>])", re.I | re.S
)
_MANUAL_PAGE = re.compile(rb"(?:\A|\n)\.(?:TH|Dt)[ \t]")
_ASCIIDOC = re.compile(
    rb"(\[[^\n]{0,200}\]\s{0,9}\n)?={1,6} \S[^\n]*\n"
)  # a heading, perhaps with an anchor or attributes
_ASCIIDOC_MARK = re.compile(rb"\n(?:-{4,}|\|===|\[\[|\[source|:[\w-]+:|={2,6} \S|\(\(\(|image::)")
_MAILBOX = re.compile(rb"From \S+ [^\r\n]*\d\d:\d\d:\d\d[^\r\n]*\r?\n(?:>?[!-9;-~]+:)")
_DELIVERED = re.compile(rb"(?:Received|Return-Path|Delivered-To|Message-ID|MIME-Version):", re.I)  # not by hand
_HEAD = 4096  # bytes in which a text's format is recognised
LOOKED_AT = 16_384  # bytes of a text that a verdict is based on
_LARGEST_ZIP = 10_000_000  # bytes of an archive that is read to find out whether it is a document


def recognised_format(data: bytes, name: str) -> Format:
    """The format of a file: that which its first bytes show, else that of its name, else plain text."""
    named, shown = format_of(name), format_by_content(data)
    if shown is None:
        return _text_format(data, named)
    if named is not None and (named.name == shown or named not in BUILT_IN):
        return named
    _LOG.info("%s: read as %s, by its content", name, shown)
    return FORMATS[shown]


def _text_format(data: bytes, named: Format | None) -> Format:
    """The format of a text: that of its name, else a format that its content shows, else plain text."""
    if (named is None or named is TEXT) and _LIKE_MARKUP.match(data) and (shown := text_format_by_content(data)):
        return FORMATS[shown]
    return named or TEXT


def format_by_content(data: bytes) -> str | None:
    """The format of a file by its first bytes; None if they have no known signature."""
    if data.startswith(_ZIP):
        return archive_format(data)
    if _PDF in data[:_PDF_WITHIN] and b"\0" in data[:65536]:
        return "pdf"
    return next((kind.name for kind in BUILT_IN if kind.sign and data.startswith(kind.sign)), None)


def archive_format(data: bytes) -> str | None:
    """The name of the format that a zip archive is in, if it is that of a known one."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            marks = set(archive.namelist())
            if "mimetype" in marks and archive.getinfo("mimetype").file_size < 100:
                marks.add(archive.read("mimetype").decode("ascii", "replace").strip().removesuffix("-template"))
            return next((kind.name for kind in BUILT_IN if kind.zip_mark in marks), None)
    except Exception:  # the reader for its suffix, if any, reports a damaged archive
        return None


def text_format_by_content(data: bytes) -> str | None:
    """The format of a text that begins like a web page, a manual page, AsciiDoc or mail; None for other text."""
    head = data[:_HEAD]
    if head.lstrip().startswith((b".", b"'")) and _MANUAL_PAGE.search(data[:LOOKED_AT]):
        return "man"
    if _HTML.match(head):
        return "html"
    if (title := _ASCIIDOC.match(head)) and (title[1] or _ASCIIDOC_MARK.search(data[:LOOKED_AT], title.end() - 1)):
        return "asciidoc"
    is_message = _DELIVERED.match(head) is not None and b"\nfrom:" in data[:LOOKED_AT].lower()
    return "mail" if is_message or _MAILBOX.match(head) else None


# -- Files without a reader --------------------------------------------------------------------------------------------

LARGEST = 1_000_000  # bytes: larger text of a kind that has no reader was written by a machine, as a log was
_FOR_MACHINES = {  # by the end of a name, in lower case
    ".lock": "a lock file", "package-lock.json": "a lock file", "pnpm-lock.yaml": "a lock file",
    "npm-shrinkwrap.json": "a lock file", "go.sum": "a lock file", ".lockb": "a lock file", ".map": "a source map",
    ".svg": "a drawing", ".excalidraw": "a drawing",
    ".css": "a style sheet", ".scss": "a style sheet", ".less": "a style sheet",
}  # fmt: skip
MISSING_OCR = f"to read the text in it, run: {install_command('ocr')}"
_LONG_LINES = 1_000  # characters on average: no one writes such, but a minifier does
_FEW_SPACES = 0.04  # of the characters of ASCII text; prose has a sixth, base64 a sixtieth
_LETTERS = 0.15  # of the characters of a log; of measured values with their times hardly any
_DIGITS = 0.4  # of the characters that are not spaces; prose and settings have a twentieth, tables of numbers most
_LOG_LINE = re.compile(  # of logs of programs, of syslog, of web servers
    rb"\W{0,3}(?:(?:(?:DEBUG|INFO|WARN|ERROR)\w*\W{1,3})?\d{4}[-/.]\d\d[-/.]\d\d[T _-]*\d\d:\d\d|\d\d:\d\d:\d\d\b"
    rb"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|<\d{1,3}>|[\da-f.:]{7,40} [^\[\n]{1,60}\[\d\d/)"
)
_ENOUGH = 400  # characters to judge by
_ASCII_SPACE = re.compile(r"\s")


def refusal(path: Path, size: int) -> str:
    """Why a file without a reader is not read as text; "" if it is. What cannot be opened is left to its reader."""
    return refusal_of(path, size, lambda count: read_source(path, count).data)


def refusal_of(path: PurePath, size: int, read: Callable[[int], bytes]) -> str:
    """As `refusal`, of what is read by a function: it returns so many of the first bytes, or raises OSError."""
    ending = next((kind for end, kind in _FOR_MACHINES.items() if path.name.lower().endswith(end)), "")
    if ending:
        return f"is {ending}; {_included(path)}"
    try:
        head = read(LOOKED_AT)
        if head.startswith(_ZIP):
            if size <= _LARGEST_ZIP and archive_format(read(size)):
                return ""
            return "is a zip archive; rename it to .zip to have the files in it read, or unpack it"
    except OSError:
        return ""
    if head.startswith(_GZIP) and path.suffix.lower() == ".gz":
        return refusal_of(path.with_suffix(""), size, lambda count: _uncompressed(head, count))
    return "" if format_by_content(head) or text_format_by_content(head) else _refusal_as_text(head, path, size)


def _uncompressed(head: bytes, count: int) -> bytes:
    """The first bytes of a file that is compressed with gzip and begins with these."""
    try:
        return zlib.decompressobj(wbits=31).decompress(head, count)
    except zlib.error as error:
        raise OSError(str(error)) from error


def _refusal_as_text(head: bytes, path: PurePath, size: int) -> str:
    try:
        text = decode(head[: head.rfind(b"\n") + 1] or head, path.name).text
    except SourceError:
        if path.suffix.lower() in PICTURE.suffixes and PICTURE.lacks_package:
            return f"is a picture; {MISSING_OCR}"
        is_old = head.startswith(OLE)
        return (
            f"is binary, and has no reader{'; save it as .docx, .xlsx or .pptx without a password' if is_old else ''}"
        )
    if is_log(path.name, head) and sum(map(str.isalpha, text)) > _LETTERS * len(text):
        return ""
    if size > LARGEST:
        return f"has {size:,} bytes and no reader; {_included(path)}"
    return f"looks like {kind}; {_included(path)}" if (kind := _for_machines(text)) else ""


def is_log(name: str, head: bytes) -> bool:
    """Whether a text file is a log, by its name or by the times that most of its lines begin with."""
    if name.lower().endswith(".log"):
        return True
    lines = head[:LOOKED_AT].split(b"\n")[:-1]
    return len(lines) > 1 and 2 * sum(1 for line in lines if _LOG_LINE.match(line)) > len(lines)


def _for_machines(text: str) -> str:
    """Name the kind of a text that is not written for people, such as a minified file; empty for other texts."""
    spaces = len(_ASCII_SPACE.findall(text))
    if len(text) < _ENOUGH:
        return ""
    if len(text) > _LONG_LINES * (text.count("\n") + 1) and spaces < 2 * _FEW_SPACES * len(text):
        return "a minified file"
    if text.isascii() and spaces < _FEW_SPACES * len(text):
        return "encoded data"
    return "a table of numbers" if sum(map(str.isdigit, text)) > _DIGITS * (len(text) - spaces) else ""


def _included(path: PurePath) -> str:
    pattern = f"*{path.suffix}" if path.suffix else path.name
    return f"--include '*' --include '{pattern}' reads it anyway"
