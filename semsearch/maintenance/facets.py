"""Facets: the number of documents by folder, format, date and metadata, counted in one pass over their rows.

A facet counts as if there were no filters on its own key. So a row that passes all filters counts in every facet; one
that fails only filters on a single key counts in the facet of that key; any other in none. Values of metadata are
counted as filters compare them. Folders are named in full, and counted one level below the present one, so that a tree
can be walked: from the index's folder, or from its roots where it has several.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from semsearch.results.documents import DateFacet, Facet, Facets, FacetValue, FolderFacet
from semsearch.search.filter_sql import condition, teach
from semsearch.search.filters import (
    FilterChoice,
    file_time,
    nested_values,
    number_of,
    parse,
    says_modified,
    text_of,
)
from semsearch.storage.catalogue import get_roots
from semsearch.storage.checked_rows import check_all_documents
from semsearch.storage.database import IndexDatabase
from semsearch.storage.document_rows import WITH_RECORDS, each_row
from semsearch.storage.meta import get_stamp
from semsearch.system.locations import working_folder

if TYPE_CHECKING:
    import sqlite3

_MOST_KEYS = 30
_MOST_YEARS = 100
_CACHED = 32  # facets, some kilobytes each
_TAKEN = ("path", "title", "format")  # keys that filters look up elsewhere than in the metadata


class FacetCache:
    """The facets of an index. Recent ones of its newest generation are kept, since the web interface asks again.

    Threads may share it, and count one after the other.
    """

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._stamp: Hashable = None  # of the generation whose facets are kept, and whose rows were checked
        self._kept: dict[Hashable, Facets] = {}

    def count(self, filters: Sequence[str], values: int) -> Facets:
        """Count the documents that pass all filters by each key, with so many values of each."""
        wanted = filters, values, working_folder()  # paths of filters may be relative to it
        with self._lock, self._database.reading() as db:
            if (stamp := get_stamp(db)) != self._stamp:
                check_all_documents(db)
                self._stamp, self._kept = stamp, {}
            if wanted not in self._kept:
                if len(self._kept) >= _CACHED:
                    self._kept.clear()
                self._kept[wanted] = read_facets(db, filters, values=values)
            return self._kept[wanted]


# -- Counting rows -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Tally:
    """Counts of rows by their values, before these are parsed."""

    rows: int = 0
    folders: Counter[str] = field(default_factory=Counter)  # in full; "" of what lies in no root that is a folder
    formats: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)  # of their files
    metadata: Counter[str] = field(default_factory=Counter)  # by JSON

    def add(self, root: str, path: str, format_: str, mtime_ns: int | None, metadata: str) -> None:
        self.rows += 1
        self.folders[normalize("NFC", f"{root.rstrip('/')}/{path}").rpartition("/")[0] if root else ""] += 1
        self.formats[format_] += 1
        self.metadata[metadata] += 1
        if mtime_ns is not None and not says_modified(metadata):
            self.months[_month(mtime_ns // _QUARTER_NS)] += 1


_QUARTER_NS = 900 * 1_000_000_000  # no border between months lies within a quarter of an hour


@lru_cache(maxsize=4096)
def _month(quarter: int) -> str:
    return file_time(quarter * _QUARTER_NS)[: len("2025-01")]


class _Filters(list[tuple[str, str, FilterChoice]]):
    """The filters: key, text, choice. One on several keys is under its text, which is no key."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Raises UsageError for an invalid filter."""
        choices = [(text, parse(text)) for text in texts]
        super().__init__((choice.key or f"={text}", text, choice) for text, choice in choices)

    def own(self, key: str) -> tuple[str, ...]:
        """The texts of the filters on a key."""
        return tuple(text for of_key, text, _ in self if of_key == key)


def read_facets(db: sqlite3.Connection, texts: Sequence[str], *, values: int) -> Facets:
    """Count the facets under filters, with so many values of each key. Raises UsageError for an invalid filter.

    Takes one pass over the documents; equal metadata are parsed once.
    """
    filters, here = _Filters(texts), working_folder().as_posix()
    teach(db)
    passing, beside = _Tally(), {key: _Tally() for key, *_ in filters}
    of_documents = [condition([choice], here=here) for *_, choice in filters]
    of_records = [condition([choice], here=here, metadata=WITH_RECORDS) for *_, choice in filters]
    for row in each_row(db, *([(sql.sql, sql.parameters) for sql in of] for of in (of_documents, of_records))):
        columns: Any = row[:5]
        failed = {key for (key, *_), truth in zip(filters, row[5:], strict=True) if not truth}
        if not failed:
            passing.add(*columns)
        elif len(failed) == 1:
            beside[failed.pop()].add(*columns)

    def summed(key: str, name: str) -> Counter[str]:
        counts: Counter[str] = getattr(passing, name)
        return counts + getattr(beside[key], name) if key in beside else counts

    keys = _count_metadata(passing, beside)
    dates = {key: tally for key, tally in keys.items() if tally.is_of_dates}
    others = sorted((tally for key, tally in keys.items() if key not in dates), key=_usefulness)
    roots = [normalize("NFC", root.path).rstrip("/") for root in get_roots(db) if not root.single]
    formats = summed("format", "formats")
    return Facets(
        documents=passing.rows,
        folders=_folder_facet(_FolderTree(roots, here, summed("path", "folders")), filters, values),
        formats=Facet(
            "format",
            filters.own("format"),
            _valued("format", formats, [name for name, _ in formats.most_common(values)]),
            max(0, len(formats) - values),
        ),
        dates=tuple(_date_facets(filters, dates, summed("modified", "months"))),
        metadata=tuple(tally.facet(filters.own(tally.key), values) for tally in others[:_MOST_KEYS]),
        more_keys=max(0, len(others) - _MOST_KEYS),
    )


# -- Metadata ----------------------------------------------------------------------------------------------------------

_LONGEST = 150  # characters of a value that is listed
_DAY = re.compile(r"(\d{4})-(\d\d)(-\d\d([T ]\d\d:\d\d.*)?)?", re.DOTALL)
_YEAR = re.compile(r"(\d{4})(-\d\d){0,2}")

Scalar = str | int | float | None


class _Value(NamedTuple):
    """A value of metadata: as filters compare it, as it is written, and its year and month if it is a date."""

    compared: str | float
    text: str
    year: str
    month: str


@lru_cache(maxsize=1 << 14, typed=True)
def _value(scalar: Scalar) -> _Value:
    text = text_of(scalar)
    number = number_of(text)
    is_day = _DAY.fullmatch(text) is not None
    year = text[:4] if is_day or _YEAR.fullmatch(text) else ""
    return _Value(text.casefold() if number is None else number, text, year, text[:7] if is_day else "")


@dataclass(slots=True)
class _KeyTally:
    """The number of documents with each value of one key."""

    key: str  # casefolded
    documents: int = 0
    values: Counter[str | float] = field(default_factory=Counter)
    written: dict[str | float, str] = field(default_factory=dict)  # each value as it is first written
    years: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)
    dates: int = 0  # distinct values that are dates

    def add(self, scalars: Collection[Scalar], count: int) -> None:
        """Count documents that have these values."""
        self.documents += count
        values = {_value(scalar) for scalar in scalars}
        for value in values:
            if value.compared not in self.written:
                self.written[value.compared] = value.text
                self.dates += bool(value.month)
        for compared in {value.compared for value in values}:
            self.values[compared] += count
        for year in {value.year for value in values if value.year}:
            self.years[year] += count
        for month in {value.month for value in values if value.month}:
            self.months[month] += count

    @property
    def is_of_dates(self) -> bool:
        """Whether at least half of the distinct values are dates."""
        return 0 < len(self.values) <= 2 * self.dates

    def facet(self, own: tuple[str, ...], most: int) -> Facet:
        """The most frequent values that are short enough to be listed."""
        listed = ((value, count) for value, count in self.values.items() if len(self.written[value]) <= _LONGEST)
        frequent = nsmallest(most, listed, key=lambda pair: (-pair[1], self.written[pair[0]]))
        values = [
            FacetValue(self.written[value], count, self._filter(self.written[value])) for value, count in frequent
        ]
        return Facet(self.key, own, tuple(values), len(self.values) - len(values))

    def _filter(self, text: str) -> str:
        if self.dates and _YEAR.fullmatch(text):
            return _glob_filter(self.key, text)  # to be equal to 2024 would be to lie in it
        return value_filter(self.key, text)


def _count_metadata(passing: _Tally, beside: Mapping[str, _Tally]) -> dict[str, _KeyTally]:
    """The values of each key of the metadata that filters can write; those of a key with filters without these."""
    keys: dict[str, _KeyTally] = {}
    for only, tally in [*beside.items(), (None, passing)]:
        for text, count in tally.metadata.items():
            for key, scalars in _scalars(text).items():
                if only is None or key == only:
                    keys.setdefault(key, _KeyTally(key)).add(scalars, count)
    return {
        key: tally
        for key, tally in keys.items()
        if key not in _TAKEN and '"' not in key and key.strip(".") and key.strip() == key
    }


def _scalars(metadata: str) -> dict[str, list[Scalar]]:
    """The single values in metadata (JSON) by their keys, casefolded: author.name is the name inside author."""
    scalars: dict[str, list[Scalar]] = {}
    for name, item in json.loads(metadata).items() if metadata != "{}" else ():
        for key, value in nested_values(name.casefold(), item):
            scalars.setdefault(key, []).append(text_of(value) if isinstance(value, bool) else value)
    return scalars


def _usefulness(tally: _KeyTally) -> tuple[bool, int, str]:
    """Keys with repeated values first, then those that most documents have."""
    return len(tally.values) == tally.documents, -tally.documents, tally.key


# -- Dates -------------------------------------------------------------------------------------------------------------


def _date_facets(filters: _Filters, keys: Mapping[str, _KeyTally], of_files: Counter[str]) -> Iterator[DateFacet]:
    """A facet of each key that has dates; `modified` is also the month of a document's file."""
    for key in sorted({*keys, "modified"} if of_files else keys):
        tally = keys.get(key) or _KeyTally(key)
        months, years = tally.months, tally.years
        if key == "modified":
            months, years = months + of_files, Counter[str]()
            for month, count in months.items():
                years[month[:4]] += count
        only = [choice.only for of_key, _, choice in filters if of_key == key]
        matches = [_YEAR.fullmatch(choice.value) for choice in only if choice and choice.operator == "="]
        chosen = {match[1] for match in matches if match}
        year = chosen.pop() if len(chosen) == 1 else None
        yield DateFacet(
            key=key,
            own=filters.own(key),
            years=_valued(key, years, sorted(years, reverse=True)[:_MOST_YEARS]),
            more=max(0, len(years) - _MOST_YEARS),
            year=year,
            months=_valued(key, months, [month for month in sorted(months) if month[:4] == year]),
        )


def _valued(key: str, counts: Counter[str], values: Iterable[str]) -> tuple[FacetValue, ...]:
    return tuple(FacetValue(value, counts[value], value_filter(key, value)) for value in values)


# -- Folders -----------------------------------------------------------------------------------------------------------

_BRACKETED = re.compile(r"\[([^\]/])\]")
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class _FolderTree:
    """The folders below the roots, named in full, with the number of documents directly in each."""

    roots: Sequence[str]
    here: str  # the current folder
    counts: Mapping[str, int]

    @property
    def top(self) -> str:
        """The one root; "" where there are several, which are the topmost folders then."""
        return self.roots[0] if len(self.roots) == 1 else ""

    def root_of(self, folder: str) -> str:
        return next((root for root in self.roots if f"{folder}/".startswith(f"{root}/")), "")

    def below(self, folder: str) -> int:
        """The number of documents in a folder, at any depth."""
        return sum(count for other, count in self.counts.items() if f"{other}/".startswith(f"{folder}/"))

    def child(self, folder: str, present: str) -> str:
        """The folder one level below the present one that is, or has in it, another; "" for any other."""
        if not present:
            return self.root_of(folder)
        first = folder[len(present) + 1 :].partition("/")[0]
        return f"{present}/{first}" if first and folder.startswith(f"{present}/") else ""

    def levels(self, folder: str) -> list[str]:
        """A folder and those that it lies in, topmost first, below the top."""
        levels, root = list[str](), self.root_of(folder)
        while folder and folder != root:
            levels.append(folder)
            folder = folder.rpartition("/")[0]
        return [*([root] if root and root != self.top else []), *reversed(levels)]

    def value(self, folder: str, count: int) -> FacetValue:
        name = folder if folder in self.roots else folder.rpartition("/")[2]
        return FacetValue(name, count, _escaped(folder) + "/")

    def chosen(self, choices: Sequence[FilterChoice]) -> str:
        """The folder that filters on the path name, if it is one that there is; else the top."""
        filter_ = choices[0].only if len(choices) == 1 else None
        value = "" if filter_ is None else filter_.value.rstrip("*")
        if filter_ is None or filter_.operator not in ("~", "=") or not value.endswith("/"):
            return self.top
        if _WILD.search(_BRACKETED.sub("", value)):
            return self.top
        named = normalize("NFC", _BRACKETED.sub(r"\1", value)).removeprefix("./").rstrip("/")
        inside = [f"{root}/{named}" for root in self.roots] if len(self.roots) == 1 else []
        return next((whole for whole in (named, *inside, f"{self.here}/{named}") if self.below(whole)), self.top)


def _folder_facet(tree: _FolderTree, filters: _Filters, most: int) -> FolderFacet:
    present = tree.chosen([choice for key, _, choice in filters if key == "path"])
    children: Counter[str] = Counter()
    for folder, count in tree.counts.items():
        if child := tree.child(folder, present):
            children[child] += count
    ranked = sorted(children, key=lambda folder: (-children[folder], folder))
    in_no_folder = tree.counts.get("", 0) if present and present == tree.top else 0
    return FolderFacet(
        own=filters.own("path"),
        path=tuple(tree.value(level, tree.below(level)) for level in tree.levels(present)),
        here=tree.counts.get(present, 0) + in_no_folder,
        values=tuple(tree.value(folder, children[folder]) for folder in ranked[:most]),
        more=max(0, len(ranked) - most),
    )


# -- Filters that select a value ---------------------------------------------------------------------------------------

_PLAIN_KEY = re.compile(r"[\w.\-]+")
_UNSAFE = re.compile(r"[|\\\n\r]|\.\.")  # what has a meaning in filters
_GLOB = re.compile(r"[*?\[|\\]|\s")


def value_filter(key: str, text: str) -> str:
    """The filter that selects the documents with a value."""
    if text != text.strip() or _UNSAFE.search(text):
        return _glob_filter(key, text)
    return f"{_written(key)}={text}"


def _glob_filter(key: str, text: str) -> str:
    return f"{_written(key)}~{_escaped(text)}"


def _escaped(text: str) -> str:
    """A glob that matches a text and nothing else."""
    return _GLOB.sub(lambda match: "[[]" if match[0] == "[" else f"[{match[0]}]", text)


def _written(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else f'"{key}"'
