"""The embedder against the papers, and its laws."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from references import papers as reference
from small_tables import write_table

from semsearch import SentenceEmbedder, load_vectors
from semsearch.embedding import embedder as embedding
from semsearch.embedding.weights import METHODS
from semsearch.errors import FitError, SemsearchError, UsageError, VectorsMismatch
from semsearch.settings import PRIOR
from semsearch.word_vectors.table import VectorTable

SENTENCES = (Path(__file__).parents[1] / "golden" / "sentences.txt").read_text(encoding="utf-8").splitlines()
FEW = ["the cat sat", "dog runs", "a house", "the cat sat"]  # of rank three


def assert_close(ours: np.ndarray, expected: np.ndarray, by: float) -> None:
    """No number differs by more. (`pytest.approx` compares one number after the other, which takes seconds here.)"""
    np.testing.assert_allclose(ours, expected, rtol=0, atol=by)


Known = tuple[dict[str, np.ndarray], dict[str, float]]


@pytest.fixture(scope="module")
def english() -> VectorTable:
    return load_vectors("english")


@pytest.fixture(scope="module")
def known(english: VectorTable) -> Known:
    """The vector and the frequency of each word of the sentences."""
    words = {word for sentence in SENTENCES + FEW for word in reference.words(sentence)}
    found = sorted(word for word in words if english.id_of(word) >= 0)
    ids = np.array([english.id_of(word) for word in found])
    rows = english.rows(ids).astype(np.float64)
    return dict(zip(found, rows, strict=True)), dict(zip(found, english.frequencies[ids].tolist(), strict=True))


@pytest.mark.parametrize("m", [0, 1, 5])
def test_sif_agrees_with_the_paper(english: VectorTable, known: Known, m: int) -> None:
    vectors, p = known
    ours = SentenceEmbedder(english, method="sif", components=m).fit_transform(SENTENCES)
    assert_close(ours, reference.sif(SENTENCES, vectors, p, m=m), 1e-5)


@pytest.mark.parametrize("m", [0, 5])
def test_usif_agrees_with_the_paper(english: VectorTable, known: Known, m: int) -> None:
    vectors, p = known
    embedder = SentenceEmbedder(english, method="usif", components=m).fit(SENTENCES)
    expected = reference.usif(SENTENCES, vectors, p, a=embedder.weights_.a, m=m)
    assert_close(embedder.transform(SENTENCES), expected, 1e-5)


@pytest.fixture(
    scope="module",
    params=[(method, m) for method in ("sif", "usif") for m in (3, 20, 200)],
    ids=lambda param: "-".join(map(str, param)),
)
def literal(request: pytest.FixtureRequest, known: Known) -> tuple[str, int, np.ndarray]:
    """A method, a number of components, and the vectors of the sentences by the paper's words, fitted to `FEW`."""
    method, m = request.param
    by_the_paper = reference.sif if method == "sif" else reference.usif
    return method, m, by_the_paper(SENTENCES, *known, a=1e-3, m=m, fitted=FEW)


def test_of_more_components_than_there_are_all_are_removed_and_nothing_else(
    english: VectorTable, literal: tuple[str, int, np.ndarray]
) -> None:
    method, m, expected = literal
    embedder = SentenceEmbedder(english, method=method, components=m, a=1e-3).fit(FEW)
    assert len(embedder.common_.directions) == 3
    assert_close(embedder.transform(SENTENCES), expected, 1e-5)


def test_usif_takes_its_a_from_the_table_and_the_mean_length(english: VectorTable) -> None:
    embedder = SentenceEmbedder(english, method="usif").fit(SENTENCES)
    lengths = [len([w for w in reference.words(s) if english.id_of(w) >= 0]) for s in SENTENCES]
    n = float(np.mean([length for length in lengths if length]))
    everything = dict(enumerate(english.frequencies.tolist()))
    assert embedder.weights_.a == pytest.approx(reference.usif_a(everything, n), rel=1e-6)


def test_tfidf_agrees_with_equation_7(english: VectorTable, known: Known) -> None:
    vectors, _ = known
    ours = SentenceEmbedder(english, method="tfidf").fit_transform(SENTENCES)
    assert_close(ours, reference.tfidf(SENTENCES, vectors), 1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_few_texts_and_many_get_the_same_vectors(english: VectorTable, method: str) -> None:
    texts = [*SENTENCES, "the qwertzkollian sat on a fribblenax"]  # of unknown words, too
    embedder = SentenceEmbedder(english, method=method, components=3).fit(texts)
    many = embedder.transform(texts * 40)[: len(texts)]
    assert_close(many, np.vstack([embedder.transform([text]) for text in texts]), 2e-6)


@pytest.mark.parametrize("method", METHODS)
def test_rows_have_length_one_or_zero(small_vectors: VectorTable, method: str) -> None:
    texts = ["the ship and the harbour", "", "qqqq zzzz", "violin", "the"]
    vectors = SentenceEmbedder(small_vectors, method=method, prior=100).fit(texts).transform(texts)
    lengths = np.linalg.norm(vectors, axis=1)
    assert lengths[[1, 2]].tolist() == [0, 0]
    assert lengths[[0, 3, 4]] == pytest.approx(1, abs=1e-5)


def test_a_one_word_text_is_the_sign_of_its_vector_for_usif(small_vectors: VectorTable) -> None:
    embedder = SentenceEmbedder(small_vectors, method="usif", components=0).fit(["the violin"])
    word = small_vectors.rows(np.array([small_vectors.id_of("violin")]))[0]
    assert np.sign(embedder.transform(["violin"])[0]).tolist() == np.sign(word).tolist()
    assert np.ptp(np.abs(embedder.transform(["violin"])[0][word != 0])) < 1e-6


def test_a_column_that_is_zero_in_all_words_stays_zero(tmp_path: Path) -> None:
    rows = np.array([[1.0, 0.0, 2.0], [3.0, 0.0, -1.0]])
    table = write_table(tmp_path / "v", ["a", "b"], rows, np.array([0.5, 0.5]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectors = SentenceEmbedder(table, method="usif", components=0).fit(["a b"]).transform(["a b", "a"])
    assert vectors[:, 1].tolist() == [0, 0]
    assert np.isfinite(vectors).all()


def test_transform_never_learns(small_vectors: VectorTable) -> None:
    embedder = SentenceEmbedder(small_vectors).fit(["the ship and the harbour", "a star in the night"])
    before = embedder.to_bytes()
    embedder.transform(["the ship"] * 50)
    assert embedder.to_bytes() == before


def test_a_saved_embedder_gives_the_same_vectors(small_vectors: VectorTable) -> None:
    for method in METHODS:
        embedder = SentenceEmbedder(small_vectors, method=method, prior=50).fit(
            ["the ship and the harbour", "a star in the night"]
        )
        again = SentenceEmbedder.from_bytes(embedder.to_bytes(), small_vectors)
        assert np.array_equal(again.transform(["the harbour"]), embedder.transform(["the harbour"]))
        assert again.to_bytes() == embedder.to_bytes()


def test_an_embedder_of_other_word_vectors_is_refused(small_vectors: VectorTable, english: VectorTable) -> None:
    data = SentenceEmbedder(small_vectors).fit(["the ship"]).to_bytes()
    with pytest.raises(VectorsMismatch):
        SentenceEmbedder.from_bytes(data, english)


def test_arguments_that_cannot_be_meant_are_refused(small_vectors: VectorTable) -> None:
    with pytest.raises(UsageError):
        SentenceEmbedder(small_vectors, a=0).fit(["the ship"])
    with pytest.raises(UsageError):
        SentenceEmbedder(small_vectors, components=10_000).fit(["the ship"])
    with pytest.raises(UsageError):
        SentenceEmbedder(small_vectors, method="bert").fit(["the ship"])
    with pytest.raises(FitError):
        SentenceEmbedder(small_vectors).transform(["before fit"])
    with pytest.raises(UsageError):
        SentenceEmbedder(small_vectors).fit(["the ship"]).transform("one string")  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        SentenceEmbedder(small_vectors).fit("one string")


@pytest.mark.parametrize("method", ["sif", "usif"])
def test_with_the_least_a_and_the_greatest_prior_vectors_have_length_one(english: VectorTable, method: str) -> None:
    embedder = SentenceEmbedder(english, method=method, a=1e-12, prior=1e15).fit(SENTENCES)
    assert np.linalg.norm(embedder.transform([*SENTENCES, "the of and"]), axis=1) == pytest.approx(1, abs=1e-5)
    assert len(embedder.common_.directions) == embedder.chosen_.components


def test_any_damage_is_seen_or_harmless(small_vectors: VectorTable) -> None:
    data = SentenceEmbedder(small_vectors, method="tfidf").fit(["the ship"]).to_bytes()
    generator = np.random.default_rng(0)
    offsets = np.concatenate((generator.integers(0, 300, 300), generator.integers(len(data) - 900, len(data), 300)))
    for offset in offsets.tolist():
        damaged = bytearray(data)
        damaged[offset] = int(generator.integers(256))
        with suppress(SemsearchError):
            SentenceEmbedder.from_bytes(bytes(damaged), small_vectors)


def test_ten_sentences_keep_their_meaning_with_the_prior(english: VectorTable) -> None:
    """All ten are about bread, so that bread is what they have in common: without the prior it would be removed."""
    bread = [
        "Knead the bread dough for ten minutes.",
        "Bread is baked in a hot oven.",
        "The bread needs flour, water, salt and yeast.",
        "Let the bread dough rise in a warm place.",
        "Bake the bread until its crust is brown.",
        "Sourdough bread is made with a starter.",
        "Slice the bread when it has cooled.",
        "A bread oven keeps its heat for hours.",
        "Rye bread is darker than wheat bread.",
        "Salt slows the yeast in bread dough.",
    ]
    probes = ["How do I bake a loaf?", "How is the parliament elected?"]

    def margin(prior: float) -> float:
        embedder = SentenceEmbedder(english, components=5, prior=prior).fit(bread)
        loaf, parliament = (embedder.transform(probes) @ embedder.transform(bread).T).mean(axis=1)
        return float(loaf - parliament)

    assert margin(PRIOR) > margin(0) + 0.3
    assert margin(PRIOR) > 0.3


def test_a_large_corpus_is_fitted_by_an_even_sample(english: VectorTable, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text for text in SENTENCES[:40] for _ in range(3)]
    whole = SentenceEmbedder(english, prior=PRIOR).fit(texts)
    monkeypatch.setattr(embedding, "SAMPLE", 40)
    sampled = SentenceEmbedder(english, prior=PRIOR).fit(texts)
    assert_close(sampled.transform(texts), whole.transform(texts), 1e-6)
