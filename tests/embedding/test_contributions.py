"""Why a hit has its score: the parts, which sum to it, against what the papers' formulas give by loops."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from references import explain as reference
from small import TOPICS, sentence, small_vectors, write_articles

from semsearch import Index, SentenceEmbedder, Text, VectorTable, load_vectors
from semsearch.arrays.vectors import from_bytes, to_bytes
from semsearch.embedding.weights import Method
from semsearch.errors import UsageError
from semsearch.results.explanation import Explanation
from semsearch.results.options import Mode
from semsearch.search.index_reader import IndexView
from semsearch.storage.document_rows import get_documents
from semsearch.storage.passage_rows import get_passages
from semsearch.text.terms import question_terms
from semsearch.text.text_lengths import heading_text
from semsearch.text.tokens import words
from semsearch.topics import topic_fit
from semsearch.topics.topic_model import Topics

TEXTS = [sentence(topic, number) for topic in TOPICS for number in range(30)]
QUESTION, SENTENCE = (
    "The captain of the ship sails: a storm, a storm!",
    "Every storm has a captain, every captain a ship.",
)
METHODS = {
    "sif": Method("sif", "sif", normalise=False, components=1, piecewise=False),
    "sif piecewise": Method("sif piecewise", "sif", normalise=False, components=1, piecewise=True),
    "usif": Method("usif", "usif", normalise=True, components=5, piecewise=True),
    "usif whole": Method("usif whole", "usif", normalise=True, components=5, piecewise=False),
    "tfidf": Method("tfidf", "idf", normalise=False, components=0, piecewise=False),
    "mean": Method("mean", "none", normalise=False, components=0, piecewise=False),
}
MODES: tuple[Mode, ...] = ("hybrid", "dense", "lexical")
QUESTIONS = [
    "the telescope and the comet",
    "a ship, a ship, an old ship and a zyzzyva",
    "captain's rope-deck",
]


# -- the words of a text -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [0, 1, 5])
@pytest.mark.parametrize("name", METHODS)
def test_pairs_agree_with_the_formula_and_sum_to_the_cosine(small_vectors: VectorTable, name: str, m: int) -> None:
    embedder = SentenceEmbedder(small_vectors, method=METHODS[name], components=m).fit(TEXTS)
    left, right = embedder.shares(QUESTION), embedder.shares(SENTENCE)
    found = left.rows @ right.rows.T
    vectors = dict(zip(small_vectors.words, small_vectors.rows(np.arange(len(small_vectors))), strict=True))
    weights = dict(zip(small_vectors.words, embedder.weights_.of(slice(None)).tolist(), strict=True))
    common = embedder.common_
    literal = reference.pairs(
        words(QUESTION), words(SENTENCE), vectors, weights, common.directions, common.strengths,
        normalise=METHODS[name].normalise,
    )  # fmt: skip
    for names, axis in (
        ([w for w in words(QUESTION) if w in vectors], 0),
        ([w for w in words(SENTENCE) if w in vectors], 1),
    ):
        starts = [[position for position, each in enumerate(names) if each == name] for name in dict.fromkeys(names)]
        literal = np.stack([literal.take(positions, axis).sum(axis) for positions in starts], axis)
    assert found == pytest.approx(literal, abs=1e-5)
    cosine = float(np.dot(*embedder.transform([QUESTION, SENTENCE])))
    assert found.sum() == pytest.approx(cosine, abs=1e-5)
    assert np.abs(found).max() > 0.1


def test_words_that_only_their_pieces_make_known_have_shares() -> None:
    table = load_vectors("english")
    for method in ("sif", "usif"):
        embedder = SentenceEmbedder(table, method=method, unknown="pieces").fit(TEXTS)
        shares = embedder.shares("The harbourships and a ცცც")
        assert (shares.words, shares.unknown) == (("the", "harbourships", "and", "a"), ("ცცც",))
        assert shares.rows.sum(axis=0) == pytest.approx(embedder.transform(["The harbourships and a ცცც"])[0], abs=1e-5)
        assert np.linalg.norm(shares.rows[1]) > 0.1


# -- the parts of a score ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    write_articles(folder, 30)
    (folder / "odd.md").write_text("# Odd\n\nZyzzyva frindle. Frindle!\n\n## Last\n\nA ship. A frindle, a zorble.\n")
    return folder


@pytest.fixture(scope="module", params=["adapted", "plain", "usif", "two segments"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, docs: Path) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("explain")
    made_with = {"method": "usif"} if request.param == "usif" else {"components": 1}
    adapt = request.param in ("adapted", "two segments")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topic_fit, "LEAST", 20)
        patch.setattr(topic_fit, "DIMENSION", 8)
        with Index.create(folder / "index", vectors=small_vectors(folder), adapt=adapt, **made_with) as made:  # type: ignore[arg-type]
            made.sync(docs)
            if request.param == "two segments":
                made.add([Text("late", "A telescope and the captain of a ship. The comet is a violin.")])
                made.add([Text("gone", "A telescope and a comet.")])
                made.remove("gone")
            assert (made.status().adapted is not None) == adapt
            yield made


def bm25(found: Explanation) -> float:
    return sum(term.score for term in found.terms)


def cosine_of(found: Explanation) -> float:
    return sum(part.weight * part.cosine for part in found.cosines)


def check_sums(found: Explanation) -> None:
    points, weights = found.points, found.weights
    assert found.score == pytest.approx(sum(points.values()), abs=1e-6)
    assert points.get("lexical", 0) == pytest.approx(weights.lexical * bm25(found) / weights.best, abs=1e-6)
    if found.cosines:
        assert points.get("dense", 0) == pytest.approx(weights.dense * cosine_of(found), abs=1e-6)
        assert sum(part.weight for part in found.cosines) == pytest.approx(1)
    for part in found.cosines:
        assert part.cosine == pytest.approx(sum(word.share for word in part.words), abs=1e-6)
        assert len({word.word for word in part.words}) == len(part.words)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_parts_sum_to_the_score(index: Index, question: str, mode: Mode) -> None:
    hits = index.search(question, 100, mode=mode)
    assert hits
    for hit in [*hits[:5], *hits[5:-2:20], *hits[-2:]]:  # the last ones have no word of the question
        found = hit.explain()
        check_sums(found)
        assert (found.query, found.mode) == (question, mode)
        assert found.score == pytest.approx(hit.score, abs=1e-5)
        assert cosine_of(found) == pytest.approx(hit.dense or 0, abs=1e-5)
        assert bm25(found) == pytest.approx(hit.lexical or 0, rel=1e-5)


def test_the_cosines_are_those_of_the_texts(index: Index) -> None:
    question = "The captain's telescope, captain"
    with index._database.reading() as db:
        snapshot = index.searcher._current(db)
        embedder, topics = IndexView(db, snapshot).embedder, snapshot.topics
        assert embedder is not None
        (asked,) = embedder.transform([question])
        for hit in index.search(question, 20, mode="dense"):
            found = hit.explain()
            passage = get_passages(db, [hit.passage_id])[hit.passage_id]
            heading = heading_text(hit.title, hit.headings)
            tokens = embedder.tokenize([heading, *passage.sentence_texts])
            expected = {
                "passage": embedder.transform_ragged(tokens.joined(np.array([0, len(tokens)])))[0] @ asked,
                "sentence": from_bytes(to_bytes(embedder.transform([found.sentence])))[0] @ asked,  # as it is stored
            }
            (document,) = get_documents(db, [passage.document_id]).values()
            (title,) = embedder.transform([document.descriptive_title], [document.language])
            if title.any():
                expected["title"] = title @ asked
            if topics is not None:
                expected["topics"] = topics.of_passage(heading, hit.passage) @ topics.of_terms(question_terms(question))
            cosines = {part.of: part.cosine for part in found.cosines}
            assert cosines == {of: pytest.approx(cosine, abs=2e-3) for of, cosine in expected.items()}


def test_terms_are_named_as_in_the_question_and_counted_in_the_passage(index: Index) -> None:
    (hit,) = (hit for hit in index.search("zorbles and the Frindle-zorble", 5) if hit.headings[-1:] == ("Last",))
    found = hit.explain()
    assert [(term.word, term.count) for term in found.terms] == [
        ("zorbles", 1), ("frindle", 1), ("zorble", 1), ("frindle-zorble", 0),
    ]  # fmt: skip
    by_word = {term.word: term.score for term in found.terms}
    assert by_word["zorbles"] == pytest.approx(by_word["zorble"])
    assert by_word["frindle-zorble"] == 0
    (other,) = (hit for hit in index.search("zorble", 5) if hit.headings[-1:] == ("Last",))
    assert by_word["zorble"] == pytest.approx(other.lexical, rel=1e-5)


def test_a_question_without_any_known_word_is_explained_by_its_words(
    index: Index, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        hits = index.search("zorble")
    found = hits[0].explain()
    check_sums(found)
    assert found.unknown == ("zorble",)
    assert found.score == pytest.approx(hits[0].score, abs=1e-5)
    if not found.cosines:
        assert (found.points["lexical"], found.weights.lexical) == (pytest.approx(1), 1)
    else:
        assert [part.of for part in found.cosines] == ["topics"]  # the corpus has taught it


# -- asking for it -------------------------------------------------------------------------------------------------


def test_an_index_explains_any_passage_for_any_question(index: Index) -> None:
    (hit, *_) = index.search("zorble frindle")
    expected = {each.passage_id: each.score for each in index.search("the old ship", 1000)}
    found = index.explain("the old ship", hit)
    check_sums(found)
    assert found.score == pytest.approx(expected[hit.passage_id], abs=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_an_index_explains_the_very_score_of_a_hit_among_filtered_documents(index: Index, mode: Mode) -> None:
    question = "the captain of the old ship and a court"
    for hit in index.search(question, 5, mode=mode, filters=["law-5.md"]):
        assert index.explain(question, hit) == hit.explain()
        assert index.explain(question, hit).score == pytest.approx(hit.score, abs=1e-5)
        elsewhere = index.explain(question, replace(hit, origin=None), mode=mode)
        assert elsewhere.mode == mode
    if mode == "hybrid":  # the best of all documents is better than the best of these
        assert elsewhere.score != pytest.approx(hit.score, abs=1e-3)


def test_a_hit_keeps_no_index_open(tmp_path: Path, docs: Path) -> None:
    vectors = small_vectors(tmp_path)
    with Index.create(tmp_path / "index", vectors=vectors) as index:
        index.sync(docs)
    with Index.open(tmp_path / "index", vectors=vectors) as other:
        (hit, *_) = other.search("ship")
    del other
    gc.collect()
    with pytest.raises(UsageError, match=r"index was closed; use index\.explain\(query, hit\)"):
        hit.explain()
    with Index.open(tmp_path / "index", vectors=vectors) as again:
        assert again.explain("ship", hit).score == pytest.approx(hit.score, abs=1e-5)


def test_what_cannot_be_meant_is_refused(index: Index) -> None:
    (hit, *_) = index.search("ship")
    with pytest.raises(UsageError, match="no words"):
        index.explain("?!", hit)
    with pytest.raises(UsageError, match="mode must be one of"):
        index.explain("ship", hit, mode="magic")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a hit"):
        index.explain("ship", "docs/a.md")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no longer in the index"):
        index.explain("ship", replace(hit, passage="Something else."))


# -- topics and terms ----------------------------------------------------------------------------------------------


def test_shares_of_terms_sum_to_their_topics() -> None:
    generator = np.random.default_rng(0)
    terms = np.sort(question_terms("ship sail harbour captain wave"))
    loadings = generator.standard_normal((len(terms), 3)).astype(np.float32)
    topics = Topics.of(terms, np.arange(1, len(terms) + 1, dtype=np.float32), loadings, 10)
    for question in ("ship ships captain zyzzyva", "wave", "zyzzyva", "captain captain captain wave"):
        asked = question_terms(question)
        shares = topics.shares(asked)
        assert shares.shape == (len(asked), 3)
        assert shares.sum(axis=0) == pytest.approx(topics.of_terms(asked), abs=1e-6)
    twice = topics.shares(question_terms("ship captain ships"))
    assert twice[0].tolist() == twice[2].tolist()
