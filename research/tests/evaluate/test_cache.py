"""Results that are kept: found by what they depend on, and never trusted when damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import semsearch.text.ragged
import semsearch.text.tokens
from semsearch.errors import SourceError
from semsearch_research.evaluate import cache
from semsearch_research.evaluate.cache import cached


class Counting:
    """A computation that counts how often it was made."""

    def __init__(self, result: Any) -> None:
        self.result, self.times = result, 0

    def __call__(self) -> Any:
        self.times += 1
        return self.result


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "cache_folder", lambda kind: tmp_path / "cache" / kind)
    return tmp_path / "cache" / "evaluate"


def test_a_result_is_computed_once_and_is_the_same_then(folder: Path) -> None:
    compute = Counting({"rows": [(1, 0.1), (2, 1 / 3)], "ä": None})
    first, second = cached("x", {"a": 1}, compute), cached("x", {"a": 1}, compute)
    assert first == second == {"rows": [[1, 0.1], [2, 1 / 3]], "ä": None}
    assert compute.times == 1


def test_fresh_computes_anew_and_replaces_what_was_kept(folder: Path) -> None:
    cached("x", {}, lambda: 1)
    assert cached("x", {}, lambda: 2) == 1
    assert cached("x", {}, lambda: 2, fresh=True) == 2
    assert cached("x", {}, lambda: 3) == 2


DAMAGES = [b"", b"{", b"3", b'{"result": "1"}', b"PK\x03\x04", b"\xff\xfe"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_computed_anew(folder: Path, damage: bytes) -> None:
    cached("x", {}, lambda: 1)
    [path] = folder.iterdir()
    path.write_bytes(damage)
    assert cached("x", {}, lambda: 2) == 2
    assert cached("x", {}, lambda: 3) == 2


def test_where_nothing_can_be_written_the_result_is_given_all_the_same(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be", encoding="utf-8")
    assert cached("x", {}, lambda: 1) == 1


def test_a_computation_that_fails_leaves_nothing(folder: Path) -> None:
    def fail() -> None:
        raise SourceError("no such file")

    with pytest.raises(SourceError):
        cached("x", {}, fail)
    assert not folder.exists()


def test_a_result_of_some_modules_outlives_changes_of_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached("x", {}, lambda: 1, modules=[semsearch.text.tokens])
    program = cache.program_digest
    monkeypatch.setattr(cache, "program_digest", lambda *modules: program(*modules) if modules else "another")
    assert cached("x", {}, lambda: 2, modules=[semsearch.text.tokens]) == 1
    assert cached("x", {}, lambda: 3, modules=[semsearch.text.tokens, semsearch.text.ragged]) == 3
