"""Tables of word vectors: what is written is found again, and what is damaged is said to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st
from small import small_vectors as made_vectors
from small_tables import write_table

from semsearch.errors import VectorsError
from semsearch.text.tokens import hash_words
from semsearch.word_vectors.table import VectorTable, load_vectors, shipped, shipped_names


def made_up(number: int) -> list[str]:
    return [f"w{i:x}" for i in range(number)]


def write(folder: Path, words: list[str], *, dtype: Any = "float32", dimension: int = 4) -> VectorTable:
    vectors = np.random.default_rng(len(words)).standard_normal((len(words), dimension)).astype(np.float32)
    p = 1 / (1 + np.arange(len(words)))
    return write_table(folder, words, vectors, p / p.sum(), dtype=dtype, source="a test")


@settings(max_examples=40)
@given(known=st.sets(st.text("abcé1", min_size=1, max_size=3), min_size=1))
def test_lookup_is_what_a_dict_would_say(tmp_path_factory: pytest.TempPathFactory, known: set[str]) -> None:
    words = sorted(known)
    table = write(tmp_path_factory.mktemp("t") / "v", words)
    ids = {word: number for number, word in enumerate(words)}
    asked = [*words, *(word + "x" for word in words), "never"]
    assert table.lookup(hash_words(asked).hashes).tolist() == [ids.get(word, -1) for word in asked]


def test_lookup_of_many_words_at_once(tmp_path: Path) -> None:
    table = write(tmp_path / "v", made_up(20_000))
    hashes = hash_words(made_up(40_000)).hashes
    expected = np.where(np.arange(40_000) < 20_000, np.arange(40_000), -1)
    assert np.array_equal(table.lookup(hashes), expected)
    assert len(table.lookup(hashes[:0])) == 0


def test_one_word_is_found_as_the_tokeniser_gives_it(tmp_path: Path) -> None:
    table = write(tmp_path / "v", ["the", "don"])
    assert [table.id_of(word) for word in ("The", "don't", "no", "the don", "")] == [0, 1, -1, -1, -1]


@pytest.mark.parametrize(("dtype", "error"), [("float32", 0), ("float16", 2e-3), ("int8", 2e-2)])
def test_rows_are_those_that_were_written(tmp_path: Path, dtype: str, error: float) -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 8)).astype(np.float32)
    table = write_table(tmp_path / "v", made_up(50), vectors, np.full(50, 0.02), dtype=dtype)  # type: ignore[arg-type]
    rows = table.rows(np.array([3, 0, 49, 3]))
    assert rows.dtype == np.float32
    assert np.allclose(rows, vectors[[3, 0, 49, 3]], atol=error)
    assert table.rows(np.array([], dtype=np.int32)).shape == (0, 8)


def test_the_card_says_what_it_is(tmp_path: Path) -> None:
    table = write(tmp_path / "animals", ["cat", "dog"])
    assert (table.name, len(table), table.dimension, table.words) == ("animals", 2, 4, ["cat", "dog"])
    assert table.card["source"] == "a test"
    assert table.verify()
    assert "animals" in repr(table)


def test_the_digest_is_of_the_content_and_not_of_the_place(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", ["cat", "dog"]), write(tmp_path / "other", ["cat", "dog"])
    assert one.digest == other.digest
    assert one.digest != write(tmp_path / "third", ["cat", "cow"]).digest


def change_card(folder: Path, **changes: object) -> None:
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    (folder / "card.json").write_text(json.dumps(card | changes), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "something else"}, "another version"),
        ({"tokeniser": "0"}, "another version"),
        ({"words": 5}, "damaged: its arrays do not have the 5 rows"),
        ({"words": None}, "no number of words"),
        ({"digest": None}, "no digest"),
    ],
)
def test_a_card_that_does_not_fit_is_said(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    write(tmp_path / "v", made_up(9))
    change_card(tmp_path / "v", **changes)
    with pytest.raises(VectorsError, match=said):
        VectorTable(tmp_path / "v")


@pytest.mark.parametrize("name", ["vectors", "scales", "frequencies", "keys", "slots"])
@pytest.mark.parametrize("damage", ["gone", "short", "empty", "other"])
def test_a_damaged_array_is_said(tmp_path: Path, name: str, damage: str) -> None:
    write(tmp_path / "v", made_up(99), dtype="int8")
    path = tmp_path / "v" / f"{name}.npy"
    data = path.read_bytes()
    path.unlink()
    if damage == "other":
        np.save(path, np.zeros((3, 3, 3)))
    elif damage != "gone":
        path.write_bytes(data[:-20] if damage == "short" else b"")
    with pytest.raises(VectorsError, match="damaged"):
        VectorTable(tmp_path / "v")


@pytest.mark.parametrize("name", ["vectors", "slots"])
def test_verify_sees_one_changed_byte(tmp_path: Path, name: str) -> None:
    table = write(tmp_path / "v", made_up(99))
    path = tmp_path / "v" / f"{name}.npy"
    data = bytearray(path.read_bytes())
    used = np.flatnonzero(np.load(tmp_path / "v" / "keys.npy"))[-1] if name == "slots" else 0
    data[(-4 * 256 + 4 * int(used)) if name == "slots" else -1] ^= 1
    path.unlink()
    path.write_bytes(bytes(data))
    assert not VectorTable(table.folder).verify()


@pytest.mark.parametrize("id_", [99, 6655, -2])
def test_an_id_of_no_word_is_damage(tmp_path: Path, id_: int) -> None:
    folder = write(tmp_path / "v", made_up(99)).folder
    slots = np.load(folder / "slots.npy")
    np.save(folder / "slots.npy", np.full_like(slots, id_))
    with pytest.raises(VectorsError, match=r"damaged: slots\.npy"):
        VectorTable(folder).id_of("w1")


def test_a_folder_without_a_card_and_a_name_that_is_not_there_are_said(tmp_path: Path) -> None:
    with pytest.raises(VectorsError, match=r"no card\.json"):
        load_vectors(tmp_path)
    with pytest.raises(VectorsError, match="there are no word vectors"):
        load_vectors(tmp_path / "nowhere")
    with pytest.raises(VectorsError, match="there are no word vectors 'klingon'"):
        load_vectors("klingon")


def test_what_is_shipped_is_listed_and_a_path_is_never_taken_for_it() -> None:
    assert all(shipped(name) is not None for name in shipped_names())
    assert shipped("../vectors/english") is None


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((2, 2, 2), dtype=np.float32), np.array(["a"])])
@pytest.mark.parametrize("name", ["vectors", "keys", "frequencies"])
def test_arrays_of_other_types_and_shapes_are_refused(tmp_path: Path, name: str, wrong: npt.NDArray[Any]) -> None:
    folder = Path(made_vectors(tmp_path).folder)
    (folder / f"{name}.npy").unlink()  # what is mapped is another file
    np.save(folder / f"{name}.npy", wrong)
    with pytest.raises(VectorsError, match=r"damaged: .* make or import them again"):
        VectorTable(folder)
