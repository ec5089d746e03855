"""The health of an index: how much of each file it has, what is outdated, unread or imprecise, and what to do."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.results.omissions import endings_in_words
from semsearch.results.reports import MUCH_DRIFT, Checkup, DiskPart, Finding, Status
from semsearch.storage.connections import DATABASE
from semsearch.storage.document_lists import count_formats, evenly_spaced_passages
from semsearch.storage.index_files import file_sizes
from semsearch.storage.passages import get_passages
from semsearch.storage.segments import get_segments
from semsearch.text.tokens import hash_words
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

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
