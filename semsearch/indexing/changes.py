"""Find and compare: which files below the roots were added, changed, moved or removed since the last sync.

Nothing is written here. If paths inside roots are given, only these parts of the roots are listed. What counts as
unchanged is decided in semsearch.sources.unchanged.
"""

from __future__ import annotations

import os
import time
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import SourceError, is_resource_exhaustion
from semsearch.indexing.sync_roots import asked_roots, changed_roots
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.readers.registry import FORMATS, MAX_BYTES, PICTURE
from semsearch.results.reports import WAITING, MovedRoot, SkippedFile, SyncReport, count_endings
from semsearch.sources.ignore import Skipped
from semsearch.sources.remote_source import RemoteState, remote_source
from semsearch.sources.roots import Root, RootPart, RootPlan, covers, enclosing_path
from semsearch.sources.unchanged import (
    KnownDocument,
    PresentFile,
    Skip,
    SyncPlan,
    plan,
    still_skipped,
)
from semsearch.sources.walk import FoundFile, find_files, find_files_at, readable_files
from semsearch.storage.known_files import (
    count_documents,
    documents_with_omission,
    documents_with_other_readers,
    get_known,
    get_known_at,
    get_known_with,
    get_roots,
    get_skips,
    get_states,
)
from semsearch.system.locations import uri_scheme
from semsearch.system.source_files import content_digest, source_digest

if TYPE_CHECKING:
    import sqlite3


@dataclass(slots=True)
class Changes:
    """Changes of the disk since the last sync. Roots in `deserted` no longer exist and are removed.

    `skipped` are the files that could not be read this time, `skips` the remembered ones that are still unreadable.
    """

    started_ns: int
    roots: RootPlan
    known_roots: list[Root]
    changed_roots: list[Root]
    deserted: list[Root]
    plan: SyncPlan
    skipped: list[SkippedFile]
    warnings: list[str]
    skips: dict[str, Skip]
    moved_roots: list[MovedRoot]
    passed_over: list[SkippedFile]  # remembered files without a reader
    empty_parts: list[RootPart]  # without files, now and before

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
    changes = _compare(db, roots, prune=prune, max_bytes=max_bytes)
    changes.warnings += [
        f"{part.canonical} is not indexed: it is hidden, ignored or excluded" for part in changes.empty_parts
    ]
    return changes


def find_changes_at(
    db: sqlite3.Connection, paths: Collection[str], *, max_bytes: int | None = None, read_again: bool = False
) -> Changes:
    """Compare the index with the disk where something has changed: at absolute paths, spelled as on disk.

    The paths need be neither on the disk nor in the index. With `read_again`, files at them are read in any case.
    """
    forced = frozenset(paths) if read_again else frozenset[str]()
    return _compare(db, changed_roots(db, paths), prune=False, max_bytes=max_bytes, forced=forced)


# -- Documents to read again although their files are the same ---------------------------------------------------------


def _outdated(db: sqlite3.Connection, known_roots: Sequence[Root], roots: RootPlan) -> set[int]:
    """Documents of another reader, splitter or choice of columns, or with a part for which a package was missing."""
    planned = {root.id: root for root in (*known_roots, *roots.wanted)}
    for inner in roots.absorbed:
        outer = next(root for root in roots.wanted if covers(root, inner.path))
        planned[inner.id] = replace(inner, columns=outer.columns)
    kinds = [kind for kind in FORMATS.values() if kind is not PICTURE and not kind.lacks_package]
    installed = {f"[{kind.needs[1]}]'" for kind in kinds if kind.needs is not None}  # see install_command
    return documents_with_other_readers(db, planned.values()) | documents_with_omission(db, installed)


def unrecognized(db: sqlite3.Connection) -> tuple[set[int], set[str]]:
    """Documents with pictures whose text can be recognized and was not, and canonical paths of such unread files."""
    if PICTURE.lacks_package:
        return set(), set()
    texts = (WAITING, f"[{PICTURE.needs[1]}]'" if PICTURE.needs else WAITING)
    paths = {path for path, skip in get_skips(db).items() if any(text in skip.reason for text in texts)}
    return documents_with_omission(db, texts), paths


# -- Comparing ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Seen:
    """The documents and files below some roots and parts of roots that are to be compared.

    `unchanged` counts further documents, which need no closer look. Nothing lies in the `empty_parts`. Roots in stores
    are `unlisted` if they could not be listed.
    """

    known: list[KnownDocument] = field(default_factory=list)
    present: list[PresentFile] = field(default_factory=list)
    unchanged: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    deserted: list[Root] = field(default_factory=list)
    unlisted: list[Root] = field(default_factory=list)
    empty_parts: list[RootPart] = field(default_factory=list)

    def skip(self, path: str, reason: str) -> None:
        self.skipped.append(SkippedFile(path, reason))


def _compare(
    db: sqlite3.Connection,
    roots: RootPlan,
    *,
    prune: bool,
    max_bytes: int | None,
    forced: frozenset[str] = frozenset(),
) -> Changes:
    """Compare roots and parts of roots; files at the `forced` canonical paths are read in any case."""
    started_ns = time.time_ns()
    known_roots = get_roots(db)
    seen = _Seen(known=get_known(db, roots.absorbed), warnings=[*roots.warnings])
    _look_at_parts(db, roots, seen)
    outdated = _outdated(db, known_roots, roots)
    skips = {path: skip for path, skip in get_skips(db).items() if path not in forced}
    is_simple = not (outdated or forced or roots.absorbed or roots.moved)
    for root in roots.wanted:
        _look_at_root(db, root, seen, prune=prune, suspects=skips if is_simple else None)
    outdated |= {document.document_id for document in seen.known if document.canonical in forced}
    holding = still_skipped(skips, seen.present, max_bytes)
    readable = [file for file in seen.present if file.canonical not in holding]
    unreadable, passed_over = list[SkippedFile](), list[SkippedFile]()
    for file in seen.present:
        if skip := holding.get(file.canonical):
            (unreadable if file.has_reader else passed_over).append(SkippedFile(file.absolute, skip.reason))
    digest = partial(_digest, max_bytes=MAX_BYTES if max_bytes is None else max_bytes, unreadable=unreadable)
    result = plan(seen.known, readable, digest=digest, outdated=outdated)
    result.unchanged += seen.unchanged
    hidden = tuple(canonical(item.path) + "/" for item in seen.skipped)  # below what cannot be listed they may be there
    result.removed = [document for document in result.removed if not f"{document.canonical}/".startswith(hidden)]
    stored = [*known_roots, *(root for root in seen.unlisted if any(root.id == known.id for known in known_roots))]
    return Changes(
        started_ns=started_ns,
        roots=roots,
        known_roots=known_roots,
        changed_roots=[root for root in roots.wanted if root not in stored],
        deserted=seen.deserted,
        plan=result,
        skipped=seen.skipped + unreadable,
        warnings=seen.warnings,
        skips=holding | {path: skip for path, skip in skips.items() if not roots.covers(path)},
        moved_roots=[_moved(root, roots, seen.known, result) for root in roots.moved],
        passed_over=passed_over,
        empty_parts=seen.empty_parts,
    )


def _digest(file: PresentFile, *, max_bytes: int, unreadable: list[SkippedFile]) -> str | None:
    """The digest of a file's content; None if it cannot be read, which is reported."""
    try:
        return _digest_of(file, max_bytes)
    except FileNotFoundError:  # deleted since it was found; the reader of the file reports it
        return None
    except OSError as error:
        if is_resource_exhaustion(error):
            raise
        unreadable.append(SkippedFile(file.absolute, f"cannot be read: {error.strerror or error}"))
        return None


def _moved(before: Root, roots: RootPlan, known: Sequence[KnownDocument], plan: SyncPlan) -> MovedRoot:
    """Report a root that has moved, with the number of its unchanged documents."""
    now = next(root for root in roots.wanted if root.id == before.id)
    gone = {document.document_id for document in plan.removed}
    gone |= {pair.known.document_id for pair in [*plan.changed, *plan.moved, *plan.unread]}
    kept = [document for document in known if document.root_id == before.id and document.document_id not in gone]
    return MovedRoot(before.path, now.path, len(kept))


# -- Looking at whole roots --------------------------------------------------------------------------------------------


def _look_at_root(
    db: sqlite3.Connection, root: Root, seen: _Seen, *, prune: bool, suspects: Collection[str] | None
) -> None:
    """List the files of a root. One that is missing or has no files any more is kept with a warning, unless `prune`.

    `suspects` are the canonical paths of files that are compared however unchanged they look; None: all of them.
    """
    try:
        files = _find(root, seen.skip)
    except SourceError as error:
        documents = get_known(db, [root])
        has_vanished = isinstance(error.__cause__, FileNotFoundError | NotADirectoryError)
        if root.is_remote:
            seen.unlisted.append(root)  # its options stay as they were
        if documents and prune and has_vanished:
            seen.known += documents
            seen.deserted.append(root)
        elif not documents:
            seen.warnings.append(str(error))
        elif has_vanished:
            kept = f"{_kept(len(documents))} (--prune removes them); if it was moved, index its new place"
            seen.warnings.append(f"{root.path} no longer exists; {kept}")
        else:
            seen.warnings.append(f"{error}; {_kept(len(documents))}")
        return
    if root.single or suspects is None:
        known, present, unchanged = get_known(db, [root]), list(present_files(root, files)), 0
    else:
        states, inside = get_states(db, root), root.canonical("")
        total, suspects = len(states.places), {path.removeprefix(inside) for path in suspects}
        others = [file for file in files if file.path in suspects or not states.take_unchanged(*file[:3])]
        known, present = get_known_with(db, root, states.places), list(present_files(root, others))
        unchanged = total - len(states.places)
    if present or unchanged or prune or not known:
        seen.known += known
        seen.present += present
        seen.unchanged += unchanged
    else:
        globs = [f"--include {glob!r}" for glob in root.include] + [f"--exclude {glob!r}" for glob in root.exclude]
        why = f"has no files {'with ' + ' '.join(globs) if globs else 'any more'}"
        seen.warnings.append(f"{root.path} {why}; {_kept(len(known))} (--prune removes them)")


def _kept(count: int) -> str:
    return "its 1 document was kept" if count == 1 else f"its {count:,} documents were kept"


def _find(root: Root, skipped: Skipped) -> Iterable[FoundFile]:
    if root.is_remote:
        return remote_source(root.path).find(root, skipped=skipped)
    return find_files(Path(root.path), include=root.include, exclude=root.exclude, skipped=skipped)


def present_files(root: Root, files: Iterable[FoundFile]) -> Iterator[PresentFile]:
    """Convert files that were found in a root to the form in which a sync compares them."""
    prefix, canonical_of = len(root.path.rstrip("/")) + 1, root.canonicals()
    columns, store, is_readable = root.columns, root.store, readable_files(root.include)
    for file in files:
        spelled, absolute = file.path, file.absolute
        if not spelled.isascii() and not root.single:
            spelled = absolute[prefix:] if store else absolute[prefix:].replace(os.sep, "/")
        has_reader = is_readable(absolute.rpartition("/")[2]) or absolute.replace(os.sep, "/") == root.path
        place = root.id, file.path, canonical_of(file.path), spelled, absolute
        yield PresentFile(*place, file.size, file.mtime_ns, has_reader, columns, store)


# -- Looking at parts of roots -----------------------------------------------------------------------------------------


def _look_at_parts(db: sqlite3.Connection, roots: RootPlan, seen: _Seen) -> None:
    """Find the documents and files of the parts of a plan, and of nothing else.

    If a root cannot be listed, or the parts have all of its documents and no file any more, the plan is changed to the
    whole root, whose documents are kept unless the user prunes them.
    """
    by_root: dict[int, list[RootPart]] = defaultdict(list)
    for part in roots.parts:
        by_root[part.root.id].append(part)
    for parts in by_root.values():
        root = parts[0].root
        if not (_is_listed(root) and _look_at_parts_of(db, root, parts, seen)):
            roots.wanted.append(root)
            roots.parts = [part for part in roots.parts if part.root != root]


def _look_at_parts_of(db: sqlite3.Connection, root: Root, parts: Sequence[RootPart], seen: _Seen) -> bool:
    """Find the documents and files of parts of one root; False if they have all documents of it and no file."""
    known = [document for part in parts for document in get_known_at(db, part)]
    paths, unlisted = [part.path for part in parts], list[SkippedFile]()

    def skip(path: str, reason: str) -> None:
        unlisted.append(SkippedFile(path, reason))

    if root.is_remote:
        files: Iterable[FoundFile] = remote_source(root.path).find_at(root, paths, skipped=skip)
    else:
        files = find_files_at(Path(root.path), paths, include=root.include, exclude=root.exclude, skipped=skip)
    present = list(present_files(root, files))
    if known and not present and len(known) == count_documents(db, root):
        return False
    known_paths = {document.canonical for document in known}
    inside = {part.canonical for part in parts}
    there = {file.canonical for file in present} | {canonical(item.path) for item in unlisted} | known_paths
    full = {enclosing_path(path, inside) for path in there}
    seen.known += known
    seen.present += present
    seen.skipped += unlisted
    seen.empty_parts += [part for part in parts if part.canonical not in full]
    return True


def canonical(path: str) -> str:
    """Convert an absolute path to the canonical form: forward slashes, NFC. The URI of an object has its slashes."""
    return unicodedata.normalize("NFC", path if uri_scheme(path) else Path(path).as_posix())


def _is_listed(root: Root) -> bool:
    """Return whether a root is a folder that can be listed; true for one in a store, which only listing shows."""
    if root.is_remote:
        return True
    try:
        os.scandir(root.path).close()
    except OSError:
        return False
    return True


def _digest_of(file: PresentFile, max_bytes: int) -> str:
    """The digest of a file's content; "" for one of a store that is too large to be read. Raises OSError."""
    if not file.store:
        return source_digest(file.absolute)
    if file.size > max_bytes:
        return ""
    fetched = remote_source(file.store).fetch(file.absolute, RemoteState.of(file), max_bytes + 1)
    return content_digest(fetched.data)
