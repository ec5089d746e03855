"""A write: the lock, the transaction, and the new generation inside it.

    lock ─ BEGIN ─ rows out, rows in, words to the spool ─ fit or keep ─ segment files ─ COMMIT

Whatever happens before the COMMIT leaves the previous generation whole: SQLite rolls the rows back, and the files of
the attempt are removed, here or, if the process was killed, by the next writer. Files of earlier generations are
removed after it, as soon as no reader can need them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from semsearch.indexing.generation import Generation
from semsearch.indexing.intake import Intake, forget, set_languages
from semsearch.indexing.reading_log import ReadingLog
from semsearch.indexing.reclaim_space import drop_unnamed, grace_of, leftovers, reclaim_space, sweep
from semsearch.indexing.spool import Spool
from semsearch.results.reports import Progress
from semsearch.settings import Settings
from semsearch.storage.database import SEGMENTS, CommitInDoubt, IndexDatabase
from semsearch.storage.meta import get_count, set_meta
from semsearch.system.memory import WRITING, require_memory
from semsearch.system.threads import Executor
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3


Report = Callable[[Progress], None]


class WriteTransaction:
    """A write transaction with a new generation in the making: documents are removed and added, vectors follow."""

    def __init__(
        self,
        db: sqlite3.Connection,
        generation: Generation,
        spool: Spool,
        *,
        settings: Settings,
        vectors: Callable[[], WordVectors],
        report: Report,
        reading_log: ReadingLog,
        executor: Executor | None = None,
    ) -> None:
        self.db = db
        self.settings = settings
        self.vectors = vectors
        self.report = report
        self.reading_log = reading_log
        self.executor = executor
        self.generation = generation
        self.intake: Intake = Intake(db, spool, generation.ids_of, generation.words, languages=settings.languages)
        self._spool = spool
        self._forgotten = False

    def forget(self, document_ids: Iterable[int]) -> None:
        """Remove documents by their ids."""
        for sentences, languages in forget(self.db, document_ids, generation=self.generation.number):
            self.generation.subtract(sentences, languages)
            self._forgotten = True

    def finish(self, *, refit: bool = False) -> bool:
        """Write what is still in memory, and the vectors; return whether the embedder was refitted."""
        self.intake.flush()
        set_languages(self.db)
        set_meta(self.db, "generation", self.generation.number)
        if not (self.intake.passages or self._forgotten or refit):
            return False
        return self.generation.embed(self._spool, first_new=self.intake.first_passage, refit=refit)


@contextmanager
def writing(
    database: IndexDatabase,
    settings: Settings,
    vectors: Callable[[], WordVectors],
    report: Report,
    *,
    executor: Executor | None = None,
    compact: bool = False,
    derived: bool = True,
) -> Iterator[WriteTransaction]:
    """Open a write transaction with a new generation. The writer's lock must be held.

    After the commit, unused disk space is reclaimed; with `compact`, as much as possible. Without `derived`, a damaged
    list of segments is not an error, since all of them are about to be made again. Files are read by the
    `executor`, if there is one.
    """
    require_memory(WRITING, f"to write {database.folder}")
    (database.folder / SEGMENTS).mkdir(exist_ok=True)
    reading_log = ReadingLog(database.folder)
    grace = grace_of(database)
    try:
        with database.writing(derived=derived) as db, Spool(database.folder) as spool:
            sweep(db, database.folder, grace=grace)
            number = get_count(db, "generation") + 1
            generation = Generation(
                db, database.folder, number=number, settings=settings, vectors=vectors, progress=report
            )
            yield WriteTransaction(
                db,
                generation,
                spool,
                settings=settings,
                vectors=vectors,
                report=report,
                reading_log=reading_log,
                executor=executor,
            )
            left = leftovers(db)
    except CommitInDoubt:
        raise
    except BaseException:
        with suppress(Exception), database.reading() as db:  # the error is what counts; the next writer sweeps too
            drop_unnamed(db, database.folder)
        raise
    else:
        reading_log.drop()
    finally:
        reading_log.close()
    reclaim_space(database, left, compact=compact)
