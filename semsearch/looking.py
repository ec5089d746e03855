"""The disk against the index, before anything is written: which roots, which files, what to do about each."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from semsearch.errors import SourceError, UsageError
from semsearch.files import find_files
from semsearch.hits import SkippedFile
from semsearch.roots import Root, RootPlan, plan_roots
from semsearch.rows import get_known, get_roots
from semsearch.sync import Known, Plan, Present, plan


@dataclass(slots=True)
class Look:
    """What a sync found. `deserted` roots have vanished, and are to be forgotten."""

    started_ns: int
    roots: RootPlan
    changed_roots: list[Root]
    deserted: list[Root]
    plan: Plan
    skipped: list[SkippedFile] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def nothing_to_do(self) -> bool:
        return self.plan.is_empty and not self.changed_roots and not self.roots.absorbed and not self.deserted


def look(
    db: sqlite3.Connection,
    paths: Sequence[str | Path],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    prune: bool = False,
) -> Look:
    """Compare the index with the disk under `paths`, or under all its roots.

    Raises SourceError for a path that is neither there nor a root of the index, UsageError where there is nothing to
    look at.
    """
    started = time.time_ns()
    known_roots = get_roots(db)
    if not paths and not known_roots:
        raise UsageError("the index has no roots yet; give a file or folder to index")
    asked = [_root(path, known_roots, include, exclude) for path in paths]
    roots = plan_roots(known_roots, asked) if paths else RootPlan(wanted=known_roots)
    known = get_known(db, [*roots.wanted, *roots.absorbed])
    skipped: list[SkippedFile] = []
    present: list[Present] = []
    deserted: list[Root] = []
    warnings = [*roots.warnings]
    for root in roots.wanted:
        count = sum(document.root_id == root.id for document in known)
        problem = ""
        try:
            found = list(_present(root, lambda path, reason: skipped.append(SkippedFile(path, reason))))
        except SourceError as error:
            found, problem = [], str(error)
        if found or (count and prune):
            present += found
            deserted += [root] if problem else []
        elif count:
            known = [document for document in known if document.root_id != root.id]
            lost = "has vanished" if problem else "has no files any more"
            warnings.append(f"{root.path} {lost}; its {count} documents were kept (--prune removes them)")
        elif problem:
            warnings.append(problem)
    unreadable: list[SkippedFile] = []
    result = plan(known, present, digest=lambda file: _digest(file, unreadable))
    _keep_below_unreadable(result, skipped)
    changed = [root for root in roots.wanted if root not in known_roots]
    return Look(started, roots, changed, deserted, result, skipped + unreadable, warnings)


def _root(path: str | Path, known: Sequence[Root], include: Sequence[str], exclude: Sequence[str]) -> Root:
    whole = Path(path).resolve()
    text = whole.as_posix()
    if not whole.exists() and not any(root.path == text for root in known):
        raise SourceError(f"there is no file or folder {path}; give one that exists")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SourceError(f"the name of {text!r} is not valid Unicode; rename it") from None
    return Root(-1, text, whole.is_file(), tuple(include), tuple(exclude))


def _present(root: Root, skipped: Callable[[str, str], None]) -> Iterator[Present]:
    prefix = len(root.path.rstrip("/")) + 1
    for found in find_files(Path(root.path), include=root.include, exclude=root.exclude, skipped=skipped):
        file = found.path
        if not file.isascii() and not root.single:
            file = found.absolute[prefix:].replace(os.sep, "/")
        place = root.place(found.path)
        yield Present(root.id, found.path, place, file, found.absolute, found.size, found.mtime_ns)


def file_digest(path: str | Path) -> str:
    """The digest that `semsearch.readers.read_file` gives. Raises OSError."""
    digest = hashlib.blake2b(digest_size=16)
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _digest(file: Present, unreadable: list[SkippedFile]) -> str | None:
    try:
        return file_digest(file.absolute)
    except OSError as error:
        unreadable.append(SkippedFile(file.absolute, f"cannot be read: {error.strerror or error}"))
        return None


def _keep_below_unreadable(result: Plan, skipped: Sequence[SkippedFile]) -> None:
    """What lies in a folder that could not be listed has not been removed, as far as anyone knows."""
    closed = tuple(unicodedata.normalize("NFC", Path(item.path).as_posix()) for item in skipped)
    below = tuple(path + "/" for path in closed)

    def is_hidden(document: Known) -> bool:
        return document.place in closed or document.place.startswith(below)

    result.removed = [document for document in result.removed if not is_hidden(document)]
