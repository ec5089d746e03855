"""Facets: the number of documents by folder, format, date and metadata, counted in one pass over their rows.

A facet counts as if there were no filters on its own key, so that another of its values can be chosen. A document has
a row, or one for each of its records, if these have metadata of their own (rows of a table, mails of a mailbox). It
counts once for each value that one of its rows has which passes the filters on all other keys. Folders are named in
full, and counted one level below the present one, so that a tree can be walked: from the index's folder, or from its
roots where it has several.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nsmallest
from itertools import groupby
from typing import TYPE_CHECKING
from unicodedata import normalize

from semsearch.filters import Filter, metadata_texts, number_of, parse, texts_of
from semsearch.results.documents import DateFacet, Facet, Facets, FacetValue, FolderFacet
from semsearch.search.index_reader import IndexView
from semsearch.storage.document_rows import FilterRow, filter_rows
from semsearch.storage.known_files import get_roots
from semsearch.system.locations import working_folder

if TYPE_CHECKING:
    import sqlite3

_MOST_KEYS = 30
_MOST_YEARS = 100


def count_facets(filters: Sequence[str], values: int, index: IndexView) -> Facets:
    """Count the facets under filters, with so many values of each key; remembered while the generation lasts, since the
    web interface asks again. Raises UsageError for an invalid filter."""
    key = tuple(filters), values, working_folder()  # paths of filters may be relative to it
    index.check_documents()
    return index.reader.caches.facets.of([key], lambda _: {key: _count_facets(filters, values, index.db)})[key]


def _count_facets(texts: Sequence[str], values: int, db: sqlite3.Connection) -> Facets:
    filters, of_key = [parse(text) for text in texts], defaultdict[str, list[Filter]](list)
    for filter_ in filters:
        of_key[filter_.key or f"={filter_.text}"].append(filter_)  # of several: no key
    own = {key: tuple(filter_.text for filter_ in of_one) for key, of_one in of_key.items()}
    documents, counts = _count(db, of_key)
    folders, formats = (counts.pop(key, _KeyCounts()) for key in ("path", "format"))
    dates = sorted(key for key, of_values in counts.items() if key == "modified" or of_values.are_dates)
    others = sorted(counts.keys() - {*dates}, key=lambda key: counts[key].usefulness(key))
    roots = [normalize("NFC", root.path).rstrip("/") for root in get_roots(db) if not root.single]
    return Facets(
        documents=documents,
        folders=_folder_facet(folders.values, roots, of_key["path"], most=values),
        formats=_facet("format", formats, own.get("format", ()), values),
        dates=tuple(_date_facet(key, counts[key], of_key[key]) for key in dates),
        metadata=tuple(_facet(key, counts[key], own.get(key, ()), values) for key in others[:_MOST_KEYS]),
        more_keys=max(0, len(others) - _MOST_KEYS),
    )


# -- Counting documents ------------------------------------------------------------------------------------------------

_DAY = re.compile(r"(\d{4}-\d\d)(-\d\d([T ]\d\d:\d\d.*)?)?", re.DOTALL)
_YEAR = re.compile(r"(\d{4})(-\d\d){0,2}")


@dataclass(slots=True)
class _KeyCounts:
    """The number of documents with each value of one key."""

    documents: int = 0
    values: Counter[str] = field(default_factory=Counter)  # by the value as it is first written
    written: dict[str | float, str] = field(default_factory=dict)  # by the value as filters compare it
    years: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)
    dates: int = 0  # distinct values that are dates

    def add(self, texts: Iterable[str]) -> None:
        """Count a document that has these values."""
        self.documents += 1
        values, years, months = set[str](), set[str](), set[str]()
        for text in texts:
            compared, year, month = _parsed(text)
            self.dates += bool(month) and compared not in self.written
            values.add(self.written.setdefault(compared, text))
            years |= {year} - {""}
            months |= {month} - {""}
        self.values.update(values)
        self.years.update(years)
        self.months.update(months)

    @property
    def are_dates(self) -> bool:
        """Whether at least half of the distinct values are dates."""
        return 0 < len(self.values) <= 2 * self.dates

    def usefulness(self, key: str) -> tuple[bool, int, str]:
        """For sorting: keys with repeated values first, then those that most documents have."""
        return len(self.values) == self.documents, -self.documents, key


@lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[str | float, str, str]:
    """A value as filters compare it, and its year and month if it is a date."""
    number, day, year = number_of(text), _DAY.fullmatch(text), _YEAR.fullmatch(text)
    return text.casefold() if number is None else number, text[:4] if day or year else "", day[1] if day else ""


def _count(db: sqlite3.Connection, filters: Mapping[str, Sequence[Filter]]) -> tuple[int, dict[str, _KeyCounts]]:
    """The number of documents that pass all filters, and those with each value of each key."""
    documents, counts = 0, defaultdict[str, _KeyCounts](_KeyCounts)
    for _, rows in groupby(filter_rows(db), key=lambda row: row.document_id):
        passes, texts_of_keys = False, defaultdict[str, list[str]](list)
        for row in rows:
            failed = [key for key, of_key in filters.items() if not all(filter_.matches(row) for filter_ in of_key)]
            passes |= not failed
            for key, texts in _texts(row).items() if len(failed) <= 1 else ():
                if not failed or failed == [key]:
                    texts_of_keys[key] += texts
        documents += passes
        for key, texts in texts_of_keys.items():
            counts[key].add(texts)
    return documents, counts


def _texts(row: FilterRow) -> Mapping[str, Sequence[str]]:
    """The values of a row under each key that filters can use."""
    folder = normalize("NFC", row.absolute).rpartition("/")[0]
    texts = {key: texts for key, texts in metadata_texts(row.metadata_json).items() if _WRITABLE.fullmatch(key)}
    return texts | {"path": [folder], "format": [row.format], "modified": [*texts_of(row, "modified")]}


# -- Facets of values and dates ----------------------------------------------------------------------------------------

_LONGEST = 150  # characters of a value that is listed


def _facet(key: str, counts: _KeyCounts, own: tuple[str, ...], most: int) -> Facet:
    """The most frequent values that are short enough to be listed."""
    listed = (pair for pair in counts.values.items() if len(pair[0]) <= _LONGEST)
    frequent = nsmallest(most, listed, key=lambda pair: (-pair[1], pair[0]))
    values = tuple(
        FacetValue(text, count, value_filter(key, text, is_exact=bool(counts.dates and _YEAR.fullmatch(text))))
        for text, count in frequent
    )
    return Facet(key, own, values, len(counts.values) - len(values))


def _date_facet(key: str, counts: _KeyCounts, filters: Sequence[Filter]) -> DateFacet:
    only = [filter_.only for filter_ in filters]
    matches = [_YEAR.fullmatch(comparison[2]) for comparison in only if comparison and comparison[1] == "="]
    chosen = {match[1] for match in matches if match}
    year = chosen.pop() if len(chosen) == 1 else None
    years, months = counts.years, counts.months

    def values(dates: Iterable[str], counts: Counter[str]) -> tuple[FacetValue, ...]:
        return tuple(FacetValue(date, counts[date], value_filter(key, date)) for date in dates)

    return DateFacet(
        key=key,
        own=tuple(filter_.text for filter_ in filters),
        years=values(sorted(years, reverse=True)[:_MOST_YEARS], years),
        more=max(0, len(years) - _MOST_YEARS),
        year=year,
        months=values([month for month in sorted(months) if month[:4] == year], months),
    )


# -- Folders -----------------------------------------------------------------------------------------------------------


def _folder_facet(
    counts: Mapping[str, int], roots: Sequence[str], filters: Sequence[Filter], *, most: int
) -> FolderFacet:
    """The folders below the present one. `counts`: of the documents directly in each folder, named in full."""
    below: Counter[str] = Counter()  # documents in each folder, at any depth
    parents: dict[str, str] = {}
    elsewhere = 0
    for folder, count in counts.items():
        root = next((root for root in roots if f"{folder}/".startswith(f"{root}/")), None)
        elsewhere += count if root is None else 0
        while root is not None:
            below[folder] += count
            parents[folder] = "" if folder == root else folder.rpartition("/")[0]
            if folder == root:
                break
            folder = parents[folder]
    top = roots[0] if len(roots) == 1 else ""  # of several, the roots are the topmost folders
    present = next((name for name in _named_folders(filters, top) if name in below), top)
    trail, folder = list[str](), present
    while folder not in ("", top):
        trail.append(folder)
        folder = parents[folder]
    children = [folder for folder, parent in parents.items() if parent == present != folder]
    ranked = sorted(children, key=lambda folder: (-below[folder], folder))

    def value(folder: str) -> FacetValue:
        name = folder if folder in roots else folder.rpartition("/")[2]
        return FacetValue(name, below[folder], _escaped(folder) + "/")

    here = counts[present] if present in below else 0
    return FolderFacet(
        own=tuple(filter_.text for filter_ in filters),
        path=tuple(map(value, reversed(trail))),
        here=here + (elsewhere if present == top else 0),
        values=tuple(map(value, ranked[:most])),
        more=max(0, len(ranked) - most),
    )


def _named_folders(filters: Sequence[Filter], top: str) -> list[str]:
    """The folders, in full, that filters on the path may mean, if they name one."""
    only = filters[0].only if len(filters) == 1 else None
    value = "" if only is None or only[1] not in ("~", "=") else only[2].rstrip("*")
    if not value.endswith("/") or re.search(r"[*?\[]", re.sub(r"\[.\]", "", value)):
        return []
    named = normalize("NFC", re.sub(r"\[(.)\]", r"\1", value)).removeprefix("./").rstrip("/")
    return [named, *([f"{top}/{named}"] if top else []), f"{working_folder().as_posix()}/{named}"]


# -- Filters that select a value ---------------------------------------------------------------------------------------

_WRITABLE = re.compile(r'(?!path$|title$|format$)(?=.*[^.])[^"\s](?:[^"]*[^"\s])?', re.DOTALL)  # keys of metadata
_PLAIN_KEY = re.compile(r"[\w.\-]+")
_UNSAFE = re.compile(r"^[\s=<>]|\s$|\.\.|[\n\r]")  # what has a meaning in filters


def value_filter(key: str, text: str, *, is_exact: bool = False) -> str:
    """The filter that selects the documents with a value; `is_exact`: not those of dates that lie in it."""
    written = key if _PLAIN_KEY.fullmatch(key) else f'"{key}"'
    if is_exact or _UNSAFE.search(text):
        return f"{written}~{_escaped(text)}"
    return f"{written}={text}".replace("|", "\\|")


def _escaped(text: str) -> str:
    """A glob that matches a text and nothing else."""
    return re.sub(r"[*?\[=<>\s]", lambda match: f"[{match[0]}]", text).replace("|", "\\|")
