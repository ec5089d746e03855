"""Documents by folder, one level below the present one, so that a tree can be walked.

Where an index has one folder as its root, folders are named as below it: `./guide/`. Where it has several, the topmost
level are these, and folders are named in full. They are too where a name from the current folder could mean another.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from semsearch.maintenance.facets.metadata import escaped
from semsearch.results.contents.facets import FacetValue, FolderFacet
from semsearch.search.filtering.filters import FilterChoice

_BRACKETED = re.compile(r"\[([^\]/])\]")
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class FolderTree:
    """The roots of an index as a tree of folders."""

    roots: tuple[str, ...]
    here: str

    @classmethod
    def of(cls, roots: Sequence[str], here: str) -> FolderTree:
        """Build from the paths of the roots that are folders, and that of the current folder."""
        return cls(tuple(unicodedata.normalize("NFC", root).rstrip("/") for root in roots), here.rstrip("/"))

    def folder(self, root: str, below: str) -> str:
        """The name of a folder below a root: in full, where there are several roots."""
        if len(self.roots) <= 1:
            return below
        if not root:  # a text that a program added: its id would mean folders of every root
            return ""
        return f"{unicodedata.normalize('NFC', root).rstrip('/')}/{below}".rstrip("/")

    def child(self, folder: str, present: str) -> str | None:
        """The folder one level below the present one that is, or has in it, another. None for any other."""
        if not present and (root := self._root_of(folder)) is not None:
            return root
        if present and not folder.startswith(present + "/"):
            return None
        rest = folder[len(present) + 1 :] if present else folder
        return "/".join(filter(None, (present, rest.partition("/")[0]))) if rest else None

    def levels(self, folder: str) -> list[str]:
        """A folder and those that it lies in, topmost first."""
        found, root = list[str](), self._root_of(folder)
        while folder and folder != root:
            found.append(folder)
            folder = folder.rpartition("/")[0]
        return [*([] if root is None else [root]), *reversed(found)]

    def shown(self, folder: str) -> str:
        """The name of a folder as people read it: its own, or the path of a root."""
        return folder if self._root_of(folder) == folder else folder.rpartition("/")[2]

    def filter(self, folder: str, folders: Mapping[str, int]) -> str:
        """The filter that selects all documents below a folder."""
        if self._root_of(folder) is not None:
            return escaped(folder) + "/"
        if len(self.roots) == 1 and self._is_elsewhere(folder, folders):
            return escaped(f"{self.roots[0]}/{folder}") + "/"
        return f"./{escaped(folder)}/"

    def _root_of(self, folder: str) -> str | None:
        if len(self.roots) <= 1:
            return None
        return next((root for root in self.roots if folder == root or folder.startswith(root + "/")), None)

    def _is_elsewhere(self, folder: str, folders: Mapping[str, int]) -> bool:
        """Return whether the name of a folder, taken from the current one, means another."""
        (root,), first = self.roots, folder.partition("/")[0]
        if root.startswith(self.here + "/"):
            return root[len(self.here) + 1 :].partition("/")[0] == first
        if not self.here.startswith(root + "/"):
            return False
        below = f"{self.here[len(root) + 1 :]}/{first}"
        return any(each == below or each.startswith(below + "/") for each in folders)


def folder_facet(
    tree: FolderTree, counts: Counter[tuple[str, str]], own: Sequence[tuple[str, FilterChoice]], most: int
) -> FolderFacet:
    """Make the facet from counts by root and folder below it."""
    folders: Counter[str] = Counter()
    for (root, below), count in counts.items():
        folders[tree.folder(root, below)] += count
    present = _present(tree, folders, [each for _, each in own])
    children: Counter[str] = Counter()
    for folder, count in folders.items():
        if (child := tree.child(folder, present)) is not None:
            children[child] += count
    ranked = sorted(children, key=lambda each: (-children[each], each))
    return FolderFacet(
        own=tuple(text for text, _ in own),
        path=tuple(_value(tree, level, _within(level, folders), folders) for level in tree.levels(present)),
        here=folders[present],
        values=tuple(_value(tree, each, children[each], folders) for each in ranked[:most]),
        more=max(0, len(ranked) - most),
    )


def _value(tree: FolderTree, folder: str, count: int, folders: Mapping[str, int]) -> FacetValue:
    return FacetValue(tree.shown(folder), count, tree.filter(folder, folders))


def _within(folder: str, folders: Mapping[str, int]) -> int:
    return sum(count for each, count in folders.items() if each == folder or each.startswith(folder + "/"))


def _present(tree: FolderTree, folders: Mapping[str, int], own: Sequence[FilterChoice]) -> str:
    """The folder that filters on the path name, if it is one that there is; else the top, which is empty."""
    if len(own) != 1 or (named := _named(own[0])) is None:
        return ""
    return next((each for each in _spellings(tree, named) if _within(each, folders)), "")


def _named(choice: FilterChoice) -> str | None:
    if (filter_ := choice.only) is None:
        return None
    value = filter_.value.removesuffix("**")
    if filter_.operator not in ("~", "=") or not value.endswith("/") or _WILD.search(_BRACKETED.sub("", value)):
        return None
    return unicodedata.normalize("NFC", _BRACKETED.sub(r"\1", value)).removeprefix("./").rstrip("/")


def _spellings(tree: FolderTree, named: str) -> Iterator[str]:
    """A folder as the tree may name it, from its name below the root, from the current folder, or in full."""
    yield named
    for whole in (named, f"{tree.here}/{named}"):
        if len(tree.roots) > 1:
            yield whole
        for root in tree.roots[:1]:
            if whole.startswith(root + "/"):
                yield whole[len(root) + 1 :]
