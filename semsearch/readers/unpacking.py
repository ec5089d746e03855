"""What may be unpacked of one file, and single compressed files (.gz, .bz2, .xz).

All files that are within one, however deep, share an allowance of bytes and files, so that a few kilobytes never become
more than any memory holds. Sizes are bounded as they come out: what an archive's directory says of them may be wrong.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import IO

from semsearch.errors import SourceError
from semsearch.readers.registry import COMPRESSED, MAX_BYTES

MOST_BYTES = MAX_BYTES  # unpacked, of all files within one, however deep: as many as a file may have
MOST_FILES = 20_000
DEEPEST = 4  # files within files
_TAPE = ".tar"
_SHORT = {".tgz": ".tar", ".tbz2": ".tar", ".tbz": ".tar", ".txz": ".tar"}
_OPENERS: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": gzip.open,  # type: ignore[dict-item]  # which returns text only if asked to
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}


@dataclass(slots=True)
class Allowance:
    """The bytes that may still be unpacked of the files within one file."""

    name: str
    size: int = MOST_BYTES  # bytes
    files: int = MOST_FILES
    depth: int = 0

    def unpacked(self, stream: IO[bytes]) -> bytes:
        """All bytes of a stream. Raises SourceError if they are more than may be, and whatever the stream raises."""
        data = stream.read(self.size + 1)
        if len(data) > self.size:
            self.size = 0  # no other file is unpacked: a thousand such would take a thousand times as long
            raise SourceError(f"{self.name} unpacks to more than {MOST_BYTES:,} bytes; unpack it")
        self.size -= len(data)
        return data


_ALLOWANCE: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowance(name: str) -> Iterator[Allowance]:
    """The allowance of the outermost file that is read, one level deeper. Raises SourceError if that is too deep."""
    left = _ALLOWANCE.get() or Allowance(name)
    if left.depth >= DEEPEST:
        raise SourceError(f"{name} lies in files more than {DEEPEST} deep; unpack it")
    token = _ALLOWANCE.set(left)
    left.depth += 1
    try:
        yield left
    finally:
        left.depth -= 1
        _ALLOWANCE.reset(token)


# -- Compressed files --------------------------------------------------------------------------------------------------


def uncompressed(data: bytes, name: str) -> bytes:
    """The bytes of a compressed file without compression. Raises SourceError if it is damaged, or they are too many."""
    opener = opener_of(data)
    if opener is None:
        raise SourceError(f"{name} cannot be unpacked: it is not compressed, or damaged")
    with allowance(name) as left:
        try:
            return left.unpacked(opened_stream(data, opener))
        except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
            raise SourceError(f"{name} cannot be unpacked: {error}") from None


def is_tape(name: str) -> bool:
    """Whether a file with this name is an archive of tar, compressed or not."""
    return uncompressed_name(name).lower().endswith(_TAPE)


def uncompressed_name(name: str) -> str:
    """The name of a compressed file without compression: "ls.1" of "ls.1.gz", "all.tar" of "all.tgz"."""
    stem, dot, suffix = name.rpartition(".")
    return stem + _SHORT.get(f".{suffix}".lower(), "") if dot and f".{suffix}".lower() in COMPRESSED else name


def opener_of(data: bytes) -> Callable[[IO[bytes]], IO[bytes]] | None:
    """The function that opens compressed bytes, by the first of them; None for others."""
    return next((opener for sign, opener in _OPENERS.items() if data.startswith(sign)), None)


def opened_stream(data: bytes, opener: Callable[[IO[bytes]], IO[bytes]] | None) -> IO[bytes]:
    """The stream of what is in bytes, by its opener."""
    file = io.BytesIO(data)
    return opener(file) if opener else file
