"""A sync plan carried out: documents go, stay with a new path, are read again, or come in."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from semsearch.indexing.changes import Look
from semsearch.indexing.read_files import take_files
from semsearch.indexing.reader_versions import outdated_documents, record_versions
from semsearch.indexing.skipped import Skip, set_skips
from semsearch.indexing.transaction import Write
from semsearch.readers.registry import reader_label
from semsearch.results.reports import SkippedFile, SyncReport
from semsearch.sources.plan import Pair
from semsearch.sources.roots import covers
from semsearch.storage.roots import set_root


def apply_plan(write: Write, seen: Look, *, max_bytes: int, processes: int) -> SyncReport:
    """Make the index what the disk is, as far as it was looked at, and finish the write; what was done."""
    plan, outdated = seen.plan, outdated_documents(write.db)
    renamed = [pair for pair in plan.moved if _stem(pair.known.path) != _stem(pair.present.path)]
    kept = [pair for pair in plan.moved if pair not in renamed]
    _update_roots(write, seen)
    write.forget(known.document_id for known in plan.removed)
    write.forget(pair.known.document_id for pair in [*plan.changed, *renamed])
    write.db.executemany("DELETE FROM roots WHERE id = ?", [(root.id,) for root in seen.deserted])
    _update_paths(write, [*plan.touched, *kept], seen.started_ns)
    read, skipped = _read(write, seen, renamed, max_bytes=max_bytes, processes=processes)
    refitted = write.finish()
    record_versions(write.db, outdated)
    lost = len(plan.changed) + len(renamed) - read["changed"] - read["moved"]  # their earlier text is gone
    return replace(
        seen.report,
        added=read["added"],
        changed=read["changed"],
        moved=len(kept) + read["moved"],
        removed=len(plan.removed) + lost,
        skipped=(*seen.skipped, *skipped),
        passages=write.intake.passages,
        sentences=write.intake.sentences,
        refitted=refitted,
    )


def _read(
    write: Write, seen: Look, renamed: Iterable[Pair], *, max_bytes: int, processes: int
) -> tuple[Counter[str], list[SkippedFile]]:
    """Take in what is new, changed, or called otherwise: how many of each, and which could not be read."""
    work = [
        *(("added", present) for present in seen.plan.added),
        *(("changed", pair.present) for pair in seen.plan.changed),
        *(("moved", pair.present) for pair in renamed),  # a title may come from the file's name
    ]
    read, skipped, skips = Counter[str](), list[SkippedFile](), dict(seen.skips)
    taking = take_files(write, [present for _, present in work], max_bytes=max_bytes, processes=processes)
    for (kind, present), file in zip(work, taking, strict=True):
        if not file.reason:
            read[kind] += 1
            continue
        skipped.append(SkippedFile(present.absolute, file.reason))
        if file.is_lasting:
            state = present.size, present.mtime_ns, file.checked_ns, max_bytes, file.reason, reader_label(present.path)
            skips[present.place] = Skip(*state)
    set_skips(write.db, skips)
    return read, skipped


def _update_paths(write: Write, pairs: Iterable[Pair], checked_ns: int) -> None:
    """Note where documents lie now that have not changed, and that their files were looked at."""
    write.db.executemany(
        "UPDATE documents SET root_id = ?, path = ?, file = ?, size = ?, mtime_ns = ?, checked_ns = ? WHERE id = ?",
        [_place(pair, checked_ns) for pair in pairs],
    )


def _place(pair: Pair, checked_ns: int) -> tuple[object, ...]:
    present = pair.present
    file = present.file if present.file != present.path else None
    return (
        present.root_id, present.path, file, present.size, present.mtime_ns, checked_ns, pair.known.document_id,
    )  # fmt: skip


def _update_roots(write: Write, seen: Look) -> None:
    """Keep new roots and new globs; documents of roots that have become part of a larger one go over to that."""
    for root in seen.changed_roots:
        set_root(write.db, root)
    for old in seen.roots.absorbed:
        new = next(root for root in seen.roots.wanted if covers(root, old.path))
        below = old.path.removeprefix(new.path.rstrip("/") + "/")
        prefix = below.removesuffix(PurePosixPath(below).name) if old.single else below + "/"
        write.db.execute(
            "UPDATE documents SET root_id = ?, path = ? || path, file = ? || coalesce(file, path) WHERE root_id = ?",
            (new.id, unicodedata.normalize("NFC", prefix), prefix, old.id),
        )
        write.db.execute("DELETE FROM roots WHERE id = ?", (old.id,))


def _stem(path: str) -> str:
    return PurePosixPath(path).stem
