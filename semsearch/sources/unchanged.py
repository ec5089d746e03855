"""Decides which files have changed: the one place that compares the documents of an index with the files on disk.

A sync asks it for all files, a search for those behind its hits, which are stale if they have changed. A file is
unchanged if its size and time are the same, its time lies clearly before the moment its content was last read (an edit
within the same tick of the file system's clock leaves both as they were), and the reader would read it as it did then:
the same versions of reader and splitter, the same chosen columns. All other files are compared by the digest of their
content, as are files that vanished in one folder and appeared in another. A file that could not be read is unchanged by
the same rules, if its own bytes were the reason.

Pure, but for the digests that it asks for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple, Protocol

from semsearch import __version__
from semsearch.readers.registry import NO_COLUMNS, Columns, format_named, reader_label
from semsearch.text import passage_words

CLOCK_TICK_NS = 2_000_000_000  # the coarsest file system's clock (FAT) steps by two seconds


def is_settled(mtime_ns: int, checked_ns: int) -> bool:
    """Return whether a file's time lies clearly before it was read: a later edit would have another time."""
    return mtime_ns < checked_ns - CLOCK_TICK_NS


class WasRead(Protocol):
    """The state of a file when it was read: its size, its time, and when that was."""

    @property
    def size(self) -> int: ...
    @property
    def mtime_ns(self) -> int: ...
    @property
    def checked_ns(self) -> int: ...


def looks_unchanged(known: WasRead, size: int, mtime_ns: int) -> bool:
    """Return whether its size and time prove that a file has not changed since its content was read."""
    return (known.size, known.mtime_ns) == (size, mtime_ns) and is_settled(known.mtime_ns, known.checked_ns)


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
    format: str = ""
    reader: str = ""  # `reading_label` when it was read


class FoundFile(NamedTuple):
    """A file to index, with its size and time as the walk found them."""

    path: str  # relative to the root, with forward slashes, in Unicode's composed form (NFC)
    size: int
    mtime_ns: int
    absolute: str


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
    has_reader: bool = True  # there is a reader for its name, or --include names it
    columns: Columns = NO_COLUMNS  # columns that were chosen for its root
    store: str = ""


def reading_label(format: str, columns: Columns = NO_COLUMNS, *, instead: str = "") -> str:
    """The versions of a format's reader and of the splitter, and the columns if it has some; `instead` if there is no
    reader for it any more. A document with another label is read again.
    """
    kind = format_named(format)
    if kind is None:
        return instead
    chosen = f" {columns!r}" if kind.has_columns and columns else ""
    return f"{kind.version} {passage_words.SPLITTER_VERSION}{chosen}"


def take_unchanged(
    files: Iterable[FoundFile], known: dict[str, KnownDocument], but: Collection[str] = ()
) -> list[FoundFile]:
    """Take those documents out of `known`, by path, whose files have not changed, by size and time; the other files.

    Files at the paths `but` are among the others in any case.
    """
    others = list[FoundFile]()
    for file in files:
        document = None if file.path in but else known.get(file.path)
        if document is not None and looks_unchanged(document, file.size, file.mtime_ns):
            del known[file.path]
        else:
            others.append(file)
    return others


# -- Files that could not be read --------------------------------------------------------------------------------------


class Skip(NamedTuple):
    """A file that could not be read: its state then, the limit in bytes at that time, and the reason.

    A failure caused by the file's own bytes is `lasting`: it holds while the file is the same, by size and
    time. A failure caused by the disk, permissions or a missing package is tried again each
    time. After an update of semsearch or of a reader, all are tried again.
    """

    size: int
    mtime_ns: int
    checked_ns: int
    limit: int
    reason: str
    reader: str  # `reader_of`
    lasting: int = 1

    def is_of(self, file: PresentFile) -> bool:
        """Return whether file and reader are the same, by size, modification time and version."""
        return (self.size, self.mtime_ns, self.reader) == (file.size, file.mtime_ns, reader_of(file))

    def holds(self, file: PresentFile, limit: int | None) -> bool:
        """Return whether the file would be skipped again. Without a limit in bytes, by size and time alone."""
        if not self.lasting or not self.is_of(file):
            return False
        if limit is None:
            return True
        return is_settled(self.mtime_ns, self.checked_ns) and (file.size > limit) == (self.size > self.limit)


def reader_of(file: PresentFile) -> str:
    """The reader that a file would get today, and whether its content would be sniffed first, for `Skip.reader`."""
    return f"{__version__} {reader_label(file.path)}{'' if file.has_reader else ' if text'}"


def still_skipped(skips: Mapping[str, Skip], files: Iterable[PresentFile], limit: int | None) -> dict[str, Skip]:
    """The remembered skips that still hold for the files on disk, by canonical path."""
    present = ((file, skips.get(file.canonical)) for file in files)
    return {file.canonical: skip for file, skip in present if skip is not None and skip.holds(file, limit)}


# -- The plan ----------------------------------------------------------------------------------------------------------


class FilePair(NamedTuple):
    """A known document and its file on disk, which may have changed or moved."""

    known: KnownDocument
    present: PresentFile

    @property
    def must_be_read(self) -> bool:
        """Return whether a moved file is read: its title may come from its name; its new root may have columns."""
        known, present = self.known, self.present
        return (
            PurePosixPath(known.path).stem != PurePosixPath(present.path).stem
            or reading_label(known.format, present.columns, instead=known.reader) != known.reader
        )


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
    known: Iterable[KnownDocument],
    present: Iterable[PresentFile],
    *,
    digests: Callable[[Sequence[PresentFile]], Sequence[str | None]],
    outdated: Collection[int] = (),
) -> SyncPlan:
    """Compare known documents with present files. `digests` gives the digests of files' contents, None if unreadable.

    It is asked only where size and time leave a doubt. Documents with the `outdated` ids are read again.
    """
    result = SyncPlan()
    missing = {document.canonical: document for document in known}
    appeared, doubtful = list[PresentFile](), list[FilePair]()
    for file in present:
        document = missing.pop(file.canonical, None)
        if document is None:
            appeared.append(file)
        elif document.document_id in outdated or not looks_unchanged(document, file.size, file.mtime_ns):
            doubtful.append(FilePair(document, file))
        elif (document.root_id, document.path) == (file.root_id, file.path):
            result.unchanged += 1
        else:
            result.touched.append(FilePair(document, file))
    for pair, content in zip(doubtful, digests([pair.present for pair in doubtful]), strict=True):
        is_same = content == pair.known.digest and pair.known.document_id not in outdated
        (result.unread if content is None else result.touched if is_same else result.changed).append(pair)
    _find_moved(missing, appeared, digests, outdated, result)
    return result


def _find_moved(
    missing: dict[str, KnownDocument],
    appeared: list[PresentFile],
    digests: Callable[[Sequence[PresentFile]], Sequence[str | None]],
    outdated: Collection[int],
    result: SyncPlan,
) -> None:
    """Pair documents that vanished with files that appeared, by content and suffix: a document keeps its file type."""
    by_size: dict[int, list[KnownDocument]] = defaultdict(list)
    for document in missing.values():
        if document.document_id not in outdated:
            by_size[document.size].append(document)
    suspects = [file for file in appeared if any(_same_kind(old, file) for old in by_size.get(file.size, ()))]
    contents = dict(zip(suspects, digests(suspects), strict=True)) if suspects else {}
    for file in appeared:
        content = contents.get(file)
        same = (old for old in by_size.get(file.size, ()) if old.digest == content and _same_kind(old, file))
        match = next((old for old in same if old.canonical in missing), None)
        if match is None:
            result.added.append(file)
        else:
            del missing[match.canonical]
            result.moved.append(FilePair(match, file))
    result.removed.extend(missing.values())


def _same_kind(known: KnownDocument, file: PresentFile) -> bool:
    return PurePosixPath(known.path).suffix.lower() == PurePosixPath(file.path).suffix.lower()
