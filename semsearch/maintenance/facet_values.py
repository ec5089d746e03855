"""The values of facets, and the filter that selects each: folders of a tree, and values of metadata.

Values of metadata are counted as filters compare them. Folders are counted one level below the present one, so that a
tree can be walked. Where an index has one folder as its root, folders are named relative to it: `./guide/`. Where it
has several, these are the topmost level, and folders are named in full; so they are where a relative name could also
mean something in the current folder.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any

from semsearch.results.documents import Facet, FacetValue, FolderFacet
from semsearch.search.filters import FilterChoice, nested_values, number_of, text_of

# -- Metadata ----------------------------------------------------------------------------------------------------------

_PLAIN_KEY = re.compile(r"[\w.\-]+")
_UNSAFE = re.compile(r"[|\\\n\r]|\.\.")  # what has a meaning in filters
_GLOB = re.compile(r"[*?\[|\\]|\s")
_SINGLE = (str, int, float)  # and not bool: True is 1 to a dict
_LONGEST = 150  # characters of a value that is listed
_DAY = re.compile(r"(\d{4})-(\d\d)(-\d\d([T ]\d\d:\d\d.*)?)?", re.DOTALL)
_YEAR = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")

Scalar = str | int | float | None
Value = str | float  # as filters compare: a number, or a casefolded text


@dataclass(slots=True)
class KeyTally:
    """The number of documents with each value of one key."""

    key: str  # casefolded
    documents: int = 0
    values: Counter[Value] = field(default_factory=Counter)
    shown: dict[Value, str] = field(default_factory=dict)  # each value as it is first written
    years: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)
    dates: int = 0  # values, of those counted, that are dates
    _known: dict[Scalar, tuple[Value, str, str]] = field(default_factory=dict)  # with year and month, or ""

    def add(self, scalars: Collection[Scalar], count: int) -> None:
        """Count `count` documents that have these values."""
        self.documents += count
        if len(scalars) == 1:
            (scalar,) = scalars
            known = self._known.get(scalar)
            value, year, month = self._learnt(scalar) if known is None else known
            self.values[value] += count
            if year:
                self.years[year] += count
            if month:
                self.months[month] += count
            return
        distinct = {self._known.get(item) or self._learnt(item) for item in scalars}
        self.values.update(dict.fromkeys({value for value, _, _ in distinct}, count))
        self.years.update(dict.fromkeys({year for _, year, _ in distinct if year}, count))
        self.months.update(dict.fromkeys({month for _, _, month in distinct if month}, count))

    def _learnt(self, scalar: Scalar) -> tuple[Value, str, str]:
        text = text_of(scalar)
        number = number_of(text)
        value: Value = text.casefold() if number is None else number
        is_date = _DAY.fullmatch(text) is not None
        if value not in self.shown:
            self.shown[value] = text
            self.dates += is_date
        parts = value, text[:4] if is_date or _YEAR.fullmatch(text) else "", text[:7] if is_date else ""
        self._known[scalar] = parts
        return parts

    def facet(self, filters: tuple[str, ...], most: int) -> Facet:
        """The most frequent values, as a facet."""
        frequent = nsmallest(most, self._listed(), key=lambda pair: (-pair[1], self.shown[pair[0]]))
        values = [FacetValue(self.shown[value], count, self._filter(value)) for value, count in frequent]
        return Facet(self.key, filters, tuple(values), len(self.values) - len(values))

    def _listed(self) -> Iterator[tuple[Value, int]]:
        """The values that are short enough to be listed."""
        return ((value, count) for value, count in self.values.items() if len(self.shown[value]) <= _LONGEST)

    def _filter(self, value: Value) -> str:
        text = self.shown[value]
        if self.dates and _YEAR.fullmatch(text):
            return glob_filter(self.key, text)  # to be equal to 2024 would be to lie in it
        return value_filter(self.key, text)


def is_of_dates(tally: KeyTally) -> bool:
    """Return whether at least half of a key's distinct values are dates."""
    return 0 < len(tally.values) <= 2 * tally.dates


def tally_keys(metadata: Mapping[str, int], tallies: dict[str, KeyTally], *, only: str | None = None) -> None:
    """Add to the tallies of all keys, or of one, so many documents with each metadata (JSON).

    A key that filters cannot write is left out.
    """
    for text, count in metadata.items():
        if text != "{}":
            for key, scalars in _scalars(json.loads(text)).items():
                if only is None or key == only:
                    if (tally := tallies.get(key)) is None:
                        tally = tallies[key] = KeyTally(key)
                    tally.add(scalars, count)
    for key in [key for key in tallies if '"' in key or not key.strip(".") or key.strip() != key]:
        del tallies[key]


def _scalars(data: Mapping[str, Any]) -> dict[str, list[Scalar]]:
    """The single values in metadata by their keys, casefolded: author.name is the name inside author."""
    scalars: dict[str, list[Scalar]] = {}
    for name, item in data.items():
        key = name.casefold()
        if type(item) in _SINGLE and key not in scalars:
            scalars[key] = [item]
        else:
            for inner, value in nested_values(key, item):
                scalars.setdefault(inner, []).append(text_of(value) if isinstance(value, bool) else value)
    return scalars


def value_filter(key: str, text: str) -> str:
    """The filter that selects the documents with a value."""
    if text != text.strip() or _UNSAFE.search(text):
        return glob_filter(key, text)
    return f"{_written(key)}={text}"


def glob_filter(key: str, text: str) -> str:
    """The filter that selects the documents with a value, as a glob that takes all characters as they are."""
    return f"{_written(key)}~{escaped(text)}"


def escaped(text: str) -> str:
    """A glob that matches a text and nothing else."""
    return _GLOB.sub(_one_of, text)


def _one_of(match: re.Match[str]) -> str:
    return "[[]" if match[0] == "[" else f"[{match[0]}]"


def _written(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else f'"{key}"'


# -- Folders -----------------------------------------------------------------------------------------------------------

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
        levels, root = list[str](), self._root_of(folder)
        while folder and folder != root:
            levels.append(folder)
            folder = folder.rpartition("/")[0]
        return [*([] if root is None else [root]), *reversed(levels)]

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
        return any(other == below or other.startswith(below + "/") for other in folders)


def folder_facet(
    tree: FolderTree, counts: Counter[tuple[str, str]], filters: Sequence[tuple[str, FilterChoice]], most: int
) -> FolderFacet:
    """Make the facet from counts by root and folder below it."""
    folders: Counter[str] = Counter()
    for (root, below), count in counts.items():
        folders[tree.folder(root, below)] += count
    present = _present(tree, folders, [choice for _, choice in filters])
    children: Counter[str] = Counter()
    for folder, count in folders.items():
        if (child := tree.child(folder, present)) is not None:
            children[child] += count
    ranked = sorted(children, key=lambda subfolder: (-children[subfolder], subfolder))
    return FolderFacet(
        own=tuple(text for text, _ in filters),
        path=tuple(_value(tree, level, _within(level, folders), folders) for level in tree.levels(present)),
        here=folders[present],
        values=tuple(_value(tree, subfolder, children[subfolder], folders) for subfolder in ranked[:most]),
        more=max(0, len(ranked) - most),
    )


def _value(tree: FolderTree, folder: str, count: int, folders: Mapping[str, int]) -> FacetValue:
    return FacetValue(tree.shown(folder), count, tree.filter(folder, folders))


def _within(folder: str, folders: Mapping[str, int]) -> int:
    return sum(count for other, count in folders.items() if other == folder or other.startswith(folder + "/"))


def _present(tree: FolderTree, folders: Mapping[str, int], choices: Sequence[FilterChoice]) -> str:
    """The folder that filters on the path name, if it is one that there is; else the top, which is empty."""
    if len(choices) != 1 or (named := _named(choices[0])) is None:
        return ""
    return next((spelling for spelling in _spellings(tree, named) if _within(spelling, folders)), "")


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
