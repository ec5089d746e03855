"""Find changes: compare the disk with the index, before anything is written, and plan what to do about each file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import SourceError
from semsearch.indexing.planning.parts import canonical, look_at_parts, present_files
from semsearch.indexing.planning.roots_to_sync import asked_roots, changed_roots
from semsearch.indexing.reading.chosen_columns import documents_of_other_columns
from semsearch.indexing.reading.reader_versions import as_changed, outdated_documents
from semsearch.indexing.reading.skipped import Skip, get_skips, still_skipped
from semsearch.readers.content.size_limit import MAX_BYTES
from semsearch.readers.records.columns import NO_COLUMNS, Columns
from semsearch.results.state.problems import count_endings
from semsearch.results.state.reports import MovedRoot, SkippedFile, SyncReport
from semsearch.sources.plan import KnownDocument, PresentFile, SyncPlan, plan
from semsearch.sources.roots import Root, RootPart, RootPlan
from semsearch.sources.walk import find_files
from semsearch.storage.roots import get_known, get_roots
from semsearch.system.durable import file_digest
from semsearch.system.lacking import is_lacking

if TYPE_CHECKING:
    import sqlite3


@dataclass(slots=True)
class Changes:
    """Changes of the disk since the last sync. Roots in `deserted` have gone and are to be forgotten.

    `skipped` are the files that could not be read this time, `skips` those remembered as unreadable that still are.
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
    passed_over: list[SkippedFile] = field(default_factory=list)  # remembered files that no reader is for
    empty_parts: list[RootPart] = field(default_factory=list)  # where there is nothing to index, and was nothing before
    of_other_columns: set[int] = field(default_factory=set)  # documents that were read with other columns

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

    With `prune`, roots that have vanished or have no files any more are given up, but none that cannot be read. Files
    that were skipped before, and would be again with this limit of bytes, are skipped without reading them. If a path
    is in a root, nothing else of the root is looked at. Raises SourceError for a path that neither exists nor is in the
    index, UsageError if there are no paths and no roots.
    """
    roots = asked_roots(db, paths, include=include, exclude=exclude, columns=columns)
    seen = _compare(db, roots, prune=prune, max_bytes=max_bytes)
    seen.warnings += [f"{part.canonical} is left out: it is hidden, ignored or excluded" for part in seen.empty_parts]
    return seen


def find_changes_at(db: sqlite3.Connection, paths: Iterable[str], *, max_bytes: int | None = None) -> Changes:
    """Compare the index with the disk where something has changed: at absolute paths, spelled as on disk.

    They need be neither there nor of the index.
    """
    return _compare(db, changed_roots(db, paths), prune=False, max_bytes=max_bytes)


def _compare(db: sqlite3.Connection, roots: RootPlan, *, prune: bool, max_bytes: int | None) -> Changes:
    started = time.time_ns()
    known_roots = get_roots(db)
    parts = look_at_parts(db, roots)
    of_other_columns = documents_of_other_columns(db, known_roots, roots)
    outdated = outdated_documents(db) | of_other_columns
    known = as_changed([*get_known(db, [*roots.wanted, *roots.absorbed]), *parts.known], outdated)
    skipped, present = [*parts.skipped], [*parts.present]
    deserted: list[Root] = []
    warnings = [*roots.warnings]
    silent: set[int] = set()  # known roots in stores that cannot be listed: other options are not kept for them
    for root in roots.wanted:
        count = sum(document.root_id == root.id for document in known)
        problem, has_vanished = "", False
        try:
            found = list(_present(root, lambda path, reason: skipped.append(SkippedFile(path, reason))))
        except SourceError as error:
            found, problem = [], str(error)
            has_vanished = isinstance(error.__cause__, FileNotFoundError | NotADirectoryError)
            silent |= {root.id} if root.is_remote and any(root.id == each.id for each in known_roots) else set()
        if found or (count and prune and (has_vanished or not problem)):
            present += found
            deserted += [root] if problem else []
        elif count:
            known = [document for document in known if document.root_id != root.id]
            unread = problem if problem and not has_vanished else ""
            lost = f"{root.path} has vanished" if problem else f"{root.path} has no files {_blamed(root)}"
            documents = "its 1 document was" if count == 1 else f"its {count:,} documents were"
            cure = "" if unread else " (--prune removes them)"
            warnings.append(f"{unread or lost}; {documents} kept{cure}")
        elif problem:
            warnings.append(problem)
    remembered = get_skips(db)
    skips = still_skipped(remembered, present, max_bytes)
    unreadable: list[SkippedFile] = []
    passed_over: list[SkippedFile] = []
    for file in present:
        if skip := skips.get(file.canonical):
            (unreadable if file.is_known else passed_over).append(SkippedFile(file.absolute, skip.reason))
    present = [file for file in present if file.canonical not in skips]
    missing = as_changed(parts.lost, outdated)
    result = plan([*known, *missing], present, digest=lambda file: _digest(file, unreadable, max_bytes))
    result.removed = [document for document in result.removed if document not in missing]
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
        of_other_columns,
    )


def _moved(old: Root, roots: RootPlan, known: Sequence[KnownDocument], plan: SyncPlan) -> MovedRoot:
    """Report a root that has moved, with how many documents stayed as they were."""
    new = next(root for root in roots.wanted if root.id == old.id)
    gone = {document.document_id for document in plan.removed}
    gone |= {pair.known.document_id for pair in [*plan.changed, *plan.moved, *plan.unread]}
    kept = [document for document in known if document.root_id == old.id and document.document_id not in gone]
    return MovedRoot(old.path, new.path, len(kept))


def _blamed(root: Root) -> str:
    """The reason why a root has no files, for a warning: the globs given for it, if there are any."""
    globs = [f"--include {glob!r}" for glob in root.include] + [f"--exclude {glob!r}" for glob in root.exclude]
    return f"with {' '.join(globs)}" if globs else "any more"


def _present(root: Root, skipped: Callable[[str, str], None]) -> Iterator[PresentFile]:
    if root.is_remote:
        from semsearch.sources.objects.find import find_objects  # start-up time: few roots lie in stores

        return present_files(root, find_objects(root, skipped=skipped))
    found = find_files(Path(root.path), include=root.include, exclude=root.exclude, skipped=skipped)
    return present_files(root, found)


def _digest(file: PresentFile, unreadable: list[SkippedFile], max_bytes: int | None) -> str | None:
    try:
        if file.store:
            from semsearch.indexing.reading.present_objects import object_digest  # start-up time, as above

            return object_digest(file, MAX_BYTES if max_bytes is None else max_bytes)
        return file_digest(Path(file.absolute))
    except FileNotFoundError:  # gone since it was found; whoever is told of that looks again
        return None
    except OSError as error:
        if is_lacking(error):
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
