"""The protocol of a reranker: whatever reads the first hits of an answer again and says how well each answers.

It may take its time, as a cross-encoder does, for it reads few. What it says becomes a part of the score
(semsearch.search.reranking), and that part stands in the explanation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from semsearch.results.hits import Hit


class Reranker(Protocol):
    """A function of a question and its first hits, best first, to a number for each: the larger, the better it answers.

    The scale of the numbers does not matter. Threads that share an index may call it at the same time.
    """

    def __call__(self, query: str, hits: Sequence[Hit], /) -> Sequence[float]: ...
