"""Plan a sync: compare the documents of an index with the files on disk. Pure, but for the digests it asks for.

A file counts as unchanged if its size and time are the same, and the time lies clearly before the moment its content
was last read: an edit within the same tick of the file system's clock leaves both as they were. All other files are
compared by the digest of their content, as are files that vanished in one folder and appeared in another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

CLOCK_TICK_NS = 2_000_000_000  # the coarsest file system's clock (FAT) steps by two seconds


@dataclass(frozen=True, slots=True)
class Known:
    """A document as the index knows it. `place` is its absolute path with forward slashes, in NFC: its identity."""

    document_id: int
    root_id: int
    path: str
    place: str
    size: int
    mtime_ns: int
    checked_ns: int
    digest: str


@dataclass(frozen=True, slots=True)
class Present:
    """A file as it is on disk. `path` and `place` are in NFC, `file` and `absolute` spelled as on disk.

    `path` and `file` are relative to the root, `place` and `absolute` are absolute; `absolute` is the one to open.
    """

    root_id: int
    path: str
    place: str
    file: str
    absolute: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A known document and the file that it is now."""

    known: Known
    present: Present


@dataclass(slots=True)
class Plan:
    """What a sync has to do. `touched`: the same content with a new time or root; `unread`: the file cannot be read."""

    added: list[Present] = field(default_factory=list)
    changed: list[Pair] = field(default_factory=list)
    moved: list[Pair] = field(default_factory=list)
    touched: list[Pair] = field(default_factory=list)
    removed: list[Known] = field(default_factory=list)
    unread: list[Pair] = field(default_factory=list)
    unchanged: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether no document of the index has to change."""
        return not (self.added or self.changed or self.moved or self.touched or self.removed)


def plan(known: Iterable[Known], present: Iterable[Present], *, digest: Callable[[Present], str | None]) -> Plan:
    """Compare known documents with present files. `digest` gives the digest of a file's content, None if unreadable.

    It is called only where size and time leave a doubt.
    """
    result = Plan()
    missing = {document.place: document for document in known}
    appeared: list[Present] = []
    for file in present:
        document = missing.pop(file.place, None)
        if document is None:
            appeared.append(file)
        elif looks_unchanged(document, file):
            if (document.root_id, document.path) == (file.root_id, file.path):
                result.unchanged += 1
            else:
                result.touched.append(Pair(document, file))
        else:
            _compare(Pair(document, file), digest(file), result)
    _find_moved(missing, appeared, digest, result)
    return result


def looks_unchanged(known: Known, present: Present) -> bool:
    """Return whether size and time prove that a file has not changed since its content was read."""
    return (
        known.size == present.size
        and known.mtime_ns == present.mtime_ns
        and known.mtime_ns < known.checked_ns - CLOCK_TICK_NS
    )


def _compare(pair: Pair, digest: str | None, result: Plan) -> None:
    if digest is None:
        result.unread.append(pair)
    elif digest == pair.known.digest:
        result.touched.append(pair)
    else:
        result.changed.append(pair)


def _find_moved(
    missing: dict[str, Known], appeared: list[Present], digest: Callable[[Present], str | None], result: Plan
) -> None:
    """Pair documents that vanished with files that appeared, by content and suffix: a document keeps its file type."""
    by_size: dict[int, list[Known]] = defaultdict(list)
    for document in missing.values():
        by_size[document.size].append(document)
    for file in appeared:
        candidates = [old for old in by_size.get(file.size, ()) if old.place in missing and _same_kind(old, file)]
        content = digest(file) if candidates else None
        match = next((old for old in candidates if old.digest == content), None)
        if match is None:
            result.added.append(file)
        else:
            del missing[match.place]
            result.moved.append(Pair(match, file))
    result.removed.extend(missing.values())


def _same_kind(known: Known, present: Present) -> bool:
    return PurePosixPath(known.path).suffix.lower() == PurePosixPath(present.path).suffix.lower()
