"""Messages of Outlook (.msg), by python-oxmsg: each is read as the mail that it was.

Some programs call other files so, such as catalogues of translated messages: what is no message of Outlook is text.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any

from semsearch.errors import MissingExtra, SourceError
from semsearch.readers import text
from semsearch.readers.containers import mail
from semsearch.readers.document import Document, first_names
from semsearch.readers.encoding import decode
from semsearch.results.reports import Omission

_SIGN = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_TO, _CC = 1, 2  # kinds of recipients
_KIND = 0x0C15  # the property that says it
_RTF = 0x1009  # the property that has the text as compressed RTF


def read(data: bytes, name: str) -> Document:
    """Read a message, with its attachments. Raises SourceError for a damaged one, MissingExtra."""
    if not data.startswith(_SIGN):
        decoded = decode(data, name)
        return text.read(decoded.text, name)
    try:
        from oxmsg import Message
    except ImportError:
        raise MissingExtra("python-oxmsg", "msg") from None
    try:
        message = Message.load(io.BytesIO(data))
        document = mail.read(_mail(message).as_bytes(), name, has_lines=False)
        unread = tuple(_unread(message))
    except SourceError:
        raise
    except Exception as error:  # olefile and oxmsg have many for what is damaged
        raise SourceError(
            f"{name} cannot be read as .msg: {error or type(error).__name__}; it may be damaged"
        ) from None
    return replace(document, omissions=(*document.omissions, *unread))


def _mail(message: Any) -> EmailMessage:
    """The mail that a message of Outlook was."""
    mail = EmailMessage()
    headers = {key.title(): value for key, value in message.message_headers.items()}
    _set(mail, "Subject", message.subject)
    _set(mail, "From", headers.get("From") or message.sender)
    for header, kind in (("To", _TO), ("Cc", _CC)):
        people = (f"{item.name} <{item.email_address}>" for item in message.recipients if _kind(item) == kind)
        _set(mail, header, headers.get(header) or ", ".join(people))
    _set(mail, "Date", headers.get("Date") or (format_datetime(message.sent_date) if message.sent_date else ""))
    if message.body or not message.html_body:
        mail.set_content(message.body or "")
    else:
        mail.set_content(message.html_body, subtype="html")
    for number, item in enumerate(message.attachments, start=1):
        if (content := item.file_bytes) is not None:
            named = item.file_name or f"{number}"
            mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=named)
    return mail


def _set(mail: EmailMessage, header: str, value: str | None) -> None:
    if value := " ".join((value or "").split()):
        mail[header] = value


def _kind(recipient: Any) -> int:
    return int(recipient.properties.int_prop_value(_KIND) or 0)


def _unread(message: Any) -> Iterator[Omission]:
    """What python-oxmsg does not unpack: messages attached to this one, and a text that is there only as RTF."""
    within = [
        attachment.file_name or "a message" for attachment in message.attachments if attachment.file_bytes is None
    ]
    if within:
        yield Omission("attachments", len(within), f"{first_names(within)}: attached as an item; save it as .eml")
    if not (message.body or message.html_body) and message.properties.binary_prop_value(_RTF):
        yield Omission("attachments", 1, "its text: is compressed RTF; save the message as .eml")
