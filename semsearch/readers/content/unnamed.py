"""Files whose names no reader is for: which of them are text that a person might look for, told by a look at each.

Read as text are LICENSE, Makefile, settings and logs, whatever their ending; and what is a format known here under
another name. Left out are files that are not text, those that programs write for programs (locks, maps of minified
scripts, keys, tables of numbers), and large ones: --include takes them all the same, since then they are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePath

from semsearch.errors import SourceError
from semsearch.readers.content.decode import decode
from semsearch.readers.content.sniff import archive_format, format_by_content, text_format_by_content, unreadable_kind

_HEAD = 16_384  # bytes that a verdict is based on
LARGEST = 1_000_000  # bytes: larger text of a kind that has no reader was written by a machine, as a log was
_FOR_MACHINES = {  # by the end of a name, in lower case
    ".lock": "a lock file", "package-lock.json": "a lock file", "pnpm-lock.yaml": "a lock file",
    "npm-shrinkwrap.json": "a lock file", "go.sum": "a lock file", ".lockb": "a lock file", ".map": "a source map",
    ".svg": "a drawing", ".css": "a style sheet", ".scss": "a style sheet", ".less": "a style sheet",
}  # fmt: skip
_UNPACK, _SAVE = "; unpack it", "; save it as .docx, .xlsx or .pptx"
_ADVICE = {  # for what can be made readable
    "compressed with gzip": _UNPACK, "compressed with bzip2": _UNPACK, "compressed with xz": _UNPACK,
    "compressed with Zstandard": _UNPACK, "a 7z archive": _UNPACK, "a RAR archive": _UNPACK,
    "an old Office file, or one with a password": f"{_SAVE} without a password", "an RTF document": _SAVE,
}  # fmt: skip
_LONG_LINES = 1_000  # characters on average: no one writes such, but a minifier does
_FEW_SPACES = 0.04  # of the characters of ASCII text; prose has a sixth, base64 a sixtieth
_DIGITS = 0.4  # of the characters that are no spaces; prose and settings have a twentieth, tables of numbers most
_ENOUGH = 400  # characters to judge by
_ASCII_SPACE = re.compile(r"\s")


def refusal(path: Path, size: int) -> str:
    """Why a file without a reader is not read as text; "" if it is. What cannot be opened is left to its reader."""
    return refusal_of(path, size, partial(_first_bytes, path), lambda: bool(archive_format(path)))


def _first_bytes(path: Path, count: int) -> bytes:
    with path.open("rb") as file:
        return file.read(count)


def refusal_of(path: PurePath, size: int, head: Callable[[int], bytes], is_document: Callable[[], bool]) -> str:
    """Why what has no reader is not read as text, as `refusal`.

    `head` gives so many of its first bytes or raises OSError; `is_document` tells of a zip archive whether it is one.
    """
    ending = next((kind for end, kind in _FOR_MACHINES.items() if path.name.lower().endswith(end)), "")
    if ending:
        return f"is {ending}; {_included(path)}"
    try:
        found = head(_HEAD)
    except OSError:
        return ""
    if found.startswith(b"PK\x03\x04"):
        return "" if is_document() else "is a zip archive; unpack it"
    return _refused(found, path, size)


def _refused(head: bytes, path: PurePath, size: int) -> str:
    if format_by_content(head) or text_format_by_content(head):
        return ""
    if kind := unreadable_kind(head):
        return f"is {kind}, which no reader is for{_ADVICE.get(kind, '')}"
    try:
        text = decode(head[: head.rfind(b"\n") + 1] or head, path.name).text
    except SourceError:
        return "is binary, and no reader is for it"
    if size > LARGEST:
        return f"has {size:,} bytes, and no reader is for such files; {_included(path)}"
    return f"looks like {kind}; {_included(path)}" if (kind := _for_machines(text)) else ""


def _for_machines(text: str) -> str:
    """Name the kind of a text that is not written for people, such as a minified file; empty for other texts."""
    spaces = len(_ASCII_SPACE.findall(text))
    others = len(text) - spaces
    if len(text) < _ENOUGH:
        return ""
    if len(text) > _LONG_LINES * (text.count("\n") + 1) and spaces < 2 * _FEW_SPACES * len(text):
        return "a minified file"
    if text.isascii() and spaces < _FEW_SPACES * len(text):
        return "encoded data"
    return "a table of numbers" if sum(map(str.isdigit, text)) > _DIGITS * others else ""


def _included(path: PurePath) -> str:
    pattern = f"*{path.suffix}" if path.suffix else path.name
    return f"--include '*' --include '{pattern}' takes it all the same"
