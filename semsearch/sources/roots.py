"""What an index covers: folders and single files. None lies inside another, so no file is ever indexed twice. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

ADDED = 0  # the root of texts that a program added


@dataclass(frozen=True, slots=True)
class Root:
    """An absolute path with forward slashes, as the disk spells it, and the globs given for it. `single`: a file."""

    id: int
    path: str
    single: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def place(self, path: str) -> str:
        """The absolute path of a document, in NFC: what identifies it."""
        whole = self.path if self.single else f"{self.path.rstrip('/')}/{path}"
        return unicodedata.normalize("NFC", whole)


@dataclass(slots=True)
class RootPlan:
    """Which roots to look at; which are new; which older ones become part of new ones."""

    wanted: list[Root] = field(default_factory=list)
    absorbed: list[Root] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def plan_roots(known: Sequence[Root], asked: Iterable[Root]) -> RootPlan:
    """`asked` need no ids. A path inside a root means that root; one around roots takes them over."""
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
    """Whether the path is the root or lies in it."""
    return path == root.path or (not root.single and path.startswith(root.path.rstrip("/") + "/"))
