"""Read files and take them in, in the order in which they are asked for; read here, by processes, or on a cluster."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby, repeat

from semsearch.indexing.reading.elsewhere import prepare_elsewhere
from semsearch.indexing.reading.file_to_read import FileToRead, Opened
from semsearch.indexing.reading.intake import DocumentSource
from semsearch.indexing.reading.prepare import Chunk, Prepared, each_opened, read
from semsearch.indexing.reading.workers import LARGE, chunks, is_large, prepare_in_processes, useful_processes
from semsearch.indexing.transaction import WriteTransaction
from semsearch.readers.document import Document
from semsearch.results.state.reports import Progress
from semsearch.sources.plan import PresentFile
from semsearch.system.threads import Spread, Threads
from semsearch.text.passage_records import PassageRecord, each_record


def take_files(
    write: WriteTransaction, presents: Sequence[PresentFile], *, max_bytes: int, processes: int
) -> Iterator[Prepared]:
    """Take files in, in this order, and yield each as prepared: with its state, or why it could not be read."""
    if not presents:
        return
    done = 0
    sizes = [present.size for present in presents]
    write.reading_log.begin(sum(sizes), max_bytes=max_bytes)
    was_read = [write.reading_log.has(present) for present in presents]
    unread = [size for size, was in zip(sizes, was_read, strict=True) if not was]
    spread = write.generation.spread
    if not spread.is_elsewhere:
        write.generation.spread = spread = Threads(useful_processes(unread, processes, write.vectors()))
    apart = spread.is_elsewhere or spread.threads > 1
    groups = list(_groups(sizes, was_read, in_chunks=apart))
    sent = [group for group in groups if apart and not was_read[group.start] and not is_large(sizes[group])]
    prepared = _prepare_apart(write, [presents[group] for group in sent], spread, max_bytes)
    with closing(prepared):
        for group in groups:
            members = presents[group]
            told = Progress("reading", done, len(presents), write.intake.sentences)
            if group in sent:
                write.report(replace(told, path=members[0].absolute))
                yield from _take_chunk(write, members, next(prepared))
            else:
                files = [FileToRead.of(present) for present in members]
                opened = repeat(None) if was_read[group.start] else each_opened(files, max_bytes)
                for number, (present, opener) in enumerate(zip(members, opened, strict=False), start=done):
                    told = Progress("reading", number, len(presents), write.intake.sentences, path=present.absolute)
                    write.report(told)
                    yield _take_file(write, present, opener, max_bytes)
            done += len(members)
    write.report(Progress("reading", len(presents), len(presents), write.intake.sentences))


def _prepare_apart(
    write: WriteTransaction, groups: Sequence[Sequence[PresentFile]], spread: Spread, max_bytes: int
) -> Generator[Chunk, None, None]:
    """Prepare groups of files in processes or on a cluster: a chunk for each, in their order."""
    if spread.is_elsewhere:
        return prepare_elsewhere(
            groups, spread=spread, settings=write.settings, vectors=write.vectors(), max_bytes=max_bytes
        )
    return prepare_in_processes(
        [[FileToRead.of(present) for present in group] for group in groups],
        processes=spread.threads,
        settings=write.settings,
        vectors=write.vectors(),
        max_bytes=max_bytes,
    )


def _groups(sizes: Sequence[int], was_read: Sequence[bool], *, in_chunks: bool) -> Iterator[slice]:
    """Consecutive files that go together: those that were read before, and of the others those of a chunk."""
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
    """Take in a file: one that was read before from the log."""
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
    return DocumentSource(present.root_id, present.path, present.file, *state)
