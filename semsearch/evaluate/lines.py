"""The lines of a data file, numbered. Errors name the file, and the line where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from semsearch.errors import SourceError


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Each line that is not blank, with its number from 1, without its end. Lines end with LF or CRLF, nothing else.

    Raises SourceError where the file cannot be read as UTF-8.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}; give a file that can") from error
    except UnicodeDecodeError as error:
        place = error.object[: error.start].count(b"\n") + 1
        raise SourceError(f"{path}, line {place}: this is not UTF-8; convert the file") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.removesuffix("\r")


def broken(path: Path, number: int, expected: str, found: str) -> SourceError:
    """The error for a line that is not what it should be."""
    shown = found if len(found) <= 60 else found[:60] + "…"
    return SourceError(f"{path}, line {number}: expected {expected}, found {shown!r}")
