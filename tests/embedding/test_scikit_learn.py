"""`SentenceEmbedder` among scikit-learn's estimators: its own checks, pipelines, searches over parameters, copies."""

from __future__ import annotations

import copy
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from packages import Later
from small import sentence

from semsearch import Method, SentenceEmbedder, VectorTable
from semsearch.errors import FitError

TEXTS = [sentence(topic, number) for number in range(20) for topic in ("sea", "kitchen")]
LABELS = ["sea", "kitchen"] * 20
joblib, base, compose = Later("joblib"), Later("sklearn.base"), Later("sklearn.compose")
exceptions, linear_model = Later("sklearn.exceptions"), Later("sklearn.linear_model")
model_selection, pipeline = Later("sklearn.model_selection"), Later("sklearn.pipeline")
estimator_checks, utils = Later("sklearn.utils.estimator_checks"), Later("sklearn.utils")


@pytest.fixture
def embedder(small_vectors: VectorTable) -> SentenceEmbedder:
    return SentenceEmbedder(small_vectors, method="usif", components=2)


@pytest.mark.filterwarnings("ignore:.*does not inherit from:UserWarning", "ignore:Can't test estimator")
def test_scikit_learn_has_nothing_to_say_against_it(embedder: SentenceEmbedder) -> None:
    estimator_checks.check_estimator(embedder)


def test_it_takes_strings_learns_without_y_and_transforms(embedder: SentenceEmbedder) -> None:
    tags = utils.get_tags(embedder)
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert not tags.target_tags.required
    assert tags.transformer_tags is not None
    assert not base.is_clusterer(embedder)


def test_a_changed_parameter_counts_from_the_next_fit(embedder: SentenceEmbedder) -> None:
    before = embedder.fit(TEXTS).transform(TEXTS)
    assert embedder.set_params(method="mean", components=0, unknown="pieces") is embedder
    assert np.array_equal(embedder.transform(TEXTS), before)
    assert not np.array_equal(embedder.fit(TEXTS).transform(TEXTS), before)


def test_what_is_not_fitted_says_so_as_scikit_learn_expects(embedder: SentenceEmbedder) -> None:
    for error in (exceptions.NotFittedError, FitError):
        with pytest.raises(error, match="call fit"):
            embedder.transform(TEXTS)
    with pytest.raises(exceptions.NotFittedError):
        utils.validation.check_is_fitted(embedder)
    utils.validation.check_is_fitted(embedder.fit(TEXTS))


def test_a_pipeline_learns_and_predicts(embedder: SentenceEmbedder) -> None:
    predictor = pipeline.make_pipeline(embedder, linear_model.LogisticRegression()).fit(TEXTS, LABELS)
    asked = [sentence("sea", 99), sentence("kitchen", 99)]
    assert predictor.predict(asked).tolist() == ["sea", "kitchen"]
    assert predictor.predict(np.array(asked)).tolist() == ["sea", "kitchen"]
    assert "SentenceEmbedder(VectorTable('small'" in repr(predictor)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_search_over_parameters_finds_the_better_ones(
    embedder: SentenceEmbedder, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))  # for the other processes
    predictor = pipeline.make_pipeline(embedder, linear_model.LogisticRegression())
    grid = {"sentenceembedder__components": [0, 24], "sentenceembedder__method": ["sif", "usif"]}
    search = model_selection.GridSearchCV(predictor, grid, cv=2, n_jobs=processes, error_score="raise").fit(
        TEXTS, LABELS
    )
    assert search.best_params_["sentenceembedder__components"] == 0  # with 24 of 24 removed nothing is left
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("unknown", ["skip", "pieces"])
@pytest.mark.parametrize("method", ["sif", "usif", "tfidf", Method("own", "sif", True, 2, False)])
def test_a_copy_gives_the_same_vectors(
    small_vectors: VectorTable, method: str | Method, unknown: str, tmp_path: Path
) -> None:
    texts = [*TEXTS, "zyx qwv"]
    embedder = SentenceEmbedder(small_vectors, method=method, prior=10, unknown=unknown).fit(TEXTS)  # type: ignore[arg-type]
    expected = embedder.transform(texts)
    joblib.dump(embedder, tmp_path / "e.joblib")
    for other in (copy.deepcopy(embedder), copy.copy(embedder), joblib.load(tmp_path / "e.joblib")):
        assert np.array_equal(other.transform(texts), expected)
        assert other.to_bytes() == embedder.to_bytes()
        assert repr(other) == repr(embedder)
        assert np.array_equal(other.partial_fit(TEXTS[:3]).transform(texts), copy.deepcopy(other).transform(texts))
        assert other.weights_digest == embedder.weights_digest
    assert copy.deepcopy(embedder).vectors is small_vectors
    assert not copy.deepcopy(base.clone(embedder)).is_fitted
