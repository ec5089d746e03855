"""One write: the lock, the transaction, and what a new generation is made with.

    lock ─ BEGIN ─ rows out, rows in, words to the spool ─ fit or keep ─ segment files ─ COMMIT

Whatever happens before the COMMIT leaves the previous generation whole: rows are rolled back by SQLite, and the files
of the attempt are removed, here or, where the process was killed, by the next writer. Files of earlier generations go
after a grace period for readers that are about to open them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.indexing.intake import Intake, forget
from semsearch.indexing.spool import Spool
from semsearch.results.reports import Progress
from semsearch.settings import Settings
from semsearch.storage.database import SEGMENTS, Store, explained
from semsearch.storage.meta import get_count, set_meta
from semsearch.system.locking import writer_lock
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.indexing.generation import Generation

Report = Callable[[Progress], None]

GRACE_SECONDS = 60.0  # how long a reader may take from reading a generation's list to opening its files


class Write:
    """One new generation in the making: documents go out, documents come in, vectors follow."""

    def __init__(
        self,
        db: sqlite3.Connection,
        generation: Generation,
        spool: Spool,
        settings: Settings,
        vectors: Callable[[], WordVectors],
        report: Report,
    ) -> None:
        self.db = db
        self.settings = settings
        self.vectors = vectors
        self.report = report
        self.generation = generation
        self.intake = Intake(db, spool, generation.ids_of, generation.words)
        self._spool = spool
        self._forgotten = False

    def forget(self, document_ids: Iterable[int]) -> None:
        """Remove documents."""
        for sentences in forget(self.db, document_ids, generation=self.generation.number):
            self.generation.subtract(sentences)
            self._forgotten = True

    def finish(self, *, refit: bool = False) -> bool:
        """Write what is still in memory, and the vectors; whether the embedder was fitted anew."""
        self.intake.flush()
        set_meta(self.db, "generation", self.generation.number)
        if not (self.intake.passages or self._forgotten or refit):
            return False
        return self.generation.embed(self._spool, first_new=self.intake.first_passage, refit=refit)


@contextmanager
def writing(store: Store, settings: Settings, vectors: Callable[[], WordVectors], report: Report) -> Iterator[Write]:
    """A write transaction with all that a new generation needs. The writer's lock must be held."""
    from semsearch.indexing.generation import (
        Generation,  # start-up time: it brings FAISS, and a sync may find nothing to do
    )
    from semsearch.indexing.sweeping import drop_unnamed, sweep

    (store.folder / SEGMENTS).mkdir(exist_ok=True)
    try:
        with store.writing() as db, Spool(store.folder) as spool:
            sweep(db, store.folder, grace=GRACE_SECONDS)
            number = get_count(db, "generation") + 1
            generation = Generation(
                db, store.folder, number=number, settings=settings, vectors=vectors, progress=report
            )
            yield Write(db, generation, spool, settings, vectors, report)
    except BaseException:
        with suppress(Exception), store.reading() as db:  # the error is what counts; the next writer sweeps too
            drop_unnamed(db, store.folder)
        raise


@contextmanager
def locked(store: Store) -> Iterator[None]:
    """The writer's lock, with the disk's refusals explained. Raises IndexDamaged where a segment is missing."""
    with explained(store.folder), writer_lock(store.folder):
        try:
            yield
        except FileNotFoundError as error:
            if Path(error.filename or "").parent != store.folder / SEGMENTS:
                raise
            raise IndexDamaged(f"{error.filename} is missing; run: {rebuild_command(store.folder)}") from error
