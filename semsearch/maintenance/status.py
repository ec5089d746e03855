"""The status of an index: counts, settings, size, drift; and each unread or partly read file with its reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.embedding.word_finder import as_multilingual
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.indexing.changes import Changes, find_changes
from semsearch.results.omissions import Omission, Problem, count_endings, in_words
from semsearch.results.reports import Adapted, SkippedFile, Status
from semsearch.settings import Settings
from semsearch.sources.roots import ADDED, covers
from semsearch.storage.catalogue import get_passages, get_roots
from semsearch.storage.database import SEGMENTS
from semsearch.storage.fitted import load_fit
from semsearch.storage.index_files import file_sizes
from semsearch.storage.known_files import get_skips
from semsearch.storage.meta import DESCRIPTION, get_count, get_languages, get_meta
from semsearch.storage.passage_encodings import encodings_size
from semsearch.storage.segments import VECTORS, Segment, get_removed, get_segments
from semsearch.text.languages import ENGLISH
from semsearch.topics.topic_model import named_topics
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

# -- Unreadable files --------------------------------------------------------------------------------------------------

_PARTLY = """SELECT CASE WHEN roots.single THEN roots.path
    ELSE rtrim(roots.path, '/') || '/' || coalesce(documents.file, documents.path) END, omissions
    FROM readings JOIN documents ON documents.id = document_id JOIN roots ON roots.id = root_id
    WHERE omissions != '[]' AND root_id != ? ORDER BY root_id, documents.path"""


def read_problems(db: sqlite3.Connection, *, is_copy: bool = False) -> tuple[Problem, ...]:
    """Find the unreadable files, by path, then the partly read ones.

    The roots are listed again, so that deleted files are left out, unless the index is a published copy, whose files
    lie elsewhere. A new file is not a problem.
    """
    if is_copy:
        unread = [SkippedFile(path, skip.reason) for path, skip in get_skips(db).items()]
    else:
        unread = not_read(db, find_changes(db, ())) if get_roots(db) else []
    problems = {Problem(item.path, "not read", _reason(item)) for item in unread}
    return (*sorted(problems, key=lambda problem: (problem.path, problem.reason)), *_partly_read(db))


def not_read(db: sqlite3.Connection, seen: Changes) -> list[SkippedFile]:
    """The unreadable files, from earlier syncs and from comparing the disk now."""
    tried = get_skips(db)
    waiting = [*seen.plan.added, *(pair.present for pair in seen.plan.changed)]
    again = [
        SkippedFile(file.absolute, skip.reason)
        for file in waiting
        if (skip := tried.get(file.canonical)) is not None and skip.is_of(file)
    ]
    return [*seen.skipped, *seen.passed_over, *again]


def count_not_read(db: sqlite3.Connection) -> dict[str, int]:
    """Count the unreadable files by ending, from the index alone, without reading the disk."""
    roots = get_roots(db)
    return count_endings(path for path in get_skips(db) if any(covers(root, path) for root in roots))


def count_partly_read(db: sqlite3.Connection) -> int:
    """The number of documents with unread or doubtful parts."""
    return int(db.execute("SELECT count(*) FROM readings WHERE omissions != '[]'").fetchone()[0])


def omissions_of(text: str) -> tuple[Omission, ...]:
    """Parse the omissions of a document from the JSON that is stored."""
    return tuple(Omission.from_dict(omission) for omission in json.loads(text))


def _partly_read(db: sqlite3.Connection) -> Iterator[Problem]:
    for path, omissions in db.execute(_PARTLY, (ADDED,)):
        for omission in omissions_of(omissions):
            yield Problem(path, omission.kind, in_words(omission))


def _reason(item: SkippedFile) -> str:
    return item.reason.removeprefix(item.path).lstrip(" :")


def read_status(
    db: sqlite3.Connection,
    folder: Path,
    settings: Settings,
    vectors: Callable[[], WordVectors],
    *,
    drift: bool,
    stale: bool,
) -> Status:
    """Read the status of an index. Counts come from the tables; `drift` needs the word vectors, `stale` lists roots."""
    segments = get_segments(db)
    removed = {kind: get_removed(db, kind) for kind in VECTORS}
    documents, sentences, words = db.execute(
        "SELECT count(*), coalesce(sum(sentences), 0), coalesce(sum(words), 0) FROM documents"
    ).fetchone()
    seen = find_changes(db, ()) if stale and get_roots(db) else None
    fit = load_fit(db, vectors()) if drift else None
    row = db.execute("SELECT card FROM fit").fetchone()
    card = json.loads(row[0]) if row else {}
    return Status(
        path=str(folder),
        created=get_meta(db, "created") or "",
        generation=get_count(db, "generation"),
        roots=tuple(root.path for root in get_roots(db)),
        documents=documents,
        passages=db.execute("SELECT coalesce(sum(passages), 0) FROM documents").fetchone()[0],
        sentences=sentences,
        words=words,
        vectors=sum(len(segment.id_ranges) for segment in segments if segment.kind in VECTORS),
        removed=sum(
            segment.id_ranges.overlap(removed[segment.kind]) for segment in segments if segment.kind in VECTORS
        ),
        segments=len(segments),
        size_bytes=_bytes(folder, segments),
        encodings_bytes=encodings_size(folder),
        dimension=card.get("dimension", 0),
        method=settings.method,
        a=card.get("a", settings.a),
        components=card.get("components", settings.components or 0),
        frequencies=settings.frequencies,
        adapted=_adapted(folder, segments),
        vectors_name=settings.vectors_name,
        vectors_digest=settings.vectors_digest,
        drift=fit.drift if fit is not None else None,
        stale=_stale(seen) if stale else None,
        scans=tuple(segment.scan for segment in segments if segment.scan is not None),
        target_recall=None if settings.exact else settings.target_recall,
        not_read=count_not_read(db) if seen is None else count_endings(item.path for item in not_read(db, seen)),
        partly_read=count_partly_read(db),
        languages=get_languages(db),
        known_words={} if fit is None else dict(_known_words(db, fit.embedder)),
        store=settings.store,
        warnings=tuple(seen.warnings) if seen is not None else (),
        description=get_meta(db, DESCRIPTION) or "",
    )


_SAMPLE = 32  # passages of each language, whose words are looked up


def _known_words(db: sqlite3.Connection, embedder: SentenceEmbedder) -> Iterator[tuple[str, float | None]]:
    """The share of the words of each language that have vectors, in a sample; None of a language without vectors."""
    several = as_multilingual(embedder.chosen_.vectors)
    for code in get_languages(db):
        if code != ENGLISH and (several is None or code not in several.tables):
            yield code, None
            continue
        firsts = db.execute(
            "SELECT first_passage FROM documents WHERE language = ? AND passages > 0 LIMIT ?", (code, _SAMPLE)
        )
        ids = [id_ for (id_,) in firsts]
        texts = [passage.text for passage in get_passages(db, ids).values()]
        words = embedder.tokenize(texts, [code] * len(texts))
        yield code, float((words.ids >= 0).mean()) if len(words.ids) else None


def _bytes(folder: Path, segments: list[Segment]) -> int:
    """The size of an index in bytes: its folder, and the vectors that an engine keeps elsewhere."""
    sizes = [*file_sizes(folder)]
    here = {name for name, _ in sizes}
    return sum(size for _, size in sizes) + sum(segment.size for segment in segments if segment.file not in here)


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
