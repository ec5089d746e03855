"""Write vectors to tables of Lance: piece by piece as they come, and into lists if there are many."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.measured_recall import QUESTIONS, evenly
from semsearch.dense.scan_plan import SegmentLayout
from semsearch.dense.store import Additions, Questions
from semsearch.errors import StorageError
from semsearch.results.state.scan import Scan
from semsearch.storage.segments import Segment, segment_name
from semsearch.stores.lance.lance_answers import lance_package
from semsearch.stores.lance.lists import COLUMN, ListedVectors, make_lists, measured
from semsearch.stores.lance.place import PACE, SUFFIX

if TYPE_CHECKING:
    from semsearch.stores.lance.store import LanceStore

Float16 = npt.NDArray[np.float16]
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

_CHUNK = 1 << 16  # vectors held until they are written


class LanceWriter:
    """Writes vectors of one kind as tables of at most `largest` vectors each. A context manager."""

    def __init__(self, store: LanceStore, generation: int, questions: Questions | None) -> None:
        self._store = store
        self._generation = generation
        self._questions = questions
        self._additions = Additions()
        self._segments: list[Segment] = []
        self._start()

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Append vectors (n, d) with rising ids (n,). Raises UsageError if they do not rise or fit."""
        self._additions.check(ids, vectors)
        while len(ids):
            room = min(self._store.largest - self._count, _CHUNK - sum(map(len, self._held)))
            self._ids.append(ids[:room])
            self._held.append(vectors[:room].astype(np.float16))
            self._count += len(ids[:room])
            ids, vectors = ids[room:], vectors[room:]
            if self._count == self._store.largest:
                self._write_segment()
            elif sum(map(len, self._held)) == _CHUNK:
                self._write_held()

    def finish(self) -> list[Segment]:
        """Write what is left, and return all segments of this writer."""
        if self._count:
            self._write_segment()
        return self._segments

    def __enter__(self) -> LanceWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._table is not None:
            with suppress(StorageError):  # what ended this may have been the store; the next writer drops it
                self._store.drop(self._name)

    def _start(self) -> None:
        """Begin a new table, of which nothing is written yet."""
        self._name = segment_name(self._store.kind, self._generation).rpartition(".")[0] + SUFFIX
        self._table: Any = None
        self._ids: list[Int64] = []
        self._held: list[Float16] = []
        self._count = 0
        self._digest = hashlib.blake2b(digest_size=16)
        self._size = 0

    def _write_held(self) -> None:
        """Append the vectors held so far to the table."""
        import pyarrow

        rows = np.concatenate(self._held)
        vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(rows.ravel()), rows.shape[1])
        place = self._store.place
        write = partial(
            lance_package().write_dataset,
            pyarrow.table({COLUMN: vectors}),
            place.table(self._name) if self._table is None else self._table,
            mode="create" if self._table is None else "append",
            storage_options=place.options,
        )
        self._table = place.ask(write, times=1 + rows.nbytes / PACE)
        self._digest.update(rows.data)
        self._size += rows.nbytes
        self._held = []

    def _write_segment(self) -> None:
        """Finish the table: its last vectors, its lists if it has many, and a flush to the disk."""
        if self._held:
            self._write_held()
        store, ids = self._store, IdRanges.of_ids(np.concatenate(self._ids))
        layout = store.scanning.layout(self._count)
        scan = self._make_lists(ids, layout) if layout.lists else None
        size = self._size + store.add_lists(self._name, self._digest)
        store.place.flush(self._name)
        self._segments.append(Segment(store.kind, self._name, size, ids, self._digest.hexdigest(), scan))
        self._start()

    def _make_lists(self, ids: IdRanges, layout: SegmentLayout) -> Scan:
        store = self._store
        asked: Float32 = np.zeros((0, 0), np.float32)
        if self._questions is not None:
            asked = self._questions(ids.ids(evenly(len(ids), QUESTIONS)))
        with store.place.reached():
            make_lists(self._table, layout)
            table = store.table(self._name)
            vectors = ListedVectors(store.place, Segment(store.kind, self._name, 0, ids, ""), table)
            return measured(vectors, table, layout, store.scanning.target_recall, asked)
