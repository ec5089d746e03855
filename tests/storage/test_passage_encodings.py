"""The cache of passages' vectors: what is kept, how large it grows, and that nothing depends on it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from semsearch.storage.passage_encodings import Encodings, PassageEncodings, encodings_size, key_of


def vectors(names: str, dimension: int = 4) -> Encodings:
    return {key_of(b"m", name): np.full(dimension, ord(name), dtype=np.float16) for name in names}


def test_what_is_put_is_found_by_whoever_opens_the_file(tmp_path: Path) -> None:
    one, two = (PassageEncodings(tmp_path / "e.sqlite") for _ in range(2))
    assert one.get(list(vectors("ab")), 4) == {}
    one.put(vectors("ab"))
    two.put(vectors("bc"))
    found = one.get(list(vectors("abcd")), 4)
    assert found.keys() == vectors("abc").keys()
    assert all(np.array_equal(found[key], vector) for key, vector in vectors("abc").items())


def test_what_has_another_length_or_no_numbers_is_not_there(tmp_path: Path) -> None:
    kept = PassageEncodings(tmp_path / "e.sqlite")
    kept.put(vectors("a", 3) | {key_of(b"m", "b"): np.array([np.nan] * 4, dtype=np.float16)})
    assert kept.get(list(vectors("ab")), 4) == {}


def test_the_oldest_go_where_it_grows_too_large(tmp_path: Path) -> None:
    kept = PassageEncodings(tmp_path / "encodings.sqlite", limit=200_000)
    keys = [key_of(b"m", str(number)) for number in range(3000)]
    for first in range(0, 3000, 100):
        kept.put({key: np.ones(64, dtype=np.float16) for key in keys[first : first + 100]})
    found = kept.get(keys, 64).keys()
    assert keys[-1] in found
    assert keys[0] not in found
    assert encodings_size(tmp_path) < 300_000


def test_one_that_is_locked_or_in_no_folder_costs_nothing_but_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semsearch.storage.passage_encodings._PATIENCE", 0)
    kept = PassageEncodings(tmp_path / "e.sqlite")
    kept.put(vectors("a"))
    with closing(sqlite3.connect(tmp_path / "e.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        kept.put(vectors("b"))
        assert kept.get(list(vectors("ab")), 4) == {}
    assert kept.get(list(vectors("ab")), 4).keys() == vectors("a").keys()
    PassageEncodings(tmp_path / "gone" / "e.sqlite").put(vectors("a"))
    assert encodings_size(tmp_path / "gone") == 0


def test_a_table_of_something_else_is_made_anew(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "e.sqlite")) as other:
        other.execute("CREATE VIEW encodings AS SELECT 1 AS key, 2 AS vector")
    kept = PassageEncodings(tmp_path / "e.sqlite")
    assert kept.get(list(vectors("a")), 4) == {}
    kept.put(vectors("a"))
    assert kept.get(list(vectors("a")), 4)
