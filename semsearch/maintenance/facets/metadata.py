"""The values of each key of metadata, counted as filters compare them, and the filter that selects each."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any

from semsearch.results.contents.facets import Facet, FacetValue
from semsearch.search.filtering.values import nested_values, number_of, text_of

_PLAIN_KEY = re.compile(r"[\w.\-]+")
_UNSAFE = re.compile(r"[|\\\n\r]|\.\.")  # what could mean more in a filter than itself
_GLOB = re.compile(r"[*?\[|\\]|\s")
_SINGLE = (str, int, float)  # and not bool: True is 1 to a dict
_LONGEST = 150  # characters of a value that is listed
_DAY = re.compile(r"(\d{4})-(\d\d)(-\d\d([T ]\d\d:\d\d.*)?)?", re.DOTALL)
_YEAR = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")

Scalar = str | int | float | None
Value = str | float  # as filters compare: a number, or a casefolded text


@dataclass(slots=True)
class KeyTally:
    """How many documents have which values of one key."""

    key: str  # casefolded
    documents: int = 0
    values: Counter[Value] = field(default_factory=Counter)
    shown: dict[Value, str] = field(default_factory=dict)  # each value as it is first written
    years: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)
    dates: int = 0  # values, of those counted, that are dates
    _known: dict[Scalar, tuple[Value, str, str]] = field(default_factory=dict)  # with year and month, or ""

    def add(self, scalars: Collection[Scalar], count: int) -> None:
        """Count documents, `count` of them, that have these values."""
        self.documents += count
        if len(scalars) == 1:
            (scalar,) = scalars
            found = self._known.get(scalar)
            value, year, month = self._learnt(scalar) if found is None else found
            self.values[value] += count
            if year:
                self.years[year] += count
            if month:
                self.months[month] += count
            return
        several = {self._known.get(each) or self._learnt(each) for each in scalars}
        self.values.update(dict.fromkeys({value for value, _, _ in several}, count))
        self.years.update(dict.fromkeys({year for _, year, _ in several if year}, count))
        self.months.update(dict.fromkeys({month for _, _, month in several if month}, count))

    def _learnt(self, scalar: Scalar) -> tuple[Value, str, str]:
        text = text_of(scalar)
        number = number_of(text)
        value: Value = text.casefold() if number is None else number
        is_date = _DAY.fullmatch(text) is not None
        if value not in self.shown:
            self.shown[value] = text
            self.dates += is_date
        found = value, text[:4] if is_date or _YEAR.fullmatch(text) else "", text[:7] if is_date else ""
        self._known[scalar] = found
        return found

    def facet(self, own: tuple[str, ...], most: int) -> Facet:
        """The most frequent values, as a facet."""
        frequent = nsmallest(most, self._listed(), key=lambda pair: (-pair[1], self.shown[pair[0]]))
        values = [FacetValue(self.shown[each], count, self._filter(each)) for each, count in frequent]
        return Facet(self.key, own, tuple(values), len(self.values) - len(values))

    def _listed(self) -> Iterator[tuple[Value, int]]:
        """The values that are short enough to be listed."""
        return ((value, count) for value, count in self.values.items() if len(self.shown[value]) <= _LONGEST)

    def _filter(self, value: Value) -> str:
        text = self.shown[value]
        if self.dates and _YEAR.fullmatch(text):
            return glob_filter(self.key, text)  # to be equal to 2024 would be to lie in it
        return value_filter(self.key, text)


def is_of_dates(tally: KeyTally) -> bool:
    """Return whether at least half of the different values of a key are dates."""
    return 0 < len(tally.values) <= 2 * tally.dates


def tally_keys(metadata: Mapping[str, int], found: dict[str, KeyTally], *, only: str | None = None) -> None:
    """Add to the tallies of all keys, or of one, so many documents with each metadata (JSON).

    A key that filters cannot write is left out.
    """
    for text, count in metadata.items():
        if text != "{}":
            for key, scalars in _scalars(json.loads(text)).items():
                if only is None or key == only:
                    if (tally := found.get(key)) is None:
                        tally = found[key] = KeyTally(key)
                    tally.add(scalars, count)
    for key in [key for key in found if '"' in key or not key.strip(".") or key.strip() != key]:
        del found[key]


def _scalars(data: Mapping[str, Any]) -> dict[str, list[Scalar]]:
    """The single values in metadata by their keys, casefolded: author.name is the name inside author."""
    found: dict[str, list[Scalar]] = {}
    for name, item in data.items():
        key = name.casefold()
        if type(item) in _SINGLE and key not in found:
            found[key] = [item]
        else:
            for inner, value in nested_values(key, item):
                found.setdefault(inner, []).append(text_of(value) if isinstance(value, bool) else value)
    return found


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
