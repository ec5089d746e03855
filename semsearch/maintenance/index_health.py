"""The health of an index: how much of each file it has, what is outdated, unread or imprecise, and what to do."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.maintenance.status import omissions_of
from semsearch.results.omissions import FileCoverage, endings_in_words
from semsearch.results.reports import MUCH_DRIFT, Checkup, DiskPart, Finding, Status
from semsearch.storage.catalogue import each_passage, get_passages
from semsearch.storage.connections import DATABASE
from semsearch.storage.document_rows import count_formats, evenly_spaced_passages, list_documents
from semsearch.storage.index_files import file_sizes
from semsearch.storage.segments import get_segments
from semsearch.text.tokens import hash_chunks, hash_words
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

# -- Coverage ----------------------------------------------------------------------------------------------------------


def read_coverage(
    db: sqlite3.Connection, vectors: WordVectors, *, offset: int = 0, limit: int | None = None
) -> Iterator[FileCoverage]:
    """Read the coverage of each document, by root and path, from an offset on. Reads their text."""
    for document in list_documents(db, limit=-1 if limit is None else offset + limit)[offset:]:
        columns, omissions = document.columns, omissions_of(document.omissions)
        first = columns.first_passage
        taken, words, known = _taken(db, first, first + columns.passages, vectors)
        pages = json.loads(columns.metadata).get("pages") if columns.format == "pdf" else None
        pages = pages if isinstance(pages, int) else None
        empty = sum(omission.count for omission in omissions if omission.kind == "pages without text")
        yield FileCoverage(
            document.absolute,
            columns.format,
            document.characters,
            taken,
            columns.sentences,
            words,
            known,
            pages,
            None if pages is None else pages - empty,
            omissions,
        )


def _taken(db: sqlite3.Connection, first: int, last: int, vectors: WordVectors) -> tuple[int, int, int]:
    """The characters of a document's passages, their words, and how many of these are known."""
    characters = words = known = 0
    texts = []
    for passage in each_passage(db, first, last):
        characters += len(passage.text)
        texts.append(passage.text)
    for chunk in hash_chunks(texts):
        words += len(chunk.hashes)
        known += int((vectors.lookup(chunk.hashes) >= 0).sum())
    return characters, words, known


# -- Findings ----------------------------------------------------------------------------------------------------------

_FEW_KNOWN = 0.7  # of the words: fewer have a vector where the language is another
_MUCH_REMOVED = 0.2  # of the vectors
_SAMPLE = 300  # passages whose words are looked up
_PARTS = {"passage": "vectors of passages", "sentence": "vectors of sentences", "words": "words", "topics": "topics"}
_ORDER = {"warning": 0, "notice": 1, "good": 2}


def read_checkup(db: sqlite3.Connection, folder: Path, status: Status, vectors: WordVectors) -> Checkup:
    """Read the health of an index, given its status."""
    known = _known_words(db, vectors)
    return Checkup(
        status=status,
        formats=count_formats(db),
        disk=_disk(db, folder),
        known_words=known,
        findings=tuple(sorted(findings(status, known), key=lambda finding: _ORDER[finding.level])),
    )


def findings(status: Status, known_words: float | None) -> Iterator[Finding]:
    """What there is to say of an index, and to do about it."""
    index = shlex.quote(str(Path(status.path).absolute()))
    if not status.documents:
        yield Finding("content", "warning", "The index is empty.", f"semsearch index PATH --name {index}")
    yield from _of_files(status, index)
    yield from _of_fit(status, index)
    yield from _of_recall(status, index)
    if known_words is not None and known_words < _FEW_KNOWN:
        says = (
            f"Only {known_words:.0%} of the words have a vector: the text may be in a language that the "
            "word vectors do not cover."
        )
        yield Finding("words", "warning", says, "semsearch vectors list")
    elif known_words is not None:
        yield Finding("words", "good", f"{known_words:.0%} of the words have a vector.", "")
    if status.vectors and status.removed > _MUCH_REMOVED * status.vectors:
        says = f"{status.removed / status.vectors:.0%} of the vectors belong to removed documents."
        yield Finding("room", "notice", says, f"semsearch compact --index {index}")


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
    if status.drift is None:
        return
    if status.drift > MUCH_DRIFT:
        says = f"The text has drifted {status.drift:.1f}° from the text that the vectors were fitted to."
        yield Finding("fit", "warning", says, f"semsearch refit --index {index}")
    else:
        yield Finding("fit", "good", f"The fit suits the text, which has drifted only {status.drift:.1f}° since.", "")


def _of_recall(status: Status, index: str) -> Iterator[Finding]:
    if not status.documents:
        return
    if not status.scans:
        yield Finding("recall", "good", "Every passage is compared, so recall is 1.", "")
    for scan in status.scans:
        says = f"Recall at 10 is {scan.recall:.3f}, measured on {scan.questions:,} probe queries."
        is_low = status.target_recall is not None and scan.recall < status.target_recall
        command = f"semsearch index --name {index} --rebuild" if is_low else ""
        yield Finding("recall", "warning" if is_low else "good", says, command)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _disk(db: sqlite3.Connection, folder: Path) -> tuple[DiskPart, ...]:
    """The parts of an index on the disk, and those of its vectors that an engine keeps elsewhere."""
    segments = {segment.file: segment for segment in get_segments(db)}
    sizes, files = Counter[str](), Counter[str]()
    for name, size in file_sizes(folder):
        segment = segments.pop(name, None)
        part = _part_of(name) if segment is None else _PARTS[segment.kind]
        sizes[part] += size
        files[part] += 1
    for segment in segments.values():
        sizes[_PARTS[segment.kind]] += segment.size
        files[_PARTS[segment.kind]] += 1
    return tuple(DiskPart(part, size, files[part]) for part, size in sizes.most_common())


def _part_of(name: str) -> str:
    names: Mapping[str, str] = {DATABASE: "text and tables", f"{DATABASE}-wal": "log"}
    return names.get(name, "other")


def _known_words(db: sqlite3.Connection, vectors: WordVectors) -> float | None:
    """The share of running words with a vector, in passages that lie evenly in the index."""
    passages = get_passages(db, evenly_spaced_passages(db, _SAMPLE)).values()
    hashes = hash_words([passage.text for passage in passages]).hashes
    return float((vectors.lookup(hashes) >= 0).mean()) if len(hashes) else None
