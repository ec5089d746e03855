"""Files and parts of files that were not indexed, why, and what to do about it. Plain frozen data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from semsearch.results.codec import Record

OmissionKind = Literal[
    "doubtful encoding", "broken bytes", "pages without text", "attachments", "embedded files", "archived files",
    "encrypted parts", "damaged parts", "over the limit",
]  # fmt: skip
ProblemKind = Literal[
    "not read",
    "doubtful encoding", "broken bytes", "pages without text", "attachments", "embedded files", "archived files",
    "encrypted parts", "damaged parts", "over the limit",
]  # fmt: skip
_NO_ENDING = "no ending"
WAITING = "its text is recognized last: semsearch index goes on with it"


@dataclass(frozen=True, slots=True)
class Omission(Record):
    """A part of a file that its reader could not read, or may have misread."""

    kind: OmissionKind
    count: int = 1  # number of pages, byte sequences, attachments, bytes
    detail: str = ""  # which, or how they were read


def together(omissions: Iterable[Omission]) -> tuple[Omission, ...]:
    """The omissions of a file, from those of its parts: those of one kind and detail are summed."""
    counts = Counter[tuple[OmissionKind, str]]()
    for omission in omissions:
        counts[omission.kind, omission.detail] += omission.count
    return tuple(Omission(kind, count, detail) for (kind, detail), count in counts.items())


@dataclass(frozen=True, slots=True)
class Problem(Record):
    """A file that was not read, or only in part."""

    path: str
    kind: ProblemKind
    reason: str  # and the remedy


def count_endings(paths: Iterable[str]) -> dict[str, int]:
    """Count files by ending (".heic", or "no ending"), most frequent first."""
    endings = Counter(_ending(path) for path in paths if not path.endswith("/"))
    return dict(sorted(endings.items(), key=lambda item: (-item[1], item[0])))


def _ending(path: str) -> str:
    """The ending of a path, without pathlib, which takes four times as long: there may be 100,000 pictures."""
    name = path[max(path.rfind("/"), path.rfind("\\")) + 1 :]
    dot = name.rfind(".")
    return name[dot:].lower() if 0 < dot < len(name) - 1 else _NO_ENDING


def endings_in_words(counts: Mapping[str, int], *, most: int = 6) -> str:
    """Write counts of endings in words: "3 .heic, 2 .bin, 14 others"."""
    parts = [f"{count:,} {ending if ending != _NO_ENDING else 'without ending'}" for ending, count in counts.items()]
    others = sum([*counts.values()][most:])
    return ", ".join([*parts[:most], f"{others:,} others"] if others else parts)


def in_words(omission: Omission) -> str:
    """Describe an omission in words, with the remedy."""
    count, detail = f"{omission.count:,}", f" ({omission.detail})" if omission.detail else ""
    s = "s" if omission.count != 1 else ""
    match omission.kind:
        case "doubtful encoding":
            return f"{omission.detail}, which may be wrong; convert the file to UTF-8"
        case "broken bytes":
            return f"{count} invalid byte sequence{s} replaced by U+FFFD; restore the file, or convert it to UTF-8"
        case "pages without text":
            advice = (
                "" if "; " in detail else "; run text recognition (OCR) on the file"
            )  # as earlier versions wrote it
            return f"{count} page{s} without text{detail}, perhaps scanned{advice}"
        case "attachments":
            advice = "" if detail else "; save them as separate files to index them"  # a detail has the reasons
            return f"{count} attachment{s} not read{detail}{advice}"
        case "archived files":
            return f"{count} file{s} in it not read{detail}"
        case "over the limit":
            return f"{count} byte{s} {omission.detail} not read; raise --max-file-size, or split the file"
        case "embedded files":
            return f"{count} embedded file{s} not read{detail}; save them as separate files to index them"
        case "damaged parts":
            return f"{count} damaged part{s} left out{detail}; restore the file, or save it again"
        case "encrypted parts":
            return f"{count} encrypted part{s} not read{detail}; save the file without encryption"
