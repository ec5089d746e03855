"""Documents by year, and by month of the year that filters choose."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from semsearch.maintenance.facets.metadata import value_filter
from semsearch.results.contents.facets import DateFacet, FacetValue
from semsearch.search.filtering.filters import FilterChoice

_MOST_YEARS = 100
_YEAR = re.compile(r"(\d{4})(-\d\d){0,2}")


def date_facet(
    key: str, months: Counter[str], years: Counter[str] | None, own: Sequence[tuple[str, FilterChoice]]
) -> DateFacet:
    """Make the facet of a key from counts by month ("2025-01"); and by year, where a document may have several."""
    by_year = _summed(months) if years is None else years
    chosen = _chosen(each for _, each in own)
    latest = sorted(by_year, reverse=True)
    of_year = [month for month in sorted(months) if month[:4] == chosen]
    return DateFacet(
        key=key,
        own=tuple(text for text, _ in own),
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


def _chosen(own: Iterator[FilterChoice]) -> str | None:
    """The year that filters on a date choose, if it is one."""
    chosen = [each.only for each in own]
    found = [_YEAR.fullmatch(each.value) if each and each.operator == "=" else None for each in chosen]
    years = {match[1] for match in found if match}
    return years.pop() if len(years) == 1 else None
