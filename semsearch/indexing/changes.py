"""The disk against the index, before anything is written: which roots, which files, what to do about each."""

from __future__ import annotations

import os
import stat
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import SourceError, UsageError
from semsearch.indexing.reader_versions import as_changed, outdated_documents
from semsearch.indexing.skipped import Skip, get_skips, still_skipped
from semsearch.results.reports import SkippedFile, SyncReport
from semsearch.sources.plan import Known, Plan, Present, plan
from semsearch.sources.roots import Root, RootPlan, covers, plan_roots
from semsearch.sources.walk import find_files
from semsearch.storage.roots import get_known, get_roots
from semsearch.system.durable import file_digest

if TYPE_CHECKING:
    import sqlite3


@dataclass(slots=True)
class Look:
    """Changes of the disk since the last sync. `deserted` roots have vanished, to be forgotten; `skips` still hold."""

    started_ns: int
    roots: RootPlan
    changed_roots: list[Root]
    deserted: list[Root]
    plan: Plan
    skipped: list[SkippedFile] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    skips: dict[str, Skip] = field(default_factory=dict)

    @property
    def nothing_to_do(self) -> bool:
        return self.plan.is_empty and not self.changed_roots and not self.roots.absorbed and not self.deserted

    @property
    def report(self) -> SyncReport:
        """The report before anything is read: all of it where there is nothing to do."""
        return SyncReport(
            unchanged=self.plan.unchanged + len(self.plan.touched) + len(self.plan.unread),
            skipped=tuple(self.skipped),
            warnings=tuple(self.warnings),
        )


def look(
    db: sqlite3.Connection,
    paths: Sequence[str | Path],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    prune: bool = False,
    max_bytes: int | None = None,
) -> Look:
    """Compare the index with the disk under `paths`, or under all its roots.

    With `prune`, roots are given up that have vanished or have no files any more, but none that cannot be read. Files
    that were skipped before and would be again, with this limit of bytes, are skipped without a look at their content.
    Raises SourceError for a path that is neither there nor a root of the index, UsageError where there is nothing to
    look at.
    """
    started = time.time_ns()
    known_roots = get_roots(db)
    if not paths and not known_roots:
        raise UsageError("the index has no roots yet; give a file or folder to index")
    asked = [_root(path, known_roots, include, exclude) for path in paths]
    roots = plan_roots(known_roots, asked) if paths else RootPlan(wanted=known_roots)
    known = as_changed(get_known(db, [*roots.wanted, *roots.absorbed]), outdated_documents(db))
    skipped: list[SkippedFile] = []
    present: list[Present] = []
    deserted: list[Root] = []
    warnings = [*roots.warnings]
    for root in roots.wanted:
        count = sum(document.root_id == root.id for document in known)
        problem, has_vanished = "", False
        try:
            found = list(_present(root, lambda path, reason: skipped.append(SkippedFile(path, reason))))
        except SourceError as error:
            found, problem = [], str(error)
            has_vanished = isinstance(error.__cause__, FileNotFoundError | NotADirectoryError)
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
    unreadable = [SkippedFile(file.absolute, skips[file.place].reason) for file in present if file.place in skips]
    present = [file for file in present if file.place not in skips]
    result = plan(known, present, digest=lambda file: _digest(file, unreadable))
    _keep_below_unreadable(result, skipped)
    changed = [root for root in roots.wanted if root not in known_roots]
    elsewhere = {place: skip for place, skip in remembered.items() if not any(covers(r, place) for r in roots.wanted)}
    return Look(started, roots, changed, deserted, result, skipped + unreadable, warnings, skips | elsewhere)


def _blamed(root: Root) -> str:
    """Since when or for which globs a root has no files."""
    globs = [f"--include {glob!r}" for glob in root.include] + [f"--exclude {glob!r}" for glob in root.exclude]
    return f"with {' '.join(globs)}" if globs else "any more"


def _root(path: str | Path, known: Sequence[Root], include: Sequence[str], exclude: Sequence[str]) -> Root:
    try:
        whole = Path(path).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links that lead round, before Python 3.13
        raise SourceError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    text, is_file = whole.as_posix(), False
    try:
        is_file = stat.S_ISREG(whole.stat().st_mode)
    except OSError as error:
        if not any(root.path == text for root in known):
            if isinstance(error, FileNotFoundError | NotADirectoryError):
                raise SourceError(f"there is no file or folder {path}; give one that exists") from error
            raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SourceError(f"the name of {text!r} is not valid Unicode; rename it") from None
    return Root(-1, text, is_file, tuple(include), tuple(exclude))


def _present(root: Root, skipped: Callable[[str, str], None]) -> Iterator[Present]:
    prefix = len(root.path.rstrip("/")) + 1
    for found in find_files(Path(root.path), include=root.include, exclude=root.exclude, skipped=skipped):
        file = found.path
        if not file.isascii() and not root.single:
            file = found.absolute[prefix:].replace(os.sep, "/")
        place = root.place(found.path)
        yield Present(root.id, found.path, place, file, found.absolute, found.size, found.mtime_ns)


def _digest(file: Present, unreadable: list[SkippedFile]) -> str | None:
    try:
        return file_digest(Path(file.absolute))
    except OSError as error:
        unreadable.append(SkippedFile(file.absolute, f"cannot be read: {error.strerror or error}"))
        return None


def _keep_below_unreadable(result: Plan, skipped: Sequence[SkippedFile]) -> None:
    """Keep documents below folders that could not be listed: nobody knows that they were removed."""
    closed = tuple(unicodedata.normalize("NFC", Path(item.path).as_posix()) for item in skipped)
    below = tuple(path + "/" for path in closed)

    def is_hidden(document: Known) -> bool:
        return document.place in closed or document.place.startswith(below)

    result.removed = [document for document in result.removed if not is_hidden(document)]
