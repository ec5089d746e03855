"""Parts of roots: which documents the index has of them, and which files are there now."""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.results.state.reports import SkippedFile
from semsearch.sources.ignore import Skipped
from semsearch.sources.plan import KnownDocument, PresentFile
from semsearch.sources.roots import Root, RootPart, RootPlan, enclosing_path
from semsearch.sources.walk import FoundFile, find_files_at
from semsearch.storage.roots import get_known_at, get_known_of_sizes
from semsearch.system.uris import uri_scheme

if TYPE_CHECKING:
    import sqlite3


@dataclass(slots=True)
class PartsSeen:
    """The documents and files that index and disk have at some parts of roots. `empty` parts have neither.

    `lost` documents lay elsewhere in these roots, and their files are gone: one that has appeared may be one of these.
    """

    known: list[KnownDocument] = field(default_factory=list)
    present: list[PresentFile] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    empty: list[RootPart] = field(default_factory=list)
    lost: list[KnownDocument] = field(default_factory=list)

    def add(self, other: PartsSeen) -> None:
        """Take in what was seen of other parts."""
        self.known += other.known
        self.present += other.present
        self.skipped += other.skipped
        self.empty += other.empty
        self.lost += other.lost


def look_at_parts(db: sqlite3.Connection, roots: RootPlan) -> PartsSeen:
    """Look at the parts of a plan, and at nothing else.

    Where a root cannot be listed, or these parts have all of its documents and no file any more, the plan is changed to
    look at the whole root: that is a question to the user, not a purge.
    """
    seen = PartsSeen()
    for root, parts in _by_root(roots.parts):
        own = _look(db, root, parts) if _is_listed(root) else None
        if own is None or (own.known and not own.present and len(own.known) == _documents(db, root)):
            roots.wanted.append(root)
            roots.parts = [part for part in roots.parts if part.root != root]
        else:
            seen.add(own)
    return seen


def present_files(root: Root, found: Iterable[FoundFile]) -> Iterator[PresentFile]:
    """Convert files that were found in a root to the form in which a sync compares them."""
    prefix = len(root.path.rstrip("/")) + 1
    for one in found:
        file = one.path
        if not file.isascii() and not root.single:
            file = one.absolute[prefix:] if root.is_remote else one.absolute[prefix:].replace(os.sep, "/")
        place = root.id, one.path, root.canonical(one.path), file, one.absolute
        yield PresentFile(*place, one.size, one.mtime_ns, one.is_known, root.columns, root.store)


def _look(db: sqlite3.Connection, root: Root, parts: Sequence[RootPart]) -> PartsSeen:
    seen = PartsSeen(known=[document for part in parts for document in get_known_at(db, part)])
    found = _found_at(
        root, [part.path for part in parts], lambda path, reason: seen.skipped.append(SkippedFile(path, reason))
    )
    seen.present += present_files(root, found)
    paths = {part.canonical for part in parts}
    known = {document.canonical for document in seen.known}
    there = {file.canonical for file in seen.present} | {canonical(item.path) for item in seen.skipped}
    full = {enclosing_path(path, paths) for path in known | there}
    seen.empty += [part for part in parts if part.canonical not in full]
    appeared = [file for file in seen.present if file.canonical not in known]
    seen.lost += [document for document in _of_same_size(db, root, appeared, known) if _is_gone(document)]
    return seen


def _found_at(root: Root, paths: Sequence[str], skipped: Skipped) -> Iterable[FoundFile]:
    if root.is_remote:
        from semsearch.sources.objects.find import find_objects_at  # start-up time: few roots lie in stores

        return find_objects_at(root, paths, skipped=skipped)
    return find_files_at(Path(root.path), paths, include=root.include, exclude=root.exclude, skipped=skipped)


def _of_same_size(
    db: sqlite3.Connection, root: Root, files: Sequence[PresentFile], but: Container[str]
) -> list[KnownDocument]:
    """Find the documents of a root that are as large as one of some files, but those at some canonical paths."""
    sizes = {file.size for file in files}
    return (
        [document for document in get_known_of_sizes(db, root, sizes) if document.canonical not in but] if sizes else []
    )


def _is_gone(document: KnownDocument) -> bool:
    """Return whether there is surely no file any more where a document was.

    False for a name that the disk may spell otherwise, and for an object of a store.
    """
    if not document.canonical.isascii() or uri_scheme(document.canonical):
        return False
    try:
        Path(document.canonical).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def canonical(path: str) -> str:
    """Convert an absolute path to the canonical form: forward slashes, NFC. The URI of an object has its slashes."""
    return unicodedata.normalize("NFC", path if uri_scheme(path) else Path(path).as_posix())


def _by_root(parts: Iterable[RootPart]) -> list[tuple[Root, list[RootPart]]]:
    found: dict[int, list[RootPart]] = defaultdict(list)
    for part in parts:
        found[part.root.id].append(part)
    return [(group[0].root, group) for group in found.values()]


def _is_listed(root: Root) -> bool:
    """Return whether a root is a folder that can be listed. Of one in a store that is found out by listing it."""
    if root.is_remote:
        return True
    try:
        os.scandir(root.path).close()
    except OSError:
        return False
    return True


def _documents(db: sqlite3.Connection, root: Root) -> int:
    return int(db.execute("SELECT count(*) FROM documents WHERE root_id = ?", (root.id,)).fetchone()[0])
