"""Mail: one message (.eml) or a whole mailbox (.mbox).

A message is its subject as a heading, who wrote it, to whom and when, and its text: the plain text where there is one,
else the HTML. Messages within a message are read too, attachments are not. Places are messages of the mailbox.
"""

from __future__ import annotations

import re
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import PurePath
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers import html, text
from semsearch.readers.builder import Builder
from semsearch.readers.decode import declared_encoding, decode
from semsearch.readers.document import Document

_SEPARATOR = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]+ \d\d:\d\d[^\r\n]*\r?\n")
_QUOTED_SEPARATOR = re.compile(rb"^>(>*From )", re.MULTILINE)
_HEADER = re.compile(rb"[!-9;-~]+:")
_SHOWN = ("From", "To", "Cc", "Date")
_DEEPEST = 10  # messages within messages


def read(data: bytes, name: str) -> Document:
    """The messages of a file. The title of a single one is its subject, that of a mailbox its name."""
    messages = _messages(data)
    if not messages and data.strip():
        raise SourceError(f"{name} is no mail: expected header lines such as 'Subject: ...', or a mailbox of messages")
    builder = Builder()
    for number, message in enumerate(messages, start=1):
        _take(message, builder, f"message {number}" if len(messages) > 1 else None)
    metadata = _metadata(messages[0]) if len(messages) == 1 else {}
    return Document(builder.source, builder.blocks, "mail", metadata.get("subject") or PurePath(name).stem, metadata)


def _messages(data: bytes) -> list[EmailMessage]:
    parts = [found.span() for found in _SEPARATOR.finditer(data)]
    if not parts:
        return [message_from_bytes(data, policy=default)] if _HEADER.match(data.lstrip()) else []
    ends = [*(start for start, _ in parts[1:]), len(data)]
    bodies = (data[start:end] for (_, start), end in zip(parts, ends, strict=True))
    return [message_from_bytes(_QUOTED_SEPARATOR.sub(rb"\1", body), policy=default) for body in bodies]


def _take(message: EmailMessage, builder: Builder, place: str | None, depth: int = 0) -> None:
    builder.add(_header(message, "Subject"), level=1 if depth == 0 else 2, place=place)
    lines = (f"{name}: {value}" for name in _SHOWN if (value := _header(message, name)))
    builder.add("\n".join(lines), place=place)
    body = _body(message)
    if body is not None:
        content = _content(body)
        kind = html if body.get_content_subtype() == "html" else text
        builder.add_all(kind.read(content, "mail").blocks, place=place)
    for part in _inner(message):
        if depth < _DEEPEST:
            _take(part, builder, place, depth + 1)


def _body(message: EmailMessage) -> EmailMessage | None:
    """The part that is the text; in a damaged message, the first that could be."""
    try:
        body: Any = message.get_body(("plain", "html"))
    except (AttributeError, KeyError, ValueError):
        body = next((part for part in message.walk() if part.get_content_maintype() == "text"), None)
    return body if isinstance(body, EmailMessage) else None


def _content(body: EmailMessage) -> str:
    data: Any = body.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    declared = body.get_content_charset() or declared_encoding(data)
    try:
        "".encode(declared or "utf-8")
    except LookupError:
        declared = None
    return decode(data, "the message", declared=declared)


def _inner(message: EmailMessage) -> list[EmailMessage]:
    """The messages that are attached to a message, or forwarded with it, not those within these."""
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
