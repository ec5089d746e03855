"""Files into a write, in the order in which they are asked for: read here, or by several processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from semsearch.indexing.intake import Origin
from semsearch.indexing.prepare import Chunk, Prepared, read
from semsearch.indexing.transaction import Write
from semsearch.indexing.workers import chunks, is_large, prepare_in_processes, useful_processes
from semsearch.results.reports import Progress
from semsearch.sources.plan import Present


def take_files(write: Write, presents: Sequence[Present], *, max_bytes: int, processes: int) -> Iterator[Prepared]:
    """Take files in, in this order: what each was, or why it could not be read."""
    if not presents:
        return
    done = 0
    sizes = [present.size for present in presents]
    count = useful_processes(sizes, processes, write.vectors())
    write.generation.threads = count
    groups = list(chunks(sizes)) if count > 1 else [slice(0, len(presents))]
    apart = [group for group in groups if count > 1 and not is_large(sizes[group])]
    prepared = prepare_in_processes(
        [[present.absolute for present in presents[group]] for group in apart],
        processes=count,
        settings=write.settings,
        vectors=write.vectors(),
        max_bytes=max_bytes,
    )
    with closing(prepared):
        for group in groups:
            members = presents[group]
            told = Progress("reading", done, len(presents), write.intake.sentences)
            if group in apart:
                write.report(replace(told, path=members[0].absolute))
                yield from _take_chunk(write, members, next(prepared))
            else:
                for number, present in enumerate(members, start=done):
                    told = Progress("reading", number, len(presents), write.intake.sentences, path=present.absolute)
                    write.report(told)
                    yield _take_file(write, present, max_bytes)
            done += len(members)
    write.report(Progress("reading", len(presents), len(presents), write.intake.sentences))


def _take_chunk(write: Write, members: Sequence[Present], chunk: Chunk) -> Sequence[Prepared]:
    origins = [
        None if file.reason else _origin(present, file) for present, file in zip(members, chunk.files, strict=True)
    ]
    write.intake.take_chunk(chunk, origins)
    return chunk.files


def _take_file(write: Write, present: Present, max_bytes: int) -> Prepared:
    file, document = read(present.absolute, max_bytes, lambda _: ())
    if document is not None:
        write.intake.take_in(_origin(present, file), document)
    return file


def _origin(present: Present, file: Prepared) -> Origin:
    state = file.digest, file.size, file.mtime_ns, file.checked_ns
    return Origin(present.root_id, present.path, present.file, *state)
