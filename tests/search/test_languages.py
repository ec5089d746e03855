"""Indexes of several languages: asked in one, found in another, by meaning."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from language_tables import write_language_table
from small import TOPICS, article, sentence
from small_languages import in_chinese, in_greek, languages_in, write_small_table

from semsearch import tuning
from semsearch.errors import VectorsMismatch
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.word_vectors.table import VectorTable


def _write(folder: Path, spell: object, name: str, *, topics: tuple[str, ...] = tuple(TOPICS), count: int = 4) -> None:
    folder.mkdir(exist_ok=True)
    for topic in topics:
        for number in range(count):
            text = article(topic, number)
            lines = [line if line.startswith("#") else spell(line) for line in text.splitlines()]  # type: ignore[operator]
            (folder / f"{topic}-{number}.{name}.md").write_text("\n".join(lines[2:]))


def _first_topics(index: Index, spell: object, language: str, **options: object) -> float:
    """The share of questions whose first hit in a language is about their topic."""
    right = 0
    for topic in TOPICS:
        hits = index.search(spell(" ".join(TOPICS[topic].split()[3:7])), k=20, **options)  # type: ignore[operator, arg-type]
        own = [hit for hit in hits if f".{language}." in hit.path]
        right += bool(own) and Path(own[0].path).name.startswith(topic)
    return right / len(TOPICS)


def _plain(text: str) -> str:
    return text


SPELL = {"en": _plain, "el": in_greek, "zh": in_chinese}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """Greek and Chinese word vectors in the space of the small world's English ones, and an index of all three."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "tables").mkdir()
    for language in ("el", "zh"):
        write_small_table(folder / "tables", language, small_vectors)
    for language, spell in SPELL.items():
        _write(folder / "docs", spell, language)
    with languages_in(folder / "tables"), Index.create(folder / "index", vectors=small_vectors) as index:
        index.sync(folder / "docs")
    return folder


@pytest.fixture
def tables(made: Path) -> Iterator[None]:
    with languages_in(made / "tables"):
        yield


@pytest.fixture
def mixed(made: Path, tables: None, small_vectors: VectorTable) -> Iterator[Index]:
    """The index of documents in three languages, to be read only."""
    with Index.open(made / "index", vectors=small_vectors) as index:
        yield index


@pytest.mark.parametrize("asked", SPELL)
@pytest.mark.parametrize("found", SPELL)
@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_a_question_in_any_language_finds_passages_of_any_other_by_meaning(
    mixed: Index, asked: str, found: str, mode: str
) -> None:
    assert _first_topics(mixed, SPELL[asked], found, mode=mode) == 1.0


def test_words_alone_find_nothing_in_another_language(mixed: Index) -> None:
    assert _first_topics(mixed, in_greek, "en", mode="lexical") == 0.0


def test_a_question_in_a_language_that_no_document_has_is_answered_by_meaning(
    tmp_path: Path, tables: None, small_vectors: VectorTable
) -> None:
    _write(tmp_path / "docs", _plain, "en")
    with Index.create(tmp_path / "english", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        assert _first_topics(index, in_greek, "en") == 1.0
    _write(tmp_path / "greek", in_greek, "el")
    with Index.create(tmp_path / "other", vectors=small_vectors) as index:
        index.sync(tmp_path / "greek")
        assert _first_topics(index, in_chinese, "el") == 1.0
        assert _first_topics(index, _plain, "el") == 1.0


def test_a_new_language_joins_an_index_without_changing_its_vectors(
    tmp_path: Path, tables: None, small_vectors: VectorTable
) -> None:
    _write(tmp_path / "docs", _plain, "en")
    texts = [sentence(topic, 1) for topic in TOPICS]
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        before = index.embed(texts)
        _write(tmp_path / "docs", in_greek, "el", count=1)
        report = index.sync(tmp_path / "docs")
        assert report.added == len(TOPICS)
        assert not report.refitted
        assert np.allclose(index.embed(texts), before, atol=1e-6)
        assert _first_topics(index, _plain, "el") == _first_topics(index, in_greek, "en") == 1.0
        assert index.verify() == []
        _write(tmp_path / "docs", in_chinese, "zh", count=1)
        index.sync(tmp_path / "docs")
        assert _first_topics(index, in_chinese, "el") == _first_topics(index, in_greek, "zh") == 1.0
        assert index.verify() == []


def test_an_index_says_that_a_language_has_other_vectors_now(
    tmp_path: Path, made: Path, small_vectors: VectorTable
) -> None:
    write_small_table(tmp_path, "el", small_vectors, shift=2.0)
    write_small_table(tmp_path, "zh", small_vectors)
    copy = shutil.copytree(made / "index", tmp_path / "index")
    with languages_in(tmp_path), Index.open(copy, vectors=small_vectors, trust=True) as index:
        with pytest.raises(
            VectorsMismatch, match=r"Greek word vectors \w{8}, and semsearch now has \w{8}; .* --rebuild --name"
        ):
            index.search("ship sail")
        assert index.search("ship sail", mode="lexical")
        with pytest.raises(VectorsMismatch, match=r"now has .* --rebuild --name"):
            index.sync()  # nothing changed
        index.rebuild()
        assert index.sync().unchanged
        assert index.search("ship sail")
        assert index.verify() == []


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_a_hit_in_another_language_says_so_and_its_score_is_explained(mixed: Index, mode: str) -> None:
    for spell in SPELL.values():
        hits = mixed.search(spell("ship sail harbour captain"), k=12, mode=mode)  # type: ignore[arg-type]
        assert {hit.language for hit in hits} > {None}
        for hit in hits:
            own = hit.path.split(".")[-2]
            asked = next(code for code, each in SPELL.items() if each is spell)
            assert hit.language == (None if own == asked else own)
            for explanation in (hit.explain(), mixed.explain(spell("ship sail harbour captain"), hit)):
                assert explanation.score == pytest.approx(hit.score, abs=2e-3)


def test_the_sentence_shown_is_the_one_that_answers_in_another_language(
    tmp_path: Path, tables: None, small_vectors: VectorTable
) -> None:
    told = [sentence(topic, 7) for topic in TOPICS]
    (tmp_path / "docs").mkdir()
    for language in ("el", "zh"):
        text = " ".join(map(SPELL[language], told))
        (tmp_path / "docs" / f"all.{language}.md").write_text(text)
    (tmp_path / "docs" / "other.en.md").write_text("The new one.")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        for topic, text in zip(TOPICS, told, strict=True):
            for hit in index.search(text, k=3):
                if hit.language is not None:
                    assert hit.sentence.rstrip(".。") == SPELL[hit.language](text).rstrip(".。"), topic


def test_the_words_of_a_question_are_aligned_with_passages_only_where_few_are_in_its_language(
    tmp_path: Path, tables: None, mixed: Index, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    about, saying = "voyage rope deck coast storm", "anchor voyage deck rose cake, tide planet coast"
    question = in_greek("anchor tide")

    def order(index: Index) -> list[tuple[str, float]]:
        return [(hit.document, hit.score) for hit in index.search(question, 20, mode="dense")]

    with Index.create(tmp_path / "english", vectors=small_vectors, adapt=False) as index:
        index.add([Text("about", about), Text("saying", saying), *(Text(t, sentence(t, 1)) for t in TOPICS)])
        aligned, of_mixed = order(index), order(mixed)
        hit = index.search(question, 1, mode="dense")[0]
        explained = hit.explain()
        (words,) = (each for each in explained.cosines if each.of == "words")
        assert words.cosine > 0.8  # it has both
        assert explained.score == pytest.approx(hit.score, abs=2e-3)
        assert explained.relevance is not None
        assert explained.relevance.probability == pytest.approx(hit.relevance, abs=0.02)
        with monkeypatch.context() as unlikely:
            unlikely.setattr(tuning, "TUNING", tuning.TUNING._replace(relevance_aligned=(-20.0, 0.0, 0.0, 0.0)))
            assert (index.search(question, 1, mode="dense")[0].relevance or 0) < 0.01
        monkeypatch.setattr(tuning, "TUNING", tuning.TUNING._replace(aligned_across=0.0))
        assert aligned[0][0] == "saying"
        assert order(index)[0][0] != "saying"
        assert order(mixed) == of_mixed


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("welches segelschiff ship sail storm captain", "en"),  # lacks two of six terms
        ("segelschiff ship sail storm captain", None),  # one of five
        ("yacht regatta ship sail storm captain", None),  # which are not German
    ],
)
def test_an_index_in_english_reads_a_question_in_another_language_of_which_it_has_most_words(
    question: str, language: str | None, tmp_path: Path, small_vectors: VectorTable
) -> None:
    words = ["welches", "segelschiff", "ship", "sail", "storm", "captain"]
    rows = np.concatenate((np.ones((2, small_vectors.dimension)), small_vectors.rows(np.arange(4))))
    folder = tmp_path / "german"
    folder.mkdir()
    p, card = np.full(len(words), 1e-2), {"space": small_vectors.digest}
    write_language_table(folder / "de.vectors", "de", words, rows, p, parts=small_vectors.dimension, card=card)
    with languages_in(folder), Index.create(tmp_path / "english", vectors=small_vectors, adapt=False) as index:
        index.add([Text(topic, f"{TOPICS[topic]}. {sentence(topic, 1)}") for topic in TOPICS])
        hits = index.search(question)
        assert {hit.language for hit in hits} == {language}


def test_a_stray_text_in_another_language_leaves_the_others_as_they_are(
    tmp_path: Path, tables: None, small_vectors: VectorTable
) -> None:
    english = [Text(f"{topic}-{n}", article(topic, n, paragraphs=1)) for topic in TOPICS for n in range(20)]
    stray = Text("stray", in_greek(article("sea", 99)))
    questions = [" ".join(TOPICS[topic].split()[3:6]) for topic in TOPICS]
    with Index.create(tmp_path / "without", vectors=small_vectors) as index:
        index.add(english)
        vectors, first = index.embed(questions), [index.search(question, k=1)[0].document for question in questions]
    with Index.create(tmp_path / "with", vectors=small_vectors) as index:
        index.add([*english, stray])
        assert index.status().languages == {"en": 120, "el": 1}
        assert index.search(in_greek("captain wave anchor"), k=1)[0].document == "stray"
        assert (index.embed(questions) * vectors).sum(axis=1) == pytest.approx(np.ones(len(questions)), abs=1e-3)
        assert [index.search(question, k=1)[0].document for question in questions] == first


def test_a_question_to_an_english_index_is_read_in_its_own_language(tmp_path: Path) -> None:
    questions = {
        "why does dough grow when leavened": None,
        "What makes leavened dough swell?": None,
        "warum wächst der Teig mit der Hefe": "de",
        "wie sagt man how does it grow, wenn der Teig größer wird": "de",
        "pourquoi la pâte gonfle avec la levure": "fr",
        "por qué crece la masa con la levadura": "es",
        "waarom rijst het deeg met gist": "nl",
        "почему тесто растёт от дрожжей": "ru",
    }
    with Index.create(tmp_path / "index") as index:
        index.add([Text("bread", "Bread rises because yeast makes gas."), Text("copper", "Copper conducts well.")])
        languages = {question: index.search(question, 1)[0].origin.language for question in questions}  # type: ignore[union-attr]
    assert languages == questions
