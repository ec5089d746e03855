"""Messages between a program and the process that reads files for it: a header in JSON, and bytes, over a pipe."""

from __future__ import annotations

import io
import json
import os
import struct
from typing import Any

_SIZES = struct.Struct(">IQ")  # bytes of the header, bytes of the data
_PIECE = 1 << 20  # bytes that are read at once: a length that is wrong takes no memory
_MOST_HEADER = 16_000_000  # bytes; a question has the sentences of a page


class MessageError(Exception):
    """The other end of the pipe is closed, or has written what is no message."""


def send(descriptor: int, header: dict[str, Any], data: bytes = b"") -> None:
    """Write a message. Raises OSError."""
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", "surrogatepass")
    for part in (_SIZES.pack(len(text), len(data)) + text, data):
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(descriptor, rest[: 1 << 30]) :]


def receive(descriptor: int, most: int) -> tuple[dict[str, Any], bytes]:
    """Read a message with at most this many bytes of data. Raises MessageError, OSError."""
    header_size, data_size = _SIZES.unpack(_exactly(descriptor, _SIZES.size))
    if header_size > _MOST_HEADER or data_size > most:
        raise MessageError(f"a message of {header_size:,} and {data_size:,} bytes is too long")
    try:
        header = json.loads(_exactly(descriptor, header_size).decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise MessageError(f"the header of a message is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise MessageError("the header of a message is not an object")
    return header, _exactly(descriptor, data_size)


def _exactly(descriptor: int, count: int) -> bytes:
    received = io.BytesIO()  # its value is no copy
    while received.tell() < count:
        piece = os.read(descriptor, min(_PIECE, count - received.tell()))
        if not piece:
            raise MessageError("the other process has ended")
        received.write(piece)
    return received.getvalue()
