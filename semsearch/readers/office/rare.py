"""Word and PowerPoint of before 2007, rich text, FictionBook and messages of Outlook, read by kreuzberg.

kreuzberg (an extra of 98 MB) gives the text in reading order; headings only of rich text and of books. Hits have no
place but the paragraph's number: what the library says of pages and slides cannot be relied on in these formats. A
message is read as the mail that it was, its attachments by their text.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime
from pathlib import PurePath
from typing import Any

from semsearch.errors import MissingExtra, SourceError
from semsearch.readers import mail, text
from semsearch.readers.document import Document
from semsearch.readers.encoding import decode
from semsearch.readers.markup import markdown
from semsearch.readers.sniff import OLE

_KINDS = {  # format: media type, and whether the library knows its headings
    "doc": ("application/msword", False),
    "ppt": ("application/vnd.ms-powerpoint", False),
    "rtf": ("application/rtf", True),
    "fb2": ("application/x-fictionbook+xml", True),
    "msg": ("application/vnd.ms-outlook", False),
}
_SUFFIXES = {".dot": "doc", ".pps": "ppt", ".pot": "ppt"}
_ALSO_TEXT = (".msg", ".dot", ".pot")  # a catalogue of messages, a graph of Graphviz, a template of gettext


def read(data: bytes, name: str) -> Document:
    """Read an old document. Its title is its property, else its first heading, else its name.

    Raises SourceError for a damaged one, MissingExtra if kreuzberg is not installed.
    """
    suffix = PurePath(name).suffix.lower()
    kind = "rtf" if data.startswith(b"{\\rtf") else _SUFFIXES.get(suffix, suffix.removeprefix("."))
    if not data.strip():
        return Document("", [], kind, PurePath(name).stem)
    if suffix in _ALSO_TEXT and not data.startswith(OLE):
        return text.read(decode(data, name).text, name)
    try:
        import kreuzberg
    except ImportError:
        raise MissingExtra("kreuzberg", "rare") from None
    media_type, has_headings = _KINDS.get(kind, _KINDS["doc"])
    config = kreuzberg.ExtractionConfig(output_format="markdown" if has_headings else "plain", use_cache=False)
    _allow_threads()
    try:
        result = kreuzberg.extract_bytes_sync(data, media_type, config)
    except BaseException as error:  # a panic of Rust is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError | GeneratorExit):
            raise
        raise SourceError(f"{name} cannot be read as .{kind}: {error}; it may be damaged, or have a password") from None
    if kind == "msg":
        return mail.read(_mail(result), name)
    if has_headings:
        document = markdown.read(result.content, name)
    else:  # each line is a paragraph
        document = text.read("\n\n".join(result.content.splitlines()), name)
    about = {"title": result.metadata.get("title"), "author": ", ".join(result.metadata.get("authors") or ())}
    metadata = {key: " ".join(str(value).split()) for key, value in about.items() if value}
    blocks = [replace(block, place=f"paragraph {number}") for number, block in enumerate(document.blocks, start=1)]
    return replace(
        document, blocks=blocks, format=kind, title=metadata.get("title") or document.title, metadata=metadata
    )


def _mail(message: Any) -> bytes:
    """The mail that a message of Outlook was, from its text with headers."""
    header, _, body = message.content.partition("\n\n")
    written = MIMEMultipart()
    for line in header.splitlines():
        name, _, value = line.partition(": ")
        with suppress(ValueError):
            value = format_datetime(datetime.fromisoformat(value)) if name == "Date" else value
        written[name] = value
    written.attach(MIMEText(body, "plain", "utf-8"))
    for attachment in message.children or ():
        path = PurePath(attachment["path"])
        part = MIMEText(attachment["result"].content, "plain", "utf-8")
        filename = path.name if path.suffix == ".txt" else f"{path.name}.txt"
        part.add_header("Content-Disposition", "attachment", filename=filename)
        written.attach(part)
    return written.as_bytes()


def _allow_threads() -> None:
    """Let the process for files start threads again, without which kreuzberg does not run at all."""
    if sys.platform != "win32":
        import resource  # not on Windows

        with suppress(ValueError, OSError):
            _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
            resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))
