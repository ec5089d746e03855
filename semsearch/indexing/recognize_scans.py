"""The last step of a sync: the text of pictures and scanned pages is recognized, and their files are read again.

By then all other text can be searched. Recognition takes seconds a page, so it runs in threads, each with a process of
its own, while no transaction is open; what was recognized is in the user's cache, from which the sync of these files
takes it (readers/pages/text_recognition.py). Some files at a time are committed. What an interruption leaves, the next
sync goes on with.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from semsearch.errors import SemsearchError
from semsearch.indexing.changes import Changes, find_changes_at
from semsearch.indexing.read_files import Opened, each_opened
from semsearch.readers.document import WAITING
from semsearch.readers.pages.text_recognition import recognizing
from semsearch.readers.registry import PICTURE
from semsearch.results.reports import Progress, SyncReport, count_endings
from semsearch.sources.unchanged import PresentFile
from semsearch.storage.known_files import get_known_documents, get_omissions, get_roots, get_skips
from semsearch.system.parallel import in_order

if TYPE_CHECKING:
    import sqlite3

    from semsearch.indexing.index_writer import IndexWriter, ProgressListener

_BATCH = 16  # files until a commit: pictures take half a minute, books of scans an hour
_MOST_THREADS = 4  # as many processes read files; each takes 0.8 GB


def recognize_scans(writer: IndexWriter, *, max_bytes: int, processes: int) -> Iterator[Changes]:
    """Recognize the text that waits for it, some files at a time, and yield these files as changes to be applied."""
    if PICTURE.lacks_package:
        return
    with writer.database.reading() as db:
        paths = waiting_paths(db)
        changes = find_changes_at(db, paths, max_bytes=max_bytes, read_again=True) if paths else None
    files = [] if changes is None else [*changes.plan.added, *(pair.present for pair in changes.plan.changed)]
    threads = min(processes or os.cpu_count() or 1, _MOST_THREADS)
    for first in range(0, len(files), _BATCH):
        batch = _recognized(files, first, writer.on_progress, max_bytes=max_bytes, threads=threads)
        with writer.database.reading() as db:
            paths = [file.canonical for file in batch]
            changes = find_changes_at(db, paths, max_bytes=max_bytes, read_again=True)
        if not changes.nothing_to_do:
            yield changes


def waiting_paths(db: sqlite3.Connection) -> list[str]:
    """Canonical paths of the files with text that can be recognized and was not; those on this machine exist."""
    texts = (WAITING, f"[{PICTURE.needs[1]}]'" if PICTURE.needs else WAITING)  # see install_command
    paths = {path for path, skip in get_skips(db).items() if any(text in skip.reason for text in texts)}
    omissions = get_omissions(db)
    if ids := {id_ for id_, omitted in omissions.items() if any(text in omitted for text in texts)}:
        paths |= {
            file.canonical
            for root in get_roots(db)
            for file in get_known_documents(db, root)
            if file.document_id in ids
        }
    return sorted(path for path in paths if "://" in path or os.path.lexists(path))


def _recognized(
    files: Sequence[PresentFile], first: int, report: ProgressListener, *, max_bytes: int, threads: int
) -> list[PresentFile]:
    """Recognize text in the batch of files that begins at `first`; the files that were read."""
    batch, done = files[first : first + _BATCH], list[PresentFile]()
    lock, has_ended = threading.Lock(), threading.Event()

    def show(path: str, pictures: int = 1) -> None:
        if has_ended.is_set():
            raise InterruptedError
        with lock:
            shown = f"{path}, {pictures:,} pages" if pictures > 1 else path
            report(Progress("recognizing", first + len(done), len(files), path=shown))

    def recognize(item: tuple[PresentFile, Opened]) -> PresentFile:
        file, opened = item
        with (
            recognizing(lambda pictures: show(file.absolute, pictures)),
            suppress(SemsearchError, InterruptedError),  # the sync that follows reports it
        ):
            show(file.absolute)
            opened()
        return file

    try:
        for file in in_order(recognize, zip(batch, each_opened(batch, max_bytes), strict=True), threads=threads):
            done.append(file)
    finally:
        has_ended.set()
    return done


def with_recognized(first: SyncReport, changes: Changes, last: SyncReport) -> SyncReport:
    """The report of a sync and of the files with recognized text, whose `changes` were applied last."""
    paths = {file.absolute for file in changes.present}
    read_now = Counter(count_endings(item.path for item in first.skipped if item.path in paths))
    return replace(
        first,
        added=first.added + last.added,
        changed=first.changed + last.changed,
        skipped=(*(item for item in first.skipped if item.path not in paths), *last.skipped),
        warnings=tuple(dict.fromkeys((*first.warnings, *last.warnings))),
        passages=first.passages + last.passages,
        sentences=first.sentences + last.sentences,
        refitted=first.refitted or last.refitted,
        not_read=dict(Counter(first.not_read) - read_now + Counter(last.not_read)),
    )
