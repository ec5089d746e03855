"""Misspelt words of a query are corrected, and reported; everything else is searched for as it was typed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from language_tables import write_language_table
from small_languages import languages_in

from semsearch import Index, Text
from semsearch.results.hits import Hit
from semsearch.results.options import Mode
from semsearch.results.origin import Correction
from semsearch.word_vectors.table import VectorTable

ENGLISH = [
    Text("scheduler", "The scheduler runs processes. It waits for the kernel, and every process has a priority."),
    Text("vectors", "Word vectors have dimensions; co-citation counts. A vector of a word is a row of the database."),
    Text("farm", "The farmer ploughs the field with a tractor. A farm has meadows."),
    Text("form", "Fill in the form with a pencil. The form asks for a signature. A form has fields."),
    Text("form2", "Another form, and a third form for the office."),
]
GERMAN = [
    Text(
        "de", "Der Scheduler verteilt die Prozesse. Die Verschlüsselung schützt die Daten, und das Passwort ist geheim."
    )
]
RUSSIAN = [Text("ru", "Планировщик распределяет процессы. Шифрование защищает данные, и пароль должен быть тайным.")]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path_factory.mktemp("spelling") / "index", vectors=small_vectors, adapt=False) as made:
        made.add(ENGLISH)
        made.add([Text("gone", "A trombone.")])  # in a segment of its own
        made.remove("gone")
        yield made


def asked(index: Index, query: str, **options: str) -> str:
    """The text that an index searched for."""
    hits = index.search(query, **options)  # type: ignore[arg-type]  # modes and syntaxes
    assert hits
    origin = hits[0].origin
    assert origin is not None
    return origin.text or query


@pytest.mark.parametrize(
    ("query", "instead"),
    [
        ("how does the schedular wait?", "how does the scheduler wait?"),
        ("Shceduler", "scheduler"),
        ("the scehdulre", "the scheduler"),
        ("proirity of proceses", "priority of processes"),
        ("wordvectors", "word vectors"),
        ("a sched uler", "a scheduler"),
        ("kernel-schedular", "kernel-scheduler"),
        ("the schedular's kernel", "the scheduler's kernel"),
        ("signature of the fxrm", "signature of the form"),
    ],
)
def test_a_misspelt_word_is_replaced_by_the_likeliest_of_the_index(query: str, instead: str, index: Index) -> None:
    assert asked(index, query) == instead


@pytest.mark.parametrize(
    "query",
    [
        "scheduler",
        "scheduling processes",  # another form
        "scheduler of island storms",  # the word vectors know both
        '"scheduler" kernel',
        "SCHEDULAR scheduler",
        "schedUlar scheduler",
        "sched_ular scheduler",
        "schedular.c scheduler",
        "schedular2 scheduler",
        "--schedular scheduler",
        "/etc/schedular scheduler",
        "std::schedular scheduler",
        "`schedular` scheduler",
        "trmobone scheduler",  # only a removed passage had it
        "xyzzyplugh scheduler",
        "这些汉字组成词语 scheduler",
    ],
)
def test_everything_else_is_searched_for_as_it_is(query: str, index: Index) -> None:
    assert index.search(query).corrected == ()


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_the_answer_is_that_of_the_correct_query(mode: Mode, index: Index) -> None:
    def scores(hits: list[Hit]) -> list[tuple[int, float, str]]:
        return [(hit.passage_id, hit.score, hit.sentence) for hit in hits]

    misspelt, correct = index.search("the schedular waits", mode=mode), index.search("the scheduler waits", mode=mode)
    assert scores(misspelt) == scores(correct)
    assert scores(index.search_many(["priority", "the schedular waits"], mode=mode)[1]) == scores(correct)
    assert misspelt[0].explain().score == pytest.approx(misspelt[0].score)


def test_a_correction_is_reported_with_the_hits_and_by_a_warning(
    index: Index, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="semsearch"):
        hits = index.search("the Schedular runs proceses")
    assert hits.corrected == (Correction("Schedular", "scheduler"), Correction("proceses", "processes"))
    assert hits[:1].warnings == hits.warnings == tuple(caplog.messages)
    assert caplog.messages == [
        'no passage has “Schedular”: searched for “scheduler”; to search for exactly that, quote it: "Schedular"',
        'no passage has “proceses”: searched for “processes”; to search for exactly that, quote it: "proceses"',
    ]


def test_a_quoted_word_and_a_query_with_plain_syntax_are_taken_as_they_are(index: Index) -> None:
    assert index.search('"schedular"') == []
    assert index.search('"schedular" kernel').corrected == ()
    assert asked(index, "the schedular waits", syntax="plain") == "the schedular waits"
    assert asked(index, "schedular kernel", syntax="plain") == "schedular kernel"


@pytest.mark.parametrize(
    ("texts", "query", "instead"),
    [
        (GERMAN, "Wie schützt die Verschlüsslung die Daten?", "Wie schützt die verschlüsselung die Daten?"),
        (GERMAN, "Welche Prozese verteilt er?", "Welche prozesse verteilt er?"),
        (GERMAN, "das Passwrot und die Daten", "das passwort und die Daten"),
        (RUSSIAN, "как работает планировшик", "как работает планировщик"),
        (RUSSIAN, "щифрование данных", "шифрование данных"),
        (RUSSIAN, "тайный паролль", "тайный пароль"),
        ([*GERMAN, *RUSSIAN, *ENGLISH], "планировшик and schedular", "планировщик and scheduler"),
    ],
)
def test_other_languages_are_corrected_too(
    texts: list[Text], query: str, instead: str, tmp_path: Path, small_vectors: VectorTable
) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors, adapt=False) as index:
        index.add(texts)
        assert asked(index, query) == instead


@pytest.fixture
def german_table(tmp_path: Path, small_vectors: VectorTable) -> Iterator[None]:
    """Word vectors of a few German words that the passages below do not have."""
    words, d = ["heißen", "tasse", "wald"], small_vectors.dimension
    vectors, p = np.random.default_rng(0).standard_normal((len(words), d)), np.full(len(words), 1e-5)
    card = {"space": small_vectors.digest}
    write_language_table(tmp_path / "de.vectors", "de", words, vectors, p, parts=d, card=card)
    with languages_in(tmp_path):
        yield


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(
    ("query", "text", "announced"),
    [
        ("Wolken heißen", None, []),  # the word vectors know it
        ("Wolken und Tasse", None, []),
        ("Bevölkert und Wolken", "bevölkerin und Wolken", []),  # another form of a word that passages have
        ("Bevölkerin und Walken", "Bevölkerin und wolken", ["Walken"]),
    ],
)
@pytest.mark.usefixtures("german_table")
def test_known_words_and_other_forms_are_no_mistakes(
    query: str, text: str | None, announced: list[str], mode: Mode, tmp_path: Path, small_vectors: VectorTable
) -> None:
    passage = "Wir heilen die Bevölkerin und die Wolken, und die Kasse ist nicht bei der Waldkasse. Das ist alles."
    with Index.create(tmp_path / "index", vectors=small_vectors, adapt=False) as index:
        index.add([Text("de", passage)])
        assert asked(index, query, mode=mode) == (text or query)
        assert [correction.asked for correction in index.search(query, mode=mode).corrected] == announced


@pytest.mark.usefixtures("german_table")
def test_a_mistake_in_an_english_query_is_reported_also_where_some_documents_are_in_another_language(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors, adapt=False) as index:
        index.add([*ENGLISH, Text("wald", "Die heißen Tassen sind im Wald, und das ist alles, was wir wissen.")])
        corrected = index.search("what does the scheduelr do with the fields?").corrected
        assert corrected == (Correction("scheduelr", "scheduler"),)
