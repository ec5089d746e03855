"""The options of a search, declared and checked once for Python, the command line and servers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import index
from typing import Any, Literal, SupportsFloat, TypedDict, get_args

from semsearch.errors import UsageError
from semsearch.results.codec import ONLY_IF_SET, Record

Mode = Literal["hybrid", "dense", "lexical", "exact"]
RANKING: tuple[Mode, ...] = ("hybrid", "dense", "lexical")  # modes that rank, and do not list
Syntax = Literal["full", "plain"]
_INT64_END = 1 << 63  # the arrays that ids are looked up in


class SearchKeywords(TypedDict, total=False):
    """The fields of `SearchOptions` as keywords of `search`, except k, which may be given by position."""

    mode: Mode
    min_score: float | None
    filters: Sequence[str]
    context: int
    duplicates: bool
    passages: Sequence[int] | None
    syntax: Syntax
    per_document: int | None
    boosts: Sequence[str]
    floor: float
    regex: Sequence[str]


@dataclass(frozen=True, slots=True)
class SearchOptions(Record):
    """The options of a search. Raises UsageError for an invalid value, such as k = 0.

        index.search("sea ice", options=SearchOptions(k=3, filters=["reports/*"]))

    The index checks the syntax of `filters` (semsearch.filters) and `boosts`.
    """

    k: int = 10  # number of hits at most
    mode: Mode = "hybrid"  # search by meaning ("dense"), words ("lexical"), or both; or literally ("exact")
    min_score: float | None = None  # score below which hits are left out
    filters: Sequence[str] = ()  # conditions of documents that may answer: all must hold
    context: int = 0  # number of sentences before and after the quoted one that hits have as well
    duplicates: bool = False  # also return near-duplicates of better passages, each as a hit of its own
    passages: Sequence[int] | None = field(default=None, metadata=ONLY_IF_SET)  # ids of passages that alone may answer
    syntax: Syntax = "full"  # "plain": quotes and hyphens of the query are text (semsearch.search.allowed_passages)
    per_document: int | None = None  # number of hits of one document at most
    boosts: Sequence[str] = ()  # points for what passes a filter or is recent (semsearch.filters)
    floor: float = 0.0  # relevance below which hits at the end are left out (semsearch.results.hits); 0: none
    regex: Sequence[str] = ()  # regular expressions: a passage's text must match all

    def __post_init__(self) -> None:
        values = {
            "k": whole_number("k", self.k, least=1),
            "context": whole_number("context", self.context, least=0),
            "min_score": None if self.min_score is None else finite_number("min_score", self.min_score),
            "filters": strings(self.filters, "filters"),
            "boosts": strings(self.boosts, "boosts"),
            "regex": strings(self.regex, "regex"),
            "passages": None if self.passages is None else passage_ids(self.passages),
            "per_document": None
            if self.per_document is None
            else whole_number("per_document", self.per_document, least=1),
            "floor": finite_number("floor", self.floor),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if not 0 <= self.floor <= 1:
            raise UsageError(f"floor must be a number from 0 to 1, not {self.floor!r}")
        if not isinstance(self.duplicates, bool):
            raise UsageError(f"duplicates must be true or false, not {self.duplicates!r}")
        if self.mode not in get_args(Mode):
            raise UsageError(f"mode must be one of {', '.join(get_args(Mode))}, not {self.mode!r}")
        if self.syntax not in get_args(Syntax):
            raise UsageError(f"syntax must be one of {', '.join(get_args(Syntax))}, not {self.syntax!r}")

    @classmethod
    def chosen(cls, options: SearchOptions | None, k: int | None, keywords: SearchKeywords) -> SearchOptions:
        """The options, or the defaults, changed by k and the keywords that are set. Raises UsageError."""
        base = cls() if options is None else options
        if not isinstance(base, SearchOptions):
            raise UsageError(f"options must be SearchOptions, not {base!r}; from a dict: SearchOptions.from_dict(...)")
        changes: dict[str, Any] = {**keywords} if k is None else {"k": k, **keywords}
        names = cls.__dataclass_fields__
        if unknown := [name for name in changes if name not in names]:
            raise UsageError(f"a search has no option {unknown[0]!r}; the options are {', '.join(names)}")
        return replace(base, **changes) if changes else base


def strings(values: Iterable[str], name: str) -> tuple[str, ...]:
    """Check a sequence of strings; a single string, which would be read letter by letter, raises UsageError."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise UsageError(f"{name} must be a sequence of strings, not {values!r}; for one give [{values!r}]")
    texts = tuple(values)
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f"{name} must be strings, not {text!r}")
    return texts


def passage_ids(values: object) -> tuple[int, ...]:
    """Check ids of passages. A NumPy array of them will do."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise UsageError(f"passages must be ids of passages, not {values!r}")
    ids = tuple(whole_number("an id of a passage", value, least=0) for value in values)
    if any(id_ >= _INT64_END for id_ in ids):
        raise UsageError("an id of a passage must be a whole number from 0 to 2^63 - 1")
    return ids


def finite_number(name: str, number: object) -> float:
    """A number that others can be compared with: neither NaN nor infinite. Raises UsageError."""
    try:
        value = float(number) if isinstance(number, SupportsFloat) else math.nan
    except (OverflowError, TypeError):  # a whole number of hundreds of digits, several numbers
        value = math.inf
    if not math.isfinite(value):
        raise UsageError(f"{name} must be a finite number, not {number!r}")
    return value


def whole_number(name: str, number: object, *, least: int) -> int:
    """A whole number, also one of NumPy. Raises UsageError for anything else, and for a smaller one."""
    try:
        value = index(number) if not isinstance(number, bool) else None  # type: ignore[arg-type]  # or raises
    except TypeError:
        value = None
    if value is None:
        raise UsageError(f"{name} must be a whole number, not {number!r}")
    if value < least:
        raise UsageError(f"{name} must be at least {least}, not {value}")
    return value
