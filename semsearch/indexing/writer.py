"""The one writer of an index: it exists while the lock is held, and each of its methods is one write.

What a write depends on is read under the lock. Settings read before it may be those of before another process's
rebuild, and what is embedded with them does not belong to the rest.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from semsearch.indexing.added_texts import checked, take_text
from semsearch.indexing.changes import look
from semsearch.indexing.intake import write_words_anew
from semsearch.indexing.merge_policy import Size, to_compact
from semsearch.indexing.named_documents import find_named
from semsearch.indexing.transaction import Report, Write, locked, writing
from semsearch.readers.document import Text
from semsearch.results.reports import Progress, SyncReport
from semsearch.settings import Settings, SettingsKeywords, VectorsInUse, open_vectors
from semsearch.storage.database import Store, check, upgrade
from semsearch.storage.manifest import get_removed, get_segments
from semsearch.storage.meta import get_meta, set_meta
from semsearch.storage.segments import KINDS, LARGEST, LARGEST_WORDS


@dataclass(frozen=True, slots=True)
class IndexWriter:
    """Changes an index while it holds the writer's lock: made by `open`, in a `with` statement.

    `vectors` opens the index's word vectors when they are first needed; `report` hears how far a write has come.
    """

    database: Store
    vectors: VectorsInUse
    report: Report

    @classmethod
    @contextmanager
    def open(
        cls, database: Store, *, vectors: VectorsInUse | None = None, report: Report | None = None
    ) -> Iterator[IndexWriter]:
        """Take the lock, and bring the tables of an earlier version up to date.

        Raises IndexLocked where another has the lock, IndexNotFound, IndexDamaged, StorageError.
        """
        check(database)
        with locked(database):
            upgrade(database)
            yield cls(database, vectors or VectorsInUse(database.folder), report or _ignore)

    @property
    def settings(self) -> Settings:
        """How the index embeds. No one else can change it now."""
        with self.database.reading() as db:
            return Settings.from_json(get_meta(db, "settings"))

    def sync(
        self,
        paths: Sequence[str | Path],
        *,
        include: Sequence[str],
        exclude: Sequence[str],
        prune: bool,
        max_file_bytes: int,
        processes: int,
    ) -> SyncReport:
        """Bring the index up to date with the disk. Where nothing has changed, nothing is written, and little imported.

        See `Index.sync`, which says what the arguments mean and which errors are raised.
        """
        started = time.perf_counter()
        self.report(Progress("looking"))
        with self.database.reading() as db:
            seen = look(db, paths, include=include, exclude=exclude, prune=prune, max_bytes=max_file_bytes)
        done = seen.report
        if not seen.nothing_to_do:
            from semsearch.indexing.apply_plan import apply_plan  # start-up time: it brings all that reads files

            with self._writing() as write:
                done = apply_plan(write, seen, max_bytes=max_file_bytes, processes=processes)
        return replace(done, seconds=time.perf_counter() - started)

    def add(self, texts: Iterable[Text]) -> SyncReport:
        """Take in texts that are in no file. One whose id is known replaces the earlier one.

        Raises UsageError for what is no Text, for an empty id or one that comes twice, for an unknown format, and for
        metadata that cannot be kept; nothing is then changed.
        """
        started = time.perf_counter()
        done = Counter[str]()
        with self._writing() as write:
            for number, text in enumerate(checked(texts)):
                self.report(Progress("reading", number, sentences=write.intake.sentences, path=text.id))
                done[take_text(write, text)] += 1
            refitted = write.finish()
        return SyncReport(
            added=done["added"],
            changed=done["changed"],
            unchanged=done["unchanged"],
            passages=write.intake.passages,
            sentences=write.intake.sentences,
            seconds=time.perf_counter() - started,
            refitted=refitted,
        )

    def remove(self, paths: Sequence[str | Path]) -> int:
        """Forget files, folders, whole roots, or added texts by their ids; how many documents that were.

        A file that still lies below a root comes back with the next sync of that root.
        """
        with self.database.reading() as db:
            named = find_named(db, paths)
        if named:
            with self._writing() as write:
                write.forget(named.document_ids)
                write.db.executemany("DELETE FROM roots WHERE id = ?", [(root.id,) for root in named.roots])
                write.finish()
        return len(named.document_ids)

    def refit(self) -> SyncReport:
        """Fit weights and components to what the index holds today, and move all vectors to them."""
        started = time.perf_counter()
        with self._writing() as write:
            done = _embed_anew(write)
        return replace(done, seconds=time.perf_counter() - started)

    def rebuild(self, options: SettingsKeywords) -> SyncReport:
        """Make all that is derived anew from the stored text: the lexical index, the fit, all vectors.

        With other settings, if given; they are kept. Raises VectorsError, and UsageError where they make no sense.
        """
        started = time.perf_counter()
        before = self.settings
        chosen = self.vectors.given if options.get("vectors") is None else options["vectors"]
        opened = before.find_vectors() if chosen is None else open_vectors(chosen)
        settings = before.changed(opened, {**options, "vectors": chosen})
        with writing(self.database, settings, lambda: opened, self.report) as write:
            set_meta(write.db, "settings", settings.to_json())
            write.generation.drop_words()
            write_words_anew(write.db, write.generation.words)
            done = _embed_anew(write)
        self.vectors.use(opened, chosen)
        return replace(done, seconds=time.perf_counter() - started)

    def compact(self, *, largest: int = LARGEST) -> bool:
        """Bring segments together, into as few as there need be, without anything removed, as one new generation.

        Nothing is embedded anew. False where there is nothing to do.
        """
        if not self._is_scattered(largest):
            return False
        with self._writing() as write:
            write.finish()
            write.generation.compact()
        return True

    def _writing(self) -> AbstractContextManager[Write]:
        settings = self.settings
        return writing(self.database, settings, partial(self.vectors.of, settings), self.report)

    def _is_scattered(self, largest: int) -> bool:
        """Whether there is a segment that compacting would rewrite."""
        with self.database.reading() as db:
            segments = get_segments(db)
            for kind in KINDS:
                removed = get_removed(db, kind)
                sizes = [Size(len(s.runs), s.runs.overlap(removed)) for s in segments if s.kind == kind]
                if to_compact(sizes, largest=LARGEST_WORDS if kind == "words" else largest):
                    return True
        return False


def _embed_anew(write: Write) -> SyncReport:
    """Fit to all stored text and embed it, and finish the write."""
    refitted = write.finish(refit=True)
    passages, sentences = write.db.execute(
        "SELECT coalesce(sum(passages), 0), coalesce(sum(sentences), 0) FROM documents"
    ).fetchone()
    return SyncReport(passages=passages, sentences=sentences, refitted=refitted)


def _ignore(_: Progress) -> None:
    """Ignore progress."""
