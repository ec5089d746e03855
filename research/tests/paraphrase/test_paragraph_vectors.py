"""Paragraph vectors by gensim: which sentences they are trained on, what is inferred, that it can be repeated."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from collections_made import write_groups
from packages import needed
from small import TOPICS, sentence

from semsearch.errors import SourceError
from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate import cache
from semsearch_research.paraphrase.bags import tokens
from semsearch_research.paraphrase.classification import evaluate_classify
from semsearch_research.paraphrase.groups import read_paraphrases
from semsearch_research.paraphrase.linear_svm import classify
from semsearch_research.paraphrase.paragraph_vectors import (
    PARAGRAPH_MODELS,
    ParagraphModel,
    ParagraphSettings,
    paragraph_vectors,
    training_sentences,
)
from semsearch_research.paraphrase.sentence_models import fixed

needed("gensim")

SMALL = ParagraphSettings(sentences=400, rounds=20, inference=20, dimension=12, window=3, least=2)
MANY = [sentence(topic, number) for number in range(60) for topic in TOPICS]
TEXTS = [sentence(topic, 1000 + number) for topic in ("sea", "law") for number in range(6)]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"{one} {other}\n" for one, other in zip(MANY[::2], MANY[1::2], strict=True)))
    return path


@pytest.fixture(scope="module")
def training() -> list[str]:
    return [" ".join(tokens(text)) for text in MANY]


# -- what is trained on ------------------------------------------------------------------------------------------------


def test_of_more_sentences_as_many_as_asked_are_drawn_each_as_likely(text: Path) -> None:
    found: Counter[str] = Counter()
    for seed in range(150):
        drawn = training_sentences([text], replace(SMALL, sentences=36, seed=seed))
        assert len(drawn) == len(set(drawn)) == 36
        found.update(drawn)
    early, late = (sum(found[" ".join(tokens(text))] for text in part) for part in (MANY[:180], MANY[180:]))
    assert early + late == 150 * 36
    assert early / (early + late) == pytest.approx(0.5, abs=0.03)  # 4 standard errors
    assert training_sentences([text], replace(SMALL, sentences=36)) == training_sentences(
        [text], replace(SMALL, sentences=36)
    )


# -- what is inferred --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", PARAGRAPH_MODELS)
def test_a_text_has_the_same_vector_in_whatever_company(model: ParagraphModel, training: list[str]) -> None:
    told: list[tuple[str, int, int]] = []
    vectors = paragraph_vectors(model, training, TEXTS, SMALL, progress=lambda *step: told.append(step))
    assert (vectors.shape, vectors.dtype) == ((12, 12), np.float32)
    assert told[-1] == (f"{model}: inferring", 12, 12)
    alone = paragraph_vectors(model, training, [TEXTS[3], "xyzzy plugh", ""], SMALL)
    assert alone[0].tolist() == vectors[3].tolist()
    assert not alone[1:].any()  # no word is known
    assert paragraph_vectors(model, training, TEXTS[:1], replace(SMALL, seed=1)).tolist() != vectors[:1].tolist()


# -- classified --------------------------------------------------------------------------------------------------------


def test_paragraph_vectors_are_classified_and_trained_once_for_all_files(
    text: Path, tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "cache_folder", lambda kind: tmp_path / "cache" / kind)
    paths = [write_groups(tmp_path / "one.tsv", [3, 3, 4]), write_groups(tmp_path / "two.tsv", [4, 5, 3, 3])]
    asked = {"vectors": small_vectors, "train_text": [text], "paragraphs": SMALL, "cost": 1.0}
    report = evaluate_classify(paths, models=["pv-dbow", "mowe"], **asked)
    assert report.training == len(MANY)
    training = training_sentences([text], SMALL)
    for path in paths:
        [read] = read_paraphrases([path])
        vectors = paragraph_vectors("pv-dbow", training, read.texts, SMALL).astype(np.float64)
        found = classify(fixed(vectors), read.groups, cost=1.0)
        [score] = [score for score in report.scores if (score.data, score.model) == (read.name, "pv-dbow")]
        folds = [100 * np.mean((found.predicted == read.groups)[found.fold == fold]) for fold in range(3)]
        assert score.folds == pytest.approx(folds)
        assert score.dimension == SMALL.dimension
    kept = [file.name for file in (tmp_path / "cache" / "evaluate").glob("paragraph-vectors-*")]
    assert len(kept) == 1
    monkeypatch.setattr("semsearch_research.paraphrase.kept_paragraphs.training_sentences", None)
    assert evaluate_classify(paths, models=["pv-dbow", "mowe"], **asked) == report  # from the cache
    changed = {**asked, "paragraphs": replace(SMALL, rounds=3)}
    with pytest.raises(TypeError):
        evaluate_classify(paths, models=["pv-dbow"], **changed)
    with pytest.raises(SourceError, match="cannot be read"):
        evaluate_classify(paths, models=["pv-dm"], **{**asked, "train_text": [tmp_path / "gone.txt"]})
