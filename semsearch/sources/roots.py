"""The roots of an index: the folders and single files that it covers. Pure.

No root lies inside another, so no file is ever indexed twice.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

ADDED = 0  # the root of texts that a program added


@dataclass(frozen=True, slots=True)
class Root:
    """A folder or file that is indexed: its absolute path with forward slashes, as spelled on disk, and its globs.

    `single` marks a file.
    """

    id: int
    path: str
    single: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def place(self, path: str) -> str:
        """The absolute path, in NFC, of the document at a path relative to the root. It identifies the document."""
        whole = self.path if self.single else f"{self.path.rstrip('/')}/{path}"
        return unicodedata.normalize("NFC", whole)


@dataclass(slots=True)
class RootPlan:
    """The roots to sync, the known roots that become part of new ones, and warnings for the user."""

    wanted: list[Root] = field(default_factory=list)
    absorbed: list[Root] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def plan_roots(known: Sequence[Root], asked: Iterable[Root]) -> RootPlan:
    """Decide which roots to sync when `asked` are asked for; these need no ids.

    A path inside a known root means that root; a path that contains known roots replaces them.
    """
    result = RootPlan()
    roots = list(known)
    next_id = max((root.id for root in roots), default=ADDED) + 1
    for ask in sorted(asked, key=lambda root: len(root.path)):
        around = next((root for root in roots if covers(root, ask.path)), None)
        if around is None:
            inside = [root for root in roots if covers(ask, root.path)]
            roots = [root for root in roots if root not in inside]
            result.absorbed += inside
            result.wanted = [root for root in result.wanted if root not in inside]
            around = replace(ask, id=next_id)
            next_id += 1
            roots.append(around)
            result.wanted.append(around)
            continue
        if around.path == ask.path:
            update = replace(around, include=ask.include or around.include, exclude=ask.exclude or around.exclude)
            roots[roots.index(around)] = update
        else:
            update = around
            if not any(root.id == around.id for root in result.wanted):
                result.warnings.append(
                    f"{ask.path} lies in {around.path}, which is indexed already: all of that was synced"
                )
        result.wanted = [root for root in result.wanted if root.id != update.id] + [update]
    return result


def covers(root: Root, path: str) -> bool:
    """Return whether an absolute path is the root or lies in it."""
    return path == root.path or (not root.single and path.startswith(root.path.rstrip("/") + "/"))
