"""The writer of an index: it exists while the lock is held, and its methods are one write each, as is `add_documents`.

All that a write depends on is read under the lock: settings read before it could be older than another process's
rebuild, and vectors made with them would not fit the rest.
"""

from __future__ import annotations

import logging
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

from semsearch.dense.engines import claim_store, complete, in_use, release
from semsearch.errors import IndexDamaged, SemsearchError, UsageError, rebuild_command
from semsearch.indexing.changes import find_changes, find_changes_at
from semsearch.indexing.generation import Generation, new_generation
from semsearch.indexing.sync import sync
from semsearch.readers.registry import NO_COLUMNS, Columns
from semsearch.results.reports import Progress, SyncReport
from semsearch.settings import Settings, SettingsKeywords, VectorsInUse
from semsearch.sources.roots import Root, covers
from semsearch.storage.checksums import is_manifest_intact
from semsearch.storage.database import SEGMENTS, CommitInDoubt, IndexDatabase, check, write_transaction
from semsearch.storage.document_rows import added_texts, count_contents
from semsearch.storage.failures import storage_errors
from semsearch.storage.known_files import delete_roots, get_known_documents, get_roots
from semsearch.storage.schema import (
    DESCRIPTION,
    LONGEST_DESCRIPTION,
    StoreAddress,
    delete_meta,
    get_address,
    get_meta,
    set_address,
    set_meta,
)
from semsearch.storage.segments import clear_manifest
from semsearch.system import plugins
from semsearch.system.locations import as_spelled, uri_scheme
from semsearch.system.locking import writer_lock
from semsearch.system.parallel import Executor
from semsearch.system.progress_bar import progress_bar
from semsearch.text.tokens import storable
from semsearch.word_vectors.table import open_vectors

if TYPE_CHECKING:
    import sqlite3


logger = logging.getLogger(__name__)

# -- Progress ----------------------------------------------------------------------------------------------------------

ProgressListener = Callable[[Progress], None]
ProgressOption = ProgressListener | bool | None  # True: a bar on the terminal or in the notebook
_FILE_PHASES = {"reading": "reading files", "recognizing": "recognizing text"}  # phases that count files


@contextmanager
def _progress_listener(progress: ProgressOption) -> Iterator[ProgressListener]:
    """The function that is called with the progress of the block."""
    if not isinstance(progress, bool | None) and not callable(progress):
        raise UsageError(f"progress must be a function, true or false, not {progress!r}")
    if not isinstance(progress, bool) or not progress:
        yield progress or _ignore
        return
    with progress_bar() as show:

        def draw(step: Progress) -> None:
            if step.phase in _FILE_PHASES:
                show(_FILE_PHASES[step.phase], step.files, step.total_files)
            else:
                show(step.phase, step.sentences, step.total_sentences)

        yield draw


def _ignore(_: Progress) -> None:
    """The listener of a write whose caller wants no progress."""


# -- Files read on other machines --------------------------------------------------------------------------------------


@contextmanager
def _opened_cluster(cluster: str | Executor | None) -> Iterator[Executor | None]:
    """The executor that reads files on other machines, for the block; None to read them here."""
    if not isinstance(cluster, str):
        yield cluster
        return
    connect = plugins.load("semsearch.executors", uri_scheme(cluster), "any")
    if connect is None:
        raise UsageError(f"to read files on the cluster {cluster}, {plugins.SCALE}")
    with closing(connect(cluster)) as executor:
        yield executor


# -- Documents that paths and ids name ---------------------------------------------------------------------------------


def find_named(db: sqlite3.Connection, paths: Sequence[str | Path]) -> tuple[list[int], list[Root]]:
    """Find the documents at or below some paths, or added with these ids, and the roots at or below one of the paths.

    A path that no longer exists names what was indexed from it.
    """
    texts = [str(path) for path in paths]
    ids = set(added_texts(db, texts).values())
    named = [Root(-1, unicodedata.normalize("NFC", absolute)) for path in texts for absolute in _resolved(path)]

    def is_named(canonical: str) -> bool:
        return any(covers(root, canonical) for root in named)

    roots = get_roots(db)
    ids |= {file.document_id for root in roots for file in get_known_documents(db, root) if is_named(file.canonical)}
    return sorted(ids), [root for root in roots if is_named(root.canonical(""))]


def _resolved(path: str) -> set[str]:
    """The absolute path, links resolved, and as spelled on disk; none of an id that is no path, or circular links."""
    if not path or uri_scheme(path):
        return {path.rstrip("/")} - {""}
    try:
        resolved = Path(path).resolve()
        return {resolved.as_posix(), as_spelled(resolved).as_posix()}
    except (OSError, RuntimeError, ValueError):
        return set()


# -- The writer --------------------------------------------------------------------------------------------------------

Arguments = ParamSpec("Arguments")


def timed(write: Callable[Arguments, SyncReport]) -> Callable[Arguments, SyncReport]:
    """Set the duration of the whole write in its report, including the commit."""

    @wraps(write)
    def with_seconds(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> SyncReport:
        started = time.perf_counter()
        report = write(*arguments, **keywords)
        return replace(report, seconds=time.perf_counter() - started)

    return with_seconds


@dataclass(frozen=True, slots=True)
class IndexWriter:
    """Changes an index while it holds the writer's lock: made by `open`, in a `with` statement.

    `vectors` opens the index's word vectors when they are first needed; `on_progress` is called with the progress; the
    `executor`, if there is one, reads files on other machines.
    """

    database: IndexDatabase
    vectors: VectorsInUse
    on_progress: ProgressListener
    executor: Executor | None = None

    @classmethod
    @contextmanager
    def open(
        cls,
        database: IndexDatabase,
        vectors: VectorsInUse,
        *,
        progress: ProgressOption = None,
        cluster: str | Executor | None = None,
    ) -> Iterator[IndexWriter]:
        """Take the lock. `progress` and `cluster` are those of `Index.sync`.

        Raises UsageError for a published copy, IndexLocked if another process has the lock, IndexNotFound,
        IndexDamaged, StorageError.
        """
        database.check_writable()
        check(database)
        with (
            _progress_listener(progress) as on_progress,
            _opened_cluster(cluster) as executor,
            storage_errors(database.folder),
            writer_lock(database.folder),
        ):
            try:
                yield cls(database, vectors, on_progress, executor)
            except FileNotFoundError as error:
                if Path(error.filename or "").parent != database.folder / SEGMENTS:
                    raise
                cure = rebuild_command(database.folder)
                raise IndexDamaged(f"{error.filename} is missing; run: {cure}") from error

    @timed
    def sync(
        self,
        paths: Sequence[str | Path],
        *,
        max_file_bytes: int,
        processes: int,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        columns: Columns = NO_COLUMNS,
        prune: bool = False,
    ) -> SyncReport:
        """Bring the index up to date with the disk. Without changes, nothing is written, and little imported.

        `Index.sync` explains the arguments and the errors.
        """
        find = partial(
            find_changes,
            paths=paths,
            include=include,
            exclude=exclude,
            columns=columns,
            prune=prune,
            max_bytes=max_file_bytes,
        )
        return sync(self, find, max_bytes=max_file_bytes, processes=processes)

    @timed
    def sync_at(self, paths: Iterable[str], *, max_file_bytes: int, processes: int) -> SyncReport:
        """Bring the index up to date where something has changed: at absolute paths, spelled as on disk.

        The paths need not exist any more, nor lie in a root. The cost depends only on what lies there.
        """
        find = partial(find_changes_at, paths=[*paths], max_bytes=max_file_bytes)
        return sync(self, find, max_bytes=max_file_bytes, processes=processes)

    def remove(self, paths: Sequence[str | Path]) -> int:
        """Remove files, folders, whole roots, or added texts by their ids; the number of documents removed.

        A file that still lies below a root comes back with the next sync of that root.
        """
        with self.database.reading() as db:
            documents, roots = find_named(db, paths)
        if documents or roots:
            self._remove(documents, roots)
        return len(documents)

    def remove_texts(self, ids: Sequence[str]) -> int:
        """Remove added texts by their ids, which are never taken for paths; the number removed."""
        with self.database.reading() as db:
            rows = sorted(added_texts(db, ids).values())
        if rows:
            self._remove(rows)
        return len(rows)

    def _remove(self, documents: Sequence[int], roots: Sequence[Root] = ()) -> None:
        with new_generation(self) as generation:
            generation.remove(documents)
            delete_roots(generation.db, roots)
            generation.finish()

    def describe(self, sentence: str) -> None:
        """Set the sentence that says what the index holds; an empty one removes it. Raises UsageError."""
        if not isinstance(sentence, str):
            raise UsageError(f"describe takes a sentence, not {sentence!r}")
        sentence = " ".join(storable(sentence).split())
        if len(sentence) > LONGEST_DESCRIPTION:
            raise UsageError(f"a description has at most {LONGEST_DESCRIPTION} characters, not {len(sentence):,}")
        with write_transaction(self.database) as db:
            if sentence:
                set_meta(db, DESCRIPTION, sentence)
            else:
                delete_meta(db, DESCRIPTION)

    @timed
    def refit(self) -> SyncReport:
        """Fit weights and components to the present text of the index, and compute all vectors again."""
        with new_generation(self, is_rebuild=True) as generation:
            return _embed_all(generation)

    @timed
    def rebuild(self, options: SettingsKeywords) -> SyncReport:
        """Derive everything again from the stored text: the lexical index, the fit, all vectors.

        Settings that are given replace the stored ones. Raises VectorsError, and UsageError if they make no sense.
        """
        with self.database.reading() as db:
            stored, old_address = Settings.from_json(get_meta(db, "settings")), get_address(db)
        chosen = self.vectors.override if options.get("vectors") is None else options["vectors"]
        opened = stored.find_vectors() if chosen is None else open_vectors(chosen)
        settings = stored.changed(opened, {**options, "vectors": chosen})
        with (
            self._store_claimed(stored, settings) as (settings, address),
            new_generation(self, settings, lambda: opened, is_rebuild=True, check_manifest=False) as generation,
        ):
            db = generation.db
            if not is_manifest_intact(db):
                clear_manifest(db)
            set_meta(db, "settings", settings.to_json())
            if settings.store != stored.store:
                set_address(db, address)
            report = _embed_all(generation, rewrite_words=True)
        self.vectors.use(opened, chosen)
        if old_address is not None and settings.store != stored.store:
            self._release_old(old_address)
        return report

    def _release_old(self, store: StoreAddress) -> None:
        """Delete the vectors in a store that the index no longer uses, unless a published generation reads them, or the
        store cannot be reached: this is logged."""
        try:
            if store.uri not in in_use(store, self.database.folder):
                release(store)
                return
            reason = "a published generation uses them"
        except SemsearchError as error:
            reason = str(error)
        logger.warning("the vectors at %s are not deleted (%s); delete them there", store.uri, reason)

    @contextmanager
    def _store_claimed(self, stored: Settings, settings: Settings) -> Iterator[tuple[Settings, StoreAddress | None]]:
        """Claim the vector store that the settings name, if it is a new one; release it if the write fails."""
        name = self.database.folder.absolute().name
        store = None if settings.store is None else complete(settings.store, name)
        settings = replace(settings, store=store)
        address = claim_store(store) if store is not None and store != stored.store else None
        try:
            yield settings, address
        except CommitInDoubt:
            raise
        except BaseException:
            if address is not None:
                with suppress(SemsearchError):
                    release(address)
            raise


def _embed_all(generation: Generation, *, rewrite_words: bool = False) -> SyncReport:
    """Fit to all stored text and embed it, and finish the write."""
    refitted = generation.finish(refit=True, rewrite_words=rewrite_words)
    contents = count_contents(generation.db)
    return SyncReport(passages=contents.passages, sentences=contents.sentences, refitted=refitted)
