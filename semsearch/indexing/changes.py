"""Find and compare: which files below the roots were added, changed, moved or removed since the last sync.

Nothing is written here. If paths inside roots are given, only these parts of the roots are listed. What counts as
unchanged is decided in semsearch.sources.unchanged.
"""

from __future__ import annotations

import os
import stat
import time
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import SourceError, UsageError
from semsearch.readers.registry import FORMATS, MAX_BYTES, NO_COLUMNS, PICTURE, Columns
from semsearch.results.reports import SkippedFile, SyncReport, count_endings
from semsearch.sources.root_files import digests_of, files_of, present_files, remote_source
from semsearch.sources.roots import (
    Root,
    RootPart,
    RootPlan,
    covers,
    enclosing_path,
    is_hidden,
    part_at,
    plan_roots,
    widened,
)
from semsearch.sources.unchanged import (
    FoundFile,
    KnownDocument,
    PresentFile,
    Skip,
    SyncPlan,
    plan,
    still_skipped,
    take_unchanged,
)
from semsearch.sources.walk import HIDDEN, UNSEEN
from semsearch.storage.known_files import (
    check_documents_by_path,
    count_documents,
    documents_with_other_readers,
    get_known_documents,
    get_omissions,
    get_roots,
    get_skips,
)
from semsearch.system.locations import as_spelled, uri_scheme

if TYPE_CHECKING:
    import sqlite3

_GONE = (FileNotFoundError, NotADirectoryError)
_AT_ONCE = 4096  # files that are compared together: a walk may find a million


@dataclass(slots=True)
class Changes:
    """Changes of the disk since the last sync, gathered root by root.

    `known` and `present` are the documents and files that were compared; `unchanged` counts further documents, which
    needed no closer look. `skipped` are the files that could not be read this time, `unsupported` files without a
    reader, `skips` those of earlier syncs that are still unreadable. `changed_roots` are new or have other options.
    `vanished_roots` no longer exist and are removed; `unlisted_roots`, in stores, could not be listed and stay as
    they were.
    """

    started_ns: int
    roots: RootPlan
    known: list[KnownDocument] = field(default_factory=list)
    present: list[PresentFile] = field(default_factory=list)
    unchanged: int = 0
    plan: SyncPlan = field(default_factory=SyncPlan)
    changed_roots: list[Root] = field(default_factory=list)
    vanished_roots: list[Root] = field(default_factory=list)
    unlisted_roots: list[Root] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    unsupported: list[SkippedFile] = field(default_factory=list)
    skips: dict[str, Skip] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def nothing_to_do(self) -> bool:
        """Return whether neither documents nor roots have changed."""
        return self.plan.is_empty and not (self.changed_roots or self.roots.absorbed or self.vanished_roots)

    @property
    def report(self) -> SyncReport:
        """The report as far as it is known before files are read; all of it if there is nothing to do."""
        return SyncReport(
            unchanged=self.plan.unchanged + len(self.plan.touched) + len(self.plan.unread),
            skipped=tuple(self.skipped),
            warnings=tuple(self.warnings),
            not_read=count_endings([item.path for item in (*self.skipped, *self.unsupported)]),
        )

    def skip(self, path: str, reason: str) -> None:
        """Note a file or folder that could not be read."""
        self.skipped.append(SkippedFile(path, reason))


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
    roots = requested_roots(db, paths, include=include, exclude=exclude, columns=columns)
    changes = _compare(db, roots, prune=prune, max_bytes=max_bytes)
    if parts := {part.canonical for part in roots.parts}:
        listed = {document.canonical for document in changes.known} | {file.canonical for file in changes.present}
        listed |= {canonical(item.path) for item in changes.skipped}
        empty = parts - {enclosing_path(path, parts) for path in listed}
        changes.warnings += [f"{path} is not indexed: it is hidden, ignored or excluded" for path in sorted(empty)]
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


def _outdated(db: sqlite3.Connection, roots: RootPlan) -> set[int]:
    """Documents that another version of a reader or splitter has read, or for other columns, or without a package that
    is now installed."""
    planned = {root.id: root for root in (*roots.known, *roots.wanted)}
    for inner in roots.absorbed:
        outer = next(root for root in roots.wanted if covers(root, inner.path))
        planned[inner.id] = inner._replace(columns=outer.columns)
    outdated = documents_with_other_readers(db, planned.values())
    if omissions := get_omissions(db):
        kinds = [kind for kind in FORMATS.values() if kind is not PICTURE and not kind.lacks_package]
        installed = {f"[{kind.needs[1]}]'" for kind in kinds if kind.needs is not None}  # see install_command
        outdated |= {id_ for id_, text in omissions.items() if any(extra in text for extra in installed)}
    return outdated


# -- Comparing ---------------------------------------------------------------------------------------------------------


def _compare(
    db: sqlite3.Connection,
    roots: RootPlan,
    *,
    prune: bool,
    max_bytes: int | None,
    forced: frozenset[str] = frozenset(),
) -> Changes:
    """Compare roots and parts of roots; files at the `forced` canonical paths are read in any case."""
    changes = Changes(time.time_ns(), roots)
    changes.known += [document for root in roots.absorbed for document in get_known_documents(db, root)]
    changes.warnings += roots.warnings
    outdated = _outdated(db, roots)
    check_documents_by_path(db)
    skips = {path: skip for path, skip in get_skips(db).items() if path not in forced}
    parts_of = defaultdict[Root, list[RootPart]](list, {root: [] for root in roots.wanted})
    for part in roots.parts:
        parts_of[part.root].append(part)
    suspects = outdated, {*skips, *forced}
    for root, parts in parts_of.items():
        _compare_root(db, root, parts, changes, prune=prune, suspects=suspects)
    outdated |= {document.document_id for document in changes.known if document.canonical in forced}
    still_unreadable = still_skipped(skips, changes.present, max_bytes)
    readable, unreadable = list[PresentFile](), list[SkippedFile]()
    for file in changes.present:
        if (skip := still_unreadable.get(file.canonical)) is None:
            readable.append(file)
        else:
            (unreadable if file.has_reader else changes.unsupported).append(SkippedFile(file.absolute, skip.reason))
    limit = MAX_BYTES if max_bytes is None else max_bytes
    digests = partial(digests_of, max_bytes=limit, unreadable=lambda *what: unreadable.append(SkippedFile(*what)))
    changes.plan = plan(changes.known, readable, digests=digests, outdated=outdated)
    changes.plan.unchanged += changes.unchanged
    unseen = [item for item in changes.skipped if item.reason.startswith(UNSEEN)]
    hidden = tuple(canonical(item.path) + "/" for item in unseen)  # below them the documents may still be
    removed = changes.plan.removed
    changes.plan.removed = [document for document in removed if not f"{document.canonical}/".startswith(hidden)]
    changes.skipped += unreadable
    known_ids = {root.id for root in roots.known}
    kept = [*roots.known, *(root for root in changes.unlisted_roots if root.id in known_ids)]
    changes.changed_roots = [root for root in roots.wanted if root not in kept]
    changes.skips = still_unreadable | {path: skip for path, skip in skips.items() if not roots.covers(path)}
    return changes


def _compare_root(
    db: sqlite3.Connection,
    root: Root,
    parts: Sequence[RootPart],
    changes: Changes,
    *,
    prune: bool,
    suspects: tuple[Collection[int], Collection[str]],
) -> None:
    """Gather the documents and files of a root, or of some parts of it, that must be compared. The documents of a root
    that is missing or has no files any more are kept with a warning, unless `prune`.

    `suspects`: ids of documents, and canonical paths of files, that are compared even if they look unchanged.
    """
    known = {document.path: document for document in get_known_documents(db, root, parts)}
    ids, paths = suspects
    compared = {document.path for document in known.values() if document.document_id in ids} if ids else set()
    compared |= {path.removeprefix(root.canonical("")) for path in paths}
    files, count = list[FoundFile](), len(known)
    try:
        listed = iter(files_of(root, changes.skip, [part.path for part in parts] or None))
        while batch := [*islice(listed, _AT_ONCE)]:
            files += batch if parts or root.single else take_unchanged(batch, known, compared)
    except SourceError as error:
        _note_unlisted(db, root, error, changes, prune=prune)
        return
    if parts and known and not files and len(known) == count_documents(db, root):
        changes.roots.take_whole(root)
        _compare_root(db, root, (), changes, prune=prune, suspects=suspects)
    elif files or len(known) < count or prune or parts or not known:
        changes.known += known.values()
        changes.present += present_files(root, files)
        changes.unchanged += count - len(known)
    else:
        globs = [f"--include {glob!r}" for glob in root.include] + [f"--exclude {glob!r}" for glob in root.exclude]
        why = f"has no files {'with ' + ' '.join(globs) if globs else 'any more'}"
        changes.warnings.append(f"{root.path} {why}; {_kept(len(known))} (--prune removes them)")


def _note_unlisted(db: sqlite3.Connection, root: Root, error: SourceError, changes: Changes, *, prune: bool) -> None:
    """Note a root that cannot be listed: its documents are kept, unless it has vanished and they are pruned."""
    if root not in changes.roots.wanted:
        changes.roots.take_whole(root)
    documents = get_known_documents(db, root)
    has_vanished = isinstance(error.__cause__, _GONE)
    if root.is_remote:
        changes.unlisted_roots.append(root)  # its options stay as they were
    if documents and prune and has_vanished:
        changes.known += documents
        changes.vanished_roots.append(root)
    elif not documents:
        changes.warnings.append(str(error))
    elif has_vanished:
        kept = f"{_kept(len(documents))} (--prune removes them); if it was moved, index its new place with --prune"
        changes.warnings.append(f"{root.path} no longer exists; {kept}")
    else:
        changes.warnings.append(f"{error}; {_kept(len(documents))}")


def _kept(count: int) -> str:
    return "its 1 document was kept" if count == 1 else f"its {count:,} documents were kept"


def canonical(path: str) -> str:
    """Convert an absolute path to the canonical form: forward slashes, NFC. The URI of an object has its slashes."""
    return unicodedata.normalize("NFC", path if uri_scheme(path) else Path(path).as_posix())


# -- The roots, and parts of roots, that are compared ------------------------------------------------------------------


def requested_roots(
    db: sqlite3.Connection,
    paths: Sequence[str | Path],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    columns: Columns = NO_COLUMNS,
) -> RootPlan:
    """Plan which roots and parts of roots to compare for some paths; without any, all roots.

    With a new root come those that are gone: it may be one of them, moved. Raises SourceError for a path that is
    neither on the disk nor in the index, UsageError without paths and roots.
    """
    known = get_roots(db)
    if not paths and not known:
        raise UsageError("the index has no roots yet; give a file or folder to index")
    if not paths and columns != NO_COLUMNS:
        raise UsageError("columns apply to a file or folder; give its path as well")
    if not paths:
        return RootPlan(known, wanted=[*known])
    named = [_root(db, path, known) for path in paths]
    requested = [root._replace(include=tuple(include), exclude=tuple(exclude), columns=columns) for root in named]
    roots = plan_roots(known, requested)
    known_ids = {root.id for root in known}
    if any(root.id not in known_ids for root in roots.wanted):
        planned = {*roots.wanted, *roots.absorbed}
        roots.wanted += [root for root in known if root not in planned and not root.is_remote and is_missing(root.path)]
    return widened(roots)


def is_missing(path: str) -> bool:
    """Return whether nothing exists at a path; False if that cannot be determined."""
    try:
        os.lstat(path)  # os.path.lexists is false also for what we may not look at
    except _GONE:
        return True
    except OSError:
        return False
    return False


def changed_roots(db: sqlite3.Connection, paths: Iterable[str]) -> RootPlan:
    """Plan which roots and parts of roots to compare for changed paths, which need not exist any more.

    Paths are absolute, with forward slashes, spelled as on disk. Hidden paths and paths in no root are
    ignored.
    """
    known = get_roots(db)
    roots = RootPlan(known)
    for path in paths:
        for root in known:
            if covers(Root(-1, path), root.path):
                roots.wanted += [] if root in roots.wanted else [root]
            elif covers(root, path) and (HIDDEN in root.exclude or not is_hidden(part_at(root, path).path)):
                roots.parts.append(part_at(root, path))
    return widened(roots)


def _root(db: sqlite3.Connection, path: str | Path, known: Sequence[Root]) -> Root:
    """A root for a path or URI, without an id yet. Links are followed, except one in a root that leads to a file."""
    if uri_scheme(str(path)):
        return _remote_root(db, str(path), known)
    try:
        resolved = as_spelled(Path(path).resolve())
        link = as_spelled(Path(path).parent.resolve() / Path(path).name)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: circular links, before Python 3.13
        raise SourceError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if link != resolved and not resolved.is_dir() and any(covers(root, link.as_posix()) for root in known):
        resolved = link
    text, is_file = resolved.as_posix(), False
    try:
        is_file = stat.S_ISREG(resolved.stat().st_mode)
    except OSError as error:
        if not _is_known(db, text, known):
            if isinstance(error, _GONE):
                raise SourceError(f"there is no file or folder {path}; give one that exists") from error
            raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SourceError(f"the name of {text!r} is not valid Unicode; rename it") from None
    return Root(-1, text, is_file)


def _remote_root(db: sqlite3.Connection, uri: str, known: Sequence[Root]) -> Root:
    """A root for a URI. Its store is queried only for what the index does not know.

    Raises UsageError, StorageError, MissingExtra, and SourceError if nothing exists there.
    """
    source = remote_source(uri)
    path, options = source.parse(uri)
    root = Root(-1, path, options=options)
    outer = next((known_root for known_root in known if covers(known_root, path)), None)
    if outer is not None and outer.path == path:
        return root._replace(single=outer.single)
    if outer is not None and _is_known(db, path, known):
        return root
    store = root.store if outer is None else outer.store
    return root._replace(single=source.is_file(store, path))


def _is_known(db: sqlite3.Connection, path: str, known: Sequence[Root]) -> bool:
    """Return whether a path is a root, or a part of a root with documents."""
    outer = [root for root in known if covers(root, path)]
    return any(root.path == path or get_known_documents(db, root, [part_at(root, path)]) for root in outer)
