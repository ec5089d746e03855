"""The files that were not read, or not wholly: each problem once, with its reason and what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from semsearch.indexing.planning.changes import Changes, find_changes
from semsearch.indexing.reading.skipped import get_skips
from semsearch.results.state.problems import Omission, Problem, count_endings, in_words
from semsearch.results.state.reports import SkippedFile
from semsearch.sources.roots import ADDED, covers
from semsearch.storage.roots import get_roots

if TYPE_CHECKING:
    import sqlite3

_PARTLY = """SELECT CASE WHEN roots.single THEN roots.path
    ELSE rtrim(roots.path, '/') || '/' || coalesce(documents.file, documents.path) END, omissions
    FROM readings JOIN documents ON documents.id = document_id JOIN roots ON roots.id = root_id
    WHERE omissions != '[]' AND root_id != ? ORDER BY root_id, documents.path"""


def read_problems(db: sqlite3.Connection, *, is_copy: bool = False) -> tuple[Problem, ...]:
    """Find the files that could not be read, by path, then those of which only a part was read.

    The roots are listed again, so that files that have gone are left out, unless the index is a copy, whose files lie
    elsewhere. A file that is new is no problem.
    """
    if is_copy:
        unread = [SkippedFile(path, skip.reason) for path, skip in get_skips(db).items()]
    else:
        unread = not_read(db, find_changes(db, ())) if get_roots(db) else []
    found = {Problem(item.path, "not read", _reason(item)) for item in unread}
    return (*sorted(found, key=lambda problem: (problem.path, problem.reason)), *_partly_read(db))


def not_read(db: sqlite3.Connection, seen: Changes) -> list[SkippedFile]:
    """The files that were tried before, or by a look at the disk now, and cannot be read."""
    tried = get_skips(db)
    waiting = [*seen.plan.added, *(pair.present for pair in seen.plan.changed)]
    again = [
        SkippedFile(file.absolute, skip.reason)
        for file in waiting
        if (skip := tried.get(file.canonical)) is not None and skip.is_of(file)
    ]
    return [*seen.skipped, *seen.passed_over, *again]


def count_not_read(db: sqlite3.Connection) -> dict[str, int]:
    """Count the files that could not be read, by ending, from the index alone: the disk is not looked at."""
    roots = get_roots(db)
    return count_endings(path for path in get_skips(db) if any(covers(root, path) for root in roots))


def count_partly_read(db: sqlite3.Connection) -> int:
    """The number of documents of which something was not taken in, or is in doubt."""
    return int(db.execute("SELECT count(*) FROM readings WHERE omissions != '[]'").fetchone()[0])


def omissions_of(text: str) -> tuple[Omission, ...]:
    """Parse the omissions of a document from the JSON that is stored."""
    return tuple(Omission.from_dict(each) for each in json.loads(text))


def _partly_read(db: sqlite3.Connection) -> Iterator[Problem]:
    for path, omissions in db.execute(_PARTLY, (ADDED,)):
        for omission in omissions_of(omissions):
            yield Problem(path, omission.kind, in_words(omission))


def _reason(item: SkippedFile) -> str:
    return item.reason.removeprefix(item.path).lstrip(" :")
