"""A sync, on one page: find → compare → read → embed → write.

    find      the roots, and the files below them                indexing/changes, sources/walk, sources/roots
    compare   them with the documents of the index               sources/unchanged
    read      new and changed files, a chunk at a time           indexing/read_files, `ReadingLog`
    embed     their passages and sentences; fit, if it is due    indexing/generation
    write     rows, words and segment files; one COMMIT          indexing/intake, storage/database

Finding and comparing only read; without changes, that is all. Everything else is one transaction: whatever ends it
before its COMMIT leaves the index as it was. Files are read in this process, in others or on other machines, and taken
in in the order of the plan, so the index does not depend on who read them.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from semsearch import __version__
from semsearch.errors import UsageError
from semsearch.indexing.changes import Changes
from semsearch.indexing.generation import Generation, new_generation
from semsearch.indexing.read_files import (
    Chunk,
    PreparedFile,
    each_opened,
    prepare_elsewhere,
    read_as,
    why_refused,
)
from semsearch.indexing.recognize_scans import recognize_scans, with_recognized
from semsearch.readers.registry import FORMATS, NO_COLUMNS, reader_label
from semsearch.results.reports import Progress, SkippedFile, SyncReport
from semsearch.settings import Settings
from semsearch.sources.roots import covers
from semsearch.sources.unchanged import PresentFile, Skip, is_settled, reader_of
from semsearch.storage.database import READING_LOG, write_transaction
from semsearch.storage.fitted import require_languages
from semsearch.storage.known_files import (
    delete_roots,
    get_roots,
    move_documents,
    move_root,
    set_root,
    set_skips,
)
from semsearch.storage.schema import get_meta
from semsearch.system.parallel import Processes
from semsearch.system.source_files import content_digest
from semsearch.text.passage_words import SPLITTER_VERSION
from semsearch.text.passages import each_record
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.indexing.index_writer import IndexWriter

FindChanges = Callable[["sqlite3.Connection"], Changes]


def sync(writer: IndexWriter, find: FindChanges, *, max_bytes: int, processes: int) -> SyncReport:
    """Find what has changed, and bring the index up to date; text of scans is recognized last, in writes of its own."""
    writer.on_progress(Progress("looking"))
    with writer.database.reading() as db:
        settings = Settings.from_json(get_meta(db, "settings"))  # which no other process can change now
        require_languages(db, partial(writer.vectors.of, settings))  # also where nothing has changed
        changes = find(db)
    if changes.nothing_to_do:
        report = changes.report
    else:
        try:
            with (
                ReadingLog(writer.database.folder) as log,
                new_generation(writer, settings, threads=processes or default_threads()) as generation,
            ):
                report = apply_changes(generation, changes, log, max_bytes=max_bytes, processes=processes)
        except KeyboardInterrupt:
            _keep_first_roots(writer, changes)
            raise
    writer = replace(writer, executor=None)  # what was recognized is in the cache of this machine
    for changes in recognize_scans(writer, max_bytes=max_bytes, processes=processes):
        with ReadingLog(writer.database.folder) as log, new_generation(writer) as generation:
            last = apply_changes(generation, changes, log, max_bytes=max_bytes, processes=1)
        report = with_recognized(report, changes, last)
    return report


def _keep_first_roots(writer: IndexWriter, changes: Changes) -> None:
    """Store the roots of an interrupted sync in an index that has none: the next sync continues without their paths."""
    with write_transaction(writer.database) as db:
        if not get_roots(db):
            for root in changes.changed_roots:
                set_root(db, root)


def apply_changes(
    generation: Generation, changes: Changes, log: ReadingLog, *, max_bytes: int, processes: int
) -> SyncReport:
    """Apply changes in the transaction of a generation, which is committed afterwards; the report."""
    plan, db = changes.plan, generation.db
    renamed = [pair for pair in plan.moved if pair.must_be_read]
    kept = [pair for pair in plan.moved if not pair.must_be_read]
    _update_roots(db, changes)
    replaced = [pair.known for pair in [*plan.changed, *renamed]]
    generation.remove([known.document_id for known in [*plan.removed, *replaced]])
    move_documents(db, [*plan.touched, *kept], checked_ns=changes.started_ns)
    states = dict.fromkeys(plan.added, "added")
    states |= {pair.present: "changed" for pair in plan.changed} | {pair.present: "moved" for pair in renamed}
    counts = _read(generation, changes, log, states, max_bytes=max_bytes, processes=processes)
    set_skips(db, changes.skips)
    refitted = generation.finish()
    lost = len(replaced) - counts["changed"] - counts["moved"]  # unreadable now, and their earlier text was removed
    return replace(
        changes.report,
        added=counts["added"],
        changed=counts["changed"],
        moved=len(kept) + counts["moved"],
        removed=len(plan.removed) + lost,
        passages=generation.intake.passages,
        sentences=generation.intake.sentences,
        refitted=refitted,
    )


def _update_roots(db: sqlite3.Connection, changes: Changes) -> None:
    """Write new roots and globs; move documents of roots that a larger one absorbs to that one; drop vanished roots."""
    for root in changes.changed_roots:
        set_root(db, root)
    for inner in changes.roots.absorbed:
        move_root(db, inner, next(root for root in changes.roots.wanted if covers(root, inner.path)))
    delete_roots(db, [*changes.roots.absorbed, *changes.vanished_roots])


# -- Read --------------------------------------------------------------------------------------------------------------


def _read(
    generation: Generation,
    changes: Changes,
    log: ReadingLog,
    states: Mapping[PresentFile, str],
    *,
    max_bytes: int,
    processes: int,
) -> Counter[str]:
    """Take in files, in their order; the number that were read in each state (added, changed, moved).

    Those that cannot be read are added to `changes`.
    """
    intake = generation.intake
    files = [file for file in states if file.has_reader or not _is_refused(changes, file, max_bytes)]
    log.begin(sum(file.size for file in files), max_bytes=max_bytes)
    groups = [*file_groups(files)]
    counts, columns, done = Counter[str](), dict[int, dict[str, None]](), 0
    with closing(_chunks(generation, log, groups, processes=processes, max_bytes=max_bytes)) as chunks:
        for group in groups:
            progress = Progress("reading", done, len(files), intake.sentences, path=group[0].absolute)
            generation.on_progress(progress)
            if is_large(group):
                results: Sequence[PreparedFile] = [_take_large(generation, group[0], max_bytes)]
            else:
                chunk = next(chunks)
                intake.take_chunk(group, chunk)
                results = chunk.files
            for file, result in zip(group, results, strict=True):
                if not result.reason:
                    counts[states[file]] += 1
                    columns.setdefault(file.root_id, {}).update(dict.fromkeys(result.columns))
                elif file.store or os.path.lexists(file.absolute):  # else it was deleted since it was found
                    _skip(changes, file, result, max_bytes)
            done += len(group)
    generation.on_progress(Progress("reading", done, len(files), intake.sentences))
    _check_columns(changes, columns)
    return counts


def _chunks(
    generation: Generation,
    log: ReadingLog,
    groups: Sequence[Sequence[PresentFile]],
    *,
    processes: int,
    max_bytes: int,
) -> Generator[Chunk, None, None]:
    """Yield the chunk of each group but large ones: from the log, from another process or machine, or read here."""
    settings = generation.settings
    groups = [group for group in groups if not is_large(group)]
    if not groups:
        return
    are_known = [*map(log.has, groups)]
    new = [group for group, is_known in zip(groups, are_known, strict=True) if not is_known]
    vectors, executor, preparer = generation.vectors(), generation.executor, generation.preparer
    if executor is None:
        processes = useful_processes([file.size for group in new for file in group], processes, vectors)
        executor = Processes(processes) if processes > 1 and new else None
    with closing(prepare_elsewhere(new, executor, settings, vectors, max_bytes)) as elsewhere:
        for group, is_known in zip(groups, are_known, strict=True):
            if is_known and (read := log.get(group)) is not None:
                yield preparer.chunk_of(read)
                continue
            chunk = (None if is_known else next(elsewhere)) or preparer.prepare(group, max_bytes)
            log.add(group, chunk.files)
            yield chunk


def _take_large(generation: Generation, file: PresentFile, max_bytes: int) -> PreparedFile:
    """Take in a large file part by part: its passages are never in memory together."""
    prepared, document = read_as(file, next(each_opened([file], max_bytes)), with_passages=False)
    if document is not None:
        generation.intake.take_large(file, prepared, each_record(document))
    return prepared


def _is_refused(changes: Changes, file: PresentFile, max_bytes: int) -> bool:
    """Return whether a file without a reader cannot be read as text either; if so, it is noted as skipped."""
    checked = time.time_ns()
    reason = why_refused(file)
    if reason:
        _skip(changes, file, PreparedFile(checked_ns=checked, reason=reason, is_lasting=True), max_bytes)
    return bool(reason)


def _skip(changes: Changes, file: PresentFile, prepared: PreparedFile, max_bytes: int) -> None:
    """Remember that a file was not read."""
    (changes.skipped if file.has_reader else changes.unsupported).append(SkippedFile(file.absolute, prepared.reason))
    changes.skips[file.canonical] = Skip(
        size=file.size,
        mtime_ns=file.mtime_ns,
        checked_ns=prepared.checked_ns,
        limit=max_bytes,
        reason=prepared.reason,
        reader=reader_of(file),
        lasting=int(prepared.is_lasting),
    )


def _check_columns(changes: Changes, names_by_root: Mapping[int, Mapping[str, None]]) -> None:
    """Check that newly chosen columns were in some file of their root. `names_by_root`: by the root's id.

    Raises UsageError for a column that no file has.
    """
    before = {root.id: root.columns for root in changes.roots.known}
    for root in changes.changed_roots:
        names = names_by_root.get(root.id, {})
        if root.columns != before.get(root.id, NO_COLUMNS) and (missing := root.columns.missing(names)):
            suffixes = ", ".join(suffix for kind in FORMATS.values() if kind.has_columns for suffix in kind.suffixes)
            raise UsageError(
                f"no file in {root.path} has a column {missing[0]!r}; "
                + (f"the columns are {', '.join(names)}" if names else f"no {suffixes} file has columns")
            )


# -- Chunks ------------------------------------------------------------------------------------------------------------

LARGE = 8_000_000  # bytes: a larger file is taken in part by part, by the process that writes
_CHUNK_BYTES, _CHUNK_FILES = 500_000, 256  # prepared at once: enough to make arrays worth while
_BYTES_PER_PROCESS = 4_000_000  # for fewer, a process takes longer to start than it saves
_MOST_PROCESSES = 8  # by default: only one takes in what they prepare


def is_large(group: Sequence[PresentFile]) -> bool:
    """Return whether a group is one large file, which is taken in part by part, and never logged."""
    return group[0].size > LARGE


def file_groups(files: Sequence[PresentFile]) -> Iterator[Sequence[PresentFile]]:
    """Divide files into groups, in their order; a large file is a group by itself."""
    first = total = 0
    for number, file in enumerate(files):
        is_alone = file.size > LARGE or files[first].size > LARGE
        if number > first and (is_alone or total + file.size > _CHUNK_BYTES or number - first >= _CHUNK_FILES):
            yield files[first:number]
            first, total = number, 0
        total += file.size
    if files:
        yield files[first:]


def useful_processes(sizes: Sequence[int], wanted: int, vectors: WordVectors) -> int:
    """Choose the number of processes for files of these sizes: `wanted`; for 0, as many as save time.

    It is 1 if the word vectors are only in memory, where other processes cannot open them.
    """
    if not hasattr(vectors, "folder"):
        return 1
    if wanted:
        return wanted
    small = sum(size for size in sizes if size <= LARGE)
    return max(1, min(default_threads(), small // _BYTES_PER_PROCESS + 1))


def default_threads() -> int:
    """The number of threads, and the most processes, that are used unless the user chooses another."""
    affinity = getattr(os, "sched_getaffinity", None)
    return min(_MOST_PROCESSES, len(affinity(0)) if affinity is not None else os.cpu_count() or 1)


# -- The log of an interrupted write -----------------------------------------------------------------------------------

LOGGED_FROM = 4_000_000  # bytes of files: fewer are read again as fast as they are logged
_DECODER = msgspec.json.Decoder(tuple[PreparedFile, ...])


class ReadingLog(AbstractContextManager["ReadingLog"]):
    """Keeps the passages of files until the commit, so that the write after an interrupted one need not read the files
    again. The writer's lock must be held; the log is deleted at the end of its block, unless an error ends that.

    Reading files and dividing them into passages takes four fifths of the time, and depends only on the files. So a
    write with many bytes to read logs each chunk of files in a file beside the database. The next write uses it where
    the same files make a chunk, unchanged and with the same readers. A damaged entry is read again from the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / READING_LOG
        self._max_bytes = 0
        self._is_on = False

    def begin(self, size: int, *, max_bytes: int) -> None:
        """Log the chunks that follow, of files up to a limit, if that saves time for this total size."""
        self._max_bytes = max_bytes
        self._is_on = size >= LOGGED_FROM or self._folder.exists()

    def has(self, files: Sequence[PresentFile]) -> bool:
        """Return whether a chunk of the same files was logged."""
        return self._is_on and self._path(files).exists()

    def get(self, files: Sequence[PresentFile]) -> tuple[PreparedFile, ...] | None:
        """The files of a chunk as they were read; None if the entry is missing or damaged."""
        try:
            digest, _, data = self._path(files).read_bytes().partition(b" ")
            return _DECODER.decode(data) if digest.decode() == content_digest(data) else None
        except (OSError, ValueError, RecursionError):
            return None

    def add(self, files: Sequence[PresentFile], read: Sequence[PreparedFile]) -> None:
        """Log a chunk of files as they were read, unless one of them may be read differently next time."""
        if not self._is_on or not all(
            is_settled(file.mtime_ns, prepared.checked_ns) and (prepared.is_lasting or not prepared.reason)
            for file, prepared in zip(files, read, strict=True)
        ):
            return
        try:
            data = msgspec.json.encode(read)
            self._folder.mkdir(exist_ok=True)
            self._path(files).write_bytes(content_digest(data).encode() + b" " + data)
        except ValueError:  # a path that is no Unicode
            pass
        except OSError:  # a full disk: the index itself needs the room more
            self.drop()

    def drop(self) -> None:
        """Delete the log, if this write has used it."""
        if self._is_on:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._is_on = False

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            self.drop()

    def _path(self, files: Sequence[PresentFile]) -> Path:
        """The log's file for a chunk, named by all that the passages depend on."""
        states = [(file.absolute, file.size, file.mtime_ns, reader_label(file.path), file.columns) for file in files]
        return self._folder / content_digest(repr((__version__, SPLITTER_VERSION, self._max_bytes, states)).encode())
