"""A sync, on one page: find → compare → read → embed → write.

    find      the roots, and the files below them                indexing/changes, indexing/sync_roots, sources/walk
    compare   them with the documents of the index               sources/unchanged
    read      new and changed files, a chunk at a time           indexing/read_files, indexing/reading_log
    embed     their passages and sentences; fit, if it is due    indexing/generation
    write     rows, words and segment files; one COMMIT          indexing/intake, storage/commit

Finding and comparing only read; without changes, that is all. Everything else is one transaction: whatever ends it
before its COMMIT leaves the index as it was. Files are read in this process, in others or on other machines, and taken
in in the order of the plan, so the index does not depend on who read them.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from semsearch.errors import UsageError
from semsearch.indexing.changes import Changes, unrecognized
from semsearch.indexing.generation import Generation, new_generation
from semsearch.indexing.intake import DocumentSource
from semsearch.indexing.read_files import (
    Chunk,
    FileGroup,
    Prepared,
    Preparer,
    each_opened,
    file_groups,
    most_useful,
    prepare_elsewhere,
    read_as,
    useful_processes,
    why_refused,
)
from semsearch.indexing.recognize_scans import recognize_scans
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.readers.registry import FORMATS
from semsearch.results.reports import Progress, SkippedFile, SyncReport
from semsearch.sources.roots import Root, covers
from semsearch.sources.unchanged import FilePair, PresentFile, Skip, judge_of
from semsearch.storage.catalogue import delete_roots, get_roots, set_root
from semsearch.storage.commit import write_transaction
from semsearch.storage.fitted import require_languages
from semsearch.storage.known_files import MovedDocument, move_documents, move_root, set_skips
from semsearch.system.parallel import Processes
from semsearch.text.passage_records import each_record

if TYPE_CHECKING:
    import sqlite3

    from semsearch.indexing.index_writer import IndexWriter

FindChanges = Callable[["sqlite3.Connection"], Changes]


def sync(writer: IndexWriter, find: FindChanges, *, max_bytes: int, processes: int) -> SyncReport:
    """Find what has changed, and bring the index up to date; text of scans is recognized last, in writes of its own."""
    writer.report(Progress("looking"))
    with writer.database.reading() as db:
        require_languages(db, partial(writer.vectors.of, writer.read_settings()))  # also where nothing has changed
        changes = find(db)
        waits_for_recognition = any(unrecognized(db))
    if changes.nothing_to_do:
        done = changes.report
    else:
        try:
            with new_generation(writer, threads=processes or most_useful()) as generation:
                done = apply(generation, changes, max_bytes=max_bytes, processes=processes)
                waits_for_recognition = any(unrecognized(generation.db))
        except KeyboardInterrupt:
            _keep_first_roots(writer, changes)
            raise
    if not waits_for_recognition:
        return done
    here = replace(writer, executor=None)
    read_again = partial(apply, max_bytes=max_bytes, processes=1)
    return recognize_scans(here, done, read_again, max_bytes=max_bytes, processes=processes)


def _keep_first_roots(writer: IndexWriter, changes: Changes) -> None:
    """Give an index that has no roots yet those of an interrupted sync: the next one continues without their paths."""
    with write_transaction(writer.database) as db:
        if not get_roots(db):
            for root in changes.changed_roots:
                set_root(db, root)


def apply(generation: Generation, changes: Changes, *, max_bytes: int, processes: int) -> SyncReport:
    """Apply the changes that were found, in a transaction that is committed afterwards; the report."""
    plan, db = changes.plan, generation.db
    columns_before = {root.id: root.columns for root in get_roots(db)}
    renamed = [pair for pair in plan.moved if pair.must_be_read]
    kept = [pair for pair in plan.moved if not pair.must_be_read]
    _update_roots(db, changes)
    generation.forget(known.document_id for known in plan.removed)
    generation.forget(pair.known.document_id for pair in [*plan.changed, *renamed])
    move_documents(db, map(_moved, [*plan.touched, *kept]), checked_ns=changes.started_ns)
    work = [
        *(("added", file) for file in plan.added),
        *(("changed", pair.present) for pair in plan.changed),
        *(("moved", pair.present) for pair in renamed),
    ]
    counts = _read(generation, changes, work, columns_before, max_bytes=max_bytes, processes=processes)
    refitted = generation.finish()
    lost = len(plan.changed) + len(renamed) - counts["changed"] - counts["moved"]  # their earlier text is gone
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


def _moved(pair: FilePair) -> MovedDocument:
    """A document that has not changed, with the path and state that its file has now."""
    file = pair.present
    return MovedDocument(
        pair.known.document_id, file.root_id, file.path, file.file, size=file.size, mtime_ns=file.mtime_ns
    )


def _update_roots(db: sqlite3.Connection, changes: Changes) -> None:
    """Write new roots and globs; move documents of roots that a larger one absorbs to that one; drop deserted roots."""
    for root in changes.changed_roots:
        set_root(db, root)
    for inner in changes.roots.absorbed:
        move_root(db, inner, next(root for root in changes.roots.wanted if covers(root, inner.path)))
    delete_roots(db, [*changes.roots.absorbed, *changes.deserted])


# -- Read --------------------------------------------------------------------------------------------------------------


def _read(
    generation: Generation,
    changes: Changes,
    work: Sequence[tuple[str, PresentFile]],
    columns_before: Mapping[int, Columns],
    *,
    max_bytes: int,
    processes: int,
) -> Counter[str]:
    """Take in files; the number of each kind that were read. Those that cannot be read are added to `changes`."""
    work = [item for item in work if item[1].has_reader or not _is_refused(changes, item[1], max_bytes)]
    counts, columns = Counter[str](), dict[int, dict[str, None]]()
    prepared = _take_files(generation, [file for _, file in work], max_bytes=max_bytes, processes=processes)
    for (kind, file), result in zip(work, prepared, strict=True):
        if not result.reason:
            counts[kind] += 1
            columns.setdefault(file.root_id, {}).update(dict.fromkeys(result.columns))
        elif file.store or os.path.lexists(file.absolute):  # else it was deleted since it was found
            _skip(changes, file, result, max_bytes)
    _check_columns(changes.changed_roots, columns_before, columns)
    roots = get_roots(generation.db)
    skips = {path: skip for path, skip in changes.skips.items() if any(covers(root, path) for root in roots)}
    set_skips(generation.db, skips)
    return counts


def _take_files(
    generation: Generation, files: Sequence[PresentFile], *, max_bytes: int, processes: int
) -> Iterator[Prepared]:
    """Take in files, in this order, and yield each as it was read: with its state, or the reason why it was not."""
    if not files:
        return
    log, intake = generation.reading_log, generation.intake
    log.begin(sum(file.size for file in files), max_bytes=max_bytes)
    groups = list(file_groups(files, log.has))
    preparer = Preparer(generation.settings, generation.vectors())
    done = 0
    with closing(_prepared_elsewhere(generation, groups, processes, max_bytes)) as prepared:
        for group in groups:
            progress = Progress("reading", done, len(files), intake.sentences, path=group.files[0].absolute)
            generation.report(progress)
            chunk = next(prepared)
            if group.is_large:
                yield _take_large(generation, group.files[0], max_bytes)
            else:
                chunk = chunk or preparer.chunk_of(list(_read_here(generation, group, progress, max_bytes)))
                intake.take_chunk(chunk, [_source(*pair) for pair in zip(group.files, chunk.files, strict=True)])
                yield from chunk.files
            done += len(group.files)
    generation.report(Progress("reading", len(files), len(files), intake.sentences))


def _prepared_elsewhere(
    generation: Generation, groups: Sequence[FileGroup], processes: int, max_bytes: int
) -> Generator[Chunk | None, None, None]:
    """Yield for each group the chunk that processes or other machines prepared, and None where it is read here."""
    sent = [group.files for group in groups if not group.is_logged and not group.is_large]
    executor, vectors = generation.executor, generation.vectors()
    if executor is None:
        sizes = [file.size for group in groups if not group.is_logged for file in group.files]
        processes = useful_processes(sizes, processes, vectors)
        executor = Processes(processes) if processes > 1 and sent else None
    if executor is None:
        yield from [None] * len(groups)
        return
    chunks = prepare_elsewhere(
        sent, executor=executor, settings=generation.settings, vectors=vectors, max_bytes=max_bytes
    )
    with closing(chunks):
        for group in groups:
            chunk = None if group.is_logged or group.is_large else next(chunks)
            for file, prepared in zip(group.files, chunk.files if chunk else (), strict=chunk is not None):
                generation.reading_log.note(file, prepared)
            yield chunk


def _read_here(generation: Generation, group: FileGroup, progress: Progress, max_bytes: int) -> Iterator[Prepared]:
    """Read files in this process, or take from the log what was read before, and note the others there."""
    log = generation.reading_log
    openers = iter(()) if group.is_logged else each_opened(group.files, max_bytes)
    for number, file in enumerate(group.files):
        if number:
            generation.report(replace(progress, files=progress.files + number, path=file.absolute))
        if group.is_logged:
            yield log.get(file)
            continue
        prepared, _ = read_as(file, next(openers))
        log.note(file, prepared)
        yield prepared


def _take_large(generation: Generation, file: PresentFile, max_bytes: int) -> Prepared:
    """Take in a large file part by part: its passages are never in memory together."""
    prepared, document = read_as(file, next(each_opened([file], max_bytes)), with_passages=False)
    if document is not None and (source := _source(file, prepared)) is not None:
        generation.intake.take(source, prepared, each_record(document))
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
    (changes.skipped if file.has_reader else changes.passed_over).append(SkippedFile(file.absolute, prepared.reason))
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
