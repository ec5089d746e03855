"""Find the changes of a sync: compare the disk with the index, and plan what to do about each file.

Nothing is written here. If paths inside roots are given, only these parts of the roots are compared.
"""

from __future__ import annotations

import os
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import SourceError, is_resource_exhaustion
from semsearch.indexing.reread_rules import readable_again
from semsearch.indexing.sync_roots import asked_roots, changed_roots, is_missing
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.readers.registry import MAX_BYTES
from semsearch.results.omissions import count_endings
from semsearch.results.reports import MovedRoot, SkippedFile, SyncReport
from semsearch.sources.ignore import Skipped
from semsearch.sources.remote_source import remote_source
from semsearch.sources.roots import Root, RootPart, RootPlan, covers, enclosing_path
from semsearch.sources.unchanged import (
    CLOCK_TICK_NS,
    KnownDocument,
    PresentFile,
    Skip,
    SyncPlan,
    plan,
    still_skipped,
)
from semsearch.sources.walk import FoundFile, find_files, find_files_at, known_files
from semsearch.storage.catalogue import get_roots
from semsearch.storage.known_files import (
    count_documents,
    documents_with_other_readers,
    get_known,
    get_known_at,
    get_known_of_sizes,
    get_known_with,
    get_skips,
    get_states,
)
from semsearch.system.locations import uri_scheme
from semsearch.system.source_files import source_digest

if TYPE_CHECKING:
    import sqlite3

# -- Parts of roots ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class PartsSeen:
    """The documents and files of some parts of roots, in the index and on the disk. `empty` parts have neither.

    `lost` documents lay elsewhere in these roots, and their files no longer exist: a new file may be one of these.
    """

    known: list[KnownDocument] = field(default_factory=list)
    present: list[PresentFile] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    empty: list[RootPart] = field(default_factory=list)
    lost: list[KnownDocument] = field(default_factory=list)

    def add(self, other: PartsSeen) -> None:
        """Add what was found in other parts."""
        self.known += other.known
        self.present += other.present
        self.skipped += other.skipped
        self.empty += other.empty
        self.lost += other.lost


def compare_parts(db: sqlite3.Connection, roots: RootPlan) -> PartsSeen:
    """Find the documents and files of the parts of a plan, and of nothing else.

    If a root cannot be listed, or the parts have all of its documents and no file any more, the plan is changed to the
    whole root, whose documents are kept unless the user prunes them.
    """
    seen = PartsSeen()
    for root, parts in _by_root(roots.parts):
        own = _look(db, root, parts) if _is_listed(root) else None
        if own is None or (own.known and not own.present and len(own.known) == count_documents(db, root)):
            roots.wanted.append(root)
            roots.parts = [part for part in roots.parts if part.root != root]
        else:
            seen.add(own)
    return seen


def present_files(root: Root, found: Iterable[FoundFile]) -> Iterator[PresentFile]:
    """Convert files that were found in a root to the form in which a sync compares them."""
    prefix, canonical_of = len(root.path.rstrip("/")) + 1, root.canonicals()
    columns, store, is_known = root.columns, root.store, known_files(root.include)
    for one in found:
        file = one.path
        if not file.isascii() and not root.single:
            file = one.absolute[prefix:] if store else one.absolute[prefix:].replace(os.sep, "/")
        place = root.id, one.path, canonical_of(one.path), file, one.absolute
        known = is_known(one.absolute.rpartition("/")[2]) or one.absolute.replace(os.sep, "/") == root.path
        yield PresentFile(*place, one.size, one.mtime_ns, known, columns, store)


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
        return remote_source(root.path).find_at(root, paths, skipped=skipped)
    return find_files_at(Path(root.path), paths, include=root.include, exclude=root.exclude, skipped=skipped)


def _of_same_size(
    db: sqlite3.Connection, root: Root, files: Sequence[PresentFile], but: Container[str]
) -> list[KnownDocument]:
    """Find the documents of a root with the size of one of some files, except those at some canonical paths."""
    sizes = {file.size for file in files}
    return (
        [document for document in get_known_of_sizes(db, root, sizes) if document.canonical not in but] if sizes else []
    )


def _is_gone(document: KnownDocument) -> bool:
    """Return whether the file of a document certainly no longer exists.

    False for a name that the disk may spell otherwise, and for an object of a store.
    """
    path = document.canonical
    return path.isascii() and not uri_scheme(path) and is_missing(path)


def canonical(path: str) -> str:
    """Convert an absolute path to the canonical form: forward slashes, NFC. The URI of an object has its slashes."""
    return unicodedata.normalize("NFC", path if uri_scheme(path) else Path(path).as_posix())


def _by_root(parts: Iterable[RootPart]) -> list[tuple[Root, list[RootPart]]]:
    found: dict[int, list[RootPart]] = defaultdict(list)
    for part in parts:
        found[part.root.id].append(part)
    return [(group[0].root, group) for group in found.values()]


def _is_listed(root: Root) -> bool:
    """Return whether a root is a folder that can be listed; true for one in a store, which only listing shows."""
    if root.is_remote:
        return True
    try:
        os.scandir(root.path).close()
    except OSError:
        return False
    return True


@dataclass(slots=True)
class Changes:
    """Changes of the disk since the last sync. Roots in `deserted` no longer exist and are removed.

    `skipped` are the files that could not be read this time, `skips` the remembered ones that are still unreadable.
    """

    started_ns: int
    roots: RootPlan
    changed_roots: list[Root]
    deserted: list[Root]
    plan: SyncPlan
    skipped: list[SkippedFile] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    skips: dict[str, Skip] = field(default_factory=dict)
    moved_roots: list[MovedRoot] = field(default_factory=list)
    passed_over: list[SkippedFile] = field(default_factory=list)  # remembered files without a reader
    empty_parts: list[RootPart] = field(default_factory=list)  # without files, now and before

    @property
    def nothing_to_do(self) -> bool:
        """Return whether neither documents nor roots have changed."""
        return self.plan.is_empty and not self.changed_roots and not self.roots.absorbed and not self.deserted

    @property
    def report(self) -> SyncReport:
        """The report as far as it is known before files are read; all of it if there is nothing to do."""
        return SyncReport(
            unchanged=self.plan.unchanged + len(self.plan.touched) + len(self.plan.unread),
            skipped=tuple(self.skipped),
            warnings=tuple(self.warnings),
            moved_roots=tuple(self.moved_roots),
            not_read=count_endings(item.path for item in [*self.skipped, *self.passed_over]),
        )


def find_changes(
    db: sqlite3.Connection,
    paths: Sequence[str | Path],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    columns: Columns = NO_COLUMNS,
    prune: bool = False,
    max_bytes: int | None = None,
) -> Changes:
    """Compare the index with the disk under `paths`, or under all its roots.

    With `prune`, roots that are missing or have no files any more are removed, but none that cannot be read. Files that
    were skipped before, and would be again with this limit of bytes, are skipped without reading them. If a path is in
    a root, nothing else of the root is compared. Raises SourceError for a path that neither exists nor is in the
    index, UsageError if there are no paths and no roots.
    """
    roots = asked_roots(db, paths, include=include, exclude=exclude, columns=columns)
    seen = _compare(db, roots, prune=prune, max_bytes=max_bytes)
    seen.warnings += [
        f"{part.canonical} is not indexed: it is hidden, ignored or excluded" for part in seen.empty_parts
    ]
    return seen


def find_changes_at(
    db: sqlite3.Connection, paths: Collection[str], *, max_bytes: int | None = None, anew: bool = False
) -> Changes:
    """Compare the index with the disk where something has changed: at absolute paths, spelled as on disk.

    The paths need be neither on the disk nor in the index. With `anew`, files at them are read again, changed or not.
    """
    changed = frozenset(paths) if anew else frozenset[str]()
    return _compare(db, changed_roots(db, paths), prune=False, max_bytes=max_bytes, anew=changed)


def _compare(
    db: sqlite3.Connection,
    roots: RootPlan,
    *,
    prune: bool,
    max_bytes: int | None,
    anew: frozenset[str] = frozenset(),
) -> Changes:
    started = time.time_ns()
    known_roots = get_roots(db)
    parts = compare_parts(db, roots)
    outdated = documents_with_other_readers(db, _as_planned(known_roots, roots)) | readable_again(db)
    known = [*get_known(db, roots.absorbed), *parts.known]
    skipped, present = [*parts.skipped], [*parts.present]
    remembered = {path: skip for path, skip in get_skips(db).items() if path not in anew}
    is_simple = not (outdated or anew or roots.absorbed or roots.moved)
    unchanged = 0
    deserted: list[Root] = []
    warnings = [*roots.warnings]
    silent: set[int] = set()  # known roots in stores that cannot be listed: their options stay as they were
    for root in roots.wanted:
        problem, has_vanished, found = "", False, _NOTHING
        try:
            found = _found(root, lambda path, reason: skipped.append(SkippedFile(path, reason)))
        except SourceError as error:
            problem = str(error)
            has_vanished = isinstance(error.__cause__, FileNotFoundError | NotADirectoryError)
            silent |= {root.id} if root.is_remote and any(root.id == each.id for each in known_roots) else set()
        seen = _look_at(db, root, found, remembered) if is_simple else _all_of(db, root, found)
        count = seen.unchanged + len(seen.known)
        if seen.unchanged or seen.present or (count and prune and (has_vanished or not problem)):
            known += seen.known
            present += seen.present
            unchanged += seen.unchanged
            deserted += [root] if problem else []
        elif count:
            unread = problem if problem and not has_vanished else ""
            lost = f"{root.path} no longer exists" if problem else f"{root.path} has no files {_blamed(root)}"
            documents = "its 1 document was" if count == 1 else f"its {count:,} documents were"
            cure = "" if unread else " (--prune removes them)"
            warnings.append(f"{unread or lost}; {documents} kept{cure}")
        elif problem:
            warnings.append(problem)
    outdated |= {document.document_id for document in known if document.canonical in anew}
    skips = still_skipped(remembered, present, max_bytes)
    unreadable: list[SkippedFile] = []
    passed_over: list[SkippedFile] = []
    for file in present:
        if skip := skips.get(file.canonical):
            (unreadable if file.is_known else passed_over).append(SkippedFile(file.absolute, skip.reason))
    present = [file for file in present if file.canonical not in skips]
    result = plan(
        [*known, *parts.lost], present, digest=lambda file: _digest(file, unreadable, max_bytes), outdated=outdated
    )
    result.unchanged += unchanged
    result.removed = [document for document in result.removed if document not in parts.lost]
    _keep_below_unreadable(result, skipped)
    changed = [root for root in roots.wanted if root not in known_roots and root.id not in silent]
    elsewhere = {path: skip for path, skip in remembered.items() if not roots.covers(path)}
    remembered = skips | elsewhere
    return Changes(
        started,
        roots,
        changed,
        deserted,
        result,
        skipped + unreadable,
        warnings,
        remembered,
        [_moved(old, roots, known, result) for old in roots.moved],
        passed_over,
        parts.empty,
    )


def _as_planned(known: Sequence[Root], roots: RootPlan) -> list[Root]:
    """The known roots, with the columns that their documents must have been read with."""
    planned = {root.id: root for root in (*known, *roots.wanted)}
    for old in roots.absorbed:
        outer = next(root for root in roots.wanted if covers(root, old.path))
        planned[old.id] = replace(old, columns=outer.columns)
    return [*planned.values()]


def _moved(old: Root, roots: RootPlan, known: Sequence[KnownDocument], plan: SyncPlan) -> MovedRoot:
    """Report a root that has moved, with the number of its unchanged documents."""
    new = next(root for root in roots.wanted if root.id == old.id)
    gone = {document.document_id for document in plan.removed}
    gone |= {pair.known.document_id for pair in [*plan.changed, *plan.moved, *plan.unread]}
    kept = [document for document in known if document.root_id == old.id and document.document_id not in gone]
    return MovedRoot(old.path, new.path, len(kept))


def _blamed(root: Root) -> str:
    """The reason why a root has no files, for a warning: the globs given for it, if there are any."""
    globs = [f"--include {glob!r}" for glob in root.include] + [f"--exclude {glob!r}" for glob in root.exclude]
    return f"with {' '.join(globs)}" if globs else "any more"


_NOTHING: Iterable[FoundFile] = ()


@dataclass(slots=True)
class RootSeen:
    """The documents and files of a root that need a closer look, and the number of documents that have not changed."""

    known: list[KnownDocument]
    present: list[PresentFile]
    unchanged: int = 0


def _all_of(db: sqlite3.Connection, root: Root, found: Iterable[FoundFile]) -> RootSeen:
    return RootSeen(get_known(db, [root]), list(present_files(root, found)))


def _look_at(db: sqlite3.Connection, root: Root, found: Iterable[FoundFile], remembered: Iterable[str]) -> RootSeen:
    """Tell the files of a root that look unchanged from the others, with little work for each, since most are.

    `remembered` are the canonical paths of files that could not be read: they are looked at.
    """
    if root.single:
        return _all_of(db, root, found)
    (left, sizes, times), inside = get_states(db, root, CLOCK_TICK_NS), root.canonical("")
    apart = {each.removeprefix(inside) for each in remembered}
    total, others = len(left), list[FoundFile]()
    for file in found:
        path, size, mtime_ns, _ = file
        at = left.get(path)
        if at is not None and sizes[at] == size and times[at] == mtime_ns and path not in apart:
            del left[path]
        else:
            others.append(file)
    known = get_known_with(db, root, left)
    return RootSeen(known, list(present_files(root, others)), total - len(left))


def _found(root: Root, skipped: Callable[[str, str], None]) -> Iterable[FoundFile]:
    if root.is_remote:
        return remote_source(root.path).find(root, skipped=skipped)
    return find_files(Path(root.path), include=root.include, exclude=root.exclude, skipped=skipped)


def _digest(file: PresentFile, unreadable: list[SkippedFile], max_bytes: int | None) -> str | None:
    try:
        if file.store:
            from semsearch.indexing.prepare_files import object_digest  # start-up time, as above

            return object_digest(file, MAX_BYTES if max_bytes is None else max_bytes)
        return source_digest(file.absolute)
    except FileNotFoundError:  # deleted since it was found; the reader of the file reports it
        return None
    except OSError as error:
        if is_resource_exhaustion(error):
            raise
        unreadable.append(SkippedFile(file.absolute, f"cannot be read: {error.strerror or error}"))
        return None


def _keep_below_unreadable(result: SyncPlan, skipped: Sequence[SkippedFile]) -> None:
    """Keep documents below folders that could not be listed: they may still be there."""
    closed = tuple(canonical(item.path) for item in skipped)
    below = tuple(path + "/" for path in closed)

    def is_hidden(document: KnownDocument) -> bool:
        return document.canonical in closed or document.canonical.startswith(below)

    result.removed = [document for document in result.removed if not is_hidden(document)]
