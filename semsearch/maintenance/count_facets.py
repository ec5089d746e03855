"""Facets: the number of documents by folder, format, date and metadata, counted in one pass over their rows.

A facet counts as if there were no filters on its own key. So a row that passes all filters counts in every facet; one
that fails only filters on a single key counts in the facet of that key; any other in none. Recent facets are cached for
each generation, since the web interface asks for the same ones again.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from semsearch.maintenance.facet_values import FolderTree, KeyTally, folder_facet, is_of_dates, tally_keys, value_filter
from semsearch.results.documents import DateFacet, Facet, Facets, FacetValue
from semsearch.search.filter_sql import condition, teach
from semsearch.search.filters import FilterChoice, file_time, parse, says_modified
from semsearch.storage.catalogue import get_roots
from semsearch.storage.checked_rows import check_all_documents
from semsearch.storage.database import IndexDatabase
from semsearch.storage.document_rows import WITH_RECORDS, each_row
from semsearch.storage.meta import get_stamp
from semsearch.system.locations import working_folder

if TYPE_CHECKING:
    import sqlite3

# -- Dates -------------------------------------------------------------------------------------------------------------

_MOST_YEARS = 100
_YEAR = re.compile(r"(\d{4})(-\d\d){0,2}")


def date_facet(
    key: str, months: Counter[str], years: Counter[str] | None, key_filters: Sequence[tuple[str, FilterChoice]]
) -> DateFacet:
    """Make the facet of a key from counts by month ("2025-01"); and by year, where a document may have several."""
    by_year = _summed(months) if years is None else years
    chosen = _chosen(choice for _, choice in key_filters)
    latest = sorted(by_year, reverse=True)
    of_year = [month for month in sorted(months) if month[:4] == chosen]
    return DateFacet(
        key=key,
        own=tuple(text for text, _ in key_filters),
        years=tuple(FacetValue(year, by_year[year], value_filter(key, year)) for year in latest[:_MOST_YEARS]),
        more=max(0, len(latest) - _MOST_YEARS),
        year=chosen,
        months=tuple(FacetValue(month, months[month], value_filter(key, month)) for month in of_year),
    )


def _summed(months: Counter[str]) -> Counter[str]:
    years: Counter[str] = Counter()
    for month, count in months.items():
        years[month[:4]] += count
    return years


def _chosen(choices: Iterator[FilterChoice]) -> str | None:
    """The year that filters on a date choose, if it is one."""
    chosen = [choice.only for choice in choices]
    matches = [_YEAR.fullmatch(choice.value) if choice and choice.operator == "=" else None for choice in chosen]
    years = {match[1] for match in matches if match}
    return years.pop() if len(years) == 1 else None


# -- Cached facets -----------------------------------------------------------------------------------------------------

_MOST = 32  # cached facets, some kilobytes each


class FacetCache:
    """The facets of an index; recent ones of its newest generation are cached. Threads may share it."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._stamp: Hashable = None
        self._kept: dict[Hashable, Facets] = {}
        self._checked: Hashable = None  # the stamp of the generation whose rows were compared with their checksums

    def count(self, filters: Sequence[str], values: int) -> Facets:
        """Count the documents that pass all filters by each key, with so many values of each, unless cached."""
        with self._database.reading() as db:
            wanted = filters, values, working_folder()  # paths of filters may be relative to it
            stamp = get_stamp(db)
            if stamp != self._checked:
                check_all_documents(db)
                self._checked = stamp
            with self._lock:
                kept = self._kept.get(wanted) if stamp == self._stamp else None
            return self._keep(stamp, wanted, read_facets(db, filters, values=values)) if kept is None else kept

    def _keep(self, stamp: Hashable, wanted: Hashable, facets: Facets) -> Facets:
        """Cache facets; drop those of another generation."""
        with self._lock:
            if stamp != self._stamp:
                self._stamp, self._kept = stamp, {}
            self._kept[wanted] = facets
            while len(self._kept) > _MOST:
                del self._kept[next(iter(self._kept))]
        return facets


# -- Counting ----------------------------------------------------------------------------------------------------------

Counted = TypeVar("Counted")
_MOST_KEYS = 30
_TAKEN = ("path", "title", "format")  # keys that filters look up elsewhere than in the metadata
_BLOCK_NS = 900 * 1_000_000_000  # no border between months lies within a quarter of an hour
_MONTH = len("2025-01")


@dataclass(slots=True)
class RowTally:
    """Counts of rows by their values, before these are parsed."""

    rows: int = 0
    folders: Counter[tuple[str, str]] = field(default_factory=Counter)  # by root and folder below it
    formats: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)  # of their files
    metadata: Counter[str] = field(default_factory=Counter)  # by JSON

    def add(self, root: str, path: str, format_: str, mtime_ns: int | None, metadata: str) -> None:
        """Count a row."""
        self.rows += 1
        self.folders[root, path.rpartition("/")[0]] += 1
        self.formats[format_] += 1
        self.metadata[metadata] += 1
        if mtime_ns is not None and not says_modified(metadata):
            self.months[_month(mtime_ns // _BLOCK_NS)] += 1


@lru_cache(maxsize=4096)
def _month(block: int) -> str:
    return file_time(block * _BLOCK_NS)[:_MONTH]


@dataclass(frozen=True, slots=True)
class GivenFilters:
    """The filters given: as texts, and by their keys."""

    texts: tuple[str, ...]
    filters: tuple[FilterChoice, ...]

    @classmethod
    def of(cls, texts: Sequence[str]) -> GivenFilters:
        """Parse filters. Raises UsageError for an invalid one."""
        return cls(tuple(texts), tuple(map(parse, texts)))

    @property
    def keys(self) -> list[str]:
        """The key that each filter is on; for a filter on several keys its text, which is not a key."""
        return [choice.key or f"={text}" for text, choice in zip(self.texts, self.filters, strict=True)]

    def on(self, key: str) -> list[tuple[str, FilterChoice]]:
        """The filters on a key."""
        pairs = zip(self.texts, self.filters, strict=True)
        return [(text, choice) for text, choice in pairs if choice.key == key]

    def own(self, key: str) -> tuple[str, ...]:
        """The texts of the filters on a key."""
        return tuple(text for text, _ in self.on(key))


class Tallies:
    """Tallies of the rows that pass all filters, and of those that fail only filters on one key."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.passing = RowTally()
        self._keys = keys
        self._beside = {key: RowTally() for key in keys}

    def add(self, row: Sequence[object]) -> None:
        """Count a row, followed by the truth of each filter."""
        failed = {key for key, truth in zip(self._keys, row[5:], strict=True) if not truth}
        if not failed:
            self.passing.add(*row[:5])  # type: ignore[arg-type]  # a FacetedRow
        elif len(failed) == 1:
            self._beside[failed.pop()].add(*row[:5])  # type: ignore[arg-type]  # a FacetedRow

    def beside(self, key: str) -> RowTally:
        """The tally of the rows that fail only filters on a key."""
        return self._beside.get(key, RowTally())

    def of(self, key: str) -> tuple[RowTally, RowTally]:
        """The tallies that count in the facet of a key."""
        return self.passing, self.beside(key)


def read_facets(db: sqlite3.Connection, texts: Sequence[str], *, values: int) -> Facets:
    """Count the facets under filters, with so many values of each key. Raises UsageError for an invalid filter.

    Takes one pass over the documents; equal metadata are parsed once.
    """
    given_filters, here = GivenFilters.of(texts), working_folder().as_posix()
    teach(db)
    tallies = Tallies(given_filters.keys)
    for row in _rows(db, given_filters, here):
        tallies.add(row)
    tree = FolderTree.of([root.path for root in get_roots(db) if not root.single], here)
    keys = _of_metadata(given_filters, tallies)
    dates = {key: tally for key, tally in keys.items() if is_of_dates(tally)}
    others = sorted((tally for key, tally in keys.items() if key not in dates), key=_usefulness)
    return Facets(
        documents=tallies.passing.rows,
        folders=folder_facet(
            tree, _sum(tally.folders for tally in tallies.of("path")), given_filters.on("path"), values
        ),
        formats=_formats(given_filters, tallies, values),
        dates=tuple(_dates(given_filters, tallies, dates)),
        metadata=tuple(tally.facet(given_filters.own(tally.key), values) for tally in others[:_MOST_KEYS]),
        more_keys=max(0, len(others) - _MOST_KEYS),
    )


def _rows(db: sqlite3.Connection, filters: GivenFilters, here: str) -> Iterable[tuple[object, ...]]:
    of_documents = [condition([parsed], here=here) for parsed in filters.filters]
    of_records = [condition([parsed], here=here, metadata=WITH_RECORDS) for parsed in filters.filters]
    return each_row(
        db,
        [(parsed.sql, parsed.parameters) for parsed in of_documents],
        [(parsed.sql, parsed.parameters) for parsed in of_records],
    )


def _sum(counters: Iterable[Counter[Counted]]) -> Counter[Counted]:
    together: Counter[Counted] = Counter()
    for counter in counters:
        together.update(counter)
    return together


def _formats(filters: GivenFilters, tallies: Tallies, values: int) -> Facet:
    counts: Counter[str] = _sum(tally.formats for tally in tallies.of("format"))
    formats = [FacetValue(name, count, value_filter("format", name)) for name, count in counts.most_common()]
    return Facet("format", filters.own("format"), tuple(formats[:values]), max(0, len(formats) - values))


def _of_metadata(filters: GivenFilters, tallies: Tallies) -> dict[str, KeyTally]:
    """The values of each key of the metadata; those of a key with filters are counted without these."""
    keys: dict[str, KeyTally] = {}
    for key in set(filters.keys):
        tally_keys(tallies.beside(key).metadata, keys, only=key)
    tally_keys(tallies.passing.metadata, keys)
    return {key: tally for key, tally in keys.items() if key not in _TAKEN}


def _dates(filters: GivenFilters, tallies: Tallies, tallies_by_key: dict[str, KeyTally]) -> Iterable[DateFacet]:
    files: Counter[str] = _sum(tally.months for tally in tallies.of("modified"))
    if "modified" in tallies_by_key:
        files.update(tallies_by_key["modified"].months)
    months = {key: tally.months for key, tally in sorted(tallies_by_key.items())} | (
        {"modified": files} if files else {}
    )
    for key, counts in months.items():
        years = tallies_by_key[key].years if key in tallies_by_key and key != "modified" else None
        yield date_facet(key, counts, years, filters.on(key))


def _usefulness(tally: KeyTally) -> tuple[bool, int, str]:
    """Keys with repeated values first, then those that most documents have."""
    return len(tally.values) == tally.documents, -tally.documents, tally.key
