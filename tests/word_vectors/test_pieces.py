"""Vectors of unknown words from their pieces, of the English table: the fast form against the formula."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from references import unknown_words as reference

from semsearch import load_vectors
from semsearch.errors import VectorsError
from semsearch.text.ragged import OovWords
from semsearch.word_vectors.pieces import LONGEST_WORD
from semsearch.word_vectors.table import VectorTable

STRANGE = ["telescopically", "starshipping", "breadknifes", "ém", "naïvetés", "中文", "xq", "0x3f", "shipperish"]


@pytest.mark.parametrize("times", [1, 200])
def test_a_guess_is_what_the_formula_says(times: int) -> None:
    table = load_vectors("english")
    words = {part for word in STRANGE for i in range(len(word)) for part in (word[: i + 1], word[i:]) if part != word}
    ids = {word: table.id_of(word) for word in words}
    known = {word: table.rows(np.array([id_]))[0].astype(np.float64) for word, id_ in ids.items() if id_ >= 0}
    names = (table.folder / "pieces.txt").read_text(encoding="utf-8").splitlines()
    rows = np.load(table.folder / "pieces.npy") * np.load(table.folder / "piece_scales.npy")[:, None].astype(np.float64)
    maps = np.load(table.folder / "piece_maps.npy").astype(np.float64)
    expected = np.array([reference.guess(word, known, dict(zip(names, rows, strict=True)), maps) for word in STRANGE])
    assert (np.linalg.norm(expected, axis=1) > 0).sum() >= 6
    assert table.oov_rows(OovWords.of(STRANGE * times)) == pytest.approx(np.tile(expected, (times, 1)), abs=1e-4)


def test_what_has_no_known_piece_gets_nothing() -> None:
    table = load_vectors("english")
    assert not table.oov_rows(OovWords.of(["ცცც", "harbour" * 10, "x" * (LONGEST_WORD + 1)])).any()
    assert table.oov_rows(OovWords.of([])).shape == (0, table.dimension)


@pytest.mark.parametrize("name", ["piece_scales", "piece_keys", "piece_slots", "piece_maps"])
def test_damaged_pieces_are_said(tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(load_vectors("english").folder, tmp_path / "v"))
    np.save(folder / f"{name}.npy", np.load(folder / f"{name}.npy")[:-1])
    with pytest.raises(VectorsError, match="damaged"):
        VectorTable(folder).oov_rows(OovWords.of(["shipperish"]))
    assert bool(VectorTable(folder).verify()) == (name in ("piece_keys", "piece_slots"))
    (folder / f"{name}.npy").unlink()
    with pytest.raises(VectorsError, match="cannot be read"):
        VectorTable(folder).oov_rows(OovWords.of(["shipperish"]))


def test_unknown_words_are_taken_joined_and_told_apart() -> None:
    unknown_words = OovWords.of(["naïve", "ship", "naïve", "x"])
    assert unknown_words.words == ["naïve", "ship", "naïve", "x"]
    assert unknown_words.take(np.array([3, 0])).words == ["x", "naïve"]
    distinct, which = unknown_words.distinct()
    assert sorted(distinct.words) == ["naïve", "ship", "x"]
    assert [distinct.words[number] for number in which] == unknown_words.words
    assert OovWords.concatenate([unknown_words, OovWords.of([]), distinct]).words == [
        *unknown_words.words,
        *distinct.words,
    ]
    assert len(OovWords.concatenate([])) == 0
