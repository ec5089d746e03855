"""Plan a sync: compare the documents of an index with the files on disk. Pure, but for the digests it asks for.

A file counts as unchanged if its size and time are the same, and the time lies clearly before the moment its content
was last read: an edit within the same tick of the file system's clock leaves both as they were. All other files are
compared by the digest of their content, as are files that vanished in one folder and appeared in another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import field
from pathlib import PurePosixPath
from typing import NamedTuple

from semsearch.frozen import dataclass
from semsearch.readers.records import NO_COLUMNS, Columns

CLOCK_TICK_NS = 2_000_000_000  # the coarsest file system's clock (FAT) steps by two seconds


class KnownDocument(NamedTuple):
    """A document as the index knows it. `canonical` identifies it: its absolute path with forward slashes, in NFC."""

    document_id: int
    root_id: int
    path: str
    canonical: str
    size: int
    mtime_ns: int
    checked_ns: int
    digest: str


class PresentFile(NamedTuple):
    """A file as it is on disk. `path` and `canonical` are in NFC, `file` and `absolute` spelled as on disk.

    `path` and `file` are relative to the root, the other two are absolute; `absolute` is the one to open. `store` is
    the URI by which the store of an object is opened; "" for a file of this machine.
    """

    root_id: int
    path: str
    canonical: str
    file: str
    absolute: str
    size: int
    mtime_ns: int
    is_known: bool = True
    columns: Columns = NO_COLUMNS  # that were chosen for its root
    store: str = ""


@dataclass(frozen=True, slots=True)
class FilePair:
    """A known document and its file on disk, which may have changed or moved."""

    known: KnownDocument
    present: PresentFile


@dataclass(slots=True)
class SyncPlan:
    """The changes that a sync has to make. `touched`: same content, new time or root; `unread`: cannot be read."""

    added: list[PresentFile] = field(default_factory=list)
    changed: list[FilePair] = field(default_factory=list)
    moved: list[FilePair] = field(default_factory=list)
    touched: list[FilePair] = field(default_factory=list)
    removed: list[KnownDocument] = field(default_factory=list)
    unread: list[FilePair] = field(default_factory=list)
    unchanged: int = 0

    @property
    def is_empty(self) -> bool:
        """Return whether no document of the index has to change."""
        return not (self.added or self.changed or self.moved or self.touched or self.removed)


def plan(
    known: Iterable[KnownDocument], present: Iterable[PresentFile], *, digest: Callable[[PresentFile], str | None]
) -> SyncPlan:
    """Compare known documents with present files. `digest` gives the digest of a file's content, None if unreadable.

    It is called only where size and time leave a doubt.
    """
    result = SyncPlan()
    missing = {document.canonical: document for document in known}
    appeared: list[PresentFile] = []
    for file in present:
        document = missing.pop(file.canonical, None)
        if document is None:
            appeared.append(file)
        elif looks_unchanged(document, file):
            if (document.root_id, document.path) == (file.root_id, file.path):
                result.unchanged += 1
            else:
                result.touched.append(FilePair(document, file))
        else:
            _compare(FilePair(document, file), digest(file), result)
    _find_moved(missing, appeared, digest, result)
    return result


def looks_unchanged(known: KnownDocument, present: PresentFile) -> bool:
    """Return whether size and time prove that a file has not changed since its content was read."""
    return (
        known.size == present.size
        and known.mtime_ns == present.mtime_ns
        and known.mtime_ns < known.checked_ns - CLOCK_TICK_NS
    )


def _compare(pair: FilePair, digest: str | None, result: SyncPlan) -> None:
    if digest is None:
        result.unread.append(pair)
    elif digest == pair.known.digest:
        result.touched.append(pair)
    else:
        result.changed.append(pair)


def _find_moved(
    missing: dict[str, KnownDocument],
    appeared: list[PresentFile],
    digest: Callable[[PresentFile], str | None],
    result: SyncPlan,
) -> None:
    """Pair documents that vanished with files that appeared, by content and suffix: a document keeps its file type."""
    by_size: dict[int, list[KnownDocument]] = defaultdict(list)
    for document in missing.values():
        by_size[document.size].append(document)
    for file in appeared:
        candidates = [old for old in by_size.get(file.size, ()) if old.canonical in missing and _same_kind(old, file)]
        content = digest(file) if candidates else None
        match = next((old for old in candidates if old.digest == content), None)
        if match is None:
            result.added.append(file)
        else:
            del missing[match.canonical]
            result.moved.append(FilePair(match, file))
    result.removed.extend(missing.values())


def _same_kind(known: KnownDocument, present: PresentFile) -> bool:
    return PurePosixPath(known.path).suffix.lower() == PurePosixPath(present.path).suffix.lower()
