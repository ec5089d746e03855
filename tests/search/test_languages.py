"""Indexes in other languages than English, and in several."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from small import small_vectors

from semsearch import Index, Text
from semsearch.search.query import known_shares
from semsearch.storage.checksums import update_digests
from semsearch.storage.connections import DATABASE
from semsearch.word_vectors.table import VectorTable

RUSSIAN = "Капитан ведёт корабль через шторм. В больших городах живут люди, и они не боятся волн."
GERMAN = "Der Kapitän segelt mit dem Schiff durch den Sturm. Die Häuser am Hafen sind alt, und das Meer ist laut."
CHINESE = "船长驾船穿过暴风雨。水手们害怕海浪。"
THAI = "กัปตันแล่นเรือผ่านพายุ และลูกเรือกลัวคลื่น"
ENGLISH = "The captain has a ship and a sail, and he is not afraid of the storm."
TEXTS = [Text("ru", RUSSIAN), Text("de", GERMAN), Text("zh", CHINESE), Text("th", THAI), Text("en", ENGLISH)]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> VectorTable:
    return small_vectors(tmp_path_factory.mktemp("vectors"))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path_factory.mktemp("index") / "index", vectors=vectors) as made:
        made.add(TEXTS)
        yield made


def found(index: Index, question: str) -> list[str]:
    return [hit.document for hit in index.search(question, mode="lexical")]


def test_the_languages_of_an_index_are_counted(index: Index) -> None:
    assert index.status().languages == {"de": 1, "en": 1, "ru": 1, "th": 1, "zh": 1}


@pytest.mark.parametrize(
    ("question", "document"),
    [("город", "ru"), ("hauser", "de"), ("Häusern", "de"), ("海浪", "zh"), ("ลูกเรือ", "th"), ("sails", "en")],
)
def test_each_document_is_found_by_the_rules_of_its_language(index: Index, question: str, document: str) -> None:
    assert found(index, question) == [document]


@pytest.mark.parametrize(("phrase", "document"), [('"больших город"', "ru"), ('"ลูกเรือกลัว"', "th"), ('"海浪"', "zh")])
def test_phrases_are_found_in_each_language(index: Index, phrase: str, document: str) -> None:
    assert found(index, phrase) == [document]


def test_a_score_is_explained_in_each_language(index: Index) -> None:
    for question in ("город корабль", "海浪", "ลูกเรือ", "Häuser und ships"):
        for hit in index.search(question):
            assert hit.explain().score == pytest.approx(hit.score, abs=1e-5)


def test_what_is_stored_is_what_the_rules_of_each_language_give(index: Index) -> None:
    assert index.verify() == []
    index.add([Text("ru2", "О городе и корабле."), *TEXTS])
    assert index.similar("ru2")[0].document == "ru"
    index.remove("ru2")


def test_a_question_in_another_language_is_told(index: Index, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        index.search("¿Dónde está el puerto de los marineros que no vuelven?", mode="lexical")
        index.search("Wo ist der Kapitän mit dem Schiff?", mode="lexical")
    assert [record.getMessage() for record in caplog.records] == [
        "the question '¿Dónde está el puerto de los marineros que no vuelven?' seems to be in Spanish, in which the "
        "index has no document; ask in a language that it has: German, English, Russian, Thai, Chinese"
    ]


def test_meaning_weighs_less_for_a_question_of_which_the_vectors_know_little(
    index: Index, vectors: VectorTable
) -> None:
    assert known_shares(["captain ship", "captain город", "город", "海 浪", "?"], vectors) == [1, 0.5, 0, 0, 0]
    weights = [index.search(question, 1)[0].explain().lexical for question in ("captain ship", "captain город")]
    assert weights[0] is not None
    assert weights[1] is not None
    assert weights[0].weight < weights[1].weight


def as_of_before(folder: Path) -> None:
    """Let an index be as one that was made before languages were found."""
    with closing(sqlite3.connect(folder / DATABASE)) as db, db:
        settings = json.loads(db.execute("SELECT value FROM meta WHERE key = 'settings'").fetchone()[0])
        del settings["languages"]
        db.execute("UPDATE meta SET value = ? WHERE key = 'settings'", (json.dumps(settings),))
        update_digests(db)


def test_an_index_of_before_goes_on_in_english_until_it_is_rebuilt(tmp_path: Path, vectors: VectorTable) -> None:
    Index.create(tmp_path / "index", vectors=vectors).close()
    as_of_before(tmp_path / "index")
    with Index.open(tmp_path / "index") as index:
        index.add(TEXTS)
        assert (index.status().languages, found(index, "город"), found(index, "городах")) == ({}, [], ["ru"])
        index.rebuild()
        assert index.status().languages == {"de": 1, "en": 1, "ru": 1, "th": 1, "zh": 1}
        assert (found(index, "город"), index.verify()) == (["ru"], [])


def test_a_document_in_another_language_replaces_one(tmp_path: Path, vectors: VectorTable) -> None:
    with Index.create(tmp_path / "index", vectors=vectors) as index:
        index.add([Text("a", ENGLISH)])
        index.add([Text("a", RUSSIAN)])
        assert index.status().languages == {"ru": 1}
        assert found(index, "город") == ["a"]


def test_files_have_the_same_languages_whoever_reads_them(tmp_path: Path, vectors: VectorTable) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for text in TEXTS:
        (folder / f"{text.id}.txt").write_text(text.text, encoding="utf-8")
    for processes in (1, 2):
        with Index.create(tmp_path / f"by-{processes}", vectors=vectors) as index:
            index.sync(folder, processes=processes)
            assert index.status().languages == {"de": 1, "en": 1, "ru": 1, "th": 1, "zh": 1}
            assert found(index, "город") == ["ru.txt"]
