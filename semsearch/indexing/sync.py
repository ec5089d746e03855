"""A sync, on one page: find → compare → read → embed → write.

    find      the roots, and the files below them            indexing/changes, indexing/sync_roots, sources/walk
    compare   them with the documents of the index           sources/unchanged
    read      new and changed files, a chunk at a time       indexing/read_files, indexing/reading_log
    embed     their passages and sentences; fit, if it is due    indexing/generation
    write     rows, words and segment files; one COMMIT      indexing/intake, indexing/write_transaction

Finding and comparing only read; without changes, that is all. Everything else is one transaction: whatever ends it
before its COMMIT leaves the index as it was. Files are read in this process, in others or on other machines, and taken
in in the order of the plan, so the index does not depend on who read them.
"""

from __future__ import annotations

import os
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from semsearch.errors import UsageError
from semsearch.indexing.changes import Changes, unrecognized
from semsearch.indexing.intake import DocumentSource
from semsearch.indexing.read_files import (
    Chunk,
    Prepared,
    Preparer,
    chunks,
    each_opened,
    is_large,
    prepare_elsewhere,
    prepare_in_processes,
    read_as,
    useful_processes,
    why_refused,
)
from semsearch.indexing.recognize_scans import recognize_scans
from semsearch.indexing.write_transaction import WriteTransaction
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.readers.registry import FORMATS
from semsearch.results.reports import Progress, SkippedFile, SyncReport
from semsearch.sources.roots import Root, covers
from semsearch.sources.unchanged import FilePair, PresentFile, Skip, judge_of
from semsearch.storage.catalogue import get_roots, set_root
from semsearch.storage.checked_rows import documents_changing
from semsearch.storage.fitted import require_languages
from semsearch.storage.known_files import set_skips
from semsearch.system.threads import Threads

if TYPE_CHECKING:
    import sqlite3

    from semsearch.indexing.index_writer import IndexWriter

FindChanges = Callable[["sqlite3.Connection"], Changes]


def sync(writer: IndexWriter, find: FindChanges, *, max_bytes: int, processes: int) -> SyncReport:
    """Find what has changed, and bring the index up to date; text of scans is recognized last, in writes of its own."""
    writer.report(Progress("looking"))
    with writer.database.reading() as db:
        require_languages(db, partial(writer.vectors.of, writer.settings))  # also where nothing has changed
        changes = find(db)
        waits_for_recognition = any(unrecognized(db))
    if changes.nothing_to_do:
        done = changes.report
    else:
        with writer.writing() as write:
            done = apply(write, changes, max_bytes=max_bytes, processes=processes)
            waits_for_recognition = any(unrecognized(write.db))
    if not waits_for_recognition:
        return done
    here = replace(writer, executor=None)
    read_again = partial(apply, max_bytes=max_bytes, processes=1)
    return recognize_scans(here, done, read_again, max_bytes=max_bytes, processes=processes)


def apply(write: WriteTransaction, changes: Changes, *, max_bytes: int, processes: int) -> SyncReport:
    """Apply the changes that were found, in a transaction that is committed afterwards; the report."""
    plan = changes.plan
    columns_before = {root.id: root.columns for root in get_roots(write.db)}
    renamed = [pair for pair in plan.moved if pair.must_be_read]
    kept = [pair for pair in plan.moved if not pair.must_be_read]
    _update_roots(write.db, changes)
    write.forget(known.document_id for known in plan.removed)
    write.forget(pair.known.document_id for pair in [*plan.changed, *renamed])
    _update_paths(write.db, [*plan.touched, *kept], changes.started_ns)
    work = [
        *(("added", file) for file in plan.added),
        *(("changed", pair.present) for pair in plan.changed),
        *(("moved", pair.present) for pair in renamed),
    ]
    counts = _read(write, changes, work, columns_before, max_bytes=max_bytes, processes=processes)
    refitted = write.finish()
    lost = len(plan.changed) + len(renamed) - counts["changed"] - counts["moved"]  # their earlier text is gone
    return replace(
        changes.report,
        added=counts["added"],
        changed=counts["changed"],
        moved=len(kept) + counts["moved"],
        removed=len(plan.removed) + lost,
        passages=write.intake.passages,
        sentences=write.intake.sentences,
        refitted=refitted,
    )


# -- Read --------------------------------------------------------------------------------------------------------------


def _read(
    write: WriteTransaction,
    changes: Changes,
    work: Sequence[tuple[str, PresentFile]],
    columns_before: Mapping[int, Columns],
    *,
    max_bytes: int,
    processes: int,
) -> Counter[str]:
    """Take in files; the number of each kind that were read. Those that cannot be read are added to `changes`."""
    work = [item for item in work if item[1].is_known or not _is_refused(changes, item[1], max_bytes)]
    counts, columns = Counter[str](), dict[int, dict[str, None]]()
    prepared = take_files(write, [file for _, file in work], max_bytes=max_bytes, processes=processes)
    for (kind, file), result in zip(work, prepared, strict=True):
        if not result.reason:
            counts[kind] += 1
            columns.setdefault(file.root_id, {}).update(dict.fromkeys(result.columns))
        elif file.store or os.path.lexists(file.absolute):  # else it was deleted since it was found
            _skip(changes, file, result, max_bytes)
    _check_columns(changes.changed_roots, columns_before, columns)
    roots = get_roots(write.db)
    set_skips(write.db, {path: s for path, s in changes.skips.items() if any(covers(root, path) for root in roots)})
    return counts


def take_files(
    write: WriteTransaction, files: Sequence[PresentFile], *, max_bytes: int, processes: int
) -> Iterator[Prepared]:
    """Take in files, in this order, and yield each as it was read: with its state, or the reason why it was not."""
    if not files:
        return
    log, done = write.reading_log, 0
    log.begin(sum(file.size for file in files), max_bytes=max_bytes)
    was_read = [log.has(file) for file in files]
    groups = list(_groups(files, was_read))
    unread = [file.size for file, was in zip(files, was_read, strict=True) if not was]
    processes = 1 if write.executor is not None else useful_processes(unread, processes, write.vectors())
    write.generation.spread = Threads(processes)
    sent = [group for group in groups if not log.has(group[0]) and not is_large(group[0])]
    sent = sent if write.executor is not None or processes > 1 else []
    here: Preparer | None = None
    with closing(_prepare_in_parallel(write, sent, processes, max_bytes)) as coming:
        for group in groups:
            progress = Progress("reading", done, len(files), write.intake.sentences)
            is_sent = bool(sent) and group is sent[0]
            if is_sent:
                sent = sent[1:]
                write.report(replace(progress, path=group[0].absolute))
            chunk = next(coming) if is_sent else None
            if chunk is not None:
                for file, prepared in zip(group, chunk.files, strict=True):
                    log.note(file, prepared)
            elif is_large(group[0]) and not log.has(group[0]):
                write.report(replace(progress, path=group[0].absolute))
                yield _take_large(write, group[0], max_bytes)
            else:
                here = here or Preparer(write.settings, write.vectors())
                chunk = here.chunk_of(list(_read_here(write, group, progress, max_bytes)))
            if chunk is not None:
                sources = [_source(*pair) for pair in zip(group, chunk.files, strict=True)]
                write.intake.take_chunk(chunk, sources)
                yield from chunk.files
            done += len(group)
    write.report(Progress("reading", len(files), len(files), write.intake.sentences))


def _groups(files: Sequence[PresentFile], was_read: Sequence[bool]) -> Iterator[Sequence[PresentFile]]:
    """Chunks of consecutive files, each of files that are all in the reading log, or all not."""
    first = 0
    for _, run in groupby(was_read):
        last = first + len(list(run))
        sizes = [file.size for file in files[first:last]]
        yield from (files[first + part.start : first + part.stop] for part in chunks(sizes))
        first = last


def _prepare_in_parallel(
    write: WriteTransaction, groups: Sequence[Sequence[PresentFile]], processes: int, max_bytes: int
) -> Generator[Chunk | None, None, None]:
    """Prepare groups of files in processes or on other machines: a chunk for each, in their order, or None."""
    settings, vectors = write.settings, write.vectors()
    if write.executor is not None:
        return prepare_elsewhere(
            groups, executor=write.executor, settings=settings, vectors=vectors, max_bytes=max_bytes
        )
    return prepare_in_processes(groups, processes=processes, settings=settings, vectors=vectors, max_bytes=max_bytes)


def _read_here(
    write: WriteTransaction, files: Sequence[PresentFile], progress: Progress, max_bytes: int
) -> Iterator[Prepared]:
    """Read files in this process, from the log what was read before, and note the others there."""
    log = write.reading_log
    openers = None if log.has(files[0]) else each_opened(files, max_bytes)
    for number, file in enumerate(files, start=progress.files):
        write.report(replace(progress, files=number, path=file.absolute))
        prepared = log.get(file) if openers is None else None
        if prepared is None:
            opened = next(each_opened([file], max_bytes) if openers is None else openers)
            prepared, _ = read_as(file, opened)
            log.note(file, prepared)
        yield prepared


def _take_large(write: WriteTransaction, file: PresentFile, max_bytes: int) -> Prepared:
    """Take in a large file part by part: its passages are never in memory together."""
    prepared, document = read_as(file, next(each_opened([file], max_bytes)), with_passages=False)
    if document is not None and (source := _source(file, prepared)) is not None:
        write.intake.take_in(source, document)
    return prepared


def _source(file: PresentFile, prepared: Prepared) -> DocumentSource | None:
    """Where a document comes from; None if the file was not read."""
    if prepared.reason:
        return None
    return DocumentSource(
        root_id=file.root_id,
        path=file.path,
        file=file.file,
        digest=prepared.digest,
        size=prepared.size,
        mtime_ns=prepared.mtime_ns,
        checked_ns=prepared.checked_ns,
        columns=file.columns,
    )


def _is_refused(changes: Changes, file: PresentFile, max_bytes: int) -> bool:
    """Return whether a file without a reader cannot be read as text either; if so, it is noted as skipped."""
    checked = time.time_ns()
    reason = why_refused(file, max_bytes)
    if reason:
        _skip(changes, file, Prepared(checked_ns=checked, reason=reason, is_lasting=True), max_bytes)
    return bool(reason)


def _skip(changes: Changes, file: PresentFile, prepared: Prepared, max_bytes: int) -> None:
    """Remember that a file was not read."""
    (changes.skipped if file.is_known else changes.passed_over).append(SkippedFile(file.absolute, prepared.reason))
    changes.skips[file.canonical] = Skip(
        size=file.size,
        mtime_ns=file.mtime_ns,
        checked_ns=prepared.checked_ns,
        limit=max_bytes,
        reason=prepared.reason,
        reader=judge_of(file),
        lasting=int(prepared.is_lasting),
        digest=prepared.digest,
    )


def _check_columns(
    roots: Iterable[Root], before: Mapping[int, Columns], names_by_root: Mapping[int, Mapping[str, None]]
) -> None:
    """Check that newly chosen columns were in some file of their root. `before` and names: by the root's id.

    Raises UsageError for a column that no file has.
    """
    for root in roots:
        names = names_by_root.get(root.id, {})
        if root.columns != before.get(root.id, NO_COLUMNS) and (missing := root.columns.missing(names)):
            suffixes = ", ".join(suffix for kind in FORMATS.values() if kind.has_columns for suffix in kind.suffixes)
            raise UsageError(
                f"no file in {root.path} has a column {missing[0]!r}; "
                + (f"the columns are {', '.join(names)}" if names else f"no {suffixes} file has columns")
            )


# -- Write -------------------------------------------------------------------------------------------------------------


def _update_paths(db: sqlite3.Connection, pairs: Sequence[FilePair], checked_ns: int) -> None:
    """Update the path and state of files whose documents have not changed, and when they were checked."""
    rows = [
        (file.root_id, file.path, file.file if file.file != file.path else None, file.size, file.mtime_ns)
        for file in (pair.present for pair in pairs)
    ]
    ids = [pair.known.document_id for pair in pairs]
    with documents_changing(db, ids):
        db.executemany(
            "UPDATE documents SET root_id = ?, path = ?, file = ?, size = ?, mtime_ns = ?, checked_ns = ? WHERE id = ?",
            [(*row, checked_ns, id_) for row, id_ in zip(rows, ids, strict=True)],
        )


def _update_roots(db: sqlite3.Connection, changes: Changes) -> None:
    """Write new roots and globs; move documents of roots that a larger one absorbs to that one; drop deserted roots."""
    for root in changes.changed_roots:
        set_root(db, root)
    for old in changes.roots.absorbed:
        outer = next(root for root in changes.roots.wanted if covers(root, old.path))
        below = old.path.removeprefix(outer.path.rstrip("/") + "/")
        prefix = below.removesuffix(PurePosixPath(below).name) if old.single else below + "/"
        moving = [id_ for (id_,) in db.execute("SELECT id FROM documents WHERE root_id = ?", (old.id,))]
        with documents_changing(db, moving):
            db.execute(
                "UPDATE documents SET root_id = ?, path = ? || path, file = ? || coalesce(file, path) "
                "WHERE root_id = ?",
                (outer.id, unicodedata.normalize("NFC", prefix), prefix, old.id),
            )
    gone = [(root.id,) for root in (*changes.roots.absorbed, *changes.deserted)]
    db.executemany("DELETE FROM roots WHERE id = ?", gone)
