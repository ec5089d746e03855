"""The map of an index, as `Index` has it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semsearch.mapping.mapper import ColouredMap, Mapper
    from semsearch.mapping.passage_map import PassageMap
    from semsearch.results.contents.map_passage import MapPassage
    from semsearch.results.contents.map_status import MapProgress, MapStatus
    from semsearch.search.searcher import Searcher


class MappedIndex:
    """The methods of an index that make and show its map. Another class has its files, and makes its searcher."""

    path: Path
    _opening: threading.RLock
    _mapper: Mapper | None = None

    def map(self, *, anew: bool = False, progress: Callable[[MapProgress], None] | None = None) -> PassageMap:
        """Return the map of the index: its passages as points in two dimensions, near where they are about the same.

        Made when it is first asked for, which takes a minute or two for 100,000 passages, and kept in the index's
        folder, where it can be deleted: it is made again. After a write, new passages are put beside those that they
        are like; `anew` arranges all of them again. The same index has the same map. The words of a region come from
        its passages. `PassageMap.within` gives the passages inside an outline, which a search may be restricted to.
        """
        return self._mapping().make(anew=anew, report=progress)

    def map_there(self) -> PassageMap | None:
        """Return the map as it was last made, without passages that have gone; None if there is none. Makes nothing."""
        return self._mapping().there()

    def map_status(self) -> MapStatus:
        """Return whether there is a map, whether it is up to date, and how far one has come that is being made."""
        return self._mapping().status()

    def map_coloured(self) -> ColouredMap | None:
        """Return the map as it was last made, with colours by folder, type and document; None if there is none."""
        return self._mapping().coloured()

    def map_passages(self, ids: Sequence[int]) -> list[MapPassage]:
        """Return the passages behind points of the map, by their ids; those that have gone are left out."""
        return self._mapping().shown(ids)

    def _mapping(self) -> Mapper:
        from semsearch.mapping.mapper import Mapper  # start-up time: few programs draw a map

        with self._opening:
            if self._mapper is None:
                self._mapper = Mapper(self.path, self._asking)
            return self._mapper

    def _asking(self) -> Searcher:
        """The searcher of the index, made when it is first needed."""
        raise NotImplementedError
