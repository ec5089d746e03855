"""The pipes to the client. Nothing but messages goes into them, whoever prints in this process.

Descriptors 0 and 1 are taken away from everyone else: what a library, in Python or in C, or a child process writes to
the standard output goes to the standard error instead, and who reads the standard input finds it empty.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from typing import BinaryIO

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_MOST = 4_000_000  # bytes of a line


class TooLong(ValueError):
    """A line of more bytes than are read."""


class ClientGone(OSError):
    """Nobody reads the answers any more."""


class MessagePipes:
    """Reads lines from a descriptor, and writes lines whole to another. Threads may write at the same time."""

    def __init__(self, reading: int, writing: int, *, most: int = _MOST) -> None:
        self._lines: BinaryIO = os.fdopen(reading, "rb")
        self._writing = writing
        self._most = most
        self._lock = threading.Lock()

    @classmethod
    def of_this_process(cls) -> MessagePipes:
        """Take the standard input and output for messages alone."""
        sys.stdout.flush()
        reading, writing = os.dup(_STDIN), os.dup(_STDOUT)  # which no child process inherits
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, _STDIN)
        os.dup2(_STDERR, _STDOUT)
        os.close(nothing)
        return cls(reading, writing)

    def close(self) -> None:
        """Close both descriptors."""
        self._lines.close()
        os.close(self._writing)

    def read(self) -> bytes | None:
        """Read the next line; None at the end. Raises TooLong, after which reading goes on with the line behind."""
        line = self._lines.readline(self._most + 1)
        if len(line) <= self._most:
            return line or None
        while line and not line.endswith(b"\n"):
            line = self._lines.readline(self._most)
        raise TooLong(f"a message has at most {self._most:,} bytes")

    def write(self, message: bytes) -> None:
        """Write a message and its line end. Raises ClientGone."""
        with self._lock:
            rest = memoryview(message + b"\n")
            while rest:
                rest = rest[self._written(rest) :]

    def _written(self, data: memoryview) -> int:
        try:
            return os.write(self._writing, data)
        except BlockingIOError:  # a client may share its end of the pipe with us, and have made it so
            select.select([], [self._writing], [])
            return 0
        except OSError as error:
            raise ClientGone(str(error)) from error
