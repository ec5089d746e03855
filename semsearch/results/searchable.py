"""The protocol of whatever can be asked: an index here, one elsewhere, several as one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from semsearch.results.context import Context
from semsearch.results.hits import Hit, Mode

if TYPE_CHECKING:
    pass


class Searchable(Protocol):
    """Whatever can be asked: an index here, one elsewhere, several as one."""

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        mode: Mode = "hybrid",
        min_score: float | None = None,
        filters: Sequence[str] = (),
        context: int = 0,
        duplicates: bool = False,
    ) -> list[Hit]: ...

    def search_many(
        self,
        queries: Sequence[str],
        k: int = 10,
        *,
        mode: Mode = "hybrid",
        min_score: float | None = None,
        filters: Sequence[str] = (),
        context: int = 0,
        duplicates: bool = False,
    ) -> list[list[Hit]]: ...

    def similar(
        self,
        like: Hit | str | Path,
        line: int | None = None,
        k: int = 10,
        *,
        mode: Mode = "hybrid",
        min_score: float | None = None,
        filters: Sequence[str] = (),
        context: int = 0,
        duplicates: bool = False,
    ) -> list[Hit]: ...

    def context(
        self, query: str, *, max_words: int = 800, mode: Mode = "hybrid", filters: Sequence[str] = ()
    ) -> Context: ...
