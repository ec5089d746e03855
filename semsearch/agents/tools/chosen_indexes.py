"""The indexes that a tool asks: the one that is named, or all of them as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from semsearch.errors import SemsearchError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from semsearch.index import Index
    from semsearch.multi_index import MultiIndex
    from semsearch.results.reranker import Reranker
    from semsearch.serve.open_indexes import OpenIndexes

_MOST = 50  # indexes that are asked at once
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class ChosenIndexes:
    """Indexes by name, one at least, and what is to be said of those that were left out."""

    by_name: Mapping[str, Index]
    note: str | None = None
    reranker: Reranker | None = None  # of what is searched together

    @property
    def are_several(self) -> bool:
        """Return whether results have to say which index they are of."""
        return len(self.by_name) > 1

    @property
    def together(self) -> Index | MultiIndex:
        """All of them, to be searched as one."""
        from semsearch.multi_index import MultiIndex  # start-up time

        return (
            MultiIndex(self.by_name, reranker=self.reranker) if self.are_several else next(iter(self.by_name.values()))
        )

    @property
    def are_empty(self) -> bool:
        """Return whether none has a document."""
        return not any(index.status(drift=False, stale=False).documents for index in self.by_name.values())

    def first_that_has(self, ask: Callable[[Index], Found]) -> tuple[str, Found]:
        """The answer of the first index that has what is asked for, with its name. Raises SourceError if none has."""
        failed: SourceError | None = None
        for name, index in self.by_name.items():
            try:
                return name, ask(index)
            except SourceError as error:
                failed = failed or error
        assert failed is not None  # there is one index at least
        raise failed


def choose(indexes: OpenIndexes, name: str | None) -> ChosenIndexes:
    """Choose the index of a name, or all that can be opened. Raises IndexNotFound, and what opening them raises."""
    names = indexes.names()
    if name is not None or len(names) < 2:
        return ChosenIndexes({indexes.name_of(name): indexes.get(name)})
    opened: dict[str, Index] = {}
    failed: dict[str, SemsearchError] = {}
    for each in names[:_MOST]:
        try:
            opened[each] = indexes.get(each)
        except SemsearchError as error:
            failed[each] = error
    if not opened:
        raise next(iter(failed.values()))
    left = [*failed, *names[_MOST:]]
    return ChosenIndexes(opened, f"Left out: {', '.join(left[:20])}; see status." if left else None, indexes.reranker)
