"""`SentenceEmbedder` among scikit-learn's estimators: its own checks, pipelines, searches over parameters, copies."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from packages import Later
from small import TOPICS, sentence

from semsearch import Method, SentenceEmbedder, VectorTable
from semsearch.errors import FitError, UsageError, VectorsError, VectorsMismatch
from semsearch.word_vectors.table_writer import TableWriter

TEXTS = [sentence(topic, number) for number in range(20) for topic in ("sea", "kitchen")]
LABELS = ["sea", "kitchen"] * 20
joblib, base, compose = Later("joblib"), Later("sklearn.base"), Later("sklearn.compose")
exceptions, linear_model = Later("sklearn.exceptions"), Later("sklearn.linear_model")
model_selection, pipeline = Later("sklearn.model_selection"), Later("sklearn.pipeline")
estimator_checks, utils = Later("sklearn.utils.estimator_checks"), Later("sklearn.utils")
CHECKS = [  # those of scikit-learn's that need no matrix of numbers as input
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_mixin_order",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
]


@pytest.fixture
def embedder(small_vectors: VectorTable) -> SentenceEmbedder:
    return SentenceEmbedder(small_vectors, method="usif", components=2)


@pytest.mark.filterwarnings("ignore:.*does not inherit from:UserWarning", "ignore:Can't test estimator")
def test_scikit_learn_has_nothing_to_say_against_it(embedder: SentenceEmbedder) -> None:
    estimator_checks.check_estimator(embedder)


@pytest.mark.parametrize("check", CHECKS)
def test_each_check_that_needs_no_numbers_passes(check: str, embedder: SentenceEmbedder) -> None:
    getattr(estimator_checks, check)("SentenceEmbedder", embedder)


def test_it_takes_strings_learns_without_y_and_transforms(embedder: SentenceEmbedder) -> None:
    tags = utils.get_tags(embedder)
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert not tags.target_tags.required
    assert tags.transformer_tags is not None
    assert not base.is_clusterer(embedder)


def test_y_is_ignored(embedder: SentenceEmbedder) -> None:
    with_y, without = base.clone(embedder).fit_transform(TEXTS, LABELS), base.clone(embedder).fit_transform(TEXTS)
    assert np.array_equal(with_y, without)
    assert np.array_equal(base.clone(embedder).partial_fit(TEXTS, LABELS).transform(TEXTS), without)


def test_parameters_are_kept_as_they_are_given(small_vectors: VectorTable) -> None:
    given = {"vectors": small_vectors, "method": "usif", "a": 0.5, "components": None, "frequencies": "corpus"}
    embedder = SentenceEmbedder(**given).fit(TEXTS)  # type: ignore[arg-type]
    assert {name: embedder.get_params()[name] for name in given} == given
    assert base.clone(embedder).get_params() == embedder.get_params()
    assert not base.clone(embedder).is_fitted


def test_a_changed_parameter_counts_from_the_next_fit(embedder: SentenceEmbedder) -> None:
    before = embedder.fit(TEXTS).transform(TEXTS)
    assert embedder.set_params(method="mean", components=0, unknown="pieces") is embedder
    assert np.array_equal(embedder.transform(TEXTS), before)
    assert not np.array_equal(embedder.fit(TEXTS).transform(TEXTS), before)


def test_a_parameter_that_there_is_not_is_refused(embedder: SentenceEmbedder) -> None:
    with pytest.raises(UsageError, match=r"SentenceEmbedder has no parameter 'm'; it has vectors, method, a, "):
        embedder.set_params(a=1.0, m=3)
    assert embedder.a is None


def test_what_is_not_fitted_says_so_as_scikit_learn_expects(embedder: SentenceEmbedder) -> None:
    for error in (exceptions.NotFittedError, FitError):
        with pytest.raises(error, match="call fit"):
            embedder.transform(TEXTS)
    with pytest.raises(exceptions.NotFittedError):
        utils.validation.check_is_fitted(embedder)
    utils.validation.check_is_fitted(embedder.fit(TEXTS))


def test_dimensions_have_names(embedder: SentenceEmbedder) -> None:
    with pytest.raises(exceptions.NotFittedError):
        embedder.get_feature_names_out()
    names = embedder.fit(TEXTS).get_feature_names_out()
    assert names[[0, -1]].tolist() == ["sentenceembedder0", "sentenceembedder23"]
    columns = compose.ColumnTransformer([("text", embedder, 0)]).fit(np.array([TEXTS], dtype=object).T)
    assert columns.get_feature_names_out()[0] == "text__sentenceembedder0"


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


def test_a_parameter_that_makes_no_sense_is_refused_by_fit(embedder: SentenceEmbedder) -> None:
    embedder.set_params(components=-1)
    with pytest.raises(UsageError, match="components must be between 0 and 24, not -1"):
        embedder.fit(TEXTS)
    with pytest.raises(UsageError, match="vectors must be word vectors, their name or their path, not 7"):
        SentenceEmbedder(7).fit(TEXTS)  # type: ignore[arg-type]


@pytest.mark.parametrize("texts", [[1.5, 2.5], [["ship", "sail"]], np.zeros((2, 2)), ["ship", None]])
def test_what_is_no_string_is_refused(embedder: SentenceEmbedder, texts: object) -> None:
    for ask in (embedder.fit, base.clone(embedder).fit(TEXTS).transform, embedder.fit_transform):
        with pytest.raises(UsageError, match=r"text \d is .*, not a string"):
            ask(texts)  # type: ignore[arg-type]


def test_what_is_no_collection_is_refused(embedder: SentenceEmbedder) -> None:
    with pytest.raises(UsageError, match="texts must be a list of strings, not None"):
        embedder.fit(None)  # type: ignore[arg-type]


def test_texts_come_in_any_collection(embedder: SentenceEmbedder) -> None:
    expected = embedder.fit(TEXTS).transform(TEXTS)
    for texts in (tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object), iter(TEXTS), dict.fromkeys(TEXTS)):
        assert np.array_equal(embedder.transform(texts), expected)


def test_word_vectors_are_found_by_their_name_or_path(small_vectors: VectorTable, tmp_path: Path) -> None:
    by_path, opened = SentenceEmbedder(small_vectors.folder), SentenceEmbedder(small_vectors)
    assert np.array_equal(by_path.fit_transform(TEXTS), opened.fit_transform(TEXTS))
    assert SentenceEmbedder().dimension == SentenceEmbedder("english").dimension == 256
    assert by_path.set_params(vectors="english").dimension == 24  # until it is fitted again
    assert by_path.fit(TEXTS).dimension == 256
    with pytest.raises(VectorsError, match="there are no word vectors"):
        SentenceEmbedder(tmp_path / "none").fit(TEXTS)


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


def test_a_copy_in_a_file_is_not_opened_with_other_word_vectors(tmp_path: Path) -> None:
    def table(value: float) -> VectorTable:
        shutil.rmtree(tmp_path / "v", ignore_errors=True)
        rows = np.array([[1.0, value], [2.0, -1.0]])
        return TableWriter(tmp_path / "v", dtype="float32").write(["a", "b"], rows, np.array([0.5, 0.5]), card={})

    joblib.dump(SentenceEmbedder(table(1.0)).fit(["a b"]), tmp_path / "opened.joblib")
    joblib.dump(SentenceEmbedder(tmp_path / "v").fit(["a b"]), tmp_path / "path.joblib")
    table(2.0)
    with pytest.raises(VectorsError, match="now has other word vectors"):
        joblib.load(tmp_path / "opened.joblib")
    with pytest.raises(VectorsMismatch, match="was fitted with the word vectors"):
        joblib.load(tmp_path / "path.joblib")


def test_it_says_what_it_is(small_vectors: VectorTable) -> None:
    assert repr(SentenceEmbedder()) == "SentenceEmbedder('english')"
    assert (
        repr(SentenceEmbedder("english", method="usif", a=0.5)) == "SentenceEmbedder('english', method='usif', a=0.5)"
    )
    assert repr(SentenceEmbedder(small_vectors).fit(TEXTS)).startswith("SentenceEmbedder(VectorTable('small', 115")


def test_embedding_does_not_load_scikit_learn() -> None:
    code = (
        "import sys\nfrom semsearch import SentenceEmbedder\nfrom semsearch.errors import FitError\n"
        "embedder = SentenceEmbedder()\n"
        "try:\n    embedder.transform(['a'])\nexcept FitError as error:\n    assert type(error) is FitError\n"
        "embedder.fit(['the ship sails']).transform(['a ship'])\nembedder.get_params()\n"
        "print([name for name in ('sklearn', 'rich', 'IPython') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_topics_of_the_small_world_are_told_apart(embedder: SentenceEmbedder) -> None:
    texts = [sentence(topic, number) for topic in TOPICS for number in range(10)]
    topics = [topic for topic in TOPICS for _ in range(10)]
    assert (
        pipeline.make_pipeline(embedder, linear_model.LogisticRegression()).fit(texts, topics).score(texts, topics)
        > 0.9
    )
