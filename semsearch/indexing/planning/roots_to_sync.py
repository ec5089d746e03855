"""Find the roots, and parts of roots, to look at for the paths that a sync is given or that have changed."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import SourceError, UsageError
from semsearch.indexing.planning.moved_roots import find_root_moves
from semsearch.readers.records.columns import NO_COLUMNS, Columns
from semsearch.sources.ignore import IGNORE_FILES
from semsearch.sources.roots import Root, RootPart, RootPlan, covers, outermost, plan_roots
from semsearch.storage.roots import get_known_at, get_roots
from semsearch.system.uris import uri_scheme

if TYPE_CHECKING:
    import sqlite3


def asked_roots(
    db: sqlite3.Connection,
    paths: Sequence[str | Path],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    columns: Columns = NO_COLUMNS,
) -> RootPlan:
    """Decide what to look at for some paths; without any, all roots.

    Raises SourceError for a path that is neither there nor of the index, UsageError where there is nothing to look at.
    """
    known = get_roots(db)
    if not paths and not known:
        raise UsageError("the index has no roots yet; give a file or folder to index")
    if not paths and columns:
        raise UsageError("columns are chosen for a file or folder; give its path as well")
    if not paths:
        return RootPlan(wanted=known)
    named = [_root(db, path, known) for path in paths]
    asked = [replace(root, include=tuple(include), exclude=tuple(exclude), columns=columns) for root in named]
    moves = {move.root.id: move for move in find_root_moves(db, known, asked)}
    plan = plan_roots([moves[root.id].applied() if root.id in moves else root for root in known], asked)
    plan.moved = [move.root for move in moves.values()]
    return _widened(plan)


def changed_roots(db: sqlite3.Connection, paths: Iterable[str]) -> RootPlan:
    """Decide what to look at where something has changed at some paths; they need not be there any more.

    Paths are absolute, with forward slashes, spelled as on disk. What lies in no root does not count, nor does
    what is hidden.
    """
    known = get_roots(db)
    wanted: list[Root] = []
    parts: list[RootPart] = []
    for path in paths:
        for root in known:
            if covers(Root(-1, path), root.path):
                wanted += [] if root in wanted else [root]
            elif covers(root, path) and not _is_hidden((part := _part_at(root, path)).path):
                parts.append(part)
    return _widened(RootPlan(wanted=wanted, parts=parts))


def _widened(plan: RootPlan) -> RootPlan:
    """A plan in which a part that is a file of ignore rules has become its folder, for which these rules hold."""
    parts: list[RootPart] = []
    for part in plan.parts:
        folder, _, name = part.path.rpartition("/")
        if name not in IGNORE_FILES:
            parts.append(part)
        elif folder:
            parts.append(RootPart(part.root, folder))
        elif part.root not in plan.wanted:
            plan.wanted.append(part.root)
    plan.parts = outermost(part for part in parts if part.root not in plan.wanted)
    return plan


def _is_hidden(path: str) -> bool:
    """Tell whether a walk of the root skips a path in it; a file of ignore rules is read all the same."""
    *folders, name = path.split("/")
    return any(folder.startswith(".") for folder in folders) or (name.startswith(".") and name not in IGNORE_FILES)


def _root(db: sqlite3.Connection, path: str | Path, known: Sequence[Root]) -> Root:
    """A root for a path or URI, without an id yet. Links are followed, except one in a root that leads to a file."""
    if uri_scheme(str(path)):
        return _remote_root(db, str(path), known)
    try:
        whole = Path(path).resolve()
        outer = Path(path).parent.resolve() / Path(path).name
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links that lead round, before Python 3.13
        raise SourceError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if outer != whole and not whole.is_dir() and any(covers(root, outer.as_posix()) for root in known):
        whole = outer
    text, is_file = whole.as_posix(), False
    try:
        is_file = stat.S_ISREG(whole.stat().st_mode)
    except OSError as error:
        if not _is_known(db, text, known):
            if isinstance(error, FileNotFoundError | NotADirectoryError):
                raise SourceError(f"there is no file or folder {path}; give one that exists") from error
            raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SourceError(f"the name of {text!r} is not valid Unicode; rename it") from None
    return Root(-1, text, is_file)


def _remote_root(db: sqlite3.Connection, uri: str, known: Sequence[Root]) -> Root:
    """A root for a URI. Its store is asked only for what the index does not know.

    Raises UsageError, StorageError, MissingExtra, and SourceError where there is nothing.
    """
    from semsearch.sources.objects.find import is_object  # start-up time: few roots lie in stores
    from semsearch.sources.objects.source_uri import parse_source

    given = parse_source(uri)
    root = Root(-1, given.path, options=given.options)
    around = next((each for each in known if covers(each, given.path)), None)
    if around is not None and around.path == given.path:
        return replace(root, single=around.single)
    if around is not None and _is_known(db, given.path, known):
        return root
    store = given.whole if around is None else around.store
    return replace(root, single=is_object(store, given.path))


def _is_known(db: sqlite3.Connection, path: str, known: Sequence[Root]) -> bool:
    """Return whether a path is a root, or something in a root from which there are documents."""
    return any(root.path == path or (covers(root, path) and get_known_at(db, _part_at(root, path))) for root in known)


def _part_at(root: Root, path: str) -> RootPart:
    """The part of a root at a path in it."""
    return RootPart(root, path[len(root.path.rstrip("/")) + 1 :])
