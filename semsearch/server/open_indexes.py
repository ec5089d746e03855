"""The indexes of a server, each opened once and shared by its threads; and limits on what filters may ask of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import IndexNotFound, SemsearchError, UsageError
from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.storage.database import description_of, has_database

if TYPE_CHECKING:
    from semsearch.rerankers import Reranker

_MOST_TOGETHER = 50  # indexes that are searched as one where none is named


@dataclass(frozen=True, slots=True)
class ChosenIndexes:
    """One or more indexes by name, to be searched as one, and a note about those that are left out."""

    by_name: Mapping[str, Index]
    searchable: Index | MultiIndex
    note: str | None = None

    @property
    def name(self) -> str | None:
        """The name of the only one; None if they are several."""
        return None if len(self.by_name) > 1 else next(iter(self.by_name))


class OpenIndexes:
    """Indexes by name: all that a folder holds at any time, or given ones. One reranker serves all.

    An index may be given by the URI at which it is published: then a copy follows it (`Index.open`). `vectors`: the
    word vectors of all of them, if they are not found by name or path.
    """

    def __init__(
        self,
        *,
        folder: Path | None = None,
        places: Mapping[str, Path | str] | None = None,
        reranker: Reranker | None = None,
        vectors: str | None = None,
    ) -> None:
        self.reranker = reranker
        self._vectors = vectors
        self._folder = folder
        self._named: dict[str, Path | str] = dict(places or {})
        self._lock = threading.Lock()
        self._opened: dict[str, Index] = {}

    def names(self) -> list[str]:
        """The names of all current indexes."""
        return sorted(self._places())

    def descriptions(self) -> dict[str, str]:
        """The description of each index (`Index.describe`), by name; empty where it has none."""
        places = sorted(self._places().items())
        return {name: description_of(place) if isinstance(place, Path) else "" for name, place in places}

    def get(self, name: str | None) -> Index:
        """Return the index of a name, or the only one. Raises IndexNotFound, UsageError, and what opening it raises.

        A name is looked up among the known ones, and is never taken for a path.
        """
        places = self._places()
        name = self._only(places) if name is None else name
        if name not in places:
            raise IndexNotFound(f"there is no index {name!r}; the server has: {', '.join(sorted(places)) or 'none'}")
        with self._lock:
            opened = self._opened.get(name)
            if opened is None:
                opened = self._opened[name] = Index.open(places[name], vectors=self._vectors, reranker=self.reranker)
            return opened

    def choose(self, names: Sequence[str] = ()) -> ChosenIndexes:
        """The indexes of these names, or all that can be opened. Raises as `get`."""
        opened: dict[str, Index] = {}
        failed: dict[str, SemsearchError] = {}
        wanted = names or self.names()
        for name in wanted[:_MOST_TOGETHER]:
            try:
                opened[name] = self.get(name)
            except SemsearchError as error:
                if names:
                    raise
                failed[name] = error
        if not opened:
            raise next(iter(failed.values()), _no_index())
        left = [*failed, *wanted[_MOST_TOGETHER:]]
        note = f"not searched: {', '.join(left[:20])}; see the status of each" if left else None
        several = MultiIndex(opened, reranker=self.reranker) if len(opened) > 1 else None
        return ChosenIndexes(opened, several or next(iter(opened.values())), note)

    def name_of(self, name: str | None) -> str:
        """The name itself, or that of the only index. Raises as `get`."""
        return self._only(self._places()) if name is None else name

    def _only(self, places: Mapping[str, Path | str]) -> str:
        if not places:
            raise _no_index()
        if len(places) > 1:
            raise UsageError(f"the server has {len(places)} indexes: {', '.join(sorted(places))}; name one as `index`")
        return next(iter(places))

    def _places(self) -> Mapping[str, Path | str]:
        if self._folder is None:
            return self._named
        try:
            return {path.name: path for path in self._folder.iterdir() if has_database(path)}
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def close(self) -> None:
        """Close all indexes."""
        with self._lock:
            opened, self._opened = self._opened, {}
        for index in opened.values():
            index.close()


def _no_index() -> IndexNotFound:
    return IndexNotFound("the server has no index yet; create one with semsearch index")
