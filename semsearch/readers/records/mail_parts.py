"""The parts of a message that are not read: attachments, and what is encrypted."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage
from typing import Any

from semsearch.results.state.problems import Omission

_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_TOLD = 3
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
            names = ", ".join(filter(None, self._names[:_TOLD])) + (", ..." if len(self._names) > _TOLD else "")
            found.append(Omission("attachments", len(self._names), names))
        if self._encrypted:
            found.append(Omission("encrypted parts", self._encrypted))
        return tuple(found)


def _leaves(message: EmailMessage) -> Iterator[Any]:
    """The parts of a message that have no parts, and those that are encrypted, which are looked at no further."""
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
