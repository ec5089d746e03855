"""Carry out a sync plan: documents are removed, get a new path, are read again, or are added."""

from __future__ import annotations

import os
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from semsearch.indexing.planning.changes import Changes
from semsearch.indexing.read_files import take_files
from semsearch.indexing.reading.chosen_columns import check_columns, has_other_columns
from semsearch.indexing.reading.prepare import Prepared
from semsearch.indexing.reading.reader_versions import outdated_documents, record_versions
from semsearch.indexing.reading.skipped import Skip, judge_of, set_skips
from semsearch.indexing.transaction import WriteTransaction
from semsearch.readers.content.unnamed import refusal
from semsearch.readers.records.columns import Columns
from semsearch.results.state.reports import SkippedFile, SyncReport
from semsearch.sources.plan import FilePair, PresentFile
from semsearch.sources.roots import covers
from semsearch.storage.roots import get_roots, set_root
from semsearch.storage.sums.documents import documents_changing


def apply_plan(write: WriteTransaction, changes: Changes, *, max_bytes: int, processes: int) -> SyncReport:
    """Bring the index up to date with the disk, by the changes that were found, and finish the write; the report."""
    plan, outdated = changes.plan, outdated_documents(write.db) | changes.of_other_columns
    before = {root.id: root.columns for root in get_roots(write.db)}
    renamed = [pair for pair in plan.moved if _is_renamed(pair) or has_other_columns(pair, before)]
    kept = [pair for pair in plan.moved if pair not in renamed]
    _update_roots(write, changes)
    write.forget(known.document_id for known in plan.removed)
    write.forget(pair.known.document_id for pair in [*plan.changed, *renamed])
    write.db.executemany("DELETE FROM roots WHERE id = ?", [(root.id,) for root in changes.deserted])
    _update_paths(write, [*plan.touched, *kept], changes.started_ns)
    read = _read(write, changes, renamed, before, max_bytes=max_bytes, processes=processes)
    refitted = write.finish()
    record_versions(write.db, outdated)
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
    """Take in what is new, changed, or called otherwise: how many of each. `changes` learns what could not be read."""
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
        elif present.store or os.path.lexists(present.absolute):  # else it is gone since it was found
            _skip(changes, present, file, max_bytes)
    check_columns(changes.changed_roots, before, columns)
    roots = get_roots(write.db)
    set_skips(write.db, {path: s for path, s in changes.skips.items() if any(covers(root, path) for root in roots)})
    return read


def _is_refused(changes: Changes, present: PresentFile, max_bytes: int) -> bool:
    """Tell whether a file that no reader is for cannot be read as text either; if so, note that it is skipped."""
    checked = time.time_ns()
    if present.store:
        from semsearch.indexing.reading.present_objects import object_refusal  # start-up time: few lie in stores

        reason = object_refusal(present, max_bytes)
    else:
        reason = refusal(Path(present.absolute), present.size)
    if reason:
        _skip(changes, present, Prepared(checked_ns=checked, reason=reason, is_lasting=True), max_bytes)
    return bool(reason)


def _skip(changes: Changes, present: PresentFile, file: Prepared, max_bytes: int) -> None:
    """Remember that a file was not read."""
    (changes.skipped if present.is_known else changes.passed_over).append(SkippedFile(present.absolute, file.reason))
    state = present.size, present.mtime_ns, file.checked_ns, max_bytes, file.reason
    changes.skips[present.canonical] = Skip(*state, judge_of(present), int(file.is_lasting))


def _update_paths(write: WriteTransaction, pairs: Sequence[FilePair], checked_ns: int) -> None:
    """Update the path and state of files whose documents have not changed, and when they were looked at."""
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


def _is_renamed(pair: FilePair) -> bool:
    return PurePosixPath(pair.known.path).stem != PurePosixPath(pair.present.path).stem
