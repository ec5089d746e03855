"""Mail: one message (.eml, a file of a Maildir) or a whole mailbox (.mbox).

A message is read as its subject (a heading), who wrote it, to whom and when, and its text: the plain text if there is
one, else the HTML. Its sender, recipients, subject and date are metadata: of the document, or in a mailbox of each
message. Attached messages are read too, and attached files by their own readers; pictures and encrypted parts are not,
and are reported. Places are the messages of a mailbox, by their number, attached messages and attached files; the
lines of the file are nobody's, since text may be encoded there.

What a reply quotes is a part of its own, without the marks of quotation, so that it is recognised as the same as the
original by whoever looks for near-duplicates; what an earlier message of the same mailbox has is not read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import groupby
from mimetypes import guess_extension
from typing import Any, NamedTuple

from semsearch.errors import SourceError
from semsearch.readers import text
from semsearch.readers.archive import InnerFiles, contained_name
from semsearch.readers.document import Builder, DamagedParts, Document, Omission, title_of, together
from semsearch.readers.encoding import declared_encoding, decode, text_encoding
from semsearch.readers.markup import html
from semsearch.readers.unpacking import allowance

_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_SEPARATOR = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]+ \d\d:\d\d[^\r\n]*\r?\n")
_QUOTED_SEPARATOR = re.compile(rb"^>(>*From )", re.MULTILINE)
_HEADER = re.compile(rb"[!-9;-~]+:")
_SHOWN = ("From", "To", "Cc", "Date")
_DEEPEST = 10  # messages within messages
_LONGEST_HEADER = 20_000  # characters: some five hundred recipients


def read(data: bytes, name: str) -> Document:
    """Read the messages of a file. The title of a single message is its subject, that of a mailbox its name."""
    bodies = _bodies(data)
    if not bodies and data.strip():
        raise SourceError(f"{name} is not mail: expected header lines such as 'Subject: ...', or a mailbox of messages")
    builder, metadata = Builder(), dict[str, Any]()
    reading = _MailReading(builder, DamagedParts(name), InnerFiles(name, "attachments", builder))
    with allowance(name):
        for number, (start, end) in enumerate(bodies, start=1):
            message = _message(data[start:end], quoted=start > 0)
            metadata = _metadata(message)
            reading.metadata = metadata if len(bodies) > 1 else None
            reading.take(message, f"message {number}" if start else None)
    metadata = metadata if len(bodies) == 1 else {}
    title = title_of(name, metadata.get("subject", ""))
    encrypted = (Omission("encrypted parts", reading.encrypted),) if reading.encrypted else ()
    omissions = [*reading.doubts, *reading.inner.omissions, *encrypted, *reading.damaged.omissions(builder.blocks)]
    return Document(builder.source, builder.blocks, "mail", title, metadata, together(omissions))


def _bodies(data: bytes) -> list[tuple[int, int]]:
    """Where the messages of a file begin and end."""
    parts = [match.span() for match in _SEPARATOR.finditer(data)]
    if not parts or parts[0][0]:  # a line of a letter that begins like a separator makes no mailbox
        return [(0, len(data))] if _HEADER.match(data.lstrip()) else []
    ends = [*(start for start, _ in parts[1:]), len(data)]
    return [(start, end) for (_, start), end in zip(parts, ends, strict=True)]


def _message(data: bytes, *, quoted: bool) -> Message:
    return message_from_bytes(_QUOTED_SEPARATOR.sub(rb"\1", data) if quoted else data)


@dataclass(slots=True)
class _MailReading:
    """The state of reading the messages of one file."""

    builder: Builder
    damaged: DamagedParts
    inner: InnerFiles
    metadata: dict[str, Any] | None = None  # of the message that is read, where the document has others
    doubts: list[Omission] = field(default_factory=list)
    encrypted: int = 0
    said: set[int] = field(default_factory=set)  # sentences of messages, by hash

    def take(self, message: Message, place: str | None, depth: int = 0) -> None:
        """Add a message, and what is attached to it."""
        level = 1 if depth == 0 else 2
        self.builder.end_sections(level)
        self._add(_header(message, "Subject"), place, level)
        lines = (f"{name}: {value}" for name in _SHOWN if (value := _header(message, name)))
        self._add("\n".join(lines), place)
        messages, files = list[Message](), list[tuple[str, Message]]()
        for number, (part, is_text) in enumerate(_leaves(message), start=1):
            kind, name = part.get_content_type(), part.get_filename()
            if kind in _ENCRYPTED:
                self.encrypted += 1
            elif kind == "message/rfc822":
                messages += part.get_payload() if part.is_multipart() else ()
            elif (name or part.get_content_disposition() == "attachment") and kind not in _SIGNATURES:
                files.append((name or f"{number}{guess_extension(kind) or ''}", part))
            elif is_text and kind in ("text/plain", "text/html"):
                with self.damaged.left_out():
                    self._take_text(part, place)
        for name, part in files:
            where = ", ".join(filter(None, (place, f"attachment {contained_name(name)}")))
            self.inner.take(name, partial(_payload, part), place=where, level=2, metadata=self.metadata)
        for number, inner in enumerate(messages if depth < _DEEPEST else (), start=1):
            self.take(inner, ", ".join(filter(None, (place, f"attached message {number}"))), depth + 1)

    def _take_text(self, body: Message, place: str | None) -> None:
        is_html, named, data = body.get_content_type() == "text/html", body.get_content_charset(), _payload(body)
        part = place or "its text"
        decoded = decode(data, part, declared=text_encoding(named) if named else declared_encoding(data))
        self.doubts += decoded.omissions
        paragraphs = list[str]()
        for stretch in _html_stretches(decoded.text) if is_html else _stretches(decoded.text):
            blocks = (html if is_html else text).read(stretch.text, part).blocks
            where = ", ".join(filter(None, (place, "quoted"))) if stretch.is_quoted else place
            if stretch.is_quoted:
                blocks = [block for block in blocks if not self._is_said(block.text)]
            else:
                paragraphs += (block.text for block in blocks)
            self.builder.add_all(blocks, place=where, part=where, metadata=self.metadata)
        for paragraph in paragraphs:
            self.said.update(_sentence_hashes(paragraph))

    def _is_said(self, paragraph: str) -> bool:
        """Whether all sentences of a paragraph that is quoted are in an earlier message."""
        return bool(self.said) and all(sentence in self.said for sentence in _sentence_hashes(paragraph))

    def _add(self, text: str, place: str | None, level: int = 0) -> None:
        self.builder.add(text, level=level, place=place, part=place, metadata=self.metadata)


def _leaves(part: Any, *, is_text: bool = True) -> Iterator[tuple[Any, bool]]:
    """The parts of a message that have no parts, are messages or encrypted, and whether each may be its text.

    Of alternatives the plain one is, if there is anything in it, else the last.
    """
    kind = part.get_content_type()
    if not part.is_multipart() or kind in _ENCRYPTED or kind == "message/rfc822":
        yield part, is_text
        return
    parts = texts = part.get_payload()
    if kind == "multipart/alternative":
        plain = (inner for inner in parts if inner.get_content_type() == "text/plain" and _payload(inner).strip())
        texts = [next(plain, parts[-1])]
    for inner in parts:
        yield from _leaves(inner, is_text=is_text and inner in texts)


def _payload(part: Any) -> bytes:
    """The decoded bytes of a part."""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _header(message: Message, name: str) -> str:
    """A header on one line; those of people without quotation marks around their names."""
    raw = next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")
    value: Any = raw[:_LONGEST_HEADER].encode("ascii", "surrogateescape").decode("utf-8", "replace")
    with suppress(ValueError, LookupError, MessageError):  # of an encoding that is unknown or broken
        value = make_header(decode_header(value))
    text = " ".join(str(value).encode("utf-8", "replace").decode().split())
    return text if name in ("Subject", "Date") else text.replace('"', "")


def _metadata(message: Message) -> dict[str, Any]:
    metadata = {name.lower(): value for name in ("Subject", *_SHOWN) if (value := _header(message, name))}
    with suppress(ValueError, TypeError, IndexError, OverflowError):  # a date that nobody can read stays as it is
        metadata["date"] = parsedate_to_datetime(metadata.get("date", "")).isoformat()
    return metadata


# -- Quotations --------------------------------------------------------------------------------------------------------

_MARK = re.compile(r"[ \t]*>[> \t]*")
_ORIGINAL = re.compile(  # where a reply above its quotation ends
    r"^[ \t]*(?:-{2,} ?(?:Original Message|Forwarded message|Ursprüngliche Nachricht|Weitergeleitete Nachricht"
    r"|Message d'origine|Mensaje original|Messaggio originale)\b[^\r\n]*|_{10,}[ \t]*\r?\n(?=From: ))",
    re.MULTILINE | re.IGNORECASE,
)
_HTML_QUOTE = re.compile(
    r"<(?:blockquote\b|div\b[^>]*?(?:class=[\"']?gmail_quote|id=[\"']?(?:appendonsend|divRplyFwdMsg)))", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


class _Stretch(NamedTuple):
    """A part of a message's text: the sender's own, or a quotation without its marks."""

    text: str
    is_quoted: bool


def _stretches(text: str) -> Iterator[_Stretch]:
    """The sender's own text and the quotations in a plain text, in order."""
    below = _ORIGINAL.search(text)
    reply = text[: below.start()] if below else text
    for quoted, group in groupby(reply.splitlines(keepends=True), key=lambda line: bool(_MARK.match(line))):
        lines = "".join(_MARK.sub("", line, count=1) if quoted else line for line in group)
        yield _Stretch(lines, quoted)
    if below:
        yield _Stretch("\n".join(_MARK.sub("", line, count=1) for line in text[below.start() :].splitlines()), True)


def _html_stretches(page: str) -> Iterator[_Stretch]:
    """The stretches of an HTML message, where all that follows the beginning of a quotation is taken for one."""
    match = _HTML_QUOTE.search(page)
    yield _Stretch(page[: match.start()] if match else page, False)
    if match:
        yield _Stretch(page[match.start() :], True)


def _sentence_hashes(paragraph: str) -> list[int]:
    return [hash(" ".join(sentence.split())) for sentence in _SENTENCE_END.split(paragraph.strip())]
