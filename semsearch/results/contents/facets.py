"""The facets of an index: how many documents there are by folder, format, date and metadata. Plain frozen data.

Each value has the filter that selects it. To select it, replace the facet's own filters by that one:

    filters = [text for text in filters if text not in facet.own] + [value.filter]
"""

from __future__ import annotations

from dataclasses import dataclass

from semsearch.results.codec import Record


@dataclass(frozen=True, slots=True)
class FacetValue(Record):
    """A value of a facet, and how many documents have it."""

    value: str  # as people read it
    count: int  # of the documents that all filters but the facet's own let through
    filter: str  # selects these documents


@dataclass(frozen=True, slots=True)
class Facet(Record):
    """The most frequent values of one key. A document with several values counts for each of them."""

    key: str  # as filters write it
    own: tuple[str, ...]  # which of the filters given are on this key: they do not count here
    values: tuple[FacetValue, ...]  # most frequent first
    more: int  # how many more values there are


@dataclass(frozen=True, slots=True)
class FolderFacet(Record):
    """The folders one level below the present one, which is that of the filters, or else the top."""

    own: tuple[str, ...]  # which of the filters given are on the path
    path: tuple[FacetValue, ...]  # the folders from the top down to the present one, which comes last
    here: int  # documents directly in the present folder
    values: tuple[FacetValue, ...]  # most documents first
    more: int


@dataclass(frozen=True, slots=True)
class DateFacet(Record):
    """The documents by year, and by month of the year that the filters choose."""

    key: str  # as filters write it; "modified" is the time of the last change
    own: tuple[str, ...]
    years: tuple[FacetValue, ...]  # latest first
    more: int  # how many earlier years there are
    year: str | None  # the one that is chosen
    months: tuple[FacetValue, ...]  # of it, in order


@dataclass(frozen=True, slots=True)
class Facets(Record):
    """The facets of an index under some filters. A record that has metadata of its own counts as a document."""

    documents: int  # that pass all filters
    folders: FolderFacet
    formats: Facet
    dates: tuple[DateFacet, ...]
    metadata: tuple[Facet, ...]  # keys with repeated values first
    more_keys: int  # how many more keys of metadata there are
