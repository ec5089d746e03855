"""A vector store in tables of Lance. Every segment is a table that is written once.

One of few vectors is read whole, by the first question, and held in memory, where FAISS compares all of them: Lance
would read them again for every question. One of many has lists, which Lance keeps (semsearch.stores.lance.lists). A
table is opened once, and several are asked at the same time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.faiss_segment import HeldVectors
from semsearch.dense.scan_plan import ScanOptions
from semsearch.dense.segments_reader import OpenedSegment, SegmentsReader
from semsearch.dense.store import Questions
from semsearch.errors import IndexDamaged, UsageError
from semsearch.storage.segments import LARGEST, Kind, Segment
from semsearch.stores.engine import Engine, StoreLocation
from semsearch.stores.lance.lance_answers import lance_package
from semsearch.stores.lance.lists import ListedVectors, batches
from semsearch.stores.lance.ownership import claim, release
from semsearch.stores.lance.place import PACE, LancePlace
from semsearch.stores.lance.place_address import located
from semsearch.system.durable import file_digest

if TYPE_CHECKING:
    from semsearch.stores.lance.writer import LanceWriter

Result = TypeVar("Result")

_AT_ONCE = 16  # segments that are asked at the same time


class LanceStore:
    """A store of one kind of vectors in tables of Lance."""

    def __init__(
        self, place: LancePlace, kind: Kind, *, scanning: ScanOptions | None = None, largest: int = LARGEST
    ) -> None:
        self.place = place
        self.kind: Kind = kind
        self.largest = largest
        self.scanning = ScanOptions() if scanning is None else scanning
        self._opened: dict[str, Future[OpenedSegment]] = {}
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="semsearch-lance")

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which segments have lists; None if they never have."""
        return self.scanning.gathering

    @cached_property
    def session(self) -> Any:
        """What Lance keeps in memory of the tables: their beginnings, and the lists that were searched."""
        lance_package()
        from lance import Session

        return Session()

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> SegmentsReader:
        """Open a reader of some segments. Tables that the previous reader had open too stay open."""
        with self._lock:
            self._opened = {
                each.file: self._opened.get(each.file) or self._pool.submit(self._segment, each) for each in segments
            }
            opening = [self._opened[each.file] for each in segments]
        try:
            return SegmentsReader([each.result() for each in opening], removed, together=self._together)
        except BaseException:
            with self._lock:  # the next one tries again, and does not wait for what this one began
                self._opened = {name: each for name, each in self._opened.items() if _is_open(each)}
            raise

    def writer(self, generation: int, *, questions: Questions | None = None) -> LanceWriter:
        """Make a writer of new tables, which have no effect until the manifest names them."""
        from semsearch.stores.lance.writer import LanceWriter  # start-up time: a search writes nothing

        return LanceWriter(self, generation, questions)

    def merge(
        self, segments: Sequence[Segment], removed: IdRanges, *, generation: int, questions: Questions | None = None
    ) -> list[Segment]:
        """Merge segments into new tables, without removed ids."""
        from semsearch.dense.copying import merge_by_copying  # start-up time: a search writes nothing

        return merge_by_copying(self, segments, removed, generation=generation, questions=questions)

    def check(self, segment: Segment) -> list[str]:
        """Check that a table is as it was written; its problems. Raises FileNotFoundError."""
        digest = hashlib.blake2b(digest_size=16)
        try:
            with self.place.reached(segment.file):
                for vectors in batches(self.table(segment.file)):
                    digest.update(vectors.data)
        except IndexDamaged as error:
            return [str(error)]
        self.add_lists(segment.file, digest)
        is_same = digest.hexdigest() == segment.digest
        return [] if is_same else [f"{segment.file} is not as it was written: its digest differs"]

    def names(self) -> Iterable[str]:
        """The names of all tables of this kind, including unfinished ones."""
        return self.place.names(self.kind)

    def drop(self, name: str) -> None:
        """Delete a table."""
        self.place.drop(name)

    def table(self, name: str) -> Any:
        """Open a table. To be used within `place.reached`."""
        return lance_package().dataset(
            self.place.table(name), self.place.version(name), storage_options=self.place.options, session=self.session
        )

    def add_lists(self, name: str, digest: hashlib.blake2b) -> int:
        """Add the files of a table's lists to a digest, if it has lists; their bytes."""
        size = 0
        with TemporaryDirectory() as folder:
            for path in self.place.files(name):
                if "/_indices/" in path:
                    self.place.download(path, copy := Path(folder) / "file")
                    digest.update(file_digest(copy).encode())
                    size += copy.stat().st_size
        return size

    def _together(self, work: Sequence[Callable[[], Result]]) -> list[Result]:
        """Do some work in threads: most of it waits for the object store."""
        if len(work) == 1:
            return [work[0]()]
        return [future.result() for future in [self._pool.submit(each) for each in work]]

    def _segment(self, segment: Segment) -> OpenedSegment:
        times = 1 if segment.scan is not None else 1 + segment.size / PACE
        return self.place.ask(partial(self._read, segment), name=segment.file, times=times)

    def _read(self, segment: Segment) -> OpenedSegment:
        table = self.table(segment.file)
        opened: OpenedSegment
        if segment.scan is not None:
            is_whole, opened = True, ListedVectors(self.place, segment, table)
        else:
            rows = np.concatenate([*batches(table)])
            is_whole = hashlib.blake2b(rows.data, digest_size=16).hexdigest() == segment.digest
            opened = HeldVectors(segment, rows)
        if not is_whole or table.count_rows() != len(segment.id_ranges):
            raise IndexDamaged(
                f"{segment.file} in {self.place.base} is not as it was written; run: semsearch index --rebuild"
            )
        return opened


def _is_open(opening: Future[OpenedSegment]) -> bool:
    return opening.done() and opening.exception() is None


def _open(location: StoreLocation) -> LanceStore:
    return LanceStore(LancePlace(location.uri), location.kind, scanning=location.scanning, largest=location.largest)


def _check(scanning: ScanOptions) -> None:
    if scanning.layout(LARGEST).codes == "SQ8":
        raise UsageError(
            f"Lance keeps vectors as half-precision floats, not as {scanning.factory}; give a number of lists, as in "
            "--factory IVF1024,SQfp16, or leave it out"
        )


ENGINE = Engine(open=_open, located=located, claim=claim, release=release, check=_check)
