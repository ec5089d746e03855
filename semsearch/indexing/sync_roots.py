"""The roots, and parts of roots, that a sync compares; and roots that were moved or renamed as a whole.

A root counts as moved only on good evidence, since an unmounted disk looks like a deleted folder: nothing exists at the
old path any more, and of a sample of the indexed files that are not empty, more than half lie in the new folder at the
same relative path with the same content. Roots in object stores never count as moved.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import SemsearchError, SourceError, UsageError
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.sources.ignore import IGNORE_FILES
from semsearch.sources.remote_source import remote_source
from semsearch.sources.roots import Root, RootPart, RootPlan, covers, outermost, plan_roots
from semsearch.sources.walk import HIDDEN
from semsearch.storage.database import IndexDatabase, check
from semsearch.storage.known_files import get_files_with_text, get_known_at, get_roots
from semsearch.system.locations import as_spelled, uri_scheme
from semsearch.system.source_files import source_digest

if TYPE_CHECKING:
    import sqlite3


_SAMPLE = 50  # documents whose files are read


def find_root_moves(db: sqlite3.Connection, known: Sequence[Root], asked: Iterable[Root]) -> dict[int, str]:
    """Find the known roots that have moved to given folders: the new path of each, by its id.

    A folder that overlaps with a root is none.
    """
    missing = [root for root in known if not root.single and not root.is_remote and is_missing(root.path)]
    moves: dict[int, str] = {}
    for ask in asked:
        left = [root for root in missing if root.id not in moves]
        overlaps = any(covers(root, ask.path) or covers(ask, root.path) for root in known)
        if not left or ask.single or ask.is_remote or overlaps:
            continue
        root = next((root for root in left if _is_found_in(db, root, Path(ask.path))), None)
        if root is not None:
            moves[root.id] = ask.path
    return moves


def is_missing(path: str) -> bool:
    """Return whether nothing exists at a path; False if that cannot be determined."""
    try:
        Path(path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _is_found_in(db: sqlite3.Connection, root: Root, folder: Path) -> bool:
    """Return whether most of a root's files lie in a folder."""
    files = get_files_with_text(db, root)
    sample = files[:: max(1, -(-len(files) // _SAMPLE))]
    return 2 * sum(_has(folder / path, size, digest) for path, size, digest in sample) > len(sample)


def _has(file: Path, size: int, digest: str) -> bool:
    try:
        return file.stat().st_size == size and source_digest(file) == digest
    except OSError:
        return False


# -- Roots to sync -----------------------------------------------------------------------------------------------------


def asked_roots(
    db: sqlite3.Connection,
    paths: Sequence[str | Path],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    columns: Columns = NO_COLUMNS,
) -> RootPlan:
    """Plan which roots and parts of roots to compare for some paths; without any, all roots.

    Raises SourceError for a path that is neither on the disk nor in the index, UsageError without paths and roots.
    """
    known = get_roots(db)
    if not paths and not known:
        raise UsageError("the index has no roots yet; give a file or folder to index")
    if not paths and columns:
        raise UsageError("columns apply to a file or folder; give its path as well")
    if not paths:
        return RootPlan(wanted=known)
    named = [_root(db, path, known) for path in paths]
    asked = [replace(root, include=tuple(include), exclude=tuple(exclude), columns=columns) for root in named]
    moves = find_root_moves(db, known, asked)
    plan = plan_roots([replace(root, path=moves.get(root.id, root.path)) for root in known], asked)
    plan.moved = [root for root in known if root.id in moves]
    return _widened(plan)


def changed_roots(db: sqlite3.Connection, paths: Iterable[str]) -> RootPlan:
    """Plan which roots and parts of roots to compare for changed paths, which need not exist any more.

    Paths are absolute, with forward slashes, spelled as on disk. Hidden paths and paths in no root are
    ignored.
    """
    known = get_roots(db)
    wanted: list[Root] = []
    parts: list[RootPart] = []
    for path in paths:
        for root in known:
            if covers(Root(-1, path), root.path):
                wanted += [] if root in wanted else [root]
            elif covers(root, path) and (HIDDEN in root.exclude or not _is_hidden(_part_at(root, path).path)):
                part = _part_at(root, path)
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
    """Return whether a walk of the root skips a path in it as hidden; files of ignore rules are read."""
    *folders, name = path.split("/")
    if "cur" in folders or "new" in folders:
        return False  # perhaps mail of a Maildir, whose folders are hidden: the walk tells
    return any(folder.startswith(".") for folder in folders) or (name.startswith(".") and name not in IGNORE_FILES)


def _root(db: sqlite3.Connection, path: str | Path, known: Sequence[Root]) -> Root:
    """A root for a path or URI, without an id yet. Links are followed, except one in a root that leads to a file."""
    if uri_scheme(str(path)):
        return _remote_root(db, str(path), known)
    try:
        whole = as_spelled(Path(path).resolve())
        outer = as_spelled(Path(path).parent.resolve() / Path(path).name)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: circular links, before Python 3.13
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
    """A root for a URI. Its store is queried only for what the index does not know.

    Raises UsageError, StorageError, MissingExtra, and SourceError if nothing exists there.
    """
    source = remote_source(uri)
    path, options = source.parse(uri)
    root = Root(-1, path, options=options)
    around = next((known_root for known_root in known if covers(known_root, path)), None)
    if around is not None and around.path == path:
        return replace(root, single=around.single)
    if around is not None and _is_known(db, path, known):
        return root
    store = root.store if around is None else around.store
    return replace(root, single=source.is_file(store, path))


def _is_known(db: sqlite3.Connection, path: str, known: Sequence[Root]) -> bool:
    """Return whether a path is a root, or a part of a root with documents."""
    return any(root.path == path or (covers(root, path) and get_known_at(db, _part_at(root, path))) for root in known)


def _part_at(root: Root, path: str) -> RootPart:
    """The part of a root at a path in it."""
    return RootPart(root, path[len(root.path.rstrip("/")) + 1 :])


# -- The index of a folder that was moved ------------------------------------------------------------------------------


def index_of_moved_folder(folder: Path, indexes: Iterable[Path]) -> Path | None:
    """Find the index of which a root has moved to a folder; None unless there is exactly one."""
    if not folder.is_dir():
        return None
    asked = Root(-1, as_spelled(folder.resolve()).as_posix())
    moved = [index for index in indexes if _has_moved(index, asked)]
    return moved[0] if len(moved) == 1 else None


def _has_moved(index: Path, asked: Root) -> bool:
    database = IndexDatabase(index)
    try:
        check(database)
        with database.reading() as db:
            return bool(find_root_moves(db, get_roots(db), [asked]))
    except SemsearchError:  # a damaged index is not the one
        return False
    finally:
        database.close()
