"""What changes an index: sync with the disk, texts added by a program, removal, refit, rebuild. Each is one write."""

from __future__ import annotations

import hashlib
import json
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from semsearch.errors import UsageError
from semsearch.indexing.changes import Look, look
from semsearch.indexing.intake import Origin, write_words_anew
from semsearch.indexing.reader_versions import outdated_documents, record_versions
from semsearch.indexing.skipped import Skip, set_skips
from semsearch.indexing.transaction import Report, Write, locked, writing
from semsearch.readers.document import Document, Text
from semsearch.readers.front_matter import json_values
from semsearch.readers.registry import reader_label
from semsearch.results.reports import Progress, SkippedFile, SyncReport
from semsearch.settings import Settings
from semsearch.sources.plan import Pair, Present
from semsearch.sources.roots import ADDED, Root, covers
from semsearch.storage.database import Store
from semsearch.storage.meta import set_meta
from semsearch.storage.roots import get_known, get_roots, set_root
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    from semsearch.indexing.prepare import Chunk, Prepared


def sync(
    store: Store,
    settings: Settings,
    vectors: Callable[[], WordVectors],
    paths: Sequence[str | Path],
    *,
    include: Sequence[str],
    exclude: Sequence[str],
    prune: bool,
    max_file_bytes: int,
    processes: int,
    report: Report,
) -> SyncReport:
    """Bring the index up to date with the disk. Where nothing has changed, nothing is written, and little imported."""
    started = time.perf_counter()
    with locked(store):
        report(Progress("looking"))
        with store.reading() as db:
            seen = look(db, paths, include=include, exclude=exclude, prune=prune, max_bytes=max_file_bytes)
        plan = seen.plan
        done = SyncReport(
            unchanged=plan.unchanged + len(plan.touched) + len(plan.unread),
            moved=len(plan.moved),
            removed=len(plan.removed),
            warnings=tuple(seen.warnings),
        )
        skipped = list(seen.skipped)
        if not seen.nothing_to_do:
            with writing(store, settings, vectors, report) as write:
                done = _apply(write, seen, done, skipped, report, max_file_bytes, processes)
    return replace(done, skipped=tuple(skipped), seconds=time.perf_counter() - started)


def _apply(
    write: Write,
    seen: Look,
    done: SyncReport,
    skipped: list[SkippedFile],
    report: Report,
    max_file_bytes: int,
    processes: int,
) -> SyncReport:
    db, plan = write.db, seen.plan
    outdated = outdated_documents(db)
    for root in seen.changed_roots:
        set_root(db, root)
    _rehome(write, seen)
    renamed = [pair for pair in plan.moved if _stem(pair.known.path) != _stem(pair.present.path)]
    kept = [pair for pair in plan.moved if pair not in renamed]
    write.forget(known.document_id for known in plan.removed)
    write.forget(pair.known.document_id for pair in [*plan.changed, *renamed])
    db.executemany("DELETE FROM roots WHERE id = ?", [(root.id,) for root in seen.deserted])
    db.executemany(
        "UPDATE documents SET root_id = ?, path = ?, file = ?, size = ?, mtime_ns = ?, checked_ns = ? WHERE id = ?",
        [_place(pair, seen.started_ns) for pair in [*plan.touched, *kept]],
    )
    work = [
        *(("added", present) for present in plan.added),
        *(("changed", pair.present) for pair in plan.changed),
        *(("moved", pair.present) for pair in renamed),
    ]
    read = Counter[str]()
    taking = _take_files(write, [present for _, present in work], max_file_bytes, processes, report)
    for (kind, present), file in zip(work, taking, strict=True):
        if not file.reason:
            read[kind] += 1
            continue
        skipped.append(SkippedFile(present.absolute, file.reason))
        if file.is_lasting:
            reader = reader_label(present.path)
            state = present.size, present.mtime_ns, file.checked_ns, max_file_bytes, file.reason, reader
            seen.skips[present.place] = Skip(*state)
    set_skips(db, seen.skips)
    refitted = write.finish()
    record_versions(db, outdated)
    lost = len(plan.changed) + len(renamed) - read["changed"] - read["moved"]  # their earlier text is gone
    return replace(
        done,
        added=read["added"],
        changed=read["changed"],
        moved=len(kept) + read["moved"],
        removed=done.removed + lost,
        passages=write.intake.passages,
        sentences=write.intake.sentences,
        refitted=refitted,
    )


def _take_files(
    write: Write, presents: Sequence[Present], max_bytes: int, processes: int, report: Report
) -> Iterator[Prepared]:
    """Take files in, in this order: what each was, or why it could not be read."""
    from semsearch.indexing.workers import chunks, prepare_in_processes, useful_processes  # start-up time: see take_in

    done = 0
    sizes = [present.size for present in presents]
    count = useful_processes(sizes, processes, write.vectors()) if presents else 1
    write.generation.threads = count
    groups = list(chunks(sizes)) if count > 1 else [slice(0, len(presents))]
    apart = [group for group in groups if count > 1 and not _is_large(presents[group])]
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
                report(replace(told, path=members[0].absolute))
                yield from _take_chunk(write, members, next(prepared))
            else:
                for number, present in enumerate(members, start=done):
                    told = Progress("reading", number, len(presents), write.intake.sentences, path=present.absolute)
                    report(told)
                    yield _take_file(write, present, max_bytes)
            done += len(members)
    report(Progress("reading", len(presents), len(presents), write.intake.sentences))


def _is_large(members: Sequence[Present]) -> bool:
    from semsearch.indexing.workers import LARGE

    return members[0].size > LARGE


def _take_chunk(write: Write, members: Sequence[Present], chunk: Chunk) -> Sequence[Prepared]:
    origins = [
        None if file.reason else _origin(present, file) for present, file in zip(members, chunk.files, strict=True)
    ]
    write.intake.take_chunk(chunk, origins)
    return chunk.files


def _take_file(write: Write, present: Present, max_bytes: int) -> Prepared:
    from semsearch.indexing.prepare import read  # start-up time: a sync without changes reads nothing

    file, document = read(present.absolute, max_bytes, lambda _: ())
    if document is not None:
        write.intake.take_in(_origin(present, file), document)
    return file


def _origin(present: Present, file: Prepared) -> Origin:
    state = file.digest, file.size, file.mtime_ns, file.checked_ns
    return Origin(present.root_id, present.path, present.file, *state)


def _place(pair: Pair, checked_ns: int) -> tuple[object, ...]:
    present = pair.present
    file = present.file if present.file != present.path else None
    return (
        present.root_id, present.path, file, present.size, present.mtime_ns, checked_ns, pair.known.document_id,
    )  # fmt: skip


def _rehome(write: Write, seen: Look) -> None:
    """Documents of roots that have become part of a larger one go over to that."""
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


def add(
    store: Store, settings: Settings, vectors: Callable[[], WordVectors], texts: Iterable[Text], *, report: Report
) -> SyncReport:
    """Take in texts that are in no file. One whose id is known replaces the earlier one.

    Raises UsageError for what is no Text, for an empty id or one that comes twice, for an unknown format, and for
    metadata that cannot be kept; nothing is then changed.
    """
    started = time.perf_counter()
    done = Counter[str]()
    seen: set[str] = set()
    with locked(store), writing(store, settings, vectors, report) as write:
        for number, text in enumerate(texts):
            _check_text(text)
            if text.id in seen:
                raise UsageError(f"the id {text.id!r} comes twice; give each text an id of its own")
            seen.add(text.id)
            report(Progress("reading", number, sentences=write.intake.sentences, path=text.id))
            done[_take_text(write, text)] += 1
        refitted = write.finish()
    return SyncReport(
        added=done["added"],
        changed=done["changed"],
        unchanged=done["unchanged"],
        passages=write.intake.passages,
        sentences=write.intake.sentences,
        seconds=time.perf_counter() - started,
        refitted=refitted,
    )


def _check_text(text: Text) -> None:
    if not isinstance(text, Text):
        raise UsageError(f"add takes texts as Text(id, text), not {type(text).__name__}")
    for name in ("id", "text", "title", "format"):
        if not isinstance(value := getattr(text, name), str):
            raise UsageError(f"the {name} of a Text is a string, not {type(value).__name__}")
    if not text.id:
        raise UsageError("the id of a text is empty; give each text an id of its own")
    try:
        text.id.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the id {text.id!r} is not valid Unicode; give another") from None


def _take_text(write: Write, text: Text) -> str:
    text = replace(text, metadata=json_values(text.metadata))
    details = json.dumps([text.text, text.title, text.metadata, text.format], sort_keys=True, allow_nan=False)
    digest = hashlib.blake2b(details.encode(), digest_size=16).hexdigest()
    known = write.db.execute(
        "SELECT id, digest FROM documents WHERE root_id = ? AND path = ?", (ADDED, text.id)
    ).fetchone()
    if known is not None and known[1] == digest:
        return "unchanged"
    if known is not None:
        write.forget([known[0]])
    write.intake.take_in(Origin(ADDED, text.id, text.id, digest, len(text.text)), _document(text))
    return "added" if known is None else "changed"


def _document(text: Text) -> Document:
    from semsearch.readers.read import read_text  # start-up time: a sync without changes reads nothing

    storable = text.text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates are no characters
    document = read_text(storable, text.id, format=text.format)
    return replace(document, title=text.title or document.title, metadata={**document.metadata, **text.metadata})


def remove(
    store: Store, settings: Settings, vectors: Callable[[], WordVectors], paths: Sequence[str | Path], *, report: Report
) -> int:
    """Forget files, folders, whole roots, or added texts by their ids; how many documents that were.

    A file that still lies below a root comes back with the next sync of that root.
    """
    with locked(store):
        with store.reading() as db:
            roots = get_roots(db)
            added = [Root(ADDED, "")]
            texts = {document.path: document.document_id for document in get_known(db, added)}
            files = get_known(db, roots)
        given = [str(path) for path in paths]
        places = [Root(-1, unicodedata.normalize("NFC", place)) for path in given if (place := _resolved(path))]
        doomed = {texts[path] for path in given if path in texts}
        doomed |= {file.document_id for file in files if any(covers(place, file.place) for place in places)}
        gone = [root for root in roots if any(covers(place, root.place("")) for place in places)]
        if doomed or gone:
            with writing(store, settings, vectors, report) as write:
                write.forget(sorted(doomed))
                write.db.executemany("DELETE FROM roots WHERE id = ?", [(root.id,) for root in gone])
                write.finish()
    return len(doomed)


def _resolved(path: str) -> str:
    """The place that a path names; nothing for an id that is none, or for links that lead round."""
    try:
        return Path(path).resolve().as_posix()
    except (OSError, RuntimeError, ValueError):
        return ""


def refit(store: Store, settings: Settings, vectors: Callable[[], WordVectors], *, report: Report) -> None:
    """Fit weights and components to what the index holds today, and move all vectors to them."""
    with locked(store), writing(store, settings, vectors, report) as write:
        write.finish(refit=True)


def rebuild(store: Store, settings: Settings, vectors: Callable[[], WordVectors], *, report: Report) -> None:
    """Make everything that is derived anew from the stored text: the lexical index, the fit, all vectors.

    `settings` are the new ones, and are kept.
    """
    with locked(store), writing(store, settings, vectors, report) as write:
        set_meta(write.db, "settings", settings.to_json())
        write.generation.drop_words()
        write_words_anew(write.db, write.generation.words)
        write.finish(refit=True)
