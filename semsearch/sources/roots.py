"""The roots of an index: the folders and single files that it covers. Pure.

No root lies inside another, so no file is ever indexed twice.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from semsearch.errors import UsageError
from semsearch.readers.registry import NO_COLUMNS, Columns
from semsearch.system.locations import uri_scheme

ADDED = 0  # the root of texts that a program added
IGNORE_FILES = (".gitignore", ".semsearchignore")


class Root(NamedTuple):
    """A folder or file that is indexed: its absolute path with forward slashes, as spelled on disk, and its globs.

    `single` marks a file; `columns` are those that were chosen for its tables and records. The path of a folder or
    object in a store is its URI, and `options` say how the store is reached: `?endpoint=http://localhost:9000`.
    """

    id: int
    path: str
    single: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    columns: Columns = NO_COLUMNS
    options: str = ""

    @property
    def is_remote(self) -> bool:
        """Return whether it lies in an object store or another file system than that of this machine."""
        return bool(uri_scheme(self.path))

    @property
    def store(self) -> str:
        """The URI by which the store of a remote root is opened; "" for a root of this machine."""
        return self.path + self.options if self.is_remote else ""

    def canonical(self, path: str) -> str:
        """The canonical path of a document, given its path relative to the root: absolute, in NFC. Its identity."""
        whole = self.path if self.single else f"{self.path.rstrip('/')}/{path}"
        return unicodedata.normalize("NFC", whole)

    def canonical_paths(self, paths: Sequence[str]) -> list[str]:
        """The canonical path of each document, given paths relative to the root that are in NFC already."""
        inside = self.canonical("")
        return [inside if self.single else inside + path for path in paths]


class RootPart(NamedTuple):
    """A file in a root, or a folder with all that is in it: its path relative to the root, as spelled on disk."""

    root: Root
    path: str

    @property
    def canonical(self) -> str:
        """The canonical path: absolute, in NFC."""
        return self.root.canonical(self.path)


@dataclass(slots=True)
class RootPlan:
    """The known roots; those to sync, parts of others, those that become part of new ones; and warnings."""

    known: Sequence[Root] = ()
    wanted: list[Root] = field(default_factory=list)
    parts: list[RootPart] = field(default_factory=list)
    absorbed: list[Root] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def take_whole(self, root: Root) -> None:
        """Sync a root as a whole, of which parts were to be synced."""
        self.wanted.append(root)
        self.parts = [part for part in self.parts if part.root != root]

    def covers(self, path: str) -> bool:
        """Return whether a canonical path is synced."""
        parts = {part.canonical for part in self.parts}
        return any(covers(root, path) for root in self.wanted) or enclosing_path(path, parts) is not None


def plan_roots(known: Sequence[Root], asked: Iterable[Root]) -> RootPlan:
    """Decide which roots to sync when `asked` are requested; these need no ids.

    A path inside a known root means that part of it; a path that contains known roots replaces them. Raises UsageError
    for columns that are chosen for a part of a root.
    """
    result = RootPlan(known)
    roots = list(known)
    next_id = max((root.id for root in roots), default=ADDED) + 1
    for ask in sorted(asked, key=lambda root: len(root.path)):
        around = next((root for root in roots if covers(root, ask.path)), None)
        if around is None:
            inside = [root for root in roots if covers(ask, root.path)]
            roots = [root for root in roots if root not in inside]
            result.absorbed += inside
            result.warnings += [
                f"{root.path} is now part of {ask.path}; its chosen columns are dropped, choose them for {ask.path}"
                for root in inside
                if root.columns not in (NO_COLUMNS, ask.columns)
            ]
            result.wanted = [root for root in result.wanted if root not in inside]
            around = ask._replace(id=next_id)
            next_id += 1
            roots.append(around)
            result.wanted.append(around)
            continue
        if around.path == ask.path:
            update = _updated(around, ask)
            roots[roots.index(around)] = update
            result.wanted = [root for root in result.wanted if root.id != update.id] + [update]
        elif around not in result.wanted:
            if ask.columns not in (NO_COLUMNS, around.columns):
                raise UsageError(
                    f"{ask.path} is inside {around.path}, which is indexed as a whole; choose columns for {around.path}"
                )
            if ask.include or ask.exclude:
                result.warnings.append(
                    f"{ask.path} is inside {around.path}, which keeps its own --include and --exclude"
                )
            result.parts.append(part_at(around, ask.path))
    result.parts = outermost(part for part in result.parts if part.root not in result.wanted)
    return result


def _updated(root: Root, ask: Root) -> Root:
    """A root with the requested globs, columns and options; those that are not given stay."""
    return root._replace(
        include=ask.include or root.include,
        exclude=ask.exclude or root.exclude,
        columns=ask.columns or root.columns,
        options=ask.options or root.options,
    )


def widened(roots: RootPlan) -> RootPlan:
    """A plan in which a part that is a file of ignore rules has become its folder, for which these rules hold."""
    parts: list[RootPart] = []
    for part in roots.parts:
        folder, _, name = part.path.rpartition("/")
        if name not in IGNORE_FILES:
            parts.append(part)
        elif folder:
            parts.append(RootPart(part.root, folder))
        elif part.root not in roots.wanted:
            roots.wanted.append(part.root)
    roots.parts = outermost(part for part in parts if part.root not in roots.wanted)
    return roots


def is_hidden(path: str) -> bool:
    """Return whether a walk of the root skips a path in it as hidden; files of ignore rules are read."""
    *folders, name = path.split("/")
    if "cur" in folders or "new" in folders:
        return False  # perhaps mail of a Maildir, whose folders are hidden: the walk tells
    return any(folder.startswith(".") for folder in folders) or (name.startswith(".") and name not in IGNORE_FILES)


def part_at(root: Root, path: str) -> RootPart:
    """The part of a root at an absolute path in it."""
    return RootPart(root, path[len(root.path.rstrip("/")) + 1 :])


def outermost(parts: Iterable[RootPart]) -> list[RootPart]:
    """Choose the parts that lie in none of the others, each once, in the order of their paths."""
    outer_parts: list[RootPart] = []
    for part in sorted(parts, key=lambda part: part.canonical.split("/")):
        if not outer_parts or not f"{part.canonical}/".startswith(f"{outer_parts[-1].canonical}/"):
            outer_parts.append(part)
    return outer_parts


def enclosing_path(path: str, paths: Container[str]) -> str | None:
    """Find which of some canonical paths a canonical path is, or lies in; None for none of them."""
    while path:
        if path in paths:
            return path
        path = path.rpartition("/")[0]
    return None


def covers(root: Root, path: str) -> bool:
    """Return whether an absolute path is the root or lies in it."""
    return path == root.path or (not root.single and path.startswith(root.path.rstrip("/") + "/"))
