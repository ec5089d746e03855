"""The status of an index, each unread or partly read file with its reason, and the health of an index: what to do."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.indexing.changes import Changes, find_changes
from semsearch.maintenance.index_folders import file_sizes
from semsearch.readers.document import Omission
from semsearch.results.reports import (
    Adapted,
    Checkup,
    Finding,
    Problem,
    SkippedFile,
    Status,
    count_endings,
    endings_in_words,
)
from semsearch.settings import Settings, VectorsInUse
from semsearch.sources.roots import Root, covers
from semsearch.storage.database import SEGMENTS, IndexDatabase
from semsearch.storage.document_rows import (
    count_contents,
    count_formats,
    count_partly_read,
    partly_read_documents,
    passages_in_language,
)
from semsearch.storage.fitted import get_card, get_fitted_sentences, load_embedder
from semsearch.storage.known_files import get_roots, get_skips
from semsearch.storage.passage_rows import get_passages
from semsearch.storage.schema import DATABASE, DESCRIPTION, get_generation, get_languages, get_meta
from semsearch.storage.segments import VECTORS, Segment, get_removed, get_segments
from semsearch.text.languages import ENGLISH
from semsearch.topics.topic_model import named_topics
from semsearch.trust import external_references, not_allowed
from semsearch.word_vectors.multilingual import as_multilingual
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

# -- Unreadable files --------------------------------------------------------------------------------------------------


def read_problems(database: IndexDatabase) -> tuple[Problem, ...]:
    """Find the unreadable files, by path, then the partly read ones.

    The roots are listed again, so that deleted files are left out, unless the index may not read them, or is a
    published copy, whose files lie elsewhere. A new file is not a problem.
    """
    with database.reading() as db:
        if database.is_copy or not_allowed(database, external_references(database, db), ["root"]):
            unread = [SkippedFile(path, skip.reason) for path, skip in get_skips(db).items()]
        else:
            unread = not_read(db, find_changes(db, ())) if get_roots(db) else []
        problems = {Problem(item.path, "not read", _reason(item)) for item in unread}
        partly_read = [
            Problem(path, omission.kind, in_words(omission))
            for path, omissions in partly_read_documents(db)
            for omission in omissions_of(omissions)
        ]
    return (*sorted(problems, key=lambda problem: (problem.path, problem.reason)), *partly_read)


_IN_WORDS = {  # what an omission is, and the remedy
    "doubtful encoding": ("{0.detail}, which may be wrong", "convert the file to UTF-8"),
    "broken bytes": (
        "{0.count:,} invalid byte sequence{s} replaced by U+FFFD",
        "restore the file, or convert it to UTF-8",
    ),
    "pages without text": (
        "{0.count:,} page{s} without text{detail}, perhaps scanned",
        "run text recognition (OCR) on the file",
    ),
    "attachments": ("{0.count:,} attachment{s} not read{detail}", "save them as separate files to index them"),
    "archived files": ("{0.count:,} file{s} in it not read{detail}", ""),
    "over the limit": ("{0.count:,} byte{s} {0.detail} not read", "raise --max-file-size, or split the file"),
    "embedded files": ("{0.count:,} embedded file{s} not read{detail}", "save them as separate files to index them"),
    "damaged parts": ("{0.count:,} damaged part{s} left out{detail}", "restore the file, or save it again"),
    "encrypted parts": ("{0.count:,} encrypted part{s} not read{detail}", "save the file without encryption"),
}


def in_words(omission: Omission) -> str:
    """Describe an omission in words, with the remedy, unless its detail has the reason."""
    words, remedy = _IN_WORDS[omission.kind]
    detail = f" ({omission.detail})" if omission.detail else ""
    text = words.format(omission, s="s" if omission.count != 1 else "", detail=detail)
    has_reason = "; " in detail or (omission.kind == "attachments" and detail)
    return text if has_reason or not remedy else f"{text}; {remedy}"


def not_read(db: sqlite3.Connection, seen: Changes) -> list[SkippedFile]:
    """The unreadable files, from earlier syncs and from comparing the disk now."""
    tried = get_skips(db)
    waiting = [*seen.plan.added, *(pair.present for pair in seen.plan.changed)]
    again = [
        SkippedFile(file.absolute, skip.reason)
        for file in waiting
        if (skip := tried.get(file.canonical)) is not None and skip.is_of(file)
    ]
    return [*seen.skipped, *seen.unsupported, *again]


def omissions_of(text: str) -> tuple[Omission, ...]:
    """Parse the omissions of a document from the JSON that is stored."""
    return tuple(Omission.from_dict(omission) for omission in json.loads(text))


def _reason(item: SkippedFile) -> str:
    return item.reason.removeprefix(item.path).lstrip(" :")


# -- Status ------------------------------------------------------------------------------------------------------------


def read_status(
    database: IndexDatabase,
    in_use: VectorsInUse,
    vectors: Callable[[], WordVectors],
    *,
    known_words: bool,
    stale: bool,
) -> Status:
    """Read the status of an index, without what is not allowed. `stale` lists roots, `known_words` opens vectors."""
    folder = database.folder
    with database.reading() as db:
        settings = Settings.from_json(get_meta(db, "settings"))
        lacking = not_allowed(database, external_references(database, db))
        kinds = {name.kind for name in lacking}
        stale = stale and not database.is_copy and "root" not in kinds
        known_words = known_words and ("vectors" not in kinds or in_use.override is not None)
        segments = get_segments(db)
        vectors_there, removed = _count_vectors(db, segments)
        contents = count_contents(db)
        roots = get_roots(db)
        changes = find_changes(db, ()) if stale and roots else None
        embedder = load_embedder(db, vectors()) if known_words else None
        card = get_card(db)
        return Status(
            path=database.shown_name,
            created=get_meta(db, "created") or "",
            generation=get_generation(db),
            roots=tuple(root.path for root in roots),
            documents=contents.documents,
            passages=contents.passages,
            sentences=contents.sentences,
            words=contents.words,
            vectors=vectors_there,
            removed=removed,
            segments=len(segments),
            size_bytes=sum(_disk(folder, segments).values()),
            dimension=card.get("dimension", 0),
            method=settings.method,
            a=card.get("a", settings.a),
            components=card.get("components", settings.components or 0),
            frequencies=settings.frequencies,
            adapted=_adapted(folder, segments),
            vectors_name=settings.vectors_name,
            vectors_digest=settings.vectors_digest,
            fitted_sentences=get_fitted_sentences(db),
            stale=_stale(changes) if stale else None,
            exact=settings.exact,
            not_read=count_endings(_unread(db, roots, changes)),
            partly_read=count_partly_read(db),
            languages=get_languages(db),
            known_words={} if embedder is None else dict(_known_words(db, embedder)),
            store=settings.store,
            warnings=tuple(changes.warnings) if changes is not None else (),
            description=get_meta(db, DESCRIPTION) or "",
            not_allowed=tuple(map(str, lacking)),
        )


def _count_vectors(db: sqlite3.Connection, segments: Sequence[Segment]) -> tuple[int, int]:
    """The numbers of vectors that there are, and of those among them of removed documents."""
    of_vectors = [segment for segment in segments if segment.kind in VECTORS]
    removed = get_removed(db)
    overlaps = (segment.id_ranges.overlap(removed[segment.kind]) for segment in of_vectors)
    return sum(len(segment.id_ranges) for segment in of_vectors), sum(overlaps)


def _unread(db: sqlite3.Connection, roots: Sequence[Root], changes: Changes | None) -> list[str]:
    """The files that were not read: those that are there now, if they were listed, or those of the last sync."""
    if changes is None:
        return [path for path in get_skips(db) if any(covers(root, path) for root in roots)]
    return [item.path for item in not_read(db, changes)]


_SAMPLE = 32  # passages of each language, whose words are looked up


def _known_words(db: sqlite3.Connection, embedder: SentenceEmbedder) -> Iterator[tuple[str, float | None]]:
    """The share of the words of each language that have vectors, in a sample; None of a language without vectors."""
    several = as_multilingual(embedder.chosen_.vectors)
    for code in get_languages(db):
        if code != ENGLISH and (several is None or code not in several.tables):
            yield code, None
            continue
        ids = passages_in_language(db, code, limit=_SAMPLE)
        texts = [passage.text for passage in get_passages(db, ids).values()]
        words = embedder.tokenize(texts, [code] * len(texts))
        yield code, float((words.ids >= 0).mean()) if len(words.ids) else None


def _adapted(folder: Path, segments: list[Segment]) -> Adapted | None:
    """The size of the topics, if the index has any. Raises IndexDamaged."""
    try:
        topics = named_topics(folder / SEGMENTS, segments)
    except FileNotFoundError as error:
        raise IndexDamaged(f"{error.filename} is missing; run: {rebuild_command(folder)}") from error
    return None if topics is None else Adapted(topics.dimension, len(topics.terms), topics.passages)


def _stale(seen: Changes | None) -> int:
    """The number of files that were added, removed, moved or changed since the last sync."""
    if seen is None:
        return 0
    plan = seen.plan
    return len(plan.added) + len(plan.changed) + len(plan.moved) + len(plan.removed)


# -- Findings ----------------------------------------------------------------------------------------------------------

_FEW_KNOWN = 0.7  # of the words: fewer have a vector where the language is another
_PARTS = {"passage": "vectors of passages", "sentence": "vectors of sentences", "words": "words", "topics": "topics"}
_ORDER = {"warning": 0, "notice": 1, "good": 2}


def read_checkup(db: sqlite3.Connection, folder: Path, status: Status) -> Checkup:
    """Read the health of an index, given its status."""
    documents = sum(status.languages[code] for code in status.known_words)
    words = sum((share or 0.0) * status.languages[code] for code, share in status.known_words.items())
    known = words / documents if documents else None
    return Checkup(
        status=status,
        formats=count_formats(db),
        disk=_disk(folder, get_segments(db)),
        known_words=known,
        findings=tuple(sorted(findings(status, known), key=lambda finding: _ORDER[finding.level])),
    )


def findings(status: Status, known_words: float | None) -> Iterator[Finding]:
    """The findings about an index, each with the command that fixes it."""
    index = shlex.quote(str(Path(status.path).absolute()))
    if not status.documents:
        yield Finding("content", "warning", "The index is empty.", f"semsearch index PATH --name {index}")
    yield from _of_files(status, index)
    yield from _of_fit(status, index)
    if known_words is not None and known_words < _FEW_KNOWN:
        says = (
            f"Only {known_words:.0%} of the words have a vector: the text may be in a language that the "
            "word vectors do not cover."
        )
        yield Finding("words", "warning", says, "semsearch vectors list")
    elif known_words is not None:
        yield Finding("words", "good", f"{known_words:.0%} of the words have a vector.", "")


def _of_files(status: Status, index: str) -> Iterator[Finding]:
    if status.stale:
        says = f"{_count(status.stale, 'file')} added, changed or removed since the last sync."
        yield Finding("files", "warning", says, f"semsearch index --name {index}")
    for warning in status.warnings:
        yield Finding("files", "warning", f"{warning}.", f"semsearch index --name {index}")
    if status.stale == 0 and status.roots and not status.warnings:
        yield Finding("files", "good", "All files are up to date.", "")
    if status.not_read:
        says = f"{_count(sum(status.not_read.values()), 'file')} not read: {endings_in_words(status.not_read)}."
        yield Finding("reading", "notice", says, f"semsearch status --index {index} --problems")
    if status.partly_read:
        says = f"{_count(status.partly_read, 'document')} read only in part, or with doubtful results."
        yield Finding("reading", "notice", says, f"semsearch status --index {index} --problems")


def _of_fit(status: Status, index: str) -> Iterator[Finding]:
    if status.has_outgrown_its_fit:
        says = f"The vectors were fitted to {status.fitted_sentences:,} sentences; now there are {status.sentences:,}."
        yield Finding("fit", "warning", says, f"semsearch refit --index {index}")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _disk(folder: Path, of_index: Sequence[Segment]) -> dict[str, int]:
    """The bytes of the parts of an index on the disk, and of those of its vectors that an engine keeps elsewhere."""
    segments = {segment.file: segment for segment in of_index}
    names = {DATABASE: "text and tables", f"{DATABASE}-wal": "log"}
    sizes = Counter[str]()
    for name, size in file_sizes(folder):
        segment = segments.pop(name, None)
        sizes[names.get(name, "other") if segment is None else _PARTS[segment.kind]] += size
    for segment in segments.values():
        sizes[_PARTS[segment.kind]] += segment.size
    return dict(sizes.most_common())
