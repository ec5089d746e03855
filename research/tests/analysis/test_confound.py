"""Sections 3.2 and 3.3 of the uSIF paper: what the length of word vectors does to the probability of a sentence."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from semsearch.word_vectors.table import VectorTable
from semsearch.word_vectors.table_writer import TableWriter
from semsearch_research.analysis.confound import (
    MODELS,
    Likelihoods,
    assignment,
    by_formula,
    by_search,
    evaluate_confound,
    log_likelihood,
)

CASES = [(k, beta, sigma) for k in (0.3, 1, 2) for beta in (1, 2, 3.5) for sigma in (1, 0.8, 0.5)]


def transcribed(model: str, k: float, beta: float, sigma: float, ratio: float = 1) -> tuple[float, float]:
    """Equations (2), (5), (6) and (7), word by word, for C = 1: log p(g | c_g), log p(h | c_h)."""
    k1, k2 = k, ratio * k
    x = (beta * k1 * sigma, beta * k2 * (1 - sigma))
    y = (beta * k1 * (1 - sigma), beta * k2 * sigma)
    z = (k1, k2)

    def dot(one: tuple[float, float], two: tuple[float, float]) -> float:
        return one[0] * two[0] + one[1] * two[1]

    def log_p(words: list[tuple[float, float]]) -> float:
        c = (sum(word[0] for word in words) / len(words), sum(word[1] for word in words) / len(words))
        total = 0.0
        for word in words:
            if model == "log-linear":
                total += dot(c, word)
            else:
                cosine = dot(c, word) / math.sqrt(dot(c, c) * dot(word, word))
                total += math.log(1 - math.acos(min(cosine, 1)) / math.pi)
        return total

    return log_p([x, y]), log_p([z, z])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("k", "beta", "sigma"), CASES)
def test_formula_search_and_transcription_agree(model, k: float, beta: float, sigma: float) -> None:
    expected = pytest.approx(transcribed(model, k, beta, sigma), abs=1e-6)
    for found in (by_formula(model, k, beta, sigma), by_search(model, *assignment(k, beta, sigma))):
        assert (found.g, found.h) == expected


@pytest.mark.parametrize("ratio", [0.2, 0.9, 4])
@pytest.mark.parametrize(("k", "beta", "sigma"), CASES)
def test_where_k1_and_k2_differ_the_formulas_are_the_transcription(k: float, beta: float, sigma: float, ratio) -> None:
    for model in MODELS:
        found = by_formula(model, k, beta, sigma, ratio=ratio)
        assert (found.g, found.h) == pytest.approx(transcribed(model, k, beta, sigma, ratio), abs=1e-6)


def test_unlike_lengths_draw_the_mean_away_from_the_most_probable_discourse_vector() -> None:
    """Between two unlike words the most probable one lies midway, at 9/16, whatever their lengths."""
    ratios = [by_formula("angular", 1, ratio=ratio).ratio for ratio in (1, 2, 4, 1000)]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] == pytest.approx(9 / 16)
    assert ratios[-1] == pytest.approx(1 / 2, abs=1e-3)
    assert by_search("angular", *assignment(1, ratio=4)).ratio == pytest.approx(9 / 16)
    for ratio in (0.2, 4):  # equation (6) holds for all k1 and k2
        assert by_formula("log-linear", 1, ratio=ratio).ratio == pytest.approx(1)
        assert by_search("log-linear", *assignment(1, ratio=ratio)).ratio == pytest.approx(1)


@pytest.mark.parametrize("k", [0.1, 1, 7])
def test_the_papers_worst_case(k: float) -> None:
    assert by_formula("log-linear", k).ratio == pytest.approx(1)
    assert by_formula("angular", k).ratio == pytest.approx(9 / 16)
    assert by_formula("log-linear", k, 2.5).ratio > 1
    assert by_formula("angular", k, 2.5).ratio == pytest.approx(9 / 16)


def test_the_assignment_is_equation_4() -> None:
    g, h = assignment(3)
    assert g.tolist() == [[6, 0], [0, 6]]
    assert h.tolist() == [[3, 3], [3, 3]]
    x, y = assignment(3, sigma=0.5)[0]
    assert x.tolist() == y.tolist() == h[0].tolist()


def test_no_direction_is_better_than_the_one_that_is_found() -> None:
    generator = np.random.default_rng(2)
    for model in MODELS:
        g, h = assignment(1.3, 2.4, 0.9)
        found = by_search(model, g, h).g
        others = generator.normal(size=(500, 2))
        others *= np.linalg.norm(g.mean(axis=0)) / np.linalg.norm(others, axis=1, keepdims=True)
        assert log_likelihood(model, others, g).max() <= found + 1e-12


def test_a_ratio_that_no_float_holds_is_infinite_and_null_in_json() -> None:
    assert Likelihoods(2000.0, 4.0).ratio == math.inf
    assert Likelihoods(2000.0, 4.0).to_dict()["ratio"] is None
    assert Likelihoods(4.0, 2000.0).ratio == 0


def test_words_opposite_the_discourse_are_impossible_and_no_warning_is_given() -> None:
    assert log_likelihood("angular", np.array([[-1.0, 0]]), np.array([[1.0, 0]])).tolist() == [-math.inf]


# -- real words --------------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> VectorTable:
    """Equation (4) as word vectors, among words that are no such case."""
    rows = [[2, 0, 0], [0, 2, 0], [1, 1, 0], [0, 0, 1], [0.1, 0, -1], [0, 0, 0]]
    words = ["guitar", "fish", "bass", "rain", "snow", "nothing"]
    with TableWriter(tmp_path / "table", dtype="float32") as writer:
        writer.add(words, np.array(rows, dtype=np.float32))
        return writer.finish(np.full(6, 1e-7, dtype=np.float32), card={"name": "table"})


def test_words_that_are_the_worst_case_give_its_figures(table: VectorTable) -> None:
    real = evaluate_confound(words=("Guitar", "fish", "bass"), stretch=[2], vectors=table).real
    assert [word.word for word in real.words] == ["guitar", "fish", "bass"]
    assert [word.length for word in real.words] == pytest.approx([2, 2, math.sqrt(2)])
    assert real.cosines == pytest.approx((0, math.sqrt(0.5), math.sqrt(0.5)))
    plain, longer = real.models["log-linear"]
    assert plain.ratio == pytest.approx(1)
    assert longer.g == pytest.approx(4 * plain.g)
    assert longer.h == plain.h
    assert [found.ratio for found in real.models["angular"]] == pytest.approx([9 / 16, 9 / 16])
    assert real.even == pytest.approx(1)


def test_when_x_and_y_are_as_long_as_even_says_both_sentences_are_as_probable(small_vectors: VectorTable) -> None:
    first = evaluate_confound(words=("ship", "bread", "star"), vectors=small_vectors).real
    assert first.even is not None
    again = evaluate_confound(words=("ship", "bread", "star"), stretch=[first.even], vectors=small_vectors).real
    assert again.models["log-linear"][1].ratio == pytest.approx(1)
    assert again.models["angular"][0] == again.models["angular"][1]


def test_of_all_words_the_clearest_case_is_found(table: VectorTable) -> None:
    real = evaluate_confound(vectors=table).real
    assert {word.word for word in real.words[:2]} == {"guitar", "fish"}
    assert real.words[2].word == "bass"


def test_each_k_and_stretch_is_run_under_both_models(table: VectorTable) -> None:
    report = evaluate_confound([1, 2, 1], stretch=[2, 4], ratio=[1, 3], vectors=table)
    assert [(s.k, s.ratio, s.stretch, s.model) for s in report.scenarios] == [
        (k, ratio, stretch, model) for k in (1, 2) for ratio in (1, 3) for stretch in (2, 4) for model in MODELS
    ]
    assert report.published == {"p(g) / p(h), log-linear": 1, "p(g), angular": 9 / 16, "p(h), angular": 1}
