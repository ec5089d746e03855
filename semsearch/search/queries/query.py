"""A query as both halves of the search take it: a vector and terms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.text.tokens import UInt64

if TYPE_CHECKING:
    from semsearch.results.options import Syntax
    from semsearch.search.queries.query_syntax import QuerySyntax
    from semsearch.search.title_vectors import TitleVectors

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

_MAY_SAY_MORE = re.compile(r'(?:^|\s)-?["“„«]|(?:^|\s)-\w')  # a look at each query, cheaper than taking it apart


@dataclass(frozen=True, slots=True)
class Query:
    """A query. Its vector or terms are None for a half that is not asked, or that knows no word of it."""

    text: str
    vector: Float32 | None  # (d,), or (d + k,) where the index has topics
    terms: UInt64 | None  # of BM25, repetitions included
    hidden: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))  # passages that must not answer
    syntax: QuerySyntax | None = None  # the phrases that passages must have, or must not have, if there are any
    is_known: bool = False  # whether enough of its words are known to tell how likely a passage answers
    titles: TitleVectors | None = None  # by which titles are compared with it; None: they do not count
    share_known: float = 1.0  # share of its words that the word vectors know, for the weight of meaning
    near: float = field(default_factory=lambda: tuning.TUNING.near_weight)  # weight of nearness to the best passages


def understood(queries: Sequence[str], syntax: Syntax) -> list[QuerySyntax | None]:
    """What each query says besides its words (semsearch.search.queries.query_syntax); None where it says no more."""
    return [_understood(query) if syntax == "full" and _MAY_SAY_MORE.search(query) else None for query in queries]


def _understood(query: str) -> QuerySyntax | None:
    from semsearch.search.queries.query_syntax import taken_apart  # start-up time: most queries have only words

    found = taken_apart(query)
    return found if found.decides else None
