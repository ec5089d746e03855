"""Count the documents of an index by folder, format, date and metadata, in one pass over their rows.

A facet counts as if the filters on its own key were not there. So a row that passes all filters counts in every facet;
one that fails only filters on a single key counts in the facet of that key; any other in none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from semsearch.maintenance.facets.dates import date_facet
from semsearch.maintenance.facets.folders import FolderTree, folder_facet
from semsearch.maintenance.facets.metadata import KeyTally, is_of_dates, tally_keys, value_filter
from semsearch.results.contents.facets import DateFacet, Facet, Facets, FacetValue
from semsearch.search.filtering.filters import FilterChoice, parse
from semsearch.search.filtering.sql import condition, teach
from semsearch.search.filtering.values import file_time, says_modified
from semsearch.storage.documents.faceted_rows import WITH_RECORDS, each_row
from semsearch.storage.roots import get_roots
from semsearch.system.working_folder import working_folder

if TYPE_CHECKING:
    import sqlite3

Counted = TypeVar("Counted")
_MOST_KEYS = 30
_TAKEN = ("path", "title", "format")  # keys that filters look up elsewhere than in the metadata
_BLOCK_NS = 900 * 1_000_000_000  # no border between months lies within a quarter of an hour
_MONTH = len("2025-01")


@dataclass(slots=True)
class RowTally:
    """Counts of rows by what they have, before any of it is taken apart."""

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
        """Parse filters. Raises UsageError for one that makes no sense."""
        return cls(tuple(texts), tuple(map(parse, texts)))

    @property
    def keys(self) -> list[str]:
        """The key that each filter is on; of one that is on several keys its text, which is no key."""
        return [each.key or f"={text}" for text, each in zip(self.texts, self.filters, strict=True)]

    def on(self, key: str) -> list[tuple[str, FilterChoice]]:
        """The filters on a key."""
        pairs = zip(self.texts, self.filters, strict=True)
        return [(text, each) for text, each in pairs if each.key == key]

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
            self._beside[failed.pop()].add(*row[:5])  # type: ignore[arg-type]  # likewise

    def beside(self, key: str) -> RowTally:
        """The tally of the rows that fail only filters on a key."""
        return self._beside.get(key, RowTally())

    def of(self, key: str) -> tuple[RowTally, RowTally]:
        """The tallies that count in the facet of a key."""
        return self.passing, self.beside(key)


def read_facets(db: sqlite3.Connection, texts: Sequence[str], *, values: int) -> Facets:
    """Count what there is under filters, with so many values of each key. Raises UsageError for a filter that is none.

    Takes one pass over the documents, of which the metadata that differ are read.
    """
    given, here = GivenFilters.of(texts), working_folder().as_posix()
    teach(db)
    tallies = Tallies(given.keys)
    for row in _rows(db, given, here):
        tallies.add(row)
    tree = FolderTree.of([root.path for root in get_roots(db) if not root.single], here)
    keys = _of_metadata(given, tallies)
    dates = {key: each for key, each in keys.items() if is_of_dates(each)}
    others = sorted((each for key, each in keys.items() if key not in dates), key=_usefulness)
    return Facets(
        documents=tallies.passing.rows,
        folders=folder_facet(tree, _sum(each.folders for each in tallies.of("path")), given.on("path"), values),
        formats=_formats(given, tallies, values),
        dates=tuple(_dates(given, tallies, dates)),
        metadata=tuple(each.facet(given.own(each.key), values) for each in others[:_MOST_KEYS]),
        more_keys=max(0, len(others) - _MOST_KEYS),
    )


def _rows(db: sqlite3.Connection, given: GivenFilters, here: str) -> Iterable[tuple[object, ...]]:
    of_documents = [condition([each], here=here) for each in given.filters]
    of_records = [condition([each], here=here, metadata=WITH_RECORDS) for each in given.filters]
    return each_row(
        db,
        [(each.sql, each.parameters) for each in of_documents],
        [(each.sql, each.parameters) for each in of_records],
    )


def _sum(counters: Iterable[Counter[Counted]]) -> Counter[Counted]:
    together: Counter[Counted] = Counter()
    for each in counters:
        together.update(each)
    return together


def _formats(given: GivenFilters, tallies: Tallies, values: int) -> Facet:
    counts: Counter[str] = _sum(each.formats for each in tallies.of("format"))
    found = [FacetValue(name, count, value_filter("format", name)) for name, count in counts.most_common()]
    return Facet("format", given.own("format"), tuple(found[:values]), max(0, len(found) - values))


def _of_metadata(given: GivenFilters, tallies: Tallies) -> dict[str, KeyTally]:
    """The values of each key of the metadata; those of a key with filters are counted without these."""
    keys: dict[str, KeyTally] = {}
    for key in set(given.keys):
        tally_keys(tallies.beside(key).metadata, keys, only=key)
    tally_keys(tallies.passing.metadata, keys)
    return {key: each for key, each in keys.items() if key not in _TAKEN}


def _dates(given: GivenFilters, tallies: Tallies, found: dict[str, KeyTally]) -> Iterable[DateFacet]:
    files: Counter[str] = _sum(each.months for each in tallies.of("modified"))
    if "modified" in found:
        files.update(found["modified"].months)
    months = {key: each.months for key, each in sorted(found.items())} | ({"modified": files} if files else {})
    for key, counts in months.items():
        years = found[key].years if key in found and key != "modified" else None
        yield date_facet(key, counts, years, given.on(key))


def _usefulness(tally: KeyTally) -> tuple[bool, int, str]:
    """Keys with repeated values first, then those that most documents have."""
    return len(tally.values) == tally.documents, -tally.documents, tally.key
