"""Mail: one message (.eml) or a whole mailbox (.mbox).

A message is read as its subject (a heading), who wrote it, to whom and when, and its text: the plain text if there is
one, else the HTML. Messages within a message are read too; other attachments and encrypted parts are not, and are
reported. Places are the messages of a mailbox, by their number, and attached messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import EmailPolicy, default
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers import html, text
from semsearch.readers.document import Builder, DamagedParts, Document, first_names
from semsearch.readers.encoding import Decoded, declared_encoding, decode, text_encoding
from semsearch.results.omissions import Omission, together

_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")


class UnreadParts:
    """Counts the parts of messages that are left out, and remembers the first names."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._encrypted = 0

    def of(self, message: EmailMessage, body: EmailMessage | None) -> None:
        """Count the unread parts of a message and of the messages within it; `body` is the part that is read."""
        for part in _leaves(message):
            if part.get_content_type() in _ENCRYPTED:
                self._encrypted += 1
            elif part is not body and (name := _attached(part)) is not None:
                self._names.append(name)

    @property
    def omissions(self) -> tuple[Omission, ...]:
        """The omissions of a file: its attachments and its encrypted parts."""
        found = []
        if self._names:
            found.append(Omission("attachments", len(self._names), first_names(self._names)))
        if self._encrypted:
            found.append(Omission("encrypted parts", self._encrypted))
        return tuple(found)


def _leaves(message: EmailMessage) -> Iterator[Any]:
    """The parts of a message that have no parts, and those that are encrypted, which are not searched further."""
    waiting: list[Any] = [message]
    while waiting:
        part = waiting.pop(0)
        if part.is_multipart() and part.get_content_type() not in _ENCRYPTED:
            waiting += part.get_payload()
        else:
            yield part


def _attached(part: Any) -> str | None:
    """The name of a part that is attached, "" for one without; nothing for one that belongs to the text."""
    if part.get_content_type() in _SIGNATURES:
        return None
    try:
        name, disposition = part.get_filename(), part.get_content_disposition()
    except Exception:  # the parser of headers fails on some that people's mailboxes have
        return None
    return (name or "") if name or disposition == "attachment" else None


# -- Reader ------------------------------------------------------------------------------------------------------------

_SEPARATOR = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]+ \d\d:\d\d[^\r\n]*\r?\n")
_QUOTED_SEPARATOR = re.compile(rb"^>(>*From )", re.MULTILINE)
_HEADER = re.compile(rb"[!-9;-~]+:")
_SHOWN = ("From", "To", "Cc", "Date")
_DEEPEST = 10  # messages within messages
_LONGEST_HEADER = 20_000  # characters: some five hundred recipients


@lru_cache(maxsize=64)
def _parsed_header(name: str, value: str) -> Any:
    return default.header_fetch_parse(name, value)


class _BoundedHeaders(EmailPolicy):
    """Headers are cut, and parsed once: Python's parser takes a minute a megabyte, at each look at a header."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return _parsed_header(name, value)


def read(data: bytes, name: str) -> Document:
    """Read the messages of a file. The title of a single one is its subject, that of a mailbox its name."""
    bodies = _bodies(data)
    if not bodies and data.strip():
        raise SourceError(f"{name} is not mail: expected header lines such as 'Subject: ...', or a mailbox of messages")
    builder = Builder()
    damaged, unread, doubts = DamagedParts(name), UnreadParts(), list[Omission]()
    metadata: dict[str, Any] = {}
    for number, (start, end) in enumerate(bodies, start=1):
        message = _message(data[start:end], quoted=start > 0)
        unread.of(message, _body(message))
        _take(message, builder, f"message {number}" if start else None, damaged, doubts)
        metadata = _metadata(message) if len(bodies) == 1 else {}
    title = metadata.get("subject") or PurePath(name).stem
    omissions = together([*doubts, *unread.omissions, *damaged.omissions(builder.blocks)])
    return Document(builder.source, builder.blocks, "mail", title, metadata, omissions)


def _bodies(data: bytes) -> list[tuple[int, int]]:
    """Where the messages of a file begin and end."""
    parts = [found.span() for found in _SEPARATOR.finditer(data)]
    if not parts or parts[0][0]:  # a line of a letter that begins like a separator makes no mailbox
        return [(0, len(data))] if _HEADER.match(data.lstrip()) else []
    ends = [*(start for start, _ in parts[1:]), len(data)]
    return [(start, end) for (_, start), end in zip(parts, ends, strict=True)]


def _message(data: bytes, *, quoted: bool) -> EmailMessage:
    return message_from_bytes(_QUOTED_SEPARATOR.sub(rb"\1", data) if quoted else data, policy=_BoundedHeaders())  # type: ignore[arg-type]  # the type of its messages is that of the default


def _take(
    message: EmailMessage,
    builder: Builder,
    place: str | None,
    damaged: DamagedParts,
    doubts: list[Omission],
    depth: int = 0,
) -> None:
    level = 1 if depth == 0 else 2
    builder.end_sections(level)
    builder.add(_header(message, "Subject"), level=level, place=place, part=place)
    lines = (f"{name}: {value}" for name in _SHOWN if (value := _header(message, name)))
    builder.add("\n".join(lines), place=place, part=place)
    body = _body(message)
    if body is not None:
        part = place or "its text"
        kind = html if body.get_content_subtype() == "html" else text
        with damaged.left_out():
            decoded = _content(body, part)
            doubts += decoded.omissions
            builder.add_all(kind.read(decoded.text, part).blocks, place=place, part=place)
    for number, inner in enumerate(_inner(message), start=1):
        if depth < _DEEPEST:
            where = ", ".join(filter(None, (place, f"attached message {number}")))
            _take(inner, builder, where, damaged, doubts, depth + 1)


def _body(message: EmailMessage) -> EmailMessage | None:
    """The part of a message that is its text; in a damaged message, the first that could be."""
    try:
        body: Any = message.get_body(("plain", "html"))
    except (AttributeError, KeyError, ValueError):
        body = next((part for part in message.walk() if part.get_content_maintype() == "text"), None)
    return body if isinstance(body, EmailMessage) else None


def _content(body: EmailMessage, name: str) -> Decoded:
    data: Any = body.get_payload(decode=True)
    if not isinstance(data, bytes):
        return Decoded("")
    named = body.get_content_charset()
    return decode(data, name, declared=text_encoding(named) if named else declared_encoding(data))


def _inner(message: EmailMessage) -> list[EmailMessage]:
    """The messages that are attached to a message, or forwarded with it, without those nested in them."""
    found: list[EmailMessage] = []
    waiting: list[Any] = [message]
    while waiting:
        part = waiting.pop(0)
        if part.get_content_type() == "message/rfc822" and isinstance(part.get_payload(), list):
            found += [inner for inner in part.get_payload() if isinstance(inner, EmailMessage)]
        elif part.is_multipart():
            waiting += part.get_payload()
    return found


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except Exception:  # the parser of headers fails on some that people's mailboxes have
        return ""


def _metadata(message: EmailMessage) -> dict[str, Any]:
    return {name.lower(): value for name in ("Subject", *_SHOWN) if (value := _header(message, name))}
