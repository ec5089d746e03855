"""The maker of an index's map: it finds the saved map, brings it up to date, or makes and saves a new one.

After a write, new passages are placed beside their nearest neighbours, and nothing else moves; when a fifth of the
passages is new, half of the old ones are gone, or the vectors are others, the map is made again. The vectors are read
in one read transaction; the long part, the descent, needs none.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.id_ranges import IdRanges, evenly
from semsearch.arrays.types import Float32, Int64
from semsearch.mapping.arrange_passages import arrange, beside, compare
from semsearch.mapping.passage_map import PassageMap, read_map, write_map
from semsearch.mapping.regions import MOST_READ, Colouring, colourings, get_spans_of_documents, regions
from semsearch.results.documents import MapPassage, MapProgress, MapState, MapStatus
from semsearch.storage.document_rows import DocumentRow, get_documents
from semsearch.storage.find_document import path_of
from semsearch.storage.fitted import get_fit
from semsearch.storage.passage_rows import PassageRow, get_passages
from semsearch.system.locations import working_folder

if TYPE_CHECKING:
    import sqlite3

    from semsearch.search.index_reader import IndexReader, IndexView
    from semsearch.search.searcher import Searcher

# -- Passages behind points --------------------------------------------------------------------------------------------


def shown_passages(db: sqlite3.Connection, ids: Sequence[int]) -> list[MapPassage]:
    """Read passages by their ids, in that order; those that are not in the index are left out."""
    passages = get_passages(db, ids)
    documents = get_documents(db, {passage.document_id for passage in passages.values()})
    here = working_folder().as_posix()
    shown = [passages[id_] for id_ in ids if id_ in passages]
    return [_shown(passage, documents[passage.document_id], here) for passage in shown]


def _shown(passage: PassageRow, document: DocumentRow, here: str) -> MapPassage:
    _, _, start, end, line = passage.sentences[0].tolist()
    return MapPassage(
        passage_id=passage.id,
        path=path_of(document, here),
        root=document.root,
        document=document.path,
        title=document.title,
        format=document.format,
        headings=passage.headings,
        line=line,
        page=passage.page,
        place=passage.place(0),
        start=start,
        end=end,
        text=passage.text,
    )


# -- The maker of maps -------------------------------------------------------------------------------------------------

logger = logging.getLogger(__name__)
Report = Callable[[MapProgress], None]

MOST_NEW = 0.2  # of the passages: with more, all passages are arranged again
MOST_GONE = 0.5  # of the passages that were arranged together: without more of them, all are arranged again
_LIKE = 5  # passages that a new one is placed beside
_AT_ONCE = 4_096


@dataclass(frozen=True, slots=True)
class ColouredMap:
    """A map with its colourings, as one generation has them."""

    generation: int  # of the index now; the map may be of an earlier one
    map: PassageMap
    colourings: tuple[Colouring, ...]


class Mapper:
    """Makes the map of an index. Threads may share it: one of them makes the map, the others wait for it."""

    def __init__(self, folder: Path, searcher: Callable[[], Searcher]) -> None:
        self._folder = folder
        self._searcher = searcher
        self._making = threading.Lock()
        self._progress: MapProgress | None = None

    def make(self, *, anew: bool = False, report: Report | None = None) -> PassageMap:
        """Return the map of the newest generation. It is made or brought up to date if necessary, and saved."""

        def note(progress: MapProgress) -> None:
            self._progress = progress
            if report is not None:
                report(progress)

        with self._making:
            note(MapProgress("reading"))
            try:
                finish = self._searcher().in_one_generation(lambda index: self._begun(index, anew=anew, report=note))
                return finish()
            finally:
                self._progress = None

    def there(self) -> PassageMap | None:
        """The saved map, without removed passages; None if there is none."""
        return self._searcher().in_one_generation(lambda index: self._there(index.db))

    def coloured(self) -> ColouredMap | None:
        """The saved map, with its colourings; None if there is none."""
        return self._searcher().in_one_generation(self._coloured)

    def shown(self, ids: Sequence[int]) -> list[MapPassage]:
        """The passages behind points, by their ids, in that order; removed ones are left out."""
        return self._searcher().in_one_generation(lambda index: shown_passages(index.db, ids))

    def status(self) -> MapStatus:
        """The state of the map."""
        return self._searcher().in_one_generation(self._status)

    def _there(self, db: sqlite3.Connection) -> PassageMap | None:
        known, ids = self._known(db), _passage_ids(db)
        return None if known is None else _present(known, ids)

    def _coloured(self, index: IndexView) -> ColouredMap | None:
        index.check_documents()
        passage_map = self._there(index.db)
        if passage_map is None:
            return None
        spans = get_spans_of_documents(index.db)
        return ColouredMap(index.reader.generation, passage_map, colourings(spans, passage_map.ids))

    def _status(self, index: IndexView) -> MapStatus:
        progress, known, of = self._progress, self._known(index.db), len(_passage_ids(index.db))
        if known is None:
            return MapStatus("running" if progress else "absent", 0, of, None, progress)
        state: MapState = (
            "running" if progress else "ready" if known.generation == index.reader.generation else "outdated"
        )
        return MapStatus(state, len(known), of, known.generation, progress)

    def _known(self, db: sqlite3.Connection) -> PassageMap | None:
        fit = get_fit(db)
        return None if fit is None else read_map(self._folder, fit)

    def _begun(self, index: IndexView, *, anew: bool, report: Report) -> Callable[[], PassageMap]:
        """Do what needs the index; what is left to do is returned: the long part, if all are arranged."""
        generation, fit, ids = index.reader.generation, get_fit(index.db), _passage_ids(index.db)
        if fit is None or not len(ids):
            return lambda: PassageMap(generation, ids[:0], np.zeros((0, 2), dtype=np.float32), (), 0)
        known = None if anew else read_map(self._folder, fit)
        if known is not None and known.generation == generation:
            return lambda: known
        if known is not None and (updated := _updated(known, ids, index.reader)) is not None:
            return lambda: self._kept(fit, updated)
        likeness = compare(_StoredRows(index.reader, ids), len(ids), report=report)
        read = evenly(len(ids), MOST_READ)
        texts = _texts(index.db, ids[read])

        def finish() -> PassageMap:
            points = arrange(likeness, report=report)
            report(MapProgress("naming"))
            named = regions(points, read, texts)
            report(MapProgress("writing"))
            return self._kept(fit, PassageMap(generation, ids, points, named, len(points)))

        return finish

    def _kept(self, fit: int, passage_map: PassageMap) -> PassageMap:
        try:
            write_map(self._folder, fit, passage_map)
        except OSError as error:  # a read-only or full disk: this map is usable, and the next call makes it again
            logger.warning("the map cannot be saved in %s: %s", self._folder, error.strerror or error)
        return passage_map


class _StoredRows:
    """The vectors of an index's passages by their numbers; zeros where a passage has none."""

    def __init__(self, reader: IndexReader, ids: Int64) -> None:
        self._reader, self._ids = reader, ids
        self._dimension = 2

    def __call__(self, numbers: Int64) -> Float32:
        stored = self._reader.passage_vectors.fetch(self._ids[numbers])
        self._dimension = max(self._dimension, stored.rows.shape[1])
        rows: Float32 = np.zeros((len(numbers), self._dimension), dtype=np.float32)
        rows[stored.positions, : stored.rows.shape[1]] = stored.rows
        return rows


def _passage_ids(db: sqlite3.Connection) -> Int64:
    return IdRanges.of(db.execute("SELECT first_passage, passages FROM documents")).all_ids()


def _texts(db: sqlite3.Connection, ids: Int64) -> list[str]:
    passages = get_passages(db, ids.tolist())
    return [passages[id_].text if id_ in passages else "" for id_ in ids.tolist()]


def _present(known: PassageMap, ids: Int64) -> PassageMap:
    """A map without removed passages."""
    stays = np.isin(known.ids, ids)
    return known if stays.all() else replace(known, ids=known.ids[stays], points=known.points[stays])


def _updated(known: PassageMap, ids: Int64, reader: IndexReader) -> PassageMap | None:
    """The map with the present passages; None if too much has changed."""
    old = _present(known, ids)
    new = np.setdiff1d(ids, old.ids)
    added = known.added + len(new)
    if added > MOST_NEW * len(ids) or len(old) < (1 - MOST_GONE) * known.arranged:
        return None
    allowed, rows = IdRanges.of_ids(old.ids), _StoredRows(reader, new)
    placed = [old.points]
    for first in range(0, len(new), _AT_ONCE):
        numbers = np.arange(first, min(first + _AT_ONCE, len(new)))
        nearest = reader.passage_vectors.search(rows(numbers), _LIKE, allowed=allowed).ids
        similar = np.where(nearest >= 0, np.searchsorted(old.ids, nearest), -1)
        placed.append(beside(old.points, similar, new[numbers]))
    order = np.argsort(np.concatenate((old.ids, new)))
    return replace(
        old,
        generation=reader.generation,
        ids=np.concatenate((old.ids, new))[order],
        points=np.concatenate(placed)[order],
        added=added,
    )
