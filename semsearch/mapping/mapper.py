"""The map of an index: where each passage lies, the regions' topics, and its maker.

A map is made by the first call and kept in a file beside the index, for the generation that it is of; after a write it
is outdated, and the next call makes another. The vectors are read in one read transaction; the long part, the descent,
needs none. Of more than a hundred thousand passages an even sample is on the map.

The file is an archive of NumPy without pickles: a header of JSON (fit, generation, regions), ids, points. The archive
has checksums; a file that does not match them is no map, nor is one of vectors of another fit.
"""

from __future__ import annotations

import io
import json
import logging
import threading
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.id_ranges import evenly
from semsearch.arrays.types import Float32, Int64
from semsearch.mapping.arrange_passages import arrange, compare
from semsearch.mapping.regions import MOST_READ, Colouring, colourings, regions, spans_of
from semsearch.results.documents import MapPassage, MapProgress, MapRegion, MapState, MapStatus
from semsearch.storage.document_rows import DocumentRow, documents_in_order, get_documents, passage_ids
from semsearch.storage.find_document import document_keys
from semsearch.storage.fitted import get_fit
from semsearch.storage.passage_rows import PassageRow, get_passages
from semsearch.system.durable import write_durably
from semsearch.system.locations import working_folder
from semsearch.system.source_files import read_source

if TYPE_CHECKING:
    import sqlite3

    from semsearch.search.index_reader import IndexReader, IndexView
    from semsearch.search.searcher import Searcher

logger = logging.getLogger(__name__)

# -- The map and its file ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PassageMap:
    """The passages of a generation of an index as points: near to each other where they are about the same.

    x and y are from -1 to 1. Only who is near to whom means something; directions and large distances mean little.
    """

    generation: int  # of the index
    ids: Int64  # (n,) of the passages, rising
    points: Float32  # (n, 2)
    regions: tuple[MapRegion, ...]

    def __len__(self) -> int:
        """The number of passages."""
        return len(self.ids)


MAP = "map.points"  # in the folder of the index
_LARGEST = 1 << 30  # bytes: a million passages take 16 MB


def write_map(folder: Path, fit: int, passage_map: PassageMap) -> None:
    """Save a map, replacing an earlier one. Of two processes that save at once, the later one wins.

    Raises OSError where it cannot be written; an earlier one then stays.
    """
    header = {
        "fit": fit,
        "generation": passage_map.generation,
        "regions": [region.to_dict() for region in passage_map.regions],
    }
    buffer = io.BytesIO()
    np.savez(buffer, header=json.dumps(header), ids=passage_map.ids, points=passage_map.points)
    write_durably(folder / MAP, lambda write: write(buffer.getvalue()))


def read_map(folder: Path, fit: int) -> PassageMap | None:
    """Read the map of vectors that were fitted by a generation; None if there is none, or a damaged one."""
    path = folder / MAP
    try:
        data = io.BytesIO(read_source(path, _LARGEST).data)
        with zipfile.ZipFile(data) as packed:
            if any(member.compress_type for member in packed.infolist()):
                raise ValueError("its arrays are packed, and may be of any size")
        with np.load(data, allow_pickle=False) as arrays:
            header, ids, points = json.loads(str(arrays["header"])), arrays["ids"], arrays["points"]
        if header["fit"] != fit:
            return None
        regions = tuple(MapRegion.from_dict(region) for region in header["regions"])
        return PassageMap(header["generation"], ids, points, regions)
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever zipfile, NumPy and json make of damaged bytes
        logger.warning("%s is not a map (%s); the next request for the map creates it again", path, error)
        return None


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
        **document_keys(document, here),
        headings=passage.headings,
        line=line,
        page=passage.page,
        place=passage.place(0),
        start=start,
        end=end,
        text=passage.text,
    )


# -- The maker of maps -------------------------------------------------------------------------------------------------

OnProgress = Callable[[MapProgress], None]

MOST = 100_000  # passages on a map


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

    def make(self, on_progress: OnProgress | None = None) -> PassageMap:
        """Return the map of the newest generation. It is made if necessary, and saved."""

        def show(progress: MapProgress) -> None:
            self._progress = progress
            if on_progress is not None:
                on_progress(progress)

        with self._making:
            show(MapProgress("reading"))
            try:
                finish = self._searcher().in_one_generation(lambda index: self._begin(index, show))
                return finish()
            finally:
                self._progress = None

    def coloured(self) -> ColouredMap | None:
        """The saved map, with its colourings; None if there is none."""
        return self._searcher().in_one_generation(self._coloured)

    def shown(self, ids: Sequence[int]) -> list[MapPassage]:
        """The passages behind points, by their ids, in that order; removed ones are left out."""
        return self._searcher().in_one_generation(lambda index: shown_passages(index.db, ids))

    def status(self) -> MapStatus:
        """The state of the map."""
        return self._searcher().in_one_generation(self._status)

    def _coloured(self, index: IndexView) -> ColouredMap | None:
        index.check_documents()
        saved = self._saved(index.db)
        if saved is None:
            return None
        is_present = np.isin(saved.ids, passage_ids(index.db).all_ids())  # removed passages are left out
        passage_map = replace(saved, ids=saved.ids[is_present], points=saved.points[is_present])
        spans = spans_of([*documents_in_order(index.db)])
        return ColouredMap(index.reader.generation, passage_map, colourings(spans, passage_map.ids))

    def _status(self, index: IndexView) -> MapStatus:
        progress, saved, total = self._progress, self._saved(index.db), len(passage_ids(index.db))
        if saved is None:
            return MapStatus("running" if progress else "absent", 0, total, None, progress)
        state: MapState = (
            "running" if progress else "ready" if saved.generation == index.reader.generation else "outdated"
        )
        return MapStatus(state, len(saved), total, saved.generation, progress)

    def _saved(self, db: sqlite3.Connection) -> PassageMap | None:
        fit = get_fit(db)
        return None if fit is None else read_map(self._folder, fit)

    def _begin(self, index: IndexView, on_progress: OnProgress) -> Callable[[], PassageMap]:
        """Do what needs the index; return a function that does the rest, the long part."""
        generation, fit, all_ids = index.reader.generation, get_fit(index.db), passage_ids(index.db).all_ids()
        ids = all_ids[evenly(len(all_ids), MOST)]
        if fit is None or not len(ids):
            return lambda: PassageMap(generation, ids[:0], np.zeros((0, 2), dtype=np.float32), ())
        saved = read_map(self._folder, fit)
        if saved is not None and saved.generation == generation:
            return lambda: saved
        likeness = compare(_StoredRows(index.reader, ids), len(ids), on_progress=on_progress)
        sample = evenly(len(ids), MOST_READ)
        texts = _texts(index.db, ids[sample])

        def finish() -> PassageMap:
            points = arrange(likeness, on_progress=on_progress)
            on_progress(MapProgress("naming"))
            named = regions(points, sample, texts)
            on_progress(MapProgress("writing"))
            return self._save(fit, PassageMap(generation, ids, points, named))

        return finish

    def _save(self, fit: int, passage_map: PassageMap) -> PassageMap:
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
        return stored.filled(self._dimension)


def _texts(db: sqlite3.Connection, ids: Int64) -> list[str]:
    passages = get_passages(db, ids.tolist())
    return [passages[id_].text if id_ in passages else "" for id_ in ids.tolist()]
