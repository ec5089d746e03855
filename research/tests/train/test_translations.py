"""Pairs of texts move the words of a language to their translations, and add words; others stay where they are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from semsearch.errors import VectorsError
from semsearch.word_vectors.table import VectorTable
from semsearch_research.train.language_vectors import LanguageWords, write_language
from semsearch_research.train.translations import LEAST, Pair, learn_translations, read_pairs
from semsearch_research.word_tables.table_writer import TableWriter
from tests.support.console import semsearch

Floats = npt.NDArray[np.float32]
WORDS, DIMENSION = 300, 16
ENGLISH = [f"{first}{second}" for first in "abcdefghijklmnopqrst" for second in "uvwxyzabcdefghi"]
FOREIGN = [word.translate({code: code + 0x3D0 for code in range(97, 123)}) for word in ENGLISH]  # Cyrillic letters
SHARE: Floats = (1 / np.arange(2, WORDS + 2) / 6).astype(np.float32)
MEANINGS: Floats = np.random.default_rng(0).normal(size=(WORDS, DIMENSION)).astype(np.float32)


@pytest.fixture
def english(tmp_path: Path) -> VectorTable:
    with TableWriter(tmp_path / "english", dtype="float32") as writer:
        writer.add(ENGLISH, MEANINGS)
        return writer.finish(SHARE, card={})


def wrong(count: int = WORDS) -> LanguageWords:
    """The first words of the language, with the vectors of other words."""
    return LanguageWords(FOREIGN[:count], np.roll(MEANINGS, 7, axis=0)[:count], SHARE[:count])


def pairs_of(count: int, *, least: int = 100, most: int = WORDS) -> list[Pair]:
    """Texts of one to four words and their translations, of the words with numbers from `least` to `most`."""
    generator = np.random.default_rng(1)
    drawn = [generator.integers(least, most, size=generator.integers(1, 5)).tolist() for _ in range(count)]
    return [
        Pair(" ".join(ENGLISH[number] for number in text), " ".join(FOREIGN[number] for number in reversed(text)))
        for text in drawn
    ]


def nearest(vectors: Floats) -> npt.NDArray[np.intp]:
    """The English word that each vector is nearest to."""
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (vectors, MEANINGS)]
    return np.asarray((unit[0] @ unit[1].T).argmax(axis=1))


def test_words_come_to_lie_at_their_translations(english: VectorTable) -> None:
    made = learn_translations(wrong(), "ru", pairs_of(2000), english)
    assert made.words == FOREIGN
    right = nearest(made.vectors) == np.arange(WORDS)
    assert right[100:].mean() > 0.95
    assert right[:100].mean() < 0.2
    assert (nearest(wrong().vectors) == np.arange(WORDS)).mean() < 0.2


def test_what_a_language_has_in_common_is_learned_for_words_in_no_text(english: VectorTable) -> None:
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(DIMENSION, DIMENSION)))[0].astype(np.float32)
    turned = LanguageWords(FOREIGN, (MEANINGS + 0.5 * MEANINGS @ turn).astype(np.float32), SHARE)
    made = learn_translations(turned, "ru", pairs_of(2000), english)
    errors = [np.linalg.norm(each.vectors[:100] - MEANINGS[:100], axis=1).mean() for each in (turned, made)]
    assert errors[1] < 0.75 * errors[0]


def test_a_word_in_no_text_goes_with_its_other_forms(english: VectorTable) -> None:
    before = wrong()
    words = LanguageWords([*before.words[:298], "файл", "файлы"], before.vectors, before.probability)
    pairs = [*pairs_of(500, least=50, most=290), *[Pair(ENGLISH[5], "файл", 20.0)]]
    made = learn_translations(words, "ru", pairs, english)
    moves = (made.vectors[298:] - before.vectors[298:]) @ (MEANINGS[5] - before.vectors[298:]).T
    assert nearest(made.vectors[298:299]).tolist() == [5]
    assert moves[1, 1] > 0.3 * np.square(MEANINGS[5] - before.vectors[299]).sum()


def test_words_that_the_language_lacked_are_added(english: VectorTable) -> None:
    made = learn_translations(wrong(290), "ru", pairs_of(2000), english)
    assert sorted(made.words[290:]) == sorted(FOREIGN[290:])
    numbers = [FOREIGN.index(word) for word in made.words[290:]]
    assert nearest(made.vectors[290:]).tolist() == numbers
    assert (made.probability[290:] == made.probability[:290].min()).all()
    few = [Pair(ENGLISH[295], FOREIGN[295]), Pair(ENGLISH[1], FOREIGN[1])] * (LEAST - 1)
    assert learn_translations(wrong(290), "ru", few, english).words == FOREIGN[:290]


def test_the_weight_of_a_pair_decides_between_two_senses(english: VectorTable) -> None:
    for heavy in (5, 6):
        others = [Pair(each.english, each.other, 0.5) for each in pairs_of(500, least=50)]
        senses = [Pair(ENGLISH[sense], FOREIGN[3], 20.0 if sense == heavy else 1.0) for sense in (5, 6)]
        made = learn_translations(wrong(), "ru", [*others, *senses], english)
        assert nearest(made.vectors[3:4]).tolist() == [heavy]


def test_pairs_are_read_with_their_weights(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a file\teine Datei\nfolder\tOrdner\t0.3\n", encoding="utf-8")
    assert read_pairs(path) == [Pair("a file", "eine Datei"), Pair("folder", "Ordner", 0.3)]
    for bad in ("nothing", "a\tb\tc", "a\tb\t1\t2"):
        path.write_text(f"a\tb\n{bad}\n", encoding="utf-8")
        with pytest.raises(VectorsError, match="line 2: expected two texts"):
            read_pairs(path)
    with pytest.raises(VectorsError, match="cannot be read"):
        read_pairs(tmp_path / "none.tsv")


def test_pairs_without_a_known_word_teach_nothing(english: VectorTable) -> None:
    with pytest.raises(VectorsError, match="no pair has known words"):
        learn_translations(wrong(), "ru", [Pair("nothing", "ничего")], english)


def test_the_command_writes_the_moved_words_and_says_by_what(tmp_path: Path) -> None:
    words = LanguageWords(["datei", "haus"], np.eye(2, 256, dtype=np.float32), np.full(2, 0.01, dtype=np.float32))
    write_language(words, tmp_path / "de.npz", {"licence": "CC0", "words": 2})
    (tmp_path / "pairs.tsv").write_text("file\tDatei\nhouse\tHaus\nfolder\tOrdner\n" * LEAST, encoding="utf-8")
    run = semsearch(
        "vectors", "translations", tmp_path / "de.npz", "--language", "de", "--pairs", tmp_path / "pairs.tsv",
        "--to", tmp_path / "new.npz", "--source", "three words",
    )  # fmt: skip
    assert "3 words, 1 of them new, by 9 pairs" in run.out
    with np.load(tmp_path / "new.npz", allow_pickle=False) as arrays:
        assert arrays["words"].tolist() == ["datei", "haus", "ordner"]
        card = json.loads(str(arrays["card"]))
    assert card == {"licence": "CC0", "words": 3, "pairs": 9, "pairs_source": "three words", "words_added": 1}
