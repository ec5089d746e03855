"""Pieces of words are learned as the formula says, and tables have them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from references import unknown_words as reference
from small import TOPICS

import semsearch_research.train.piece_vectors as training
from semsearch.errors import UsageError, VectorsError
from semsearch.word_vectors.table import VectorTable
from semsearch_research.train.piece_vectors import add_pieces, learn_pieces
from semsearch_research.word_tables.nearest_words import is_guessed, neighbours

WORDS = [word for words in TOPICS.values() for word in dict.fromkeys(words.split())]


@pytest.fixture(scope="module")
def open_vectors(small_vectors: VectorTable, tmp_path_factory: pytest.TempPathFactory) -> VectorTable:
    """The small vectors with 200 pieces."""
    return add_pieces(small_vectors, tmp_path_factory.mktemp("pieces") / "open", number=200)


def test_pieces_are_learned_by_ridge_regression(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [*WORDS, *(word + "s" for word in WORDS[:20]), "moonship"]
    vectors = np.random.default_rng(0).standard_normal((len(words), 6)).astype(np.float32)
    monkeypatch.setattr(training, "_MU", 3.0)
    learned = learn_pieces(words, vectors, number=40)
    known = dict(zip(words, vectors.astype(np.float64), strict=True))
    u, maps = reference.ridge(words, known, learned.pieces.words, weak=training._LAMBDA, strong=3.0)
    assert learned.vectors == pytest.approx(u, abs=2e-3)
    assert learned.maps == pytest.approx(maps, abs=2e-3)


def test_words_made_of_stems_and_endings_are_guessed_from_them() -> None:
    generator = np.random.default_rng(1)
    stems = {"".join(generator.choice(list("abcdefghij"), 4)): generator.standard_normal(8) for _ in range(60)}
    endings = {ending: 0.5 * generator.standard_normal(8) for ending in ("", "ing", "ness", "less")}
    made = {stem + ending: stems[stem] + endings[ending] for stem in stems for ending in endings}
    held_out = [stem + "ness" for stem in list(stems)[:20]]
    words = [word for word in made if word not in held_out]
    vectors = np.array([made[word] for word in words], dtype=np.float32)
    learned = learn_pieces(words, vectors, number=300)
    known = dict(zip(words, vectors.astype(np.float64), strict=True))
    pieces = dict(zip(learned.pieces.words, learned.vectors.astype(np.float64), strict=True))
    for word in held_out:
        guessed, true = reference.guess(word, known, pieces, learned.maps.astype(np.float64)), made[word]
        assert guessed @ true > 0.8 * np.linalg.norm(guessed) * np.linalg.norm(true)


def test_a_table_with_pieces_has_the_same_words_and_another_digest(
    small_vectors: VectorTable, open_vectors: VectorTable, tmp_path: Path
) -> None:
    assert open_vectors.words == small_vectors.words
    everything = np.arange(len(small_vectors))
    assert np.array_equal(open_vectors.rows(everything), small_vectors.rows(everything))
    assert np.array_equal(open_vectors.frequencies, small_vectors.frequencies)
    assert open_vectors.digest != small_vectors.digest
    assert open_vectors.card["pieces"] == len(open_vectors.pieces or ()) == 200
    assert open_vectors.verify()
    assert add_pieces(small_vectors, tmp_path / "again", number=200).digest == open_vectors.digest
    with pytest.raises(VectorsError, match="exists"):
        add_pieces(small_vectors, tmp_path / "again")


def test_an_unknown_word_has_neighbours_by_its_pieces(open_vectors: VectorTable, small_vectors: VectorTable) -> None:
    found = neighbours(open_vectors, "Harbours", 3)
    assert found[0].word == "harbour"
    assert is_guessed(open_vectors, "Harbours")
    assert not is_guessed(open_vectors, "harbour")
    assert len(neighbours(open_vectors, "harbours", 10_000)) == len(open_vectors)
    with pytest.raises(UsageError, match="none of its pieces"):
        neighbours(open_vectors, "ццц")
    with pytest.raises(UsageError, match="not among"):
        neighbours(small_vectors, "harbours")
