"""The options of a search, declared and checked once for all who ask: Python, command line, server, agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from operator import index
from typing import Any, SupportsFloat, SupportsIndex, TypedDict, get_args

from semsearch.errors import UsageError
from semsearch.results.codec import Record
from semsearch.results.origin import Mode


class SearchKeywords(TypedDict, total=False):
    """The fields of `SearchOptions` as keywords of `search`, but for k, which may be given by its place."""

    mode: Mode
    min_score: float | None
    filters: Sequence[str]
    context: int
    duplicates: bool


@dataclass(frozen=True, slots=True)
class SearchOptions(Record):
    """The options of a search. Raises UsageError for one that makes no sense, such as k = 0.

    What `filters` say (semsearch.search.filters) is checked by the index that is asked.
    """

    k: int = 10  # hits at most
    mode: Mode = "hybrid"  # by meaning ("dense"), by words ("lexical"), or both
    min_score: float | None = None  # leave out hits below it
    filters: Sequence[str] = ()  # which documents may answer: all must hold
    context: int = 0  # sentences before and after the quoted one that hits have as well
    duplicates: bool = False  # also give passages that say the same as a better one a hit of their own

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "k", _whole("k", self.k))
        put(self, "context", _whole("context", self.context))
        put(self, "filters", strings(self.filters, "filters"))
        if self.k < 1:
            raise UsageError(f"k must be at least 1, not {self.k}")
        if self.context < 0:
            raise UsageError(f"context must not be negative, not {self.context}")
        if self.min_score is not None:
            if not isinstance(self.min_score, SupportsFloat) or self.min_score != self.min_score:
                raise UsageError(f"min_score must be a number, not {self.min_score!r}")
            put(self, "min_score", float(self.min_score))
        if self.mode not in get_args(Mode):
            raise UsageError(f"there is no mode {self.mode!r}; expected one of {', '.join(get_args(Mode))}")
        if not isinstance(self.duplicates, bool):
            raise UsageError(f"duplicates is true or false, not {self.duplicates!r}")

    @classmethod
    def chosen(cls, options: SearchOptions | None, k: int | None, keywords: SearchKeywords) -> SearchOptions:
        """The options that are given, but for k and the keywords, where these are given. Raises UsageError."""
        base = cls() if options is None else options
        if not isinstance(base, SearchOptions):
            raise UsageError(f"options must be SearchOptions, not {base!r}; of a dict: SearchOptions.from_dict(...)")
        changes: dict[str, Any] = {**keywords} if k is None else {"k": k, **keywords}
        for name in changes:
            if name not in cls.__slots__:
                known = ", ".join(field.name for field in fields(cls))
                raise UsageError(f"a search has no option {name!r}; it has {known}")
        return replace(base, **changes) if changes else base


def strings(given: Iterable[str], name: str) -> tuple[str, ...]:
    """Several strings, as they were meant: one alone would be taken letter by letter. Raises UsageError."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise UsageError(f"{name} are a sequence of strings, not {given!r}; for one give [{given!r}]")
    found = tuple(given)
    for string in found:
        if not isinstance(string, str):
            raise UsageError(f"{name} are strings, and {string!r} is none")
    return found


def _whole(name: str, number: object) -> int:
    if not isinstance(number, SupportsIndex):
        raise UsageError(f"{name} must be a whole number, not {number!r}")
    return index(number)
