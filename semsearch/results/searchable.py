"""The protocol of all that can be searched: an index here, one elsewhere, several as one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Unpack

from semsearch.results.floor import FLOOR
from semsearch.results.hits import Hit, Mode
from semsearch.results.options import SearchKeywords, SearchOptions, Syntax

if TYPE_CHECKING:
    from semsearch.results.context import Context
    from semsearch.results.explanation import Explanation


class Searchable(Protocol):
    """The protocol of all that can be searched: an index here, one elsewhere, several as one.

    Options are given as `SearchOptions`, as k and the other fields by keyword, or both: then the keywords win.
    """

    def search(
        self,
        query: str,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> list[Hit]:
        """Find the passages that answer a query, best first."""

    def search_many(
        self,
        queries: Sequence[str],
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> Sequence[list[Hit]]:
        """Find the hits of each of several queries, in their order."""

    def similar(
        self,
        like: Hit | str | Path,
        line: int | None = None,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> list[Hit]:
        """Find the passages most similar to a hit's, to the one at a line of a document, or to a whole document."""

    def explain(self, query: str, hit: Hit, *, mode: Mode | None = None) -> Explanation:
        """Explain the score of a hit's passage for a query."""

    def context(
        self,
        query: str,
        *,
        max_words: int = 800,
        mode: Mode = "hybrid",
        filters: Sequence[str] = (),
        syntax: Syntax = "full",
        floor: float = FLOOR,
    ) -> Context:
        """Assemble the passages that answer a query best as text for a language model, with citations.

        What is below the floor of relevance, at the end, is left out; 0 leaves out nothing.
        """
