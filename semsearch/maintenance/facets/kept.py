"""The facets of an index, counted where they are not kept: a page asks for the same ones again."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence

from semsearch.maintenance.facets.counting import read_facets
from semsearch.results.contents.facets import Facets
from semsearch.storage.database import IndexDatabase
from semsearch.storage.meta import get_stamp
from semsearch.storage.sums.all_documents import check_all_documents
from semsearch.system.working_folder import working_folder

_MOST = 32  # questions; each keeps some kilobytes


class KeptFacets:
    """The facets of an index, those that were counted lately in its newest generation kept. Threads may share it."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._stamp: Hashable = None
        self._kept: dict[Hashable, Facets] = {}
        self._checked: Hashable = None  # the stamp of the generation whose rows were compared with their checksums

    def count(self, filters: Sequence[str], values: int) -> Facets:
        """Count the documents that pass all filters by each key, so many values of each, or return what was kept."""
        with self._database.reading() as db:
            asked = filters, values, working_folder()  # paths of filters may be relative to it
            stamp = get_stamp(db)
            if stamp != self._checked:
                check_all_documents(db)
                self._checked = stamp
            with self._lock:
                kept = self._kept.get(asked) if stamp == self._stamp else None
            return self._keep(stamp, asked, read_facets(db, filters, values=values)) if kept is None else kept

    def _keep(self, stamp: Hashable, asked: Hashable, found: Facets) -> Facets:
        """Keep facets; those of another generation are forgotten."""
        with self._lock:
            if stamp != self._stamp:
                self._stamp, self._kept = stamp, {}
            self._kept[asked] = found
            while len(self._kept) > _MOST:
                del self._kept[next(iter(self._kept))]
        return found
