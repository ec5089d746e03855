"""The options of a search, declared and checked once for Python, the command line and servers; and a score's origin.

The origin repeats the query and the weights of the score components. A hit carries it, so that its score can be
explained after it was stored or sent elsewhere. Plain frozen data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from operator import add, index
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypedDict, get_args

from semsearch.errors import UsageError
from semsearch.results.codec import ONLY_IF_SET, Record

Mode = Literal["hybrid", "dense", "lexical"]


@dataclass(frozen=True, slots=True)
class Weights(Record):
    """The weights of the score components: dense · cosine + lexical · BM25 / best + near · mean feedback cosine."""

    dense: float
    lexical: float
    best: float = 1.0
    near: float = 0.0


@dataclass(frozen=True, slots=True)
class Rerank(Record):
    """The score component of a reranker.

    points = weight · (said - mean) / deviation, with mean and deviation of its scores of all passages that it read.
    A passage that it did not read gets the least of these scores, and so keeps its rank.
    """

    points: float
    weight: float
    said: float  # its score of this passage
    mean: float
    deviation: float  # above zero
    model: str | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # its name, if it is a model
    alone: float | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # of it, without similar passages
    unread: bool | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # true: it did not read the passage


@dataclass(frozen=True, slots=True)
class Support(Record):
    """The score component of the passage's place: points = others - length + proximity + exchanged."""

    points: float
    others: float  # for the next best passages of its document
    length: float  # what is taken off for a document of many passages, or for a short passage
    proximity: float | None = field(default=None, metadata=ONLY_IF_SET)  # for words of the query side by side
    # for the passage whose sentence states the fact, in the place of its document's best one, which has as much less
    exchanged: float | None = field(default=None, metadata=ONLY_IF_SET)


@dataclass(frozen=True, slots=True)
class Fused(Record):
    """How a score of one index was made comparable with those of the other indexes of a multi-index search.

    BM25 is divided by the best of all indexes. Relevance feedback comes from the best passages of the hit's own index,
    and counts in proportion to how good these are relative to the best of all.
    """

    indexes: tuple[str, ...]  # that were searched
    alone: float  # the hit's score in its own index
    best: float  # the best BM25 of its own index
    near: float  # the remaining share of the feedback, 0 to 1


@dataclass(frozen=True, slots=True)
class Boosted(Record):
    """The score component of a boost: points = weight · share."""

    boost: str  # as it was given, without its points
    points: float
    weight: float  # its points
    share: float  # 1 where a filter holds; of recency, the less the older


@dataclass(frozen=True, slots=True)
class ExactPart(Record):
    """A part of the query that stands literally in a passage, such as an identifier or a quoted phrase."""

    text: str
    as_typed: bool  # false: only in other case
    passages: int  # that have it


@dataclass(frozen=True, slots=True)
class ExactWords(Record):
    """The score component of exact words: what brings passages that have parts of the query literally to the front."""

    points: float  # 0 where they are first without
    parts: tuple[ExactPart, ...]


@dataclass(frozen=True, slots=True)
class Correction(Record):
    """A misspelt word of a query, which no passage has, and what was searched for instead."""

    asked: str
    instead: str

    @property
    def sentence(self) -> str:
        """What to tell a person."""
        what = f"no passage has “{self.asked}”: searched for “{self.instead}”"
        return f'{what}; to search for exactly that, quote it: "{self.asked}"'


@dataclass(frozen=True, slots=True)
class Relevance(Record):
    """How likely a passage answers, and what this is estimated from."""

    probability: float  # 0 to 1
    cosine: float | None  # as in the dense component; None without a vector of the query
    trust: float | None  # how much it counts, 0 to 1: less where the query's cosines with all passages differ widely
    words: float | None  # bm25, relative to the weight of the query's words; None in dense mode
    share: float  # of the score of the best passage, both without feedback and boosts
    unknown: float  # share of the query's words without a vector of their own; 0 in lexical mode
    whole: bool  # whether the passage, with those beside it, has all words of the query, or exact words


@dataclass(frozen=True, slots=True)
class Origin(Record):
    """The query by which a hit was found, and the record of its score: the points of each stage, which sum to it."""

    query: str
    mode: Mode
    generation: int  # of the index that answered
    weights: Weights
    models: tuple[int, ...]  # ids of the feedback documents
    text: str | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # compared, where it is not the query
    language: str | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # of the query, where it is known
    points: Mapping[str, float] = field(default_factory=dict, kw_only=True)  # of the score, by stage, but for zeros
    cosines: Mapping[str, float] = field(
        default_factory=dict, kw_only=True
    )  # of the query, by what it is compared with
    relevance: Relevance | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    boosts: tuple[Boosted, ...] | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    exact: ExactWords | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # that the passage has
    rerank: Rerank | None = field(default=None, metadata=ONLY_IF_SET)
    fused: Fused | None = field(default=None, metadata=ONLY_IF_SET)  # in a multi-index search

    @property
    def score(self) -> float:
        """The points, added one after the other as the stages do; sum() rounds otherwise from Python 3.12 on."""
        return reduce(add, self.points.values(), 0.0)

    def with_points(self, **points: float) -> Origin:
        """The same with other points of some stages."""
        return replace(self, points={name: value for name, value in {**self.points, **points}.items() if value})


# -- Options -----------------------------------------------------------------------------------------------------------

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


@dataclass(frozen=True, slots=True)
class SearchOptions(Record):
    """The options of a search. Raises UsageError for an invalid value, such as k = 0.

        index.search("sea ice", options=SearchOptions(k=3, filters=["reports/*"]))

    The index checks the syntax of `filters` (semsearch.search.filters) and `boosts`.
    """

    k: int = 10  # hits at most
    mode: Mode = "hybrid"  # by meaning ("dense"), by words ("lexical"), or by both
    min_score: float | None = None  # leave out hits below it
    filters: Sequence[str] = ()  # which documents may answer: all must hold
    context: int = 0  # sentences before and after the quoted one that hits have as well
    duplicates: bool = False  # also return near-duplicates of better passages, each as a hit of its own
    passages: Sequence[int] | None = field(default=None, metadata=ONLY_IF_SET)  # only these may answer, by their ids
    syntax: Syntax = "full"  # "plain": quotes and hyphens of the query are text (semsearch.search.query_syntax)
    per_document: int | None = None  # hits of one document at most
    boosts: Sequence[str] = ()  # points for what passes a filter or is recent (semsearch.search.boosts)
    floor: float = 0.0  # relevance threshold: leave out hits at the end below it (semsearch.results.hits); 0: none

    def __post_init__(self) -> None:
        values = {
            "k": _whole("k", self.k, least=1),
            "context": _whole("context", self.context, least=0),
            "min_score": None if self.min_score is None else _finite("min_score", self.min_score),
            "filters": strings(self.filters, "filters"),
            "boosts": strings(self.boosts, "boosts"),
            "passages": None if self.passages is None else _ids(self.passages),
            "per_document": None if self.per_document is None else _whole("per_document", self.per_document, least=1),
            "floor": _finite("floor", self.floor),
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
        names = [field.name for field in fields(cls)]
        for name in changes:
            if name not in names:
                instead = "; a context is bounded by max_words" if name in ("max_tokens", "max_words") else ""
                raise UsageError(f"a search has no option {name!r}{instead}; the options are {', '.join(names)}")
        return replace(base, **changes) if changes else base


def strings(values: Iterable[str], name: str) -> tuple[str, ...]:
    """Check a sequence of strings; a single string, which would be read letter by letter, raises UsageError."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise UsageError(f"{name} must be a sequence of strings, not {values!r}; for one give [{values!r}]")
    if isinstance(values, Mapping):  # its values would be lost
        pairs = [f"{key}={value}" for key, value in values.items()]
        raise UsageError(f"{name} must be a sequence of strings, not a mapping; give {pairs!r}")
    texts = tuple(values)
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f"{name} must be strings, not {text!r}")
    return texts


def _ids(values: object) -> tuple[int, ...]:
    """Check ids of passages. A NumPy array of them will do."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise UsageError(f"passages must be ids of passages, not {values!r}")
    ids = tuple(_whole("an id of a passage", value, least=0) for value in values)
    if any(id_ >= _INT64_END for id_ in ids):
        raise UsageError("an id of a passage must be a whole number from 0 to 2^63 - 1")
    return ids


def _finite(name: str, number: object) -> float:
    """A number that scores can be compared with: neither NaN nor infinite."""
    try:
        value = float(number) if isinstance(number, SupportsFloat) else math.nan
    except OverflowError:  # a whole number of hundreds of digits
        value = math.inf
    if not math.isfinite(value):
        raise UsageError(f"{name} must be a finite number, not {number!r}")
    return value


def _whole(name: str, number: object, *, least: int) -> int:
    if type(number) is int:  # the protocol check takes a hundred times as long, at every search
        value = number
    elif isinstance(number, SupportsIndex):
        value = index(number)
    else:
        raise UsageError(f"{name} must be a whole number, not {number!r}")
    if value < least:
        raise UsageError(f"{name} must be at least {least}, not {value}")
    return value
