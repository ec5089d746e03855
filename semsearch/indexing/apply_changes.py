"""Apply the changes that a sync found: remove documents, change their paths, read their files again, or add them.

Files are read in this process, by processes or on a cluster, and taken in in the order in which they were asked for.
"""

from __future__ import annotations

import os
import time
import unicodedata
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby, repeat
from pathlib import Path, PurePosixPath

from semsearch.indexing.changes import Changes
from semsearch.indexing.intake import DocumentSource
from semsearch.indexing.parallel_reading import (
    LARGE,
    chunks,
    is_large,
    prepare_elsewhere,
    prepare_in_processes,
    useful_processes,
)
from semsearch.indexing.prepare_files import Chunk, FileToRead, Opened, Prepared, each_opened, object_refusal, read
from semsearch.indexing.reread_rules import check_columns
from semsearch.indexing.write_transaction import WriteTransaction
from semsearch.readers.document import Document
from semsearch.readers.records import Columns
from semsearch.readers.sniff import refusal
from semsearch.results.reports import Progress, SkippedFile, SyncReport
from semsearch.sources.roots import covers
from semsearch.sources.unchanged import FilePair, PresentFile, Skip, judge_of
from semsearch.storage.catalogue import get_roots, set_root
from semsearch.storage.checked_rows import documents_changing
from semsearch.storage.known_files import set_skips
from semsearch.system.threads import Threads
from semsearch.text.passage_records import PassageRecord, each_record

# -- Reading files and taking them in ----------------------------------------------------------------------------------


def take_files(
    write: WriteTransaction, presents: Sequence[PresentFile], *, max_bytes: int, processes: int
) -> Iterator[Prepared]:
    """Take in files, in this order, and yield each as prepared: with its state, or the reason why it was not read."""
    if not presents:
        return
    done = 0
    sizes = [present.size for present in presents]
    write.reading_log.begin(sum(sizes), max_bytes=max_bytes)
    was_read = [write.reading_log.has(present) for present in presents]
    unread = [size for size, was in zip(sizes, was_read, strict=True) if not was]
    processes = 1 if write.executor is not None else useful_processes(unread, processes, write.vectors())
    write.generation.spread = Threads(processes)
    in_parallel = write.executor is not None or processes > 1
    groups = list(_groups(sizes, was_read, in_chunks=in_parallel))
    sent = [group for group in groups if in_parallel and not was_read[group.start] and not is_large(sizes[group])]
    prepared = _prepare_in_parallel(write, [presents[group] for group in sent], processes, max_bytes)
    with closing(prepared):
        for group in groups:
            members = presents[group]
            progress = Progress("reading", done, len(presents), write.intake.sentences)
            if group in sent:
                write.report(replace(progress, path=members[0].absolute))
                yield from _take_chunk(write, members, next(prepared))
            else:
                files = [FileToRead.of(present) for present in members]
                opened = repeat(None) if was_read[group.start] else each_opened(files, max_bytes)
                for number, (present, opener) in enumerate(zip(members, opened, strict=False), start=done):
                    progress = Progress("reading", number, len(presents), write.intake.sentences, path=present.absolute)
                    write.report(progress)
                    yield _take_file(write, present, opener, max_bytes)
            done += len(members)
    write.report(Progress("reading", len(presents), len(presents), write.intake.sentences))


def _prepare_in_parallel(
    write: WriteTransaction, groups: Sequence[Sequence[PresentFile]], processes: int, max_bytes: int
) -> Generator[Chunk, None, None]:
    """Prepare groups of files in processes or on a cluster: a chunk for each, in their order."""
    if write.executor is not None:
        return prepare_elsewhere(
            groups, executor=write.executor, settings=write.settings, vectors=write.vectors(), max_bytes=max_bytes
        )
    return prepare_in_processes(
        [[FileToRead.of(present) for present in group] for group in groups],
        processes=processes,
        settings=write.settings,
        vectors=write.vectors(),
        max_bytes=max_bytes,
    )


def _groups(sizes: Sequence[int], was_read: Sequence[bool], *, in_chunks: bool) -> Iterator[slice]:
    """Groups of consecutive files: those in the reading log, and chunks of the others."""
    first = 0
    for before, run in groupby(was_read):
        last = first + len(list(run))
        if before or not in_chunks:
            yield slice(first, last)
        else:
            yield from (slice(first + chunk.start, first + chunk.stop) for chunk in chunks(sizes[first:last]))
        first = last


def _take_chunk(write: WriteTransaction, members: Sequence[PresentFile], chunk: Chunk) -> Sequence[Prepared]:
    origins = [
        None if file.reason else _origin(present, file) for present, file in zip(members, chunk.files, strict=True)
    ]
    write.intake.take_chunk(chunk, origins)
    for present, file in zip(members, chunk.files, strict=True):
        write.reading_log.note(present, file)
    return chunk.files


def _take_file(write: WriteTransaction, present: PresentFile, opened: Opened | None, max_bytes: int) -> Prepared:
    """Take in a file, from the log if it was read before."""
    if write.reading_log.has(present) and (file := write.reading_log.get(present)) is not None:
        write.intake.take_prepared(_origin(present, file), file)
        return file

    def records(document: Document) -> tuple[PassageRecord, ...]:
        return tuple(each_record(document)) if is_noted(document) else ()

    def is_noted(document: Document) -> bool:
        return write.reading_log.is_open and len(document.source) <= LARGE  # a large one is not kept in memory

    to_read = FileToRead.of(present)
    file, document = read(to_read, opened or next(each_opened([to_read], max_bytes)), records)
    if document is not None and is_noted(document):
        write.reading_log.note(present, file)
        write.intake.take_prepared(_origin(present, file), file)
    elif document is not None:
        write.intake.take_in(_origin(present, file), document)
    return file


def _origin(present: PresentFile, file: Prepared) -> DocumentSource:
    state = file.digest, file.size, file.mtime_ns, file.checked_ns
    return DocumentSource(present.root_id, present.path, present.file, *state, present.columns)


# -- Applying the plan -------------------------------------------------------------------------------------------------


def apply_plan(write: WriteTransaction, changes: Changes, *, max_bytes: int, processes: int) -> SyncReport:
    """Apply the changes that were found, and finish the write; the report."""
    plan = changes.plan
    before = {root.id: root.columns for root in get_roots(write.db)}
    renamed = [pair for pair in plan.moved if pair.must_be_read]
    kept = [pair for pair in plan.moved if pair not in renamed]
    _update_roots(write, changes)
    write.forget(known.document_id for known in plan.removed)
    write.forget(pair.known.document_id for pair in [*plan.changed, *renamed])
    write.db.executemany("DELETE FROM roots WHERE id = ?", [(root.id,) for root in changes.deserted])
    _update_paths(write, [*plan.touched, *kept], changes.started_ns)
    read = _read(write, changes, renamed, before, max_bytes=max_bytes, processes=processes)
    refitted = write.finish()
    lost = len(plan.changed) + len(renamed) - read["changed"] - read["moved"]  # their earlier text is gone
    return replace(
        changes.report,
        added=read["added"],
        changed=read["changed"],
        moved=len(kept) + read["moved"],
        removed=len(plan.removed) + lost,
        passages=write.intake.passages,
        sentences=write.intake.sentences,
        refitted=refitted,
    )


def _read(
    write: WriteTransaction,
    changes: Changes,
    renamed: Iterable[FilePair],
    before: Mapping[int, Columns],
    *,
    max_bytes: int,
    processes: int,
) -> Counter[str]:
    """Take in new, changed and renamed files; the number of each. Files that cannot be read are added to `changes`."""
    work = [
        *(("added", present) for present in changes.plan.added),
        *(("changed", pair.present) for pair in changes.plan.changed),
        *(("moved", pair.present) for pair in renamed),  # a title may come from the file's name
    ]
    work = [
        (kind, present) for kind, present in work if present.is_known or not _is_refused(changes, present, max_bytes)
    ]
    read, columns = Counter[str](), dict[int, dict[str, None]]()
    taking = take_files(write, [present for _, present in work], max_bytes=max_bytes, processes=processes)
    for (kind, present), file in zip(work, taking, strict=True):
        if not file.reason:
            read[kind] += 1
            columns.setdefault(present.root_id, {}).update(dict.fromkeys(file.columns))
        elif present.store or os.path.lexists(present.absolute):  # else it was deleted since it was found
            _skip(changes, present, file, max_bytes)
    check_columns(changes.changed_roots, before, columns)
    roots = get_roots(write.db)
    set_skips(write.db, {path: s for path, s in changes.skips.items() if any(covers(root, path) for root in roots)})
    return read


def _is_refused(changes: Changes, present: PresentFile, max_bytes: int) -> bool:
    """Return whether a file without a reader cannot be read as text either; if so, it is noted as skipped."""
    checked = time.time_ns()
    reason = object_refusal(present, max_bytes) if present.store else refusal(Path(present.absolute), present.size)
    if reason:
        _skip(changes, present, Prepared(checked_ns=checked, reason=reason, is_lasting=True), max_bytes)
    return bool(reason)


def _skip(changes: Changes, present: PresentFile, file: Prepared, max_bytes: int) -> None:
    """Remember that a file was not read."""
    (changes.skipped if present.is_known else changes.passed_over).append(SkippedFile(present.absolute, file.reason))
    state = present.size, present.mtime_ns, file.checked_ns, max_bytes, file.reason
    changes.skips[present.canonical] = Skip(*state, judge_of(present), int(file.is_lasting), file.digest)


def _update_paths(write: WriteTransaction, pairs: Sequence[FilePair], checked_ns: int) -> None:
    """Update the path and state of files whose documents have not changed, and when they were checked."""
    rows = [_path_and_state(pair, checked_ns) for pair in pairs]
    with documents_changing(write.db, [pair.known.document_id for pair in pairs]):
        write.db.executemany(
            "UPDATE documents SET root_id = ?, path = ?, file = ?, size = ?, mtime_ns = ?, checked_ns = ? WHERE id = ?",
            rows,
        )


def _path_and_state(pair: FilePair, checked_ns: int) -> tuple[object, ...]:
    present = pair.present
    file = present.file if present.file != present.path else None
    return (
        present.root_id, present.path, file, present.size, present.mtime_ns, checked_ns, pair.known.document_id,
    )  # fmt: skip


def _update_roots(write: WriteTransaction, changes: Changes) -> None:
    """Write new roots and new globs; move the documents of roots that a larger root absorbs to that root."""
    for root in changes.changed_roots:
        set_root(write.db, root)
    for old in changes.roots.absorbed:
        new = next(root for root in changes.roots.wanted if covers(root, old.path))
        below = old.path.removeprefix(new.path.rstrip("/") + "/")
        prefix = below.removesuffix(PurePosixPath(below).name) if old.single else below + "/"
        moving = [id_ for (id_,) in write.db.execute("SELECT id FROM documents WHERE root_id = ?", (old.id,))]
        with documents_changing(write.db, moving):
            write.db.execute(
                "UPDATE documents SET root_id = ?, path = ? || path, file = ? || coalesce(file, path) "
                "WHERE root_id = ?",
                (new.id, unicodedata.normalize("NFC", prefix), prefix, old.id),
            )
        write.db.execute("DELETE FROM roots WHERE id = ?", (old.id,))
