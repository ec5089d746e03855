"""Sentences into their paraphrase groups: files, bags, the machine in folds, shared errors, the published figures."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import scipy
from collections_made import write_groups
from small import TOPICS, sentence

from semsearch import SentenceEmbedder
from semsearch.errors import MissingExtra, SourceError
from semsearch.text.tokens import words
from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate import cache
from semsearch_research.paraphrase.agreement import mcnemar
from semsearch_research.paraphrase.bags import bags, tokens
from semsearch_research.paraphrase.classification import evaluate_classify
from semsearch_research.paraphrase.groups import read_paraphrases
from semsearch_research.paraphrase.linear_svm import COSTS, FOLDS, best_cost, classify, split
from semsearch_research.paraphrase.sentence_models import (
    embedded,
    fixed,
    mean_of_words,
    principal_components,
    sum_of_words,
)

UNTRAINED = ("mowe", "sowe", "bow", "pca-bow", "sif", "usif")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "cache_folder", lambda kind: tmp_path / "cache" / kind)
    return tmp_path / "cache" / "evaluate"


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    return write_groups(tmp_path / "topics.tsv", [3, 4, 3, 5, 7, 3])


# -- files -------------------------------------------------------------------------------------------------------------


def test_groups_have_their_sentences_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes(
        "\ufeffb\t1\tOne.\r\na\t2\tTwo.\textra\n\nb\t3\tThree.\nb\t4\tFour.\na\t\t Five \na\t6\tSix\n".encode()
    )
    [read] = read_paraphrases([path])
    assert (read.name, read.names) == ("x", ("b", "a"))
    assert read.texts == ("One.", "Two.", "Three.", "Four.", "Five", "Six")
    assert read.groups.tolist() == [0, 1, 0, 0, 1, 1]
    assert read.sizes == {3: 2}


THREE = "a\t1\tone\na\t2\ttwo\na\t3\tthree\n"
BROKEN = {
    "two columns": (
        "b\tfour\n",
        r"x\.tsv, line 4: expected a group, an id and a sentence, between tabs, found 'b\\tfour'",
    ),
    "no group": (" \t4\tfour\n", r"x\.tsv, line 4: expected a group"),
    "no sentence": ("b\t4\t \n", r"x\.tsv, line 4: expected a group"),
    "a group of one": ("\nb\t4\tfour\n", r"x\.tsv, line 5: the group 'b' has 1 sentence, and needs at least 3"),
    "a group of two": ("b\t4\tfour\nb\t5\tfive\n", r"x\.tsv, line 4: the group 'b' has 2 sentences"),
    "the same twice": ("b\t4\ttwo\n", r"x\.tsv, line 4: this sentence is in line 2 already"),
    "one group": ("", r"x\.tsv has 1 groups; there must be two"),
}


@pytest.mark.parametrize("case", list(BROKEN))
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, case: str) -> None:
    line, said = BROKEN[case]
    (tmp_path / "x.tsv").write_text(THREE + line)
    with pytest.raises(SourceError, match=said):
        read_paraphrases([tmp_path / "x.tsv"])


# -- vectors -----------------------------------------------------------------------------------------------------------


def test_bags_count_each_token_of_each_text() -> None:
    texts = ["a b, a", "", "b; C c"]
    columns = sorted({token for text in texts for token in tokens(text)})
    expected = [[Counter(tokens(text))[token] for token in columns] for text in texts]
    assert bags(texts).tolist() == expected


def test_mean_and_sum_are_of_the_words_that_have_a_vector(small_vectors: VectorTable) -> None:
    texts = ["the ship xyzzy the", "plugh", "bread", ""]
    rows = small_vectors.rows(np.arange(len(small_vectors))).astype(np.float64)
    table = dict(zip(small_vectors.words, rows, strict=True))
    for row, text in enumerate(texts):
        known = [table[word] for word in words(text) if word in table]
        total = np.sum(known, axis=0) if known else np.zeros(small_vectors.dimension)
        assert sum_of_words(texts, small_vectors)[row] == pytest.approx(total, abs=1e-5)
        assert mean_of_words(texts, small_vectors)[row] == pytest.approx(total / max(len(known), 1), abs=1e-5)


def test_principal_components_know_nothing_of_the_rows_that_are_tested_on() -> None:
    generator = np.random.default_rng(0)
    counts = generator.poisson(0.5, size=(20, 12)).astype(float)
    train, test = np.arange(12), np.arange(12, 20)
    features = principal_components(counts, most=5)
    known, new = features(train, test)
    centred = counts[train] - counts[train].mean(axis=0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:5]
    assert np.abs(known) == pytest.approx(np.abs(centred @ directions.T))
    assert np.abs(new) == pytest.approx(np.abs((counts[test] - counts[train].mean(axis=0)) @ directions.T))
    counts[test] = 100
    assert features(train, test)[0] == pytest.approx(known)
    assert principal_components(counts)(train[:4], test)[0].shape == (4, 4)  # no more than there are rows


@pytest.mark.parametrize("method", ["sif", "usif"])
def test_components_are_those_of_the_training_sentences(small_vectors: VectorTable, method: str) -> None:
    texts = [sentence(topic, number) for topic in TOPICS for number in range(3)]
    train, test = np.arange(0, 18, 2), np.arange(1, 18, 2)
    known, new = embedded(texts, small_vectors, method)(train, test)
    fitted = SentenceEmbedder(small_vectors, method=method).fit([texts[row] for row in train])
    assert known == pytest.approx(fitted.transform([texts[row] for row in train]))
    assert new == pytest.approx(fitted.transform([texts[row] for row in test]))
    on_all = SentenceEmbedder(small_vectors, method=method).fit(texts).transform([texts[row] for row in test])
    assert np.abs(new - on_all).max() > 1e-3


# -- the machine -------------------------------------------------------------------------------------------------------


def blobs(per_class: int = 6, *, spread: float = 0.3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points around four centres."""
    generator = np.random.default_rng(seed)
    classes = np.repeat(np.arange(4), per_class)
    centres = generator.standard_normal((4, 5))
    return centres[classes] + spread * generator.standard_normal((len(classes), 5)), classes


def test_every_fold_has_of_each_class_a_third() -> None:
    classes = np.repeat(np.arange(4), [3, 4, 6, 10])
    folds = split(classes, FOLDS, 0)
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(len(classes)))
    for train, test in folds:
        assert not set(train) & set(test)
        for size, found in zip([3, 4, 6, 10], np.bincount(classes[test], minlength=4), strict=True):
            assert size // 3 <= found <= -(-size // 3)
    assert [test.tolist() for _, test in folds] != [test.tolist() for _, test in split(classes, FOLDS, 1)]


def test_points_that_can_be_told_apart_are() -> None:
    points, classes = blobs()
    found = classify(fixed(points), classes)
    assert found.predicted.tolist() == classes.tolist()
    assert found.dimension == 5
    assert np.bincount(found.fold).tolist() == [8, 8, 8]
    assert set(found.costs) <= set(COSTS)


def test_no_sentence_is_asked_about_that_was_learned() -> None:
    """Features that tell which rows they are asked for: all that is ever learned is of the training fold."""
    points, classes = blobs()
    asked: list[tuple[set[int], set[int]]] = []

    def features(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        asked.append((set(train.tolist()), set(test.tolist())))
        return points[train], points[test]

    classify(features, classes)
    assert all(not train & test for train, test in asked)
    for first in range(0, 9, 3):  # two inner folds, then the fold itself
        (*inner, (train, _)) = asked[first : first + 3]
        assert all(one | other == train for one, other in inner)


def test_the_cost_is_chosen_by_the_training_fold_alone() -> None:
    points, classes = blobs(spread=1.0)
    train = split(classes, FOLDS, 0)[0][0]
    chosen = best_cost(fixed(points), classes, train, seed=0)
    elsewhere, others = points.copy(), classes.copy()
    outside = np.setdiff1d(np.arange(len(classes)), train)
    elsewhere[outside], others[outside] = 1e6, 0
    assert best_cost(fixed(elsewhere), others, train, seed=0) == chosen


# -- how models differ -------------------------------------------------------------------------------------------------


def test_mcnemar_asks_whether_differences_fall_evenly() -> None:
    truth = np.zeros(12, dtype=np.int64)
    one = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1])
    other = np.array([0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1])
    assert mcnemar(one, other, truth) == (7, 1, pytest.approx(2 * scipy.stats.binom.cdf(1, 8, 0.5)))
    assert mcnemar(other, one, truth)[:2] == (1, 7)
    assert mcnemar(one, one, truth) == (0, 0, 1.0)


# -- all together ------------------------------------------------------------------------------------------------------


def test_models_are_measured_on_every_file(tmp_path: Path, groups: Path, small_vectors: VectorTable) -> None:
    other = write_groups(tmp_path / "other.tsv", [4, 4, 4])
    report = evaluate_classify([groups, other], vectors=small_vectors)
    assert [(score.data, score.model) for score in report.scores] == [
        (name, model) for name in ("topics", "other") for model in UNTRAINED
    ]
    assert [(sizes.sentences, sizes.groups, dict(sizes.sizes)) for sizes in report.sizes] == [
        (25, 6, {3: 3, 4: 1, 5: 1, 7: 1}),
        (12, 3, {4: 3}),
    ]
    assert report.sizes[1].tokens == bags(read_paraphrases([other])[0].texts).shape[1]
    best = {score.model: score.accuracy for score in report.scores if score.data == "topics"}
    assert best["sif"] > 80  # a topic's words are near each other
    assert best["sif"] > best["bow"]
    assert report.training == 0
    assert len(report.comparisons) == 2 * 15
    assert not any(pair.expected for pair in report.comparisons)  # no data of the paper


def test_a_score_is_the_mean_of_its_folds(groups: Path, small_vectors: VectorTable) -> None:
    [score] = evaluate_classify([groups], models=["bow"], vectors=small_vectors).scores
    read = read_paraphrases([groups])[0]
    found = classify(fixed(bags(read.texts)), read.groups)
    folds = [100 * np.mean((found.predicted == read.groups)[found.fold == fold]) for fold in range(3)]
    assert score.folds == pytest.approx(folds)
    assert score.accuracy == pytest.approx(np.mean(folds))
    assert score.spread == pytest.approx(np.std(folds))
    assert score.costs == found.costs
    assert score.published is None
    assert set(score.to_dict()) >= {"accuracy", "folds", "C", "accuracy at C = 1", "published"}


def test_a_result_is_kept_until_something_changes(
    groups: Path, small_vectors: VectorTable, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = evaluate_classify([groups], models=["bow"], vectors=small_vectors)
    monkeypatch.setattr("semsearch_research.paraphrase.classification.classify", None)  # nothing can be computed
    assert evaluate_classify([groups], models=["bow"], vectors=small_vectors) == first
    for changed in ({"seed": 1}, {"cost": 1.0}, {"models": ["mowe"]}, {"fresh": True}):
        with pytest.raises(TypeError):
            evaluate_classify([groups], **{"models": ["bow"], "vectors": small_vectors, **changed})
    groups.write_text(groups.read_text() + "sea\tnew\tA rope.\n")
    with pytest.raises(TypeError):
        evaluate_classify([groups], models=["bow"], vectors=small_vectors)


def test_a_package_that_is_missing_is_named_before_anything_is_done(
    groups: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models.doc2vec", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\./research"):
        evaluate_classify([groups], models=["pv-dm"], vectors=small_vectors, train_text=[groups])
