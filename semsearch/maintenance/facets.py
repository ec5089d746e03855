"""Facets: the number of documents by folder, format, date and metadata, counted in one pass over their rows.

A facet counts as if there were no filters on its own key. The rows of a document are its records, if these have
metadata of their own (rows of a table, mails of a mailbox), else itself. So a document counts for the values of its
rows that pass all filters, or fail only those of the value's key; each value once. Folders are named in full, and
counted one level below the present one, so that a tree can be walked: from the index's folder, or from its roots where
it has several.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nsmallest
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from semsearch.results.documents import DateFacet, Facet, Facets, FacetValue, FolderFacet
from semsearch.search.filters import (
    FilterChoice,
    condition,
    file_time,
    nested_values,
    number_of,
    parse,
    says_modified,
    teach,
    text_of,
)
from semsearch.storage.database import IndexDatabase
from semsearch.storage.document_rows import WITH_RECORDS, check_all_documents, each_row
from semsearch.storage.known_files import get_roots
from semsearch.storage.schema import get_stamp
from semsearch.system.locations import working_folder

if TYPE_CHECKING:
    import sqlite3

_MOST_KEYS = 30
_MOST_YEARS = 100
_CACHED = 32  # facets, some kilobytes each


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


def read_facets(db: sqlite3.Connection, texts: Sequence[str], *, values: int) -> Facets:
    """Count the facets under filters, with so many values of each key. Raises UsageError for an invalid filter."""
    choices, here = [parse(text) for text in texts], working_folder().as_posix()
    keys = [choice.key or f"={text}" for choice, text in zip(choices, texts, strict=True)]  # of several: no key
    own: dict[str, tuple[str, ...]] = defaultdict(tuple)
    of_key: dict[str, list[FilterChoice]] = defaultdict(list)
    for key, text, choice in zip(keys, texts, choices, strict=True):
        own[key] += (text,)
        of_key[key].append(choice)
    documents, counts = _count(db, keys, choices, here)
    folders, formats = counts.pop("path", _KeyCounts()), counts.pop("format", _KeyCounts())
    dates = sorted(key for key, of_values in counts.items() if key == "modified" or of_values.are_dates)
    others = sorted(counts.keys() - {*dates}, key=lambda key: counts[key].usefulness(key))
    roots = [normalize("NFC", root.path).rstrip("/") for root in get_roots(db) if not root.single]
    in_folders = {folders.written[folder]: count for folder, count in folders.values.items()}
    return Facets(
        documents=documents,
        folders=_folder_facet(in_folders, roots, here, choices=of_key["path"], own=own["path"], most=values),
        formats=_facet("format", formats, own["format"], values),
        dates=tuple(_date_facet(key, counts[key], of_key[key], own[key]) for key in dates),
        metadata=tuple(_facet(key, counts[key], own[key], values) for key in others[:_MOST_KEYS]),
        more_keys=max(0, len(others) - _MOST_KEYS),
    )


# -- Counting documents ------------------------------------------------------------------------------------------------

Scalar = str | int | float | bool | None
_QUARTER_NS = 900 * 1_000_000_000  # no border between months lies within a quarter of an hour
_DAY = re.compile(r"(\d{4})-(\d\d)(-\d\d([T ]\d\d:\d\d.*)?)?", re.DOTALL)
_YEAR = re.compile(r"(\d{4})(-\d\d){0,2}")
_TAKEN = ("path", "title", "format")  # keys that filters look up elsewhere than in the metadata


class _Row(NamedTuple):
    """What facets count of a document or record; `failed` is the one key whose filters it fails, if it does."""

    failed: str | None
    folder: str  # in full; "" of what lies in no root that is a folder
    format: str
    month: str  # of its file, unless the document says when it was modified
    metadata: str  # JSON


class _Value(NamedTuple):
    """A value: as filters compare it, as it is written, and its year and month if it is a date."""

    compared: str | float
    text: str
    year: str = ""
    month: str = ""


@dataclass(slots=True)
class _KeyCounts:
    """The number of documents with each value of one key."""

    documents: int = 0
    values: Counter[str | float] = field(default_factory=Counter)
    written: dict[str | float, str] = field(default_factory=dict)  # each value as it is first written
    years: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)
    dates: int = 0  # distinct values that are dates

    def add(self, values: Collection[_Value], documents: int) -> None:
        """Count documents that have these values."""
        self.documents += documents
        for value in values:
            if value.compared not in self.written:
                self.written[value.compared] = value.text
                self.dates += bool(value.month)
        self.values.update(dict.fromkeys({value.compared for value in values}, documents))
        self.years.update(dict.fromkeys({value.year for value in values if value.year}, documents))
        self.months.update(dict.fromkeys({value.month for value in values if value.month}, documents))

    @property
    def are_dates(self) -> bool:
        """Whether at least half of the distinct values are dates."""
        return 0 < len(self.values) <= 2 * self.dates

    def usefulness(self, key: str) -> tuple[bool, int, str]:
        """For sorting: keys with repeated values first, then those that most documents have."""
        return len(self.values) == self.documents, -self.documents, key


def _count(
    db: sqlite3.Connection, keys: Sequence[str], choices: Sequence[FilterChoice], here: str
) -> tuple[int, dict[str, _KeyCounts]]:
    """The number of documents that pass all filters, and those with each value of each key."""
    teach(db)
    truths = (
        [condition([choice], here=here, metadata=metadata) for choice in choices]
        for metadata in ("documents.metadata", WITH_RECORDS)
    )
    rows = each_row(db, *([(truth.sql, truth.parameters) for truth in of_rows] for of_rows in truths))
    alike: Counter[tuple[_Row, ...]] = Counter()  # documents by what is counted of their rows
    for _, of_document in groupby(rows, key=itemgetter(0)):
        alike[tuple(dict.fromkeys(filter(None, (_row(row, keys) for row in of_document))))] += 1
    documents, counts = 0, defaultdict[str, _KeyCounts](_KeyCounts)
    for counted, number in alike.items():
        documents += number * any(row.failed is None for row in counted)
        of_keys: dict[str, dict[_Value, None]] = defaultdict(dict)
        for row in counted:
            for key, value in _values(row):
                if row.failed in (None, key):
                    of_keys[key][value] = None
        for key, values in of_keys.items():
            counts[key].add(values, number)
    return documents, counts


def _row(columns: tuple[Any, ...], keys: Sequence[str]) -> _Row | None:
    _, root, path, format_, mtime_ns, metadata, *truths = columns
    failed = {key for key, truth in zip(keys, truths, strict=True) if not truth}
    if len(failed) > 1:
        return None
    folder = normalize("NFC", f"{root.rstrip('/')}/{path}").rpartition("/")[0] if root else ""
    month = _month(mtime_ns // _QUARTER_NS) if mtime_ns is not None and not says_modified(metadata) else ""
    return _Row(failed.pop() if failed else None, folder, format_, month, metadata)


@lru_cache(maxsize=4096)
def _month(quarter: int) -> str:
    return file_time(quarter * _QUARTER_NS)[: len("2025-01")]


def _values(row: _Row) -> Iterator[tuple[str, _Value]]:
    yield "path", _Value(row.folder, row.folder)
    yield "format", _Value(row.format, row.format)
    if row.month:
        yield "modified", _Value(row.month, row.month, row.month[:4], row.month)
    yield from _metadata_values(row.metadata)


@lru_cache(maxsize=1024)
def _metadata_values(metadata: str) -> tuple[tuple[str, _Value], ...]:
    """The single values in metadata, by the keys that filters can write: author.name is the name inside author."""
    return tuple(
        (key, _value(scalar))
        for name, item in json.loads(metadata).items()
        for key, scalar in nested_values(name.casefold(), item)
        if key not in _TAKEN and '"' not in key and key.strip(".") and key.strip() == key
    )


def _value(scalar: Scalar) -> _Value:
    text = text_of(scalar)
    number = number_of(text)
    is_day = _DAY.fullmatch(text) is not None
    year = text[:4] if is_day or _YEAR.fullmatch(text) else ""
    return _Value(text.casefold() if number is None else number, text, year, text[:7] if is_day else "")


# -- Facets of values and dates ----------------------------------------------------------------------------------------

_LONGEST = 150  # characters of a value that is listed


def _facet(key: str, counts: _KeyCounts, own: tuple[str, ...], most: int) -> Facet:
    """The most frequent values that are short enough to be listed."""
    listed = ((counts.written[value], count) for value, count in counts.values.items())
    frequent = nsmallest(
        most, (pair for pair in listed if len(pair[0]) <= _LONGEST), key=lambda pair: (-pair[1], pair[0])
    )

    def filter_of(text: str) -> str:
        is_of_dates = counts.dates and _YEAR.fullmatch(text)  # to be equal to 2024 would be to lie in it
        return _glob_filter(key, text) if is_of_dates else value_filter(key, text)

    values = tuple(FacetValue(text, count, filter_of(text)) for text, count in frequent)
    return Facet(key, own, values, len(counts.values) - len(values))


def _date_facet(key: str, counts: _KeyCounts, choices: Sequence[FilterChoice], own: tuple[str, ...]) -> DateFacet:
    only = [choice.only for choice in choices]
    matches = [_YEAR.fullmatch(choice.value) for choice in only if choice and choice.operator == "="]
    chosen = {match[1] for match in matches if match}
    year = chosen.pop() if len(chosen) == 1 else None
    years, months = counts.years, counts.months
    return DateFacet(
        key=key,
        own=own,
        years=_dated(key, years, sorted(years, reverse=True)[:_MOST_YEARS]),
        more=max(0, len(years) - _MOST_YEARS),
        year=year,
        months=_dated(key, months, [month for month in sorted(months) if month[:4] == year]),
    )


def _dated(key: str, counts: Counter[str], dates: Iterable[str]) -> tuple[FacetValue, ...]:
    return tuple(FacetValue(date, counts[date], value_filter(key, date)) for date in dates)


# -- Folders -----------------------------------------------------------------------------------------------------------

_BRACKETED = re.compile(r"\[([^\]/])\]")
_WILD = re.compile(r"[*?\[]")


def _folder_facet(
    counts: Mapping[str, int],
    roots: Sequence[str],
    here: str,
    *,
    choices: Sequence[FilterChoice],
    own: tuple[str, ...],
    most: int,
) -> FolderFacet:
    """The folders below the present one. `counts`: of the documents directly in each folder, named in full."""
    below: Counter[str] = Counter()  # documents in each folder, at any depth
    parents: dict[str, str] = {}
    for folder, count in counts.items():
        root = next((root for root in roots if f"{folder}/".startswith(f"{root}/")), None)
        while root is not None:
            below[folder] += count
            parents[folder] = "" if folder == root else folder.rpartition("/")[0]
            if folder == root:
                break
            folder = parents[folder]
    top = roots[0] if len(roots) == 1 else ""  # of several, the roots are the topmost folders
    present = next((name for name in _named_folders(choices, top, here) if name in below), top)
    trail, folder = list[str](), present
    while folder not in ("", top):
        trail.append(folder)
        folder = parents[folder]
    children = [folder for folder, parent in parents.items() if parent == present != folder]
    ranked = sorted(children, key=lambda folder: (-below[folder], folder))

    def value(folder: str) -> FacetValue:
        name = folder if folder in roots else folder.rpartition("/")[2]
        return FacetValue(name, below[folder], _escaped(folder) + "/")

    return FolderFacet(
        own=own,
        path=tuple(map(value, reversed(trail))),
        here=counts.get(present, 0) + (counts.get("", 0) if present and present == top else 0),
        values=tuple(map(value, ranked[:most])),
        more=max(0, len(ranked) - most),
    )


def _named_folders(choices: Sequence[FilterChoice], top: str, here: str) -> list[str]:
    """The folders, in full, that filters on the path may mean, if they name one."""
    filter_ = choices[0].only if len(choices) == 1 else None
    value = "" if filter_ is None else filter_.value.rstrip("*")
    if filter_ is None or filter_.operator not in ("~", "=") or not value.endswith("/"):
        return []
    if _WILD.search(_BRACKETED.sub("", value)):
        return []
    named = normalize("NFC", _BRACKETED.sub(r"\1", value)).removeprefix("./").rstrip("/")
    return [named, *([f"{top}/{named}"] if top else []), f"{here}/{named}"]


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
