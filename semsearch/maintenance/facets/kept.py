"""The facets that were counted lately, kept while the index stays as it is: a page asks for the same ones again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

from semsearch.results.contents.facets import Facets

_MOST = 32  # questions; each keeps some kilobytes


class KeptFacets:
    """Facets of one generation of an index, by what was asked. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stamp: Hashable = None
        self._kept: dict[Hashable, Facets] = {}

    def get(self, stamp: Hashable, asked: Hashable, count: Callable[[], Facets]) -> Facets:
        """Return what was kept, or count it and keep it. `stamp`: of the generation; those of another are forgotten."""
        with self._lock:
            kept = self._kept.get(asked) if stamp == self._stamp else None
        if kept is not None:
            return kept
        found = count()
        with self._lock:
            if stamp != self._stamp:
                self._stamp, self._kept = stamp, {}
            self._kept[asked] = found
            while len(self._kept) > _MOST:
                del self._kept[next(iter(self._kept))]
        return found
