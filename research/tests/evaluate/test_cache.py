"""Results that are kept: found by what they depend on, and never trusted when damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semsearch.text.ragged
import semsearch.text.tokens
from semsearch.errors import SourceError
from semsearch_research.evaluate import cache
from semsearch_research.evaluate.cache import cached, digest_of, versions


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


def test_the_order_of_inputs_does_not_matter_but_name_and_values_do(folder: Path) -> None:
    compute = Counting(1)
    cached("x", {"a": 1, "b": [2]}, compute)
    cached("x", {"b": [2], "a": 1}, compute)
    assert compute.times == 1
    for name, inputs in (("y", {"a": 1, "b": [2]}), ("x", {"a": 1, "b": [3]}), ("x", {"a": 1})):
        cached(name, inputs, compute)
    assert compute.times == 4


def test_fresh_computes_anew_and_replaces_what_was_kept(folder: Path) -> None:
    cached("x", {}, lambda: 1)
    assert cached("x", {}, lambda: 2) == 1
    assert cached("x", {}, lambda: 2, fresh=True) == 2
    assert cached("x", {}, lambda: 3) == 2


def test_another_program_text_computes_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached("x", {}, lambda: 1)
    monkeypatch.setattr(cache, "program_digest", lambda *_: "another")
    assert cached("x", {}, lambda: 2) == 2


DAMAGES = [b"", b"{", b"3", b'{"result": "1"}', b"PK\x03\x04", b"\xff\xfe"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_computed_anew(folder: Path, damage: bytes) -> None:
    cached("x", {}, lambda: 1)
    [path] = folder.iterdir()
    path.write_bytes(damage)
    assert cached("x", {}, lambda: 2) == 2
    assert cached("x", {}, lambda: 3) == 2


def test_a_result_that_was_altered_is_not_believed(folder: Path) -> None:
    cached("x", {}, lambda: 41)
    [path] = folder.iterdir()
    whole = path.read_bytes()
    assert whole.count(b"41") == 1
    path.write_bytes(whole.replace(b"41", b"42"))
    assert cached("x", {}, lambda: 43) == 43


def test_arrays_are_kept_as_they_are(folder: Path) -> None:
    made = {"words": ["ä", "b"], "vectors": np.eye(2, 3, dtype=np.float32), "seconds": 0.5}
    for _ in range(2):
        found = cached("x", {}, lambda: made)
        assert (found["words"], found["seconds"], found["vectors"].dtype) == (["ä", "b"], 0.5, np.float32)
        np.testing.assert_array_equal(found["vectors"], made["vectors"])
    assert cached("x", {}, lambda: 1 / 0)["words"] == ["ä", "b"]


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


def test_inputs_that_json_cannot_say_are_refused_before_the_work(folder: Path) -> None:
    compute = Counting(1)
    with pytest.raises(TypeError):
        cached("x", {"path": Path()}, compute)
    assert compute.times == 0


def test_a_digest_follows_names_contents_and_order(tmp_path: Path) -> None:
    one, two = tmp_path / "one.tsv", tmp_path / "two.tsv"
    one.write_text("1", encoding="utf-8")
    two.write_text("2", encoding="utf-8")
    both = digest_of([one, two])
    assert digest_of(iter([one, two])) == digest_of([tmp_path]) == both
    assert digest_of([two, one]) != both
    two.write_text("3", encoding="utf-8")
    assert digest_of([one, two]) != both
    with pytest.raises(SourceError, match=r"three\.tsv cannot be read"):
        digest_of([tmp_path / "three.tsv"])


def test_versions_are_those_installed() -> None:
    assert versions("numpy", "no-such-package") == {"numpy": np.__version__, "no-such-package": ""}


def test_a_result_of_some_modules_outlives_changes_of_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached("x", {}, lambda: 1, modules=[semsearch.text.tokens])
    program = cache.program_digest
    monkeypatch.setattr(cache, "program_digest", lambda *modules: program(*modules) if modules else "another")
    assert cached("x", {}, lambda: 2, modules=[semsearch.text.tokens]) == 1
    assert cached("x", {}, lambda: 3, modules=[semsearch.text.tokens, semsearch.text.ragged]) == 3
