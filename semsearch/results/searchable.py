"""The protocol of whatever can be asked: an index here, one elsewhere, several as one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from semsearch.results.context import Context
from semsearch.results.hits import Hit, Mode
from semsearch.results.options import SearchKeywords, SearchOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semsearch.results.explanation import Explanation


class Searchable(Protocol):
    """Whatever can be asked: an index here, one elsewhere, several as one.

    How to answer is said by `SearchOptions`, by k and the other fields as keywords, or by both: then the keywords win.
    """

    def search(
        self,
        query: str,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> list[Hit]:
        """The passages that answer a question best, best first."""

    def search_many(
        self,
        queries: Sequence[str],
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> list[list[Hit]]:
        """The answer to each of several questions, in their order."""

    def similar(
        self,
        like: Hit | str | Path,
        line: int | None = None,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> list[Hit]:
        """The passages that are most like one that is there, or like a whole document."""

    def explain(self, query: str, hit: Hit, *, mode: Mode | None = None) -> Explanation:
        """Why a passage has its score for a question."""

    def context(
        self, query: str, *, max_words: int = 800, mode: Mode = "hybrid", filters: Sequence[str] = ()
    ) -> Context:
        """The passages that answer a question best as text for a language model, with citations."""
