"""The protocol of a reranker: a function that scores the first hits of an answer again.

It may take its time, as a cross-encoder does, since it reads few hits. One that has no more time for the last ones says
so by `Readings`. Its scores become a part of the hits' scores
(semsearch.search.ranking.reranking), and the explanation shows that part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from semsearch.results.hits import Hit


class Readings(NamedTuple):
    """The scores of the first hits, by a reranker that has not read all. The others keep their places after them."""

    said: Sequence[float]
    model: str | None = None  # the name of the model that read them, for explanations
    alone: Sequence[float] | None = None  # what was said of each by itself, if `said` has more in it


class Reranker(Protocol):
    """A function of a query and its first hits, best first, that scores each: the larger, the better.

    The scale of the numbers does not matter. Threads that share an index may call it at the same time.
    """

    def __call__(self, query: str, hits: Sequence[Hit], /) -> Sequence[float] | Readings: ...
