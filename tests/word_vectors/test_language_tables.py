"""Tables of other languages: their format, their words, the most likely path, parts of words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from language_tables import write_language_table
from small_languages import WORDS, in_greek, languages_in, write_small_table

from semsearch.errors import VectorsError, VectorsMismatch
from semsearch.text.ragged import OovWords
from semsearch.text.tokens import hash_words
from semsearch.word_vectors.language_table import LanguageTable, shipped_languages
from semsearch.word_vectors.language_words import language_words, parts_of_words
from semsearch.word_vectors.multilingual import (
    MultilingualVectors,
    guess_any_language,
    guess_languages,
    id_base,
    language_table,
    languages_in as in_ids,
)
from semsearch.word_vectors.table import VectorTable


@pytest.fixture(scope="module")
def greek(small_vectors: VectorTable, tmp_path_factory: pytest.TempPathFactory) -> LanguageTable:
    return write_small_table(tmp_path_factory.mktemp("tables"), "el", small_vectors, leaving_out=["telescope"])


@pytest.fixture(scope="module")
def chinese(small_vectors: VectorTable, tmp_path_factory: pytest.TempPathFactory) -> LanguageTable:
    return write_small_table(tmp_path_factory.mktemp("tables"), "zh", small_vectors)


def _table(folder: Path, words: list[str], p: list[float], language: str = "de", d: int = 4) -> LanguageTable:
    vectors = np.random.default_rng(0).standard_normal((len(words), d))
    return write_language_table(
        folder / "x.vectors", language, words, vectors, np.array(p), parts=2, card={"space": "s"}
    )


def _ids(table: LanguageTable, *words: str) -> list[int]:
    return table.lookup(OovWords.of(words).hashes).tolist()


def test_each_word_is_found_with_nearly_its_vector_and_its_probability(
    greek: LanguageTable, small_vectors: VectorTable
) -> None:
    kept = [word for word in WORDS if word != "telescope"]
    ids = np.array(_ids(greek, *map(in_greek, kept)))
    assert sorted(ids.tolist()) == list(range(len(greek)))
    assert _ids(greek, in_greek("telescope"), "nothing") == [-1, -1]
    expected = small_vectors.frequencies[[small_vectors.id_of(word) for word in kept]]
    assert np.allclose(greek.frequencies[ids], expected, rtol=0.05)
    rows, moved = greek.rows(ids), small_vectors.rows(np.array([small_vectors.id_of(word) for word in kept]))
    shift = (rows - moved).mean(axis=0)
    assert np.linalg.norm(shift) == pytest.approx(1, abs=0.05)
    assert np.abs(rows - moved - shift).max() < 0.1


def test_what_is_no_table_is_refused(tmp_path: Path, greek: LanguageTable) -> None:
    path, data = tmp_path / "el.vectors", greek.path.read_bytes()
    path.write_bytes(b"semsearch language vectors 0" + data[len("semsearch language vectors 2") :])
    with pytest.raises(VectorsError, match="another version"):
        LanguageTable(path)
    path.write_bytes(data[:-64])
    with pytest.raises(VectorsError, match="is damaged"):
        LanguageTable(path)
    path.write_bytes(data.replace(b'"parts"', b'"party"'))
    with pytest.raises(VectorsError, match=r"is damaged .*parts"):
        LanguageTable(path)
    path.write_bytes(b"")
    with pytest.raises(VectorsError, match="is damaged"):
        LanguageTable(path)
    path.write_bytes(data)
    assert LanguageTable(path).verify()
    path.write_bytes(data[:-70] + bytes([data[-70] ^ 1]) + data[-69:])
    assert not LanguageTable(path).verify()


def test_a_run_of_characters_is_cut_by_the_most_likely_path(tmp_path: Path, small_vectors: VectorTable) -> None:
    words, p = ["研究", "研究生", "生命", "命", "起源", "的", "生"], [1e-3, 5e-4, 1e-3, 1e-5, 1e-3, 5e-2, 1e-4]
    table = _table(tmp_path, words, p, "zh")
    found = language_words(
        ["研究生命的起源", "X研究生", "", "起?源"], table, small_vectors, base=1000, keep_unknown=True
    )
    one, two, three, four = (_ids(table, word)[0] + 1000 for word in ("研究", "生命", "的", "起源"))
    assert found.ids[: found.indptr[1]].tolist() == [one, two, three, four]
    assert found.ids[found.indptr[1] : found.indptr[2]].tolist() == [_ids(table, "研究生")[0] + 1000]
    assert found.lengths.tolist() == [4, 1, 0, 0]  # neither character alone is a word


def test_an_unknown_word_is_its_longest_beginning_and_the_ending_after_it(tmp_path: Path) -> None:
    table = _table(tmp_path, ["donau", "dampf", "dampfschiff", "schiff", "fahrt", "haus", "hau"], [1e-4] * 7)
    words = ["donaudampfschiff", "häuser", "hausen", "schifffahrt", "donaudampfschifffahrtsgesellschaft", "xyz"]
    parts = parts_of_words(OovWords.of(words), table)
    named = {
        number: word for word in ["donau", "dampfschiff", "schiff", "fahrt", "haus"] for number in _ids(table, word)
    }
    rows = [[named[id_] for id_ in row if id_ >= 0] for row in parts.tolist()]
    assert rows == [["donau", "dampfschiff"], [], ["haus"], ["schiff", "fahrt"], [], []]


def test_words_are_looked_up_in_their_language_then_in_english_then_by_parts(
    greek: LanguageTable, small_vectors: VectorTable
) -> None:
    cook, base = in_greek("recipe"), 1000
    texts = [f"{cook} telescope {cook}α zzzz", "", cook.upper()]
    found = language_words(texts, greek, small_vectors, base=base, keep_unknown=True)
    (number,) = _ids(greek, cook)
    assert found.lengths.tolist() == [4, 0, 1]
    assert found.ids[:3].tolist() == [base + number, small_vectors.id_of("telescope"), base + number]
    assert found.unknown_words.take(np.array([-1 - found.ids[3]])).words == ["zzzz"]
    skipped = language_words(texts, greek, small_vectors, base=base, keep_unknown=False)
    assert skipped.lengths.tolist() == [3, 0, 1]


@pytest.mark.parametrize(
    ("language", "words", "text"),
    [
        ("de", ["strasse", "straße", "haus"], "STRAßE Haus strasse Straße"),
        ("el", ["λόγος", "και"], "ΛΌΓΟΣ και λόγος λόγοσ"),
        ("fa", ["کتاب", "یک"], "كتاب يك کِتاب کتاب"),
        ("ar", ["كتاب", "علم"], "كِتَابٌ علم كـتاب كتاب"),
        ("ro", ["știință", "om"], "Ştiinţă om știință ŞTIINŢĂ"),
    ],
)
def test_a_word_is_found_in_whichever_form_its_letters_are_written(
    language: str, words: list[str], text: str, tmp_path: Path, small_vectors: VectorTable
) -> None:
    table = _table(tmp_path, words, [*np.linspace(1e-3, 1e-4, len(words))], language, d=small_vectors.dimension)
    assert len(table) == 2
    found = language_words([text], table, small_vectors, base=1000, keep_unknown=True)
    first, second, *rest = found.ids.tolist()
    assert sorted([first, second]) == [1000, 1001]
    assert rest == [first, first]
    assert table.frequencies[first - 1000] == pytest.approx(1e-3, rel=0.1)


def test_ids_found_while_reading_become_those_of_the_languages_that_there_are(
    greek: LanguageTable, chinese: LanguageTable, small_vectors: VectorTable
) -> None:
    several = MultilingualVectors(small_vectors, [chinese, greek])
    read = np.array([3, id_base("el") + 5, -2, id_base("zh") + 1], dtype=np.int32)
    assert in_ids(read) == ["el", "zh"]
    v = len(small_vectors)
    assert several.renumbered(read).tolist() == [3, v + len(chinese) + 5, -2, v + 1]
    rows = several.rows(several.renumbered(read)[[0, 1, 3]])
    expected = [small_vectors.rows(np.array([3])), greek.rows(np.array([5])), chinese.rows(np.array([1]))]
    assert np.array_equal(rows, np.concatenate(expected))


def test_directions_are_removed_from_the_words_of_their_language_alone(
    greek: LanguageTable, small_vectors: VectorTable
) -> None:
    direction = np.zeros((1, small_vectors.dimension))
    direction[0, 2] = 1
    several = MultilingualVectors(small_vectors, [greek], {"el": direction})
    rows = several.rows(np.array([0, len(small_vectors)]))
    assert np.array_equal(rows[0], small_vectors.rows(np.array([0]))[0])
    assert rows[1, 2] == 0
    assert np.array_equal(np.delete(rows[1], 2), np.delete(greek.rows(np.array([0]))[0], 2))


def test_the_language_of_a_few_words_is_the_one_in_which_they_are_likely(
    greek: LanguageTable, small_vectors: VectorTable, tmp_path: Path
) -> None:
    german = write_language_table(
        tmp_path / "de.vectors", "de", ["rezept", "the"], np.eye(2, small_vectors.dimension), np.array([0.5, 1e-7]),
        parts=1, card={"space": small_vectors.digest},
    )  # fmt: skip
    several = MultilingualVectors(small_vectors, [greek, german])
    with languages_in(tmp_path):
        asked = [f"{in_greek('recipe')}?", "the recipe", "rezept", "the rezept", "42"]
        assert guess_languages(asked, several) == ["el", "en", "de", "de", "en"]


def test_a_question_is_in_a_language_of_few_documents_only_if_that_is_clear(
    small_vectors: VectorTable, tmp_path: Path
) -> None:
    words, p = ["recipe", "rezept", "backen"], np.array([0.5, 1e-3, 1e-3])
    write_language_table(
        tmp_path / "de.vectors", "de", words, np.eye(3, small_vectors.dimension), p,
        parts=1, card={"space": small_vectors.digest},
    )  # fmt: skip
    with languages_in(tmp_path):
        asked = ["recipe", "rezept", "rezept backen"]
        for documents, found in (({"de": 5, "en": 5}, ["de", "de", "de"]), ({"de": 1, "en": 5000}, ["en", "de", "de"])):
            assert [guess_any_language(text, small_vectors, ["en", "de"], documents) for text in asked] == found


def test_tables_of_another_version_are_an_error_that_names_both(
    greek: LanguageTable, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    with languages_in(greek.path.parent):
        assert shipped_languages() == ["el"]
        found = language_table("el", small_vectors)
        assert found is not None
        assert found.digest == greek.digest
        monkeypatch.setattr(small_vectors, "digest", "0123456789")
        assert language_table("el", small_vectors) is None  # of a user's own vectors
        monkeypatch.setattr("semsearch.word_vectors.multilingual.shipped_name", lambda _: "english")
        with pytest.raises(VectorsMismatch, match=rf"{greek.card['space'][:8]}.*01234567"):
            language_table("el", small_vectors)
    assert hash_words([in_greek("recipe")]).hashes[0] == OovWords.of([in_greek("recipe")]).hashes[0]
