"""The manifest names what answers, and forgets a removal when no segment holds what was removed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from semsearch.arrays.id_ranges import IdRanges
from semsearch.results.reports import Scan
from semsearch.storage.commit import write_transaction
from semsearch.storage.database import IndexDatabase
from semsearch.storage.segments import (
    Kind,
    Segment,
    forget_removed,
    forget_retired,
    get_removed,
    get_retired,
    get_segments,
    name_segments,
)

SCAN = Scan("IVF5,SQfp16", 100, 5, 2, 0.96, 50)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    store = IndexDatabase(tmp_path)
    store.create()
    with write_transaction(store) as connection:
        yield connection


def segment(kind: Kind, name: str, first: int, count: int, scan: Scan | None = None) -> Segment:
    return Segment(kind, name, 5, IdRanges.of([(first, count)]), "digest", scan)


def removal(db: sqlite3.Connection, first_passage: int, first_sentence: int) -> None:
    db.execute("INSERT INTO removed VALUES (?, 2, ?, 3, 1)", (first_passage, first_sentence))


def test_what_is_named_is_listed_and_what_is_retired_is_not(db: sqlite3.Connection) -> None:
    old, new = segment("passage", "old", 1, 9, SCAN), segment("passage", "new", 1, 8)
    name_segments(db, [old, segment("words", "words", 1, 9)], retired=[], number=1)
    assert [each.scan for each in get_segments(db)] == [SCAN, None]
    name_segments(db, [new], retired=[old], number=2)
    assert [(each.file, each.id_ranges.ranges) for each in get_segments(db)] == [("words", [(1, 9)]), ("new", [(1, 8)])]
    assert get_retired(db).keys() == {"old"}
    forget_retired(db, ["old"])
    assert get_retired(db) == {}


def test_a_removal_is_forgotten_when_neither_passages_nor_sentences_of_it_are_held(db: sqlite3.Connection) -> None:
    for passages, sentences in ((1, 1), (3, 4), (5, 7)):
        removal(db, passages, sentences)
    held = [segment("passage", "p", 2, 1), segment("sentence", "s", 6, 1), segment("words", "w", 7, 9)]
    name_segments(db, held, retired=[], number=1)
    forget_removed(db)
    assert get_removed(db, "passage").ranges == [(1, 4)]
    assert get_removed(db, "sentence").ranges == [(1, 6)]
    assert get_removed(db, "words").ranges == [(1, 4)]
    name_segments(db, [], retired=held, number=2)
    forget_removed(db)
    assert len(get_removed(db, "passage")) == 0
