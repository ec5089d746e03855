"""Can a sentence's meaning be told from its vector? Sentences into their paraphrase groups.  White et al. 2015.

A linear machine learns the groups from two thirds of the sentences and is asked for the group of each of the others, in
three folds. Ours differs from the paper in the word vectors (theirs are word2vec's of Google News, here whichever are
given), in the text for paragraph vectors, and in C, which is chosen within each training fold (see linear_svm.py); the
accuracy at C = 1 is given too. The paper's URAE is its authors' MATLAB program with parameters trained elsewhere; only
its published figure is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch import SentenceEmbedder, WordVectors, arrays, embedding, text, word_vectors
from semsearch.errors import UsageError
from semsearch.word_vectors.table import WordVectorsLike
from semsearch_research.evaluate.cache import cached, versions
from semsearch_research.evaluate.inputs import check_positive, import_extra, is_distilled
from semsearch_research.evaluate.pair_bootstrap import PairDraws, Resampled
from semsearch_research.evaluate.retrieval import Figure
from semsearch_research.paraphrase import bags, kept_paragraphs, linear_svm, sentence_models
from semsearch_research.paraphrase.agreement import ModelComparison, mcnemar
from semsearch_research.paraphrase.bags import tokens
from semsearch_research.paraphrase.classify_report import ClassifyReport, ClassifyScore, GroupSizes
from semsearch_research.paraphrase.groups import ParaphraseGroups, read_paraphrases
from semsearch_research.paraphrase.kept_paragraphs import KeptParagraphs
from semsearch_research.paraphrase.linear_svm import Classified, classify
from semsearch_research.paraphrase.paragraph_vectors import PARAGRAPH_MODELS, ParagraphSettings
from semsearch_research.paraphrase.published_accuracies import is_expected, published_accuracies, published_sizes
from semsearch_research.paraphrase.sentence_models import MODELS, PCA_VARIANTS, Float, features_of
from semsearch_research.word_tables.conversion import open_vectors

Report = Callable[[str, int, int], None]
# what decides what is learned, which takes minutes, and need not follow every change of the program
_OURS = (linear_svm, sentence_models, bags, arrays, embedding, text, word_vectors)
DECISIVE = (*_OURS, *kept_paragraphs.DECISIVE)


def evaluate_classify(
    paths: Sequence[str | Path],
    *,
    models: Sequence[str] | None = None,
    vectors: WordVectorsLike = "english",
    a: float | None = None,
    components: int | None = None,
    cost: float | None = None,
    seed: int = 0,
    train_text: Sequence[str | Path] = (),
    paragraphs: ParagraphSettings | None = None,
    fresh: bool = False,
    progress: Report | None = None,
) -> ClassifyReport:
    """Measure the accuracies of sentence models on files of groups (`semsearch_research.paraphrase.groups`).

    `models` are by default all of `MODELS` that can be run; pv-dm and pv-dbow need `train_text`, and gensim.
    `cost` is the C of all folds, instead of one chosen within each. `seed` draws the folds. Results are kept unless
    `fresh`.
    Raises SourceError for broken files, UsageError, VectorsError, MissingExtra.
    """
    check_positive(C=cost)
    if not 0 <= seed < 2**32:
        raise UsageError(f"seed must be from 0 to {2**32 - 1:,}, not {seed}")
    chosen = _models(models, bool(train_text))
    data = read_paraphrases(map(Path, paths))
    trained = KeptParagraphs(
        data, [Path(path) for path in train_text], paragraphs or ParagraphSettings(), fresh, progress
    )
    opened = open_vectors(vectors)
    if any(model in PARAGRAPH_MODELS for model in chosen):
        import_extra("gensim.models.doc2vec", package="gensim", extra="papers")  # before long work
    SentenceEmbedder(opened, a=a, components=components).check()
    asked = {"a": a, "components": components, "cost": cost, "seed": seed}
    found: dict[tuple[str, str], Classified] = {}
    steps = len(data) * len(chosen)
    for number, (groups, model) in enumerate((groups, model) for groups in data for model in chosen):
        if progress:
            progress(f"{groups.name}: {model}", number, steps)
        found[groups.name, model] = _classified(groups, model, opened, trained, asked, fresh)
    return ClassifyReport(
        opened.name,
        is_distilled(opened),
        seed,
        trained.sentences if any(model in PARAGRAPH_MODELS for model in chosen) else 0,
        tuple(_sizes(groups) for groups in data),
        tuple(_score(groups, model, found[groups.name, model]) for groups in data for model in chosen),
        tuple(chain.from_iterable(_comparisons(groups, chosen, found) for groups in data)),
    )


def _models(asked: Sequence[str] | None, has_text: bool) -> list[str]:
    if asked is None:
        return [model for model in MODELS if has_text or model not in PARAGRAPH_MODELS]
    for model in asked:
        if model not in (*MODELS, *PCA_VARIANTS):
            raise UsageError(f"there is no model {model!r}; choose of {', '.join([*MODELS, *PCA_VARIANTS])}")
        if model in PARAGRAPH_MODELS and not has_text:
            raise UsageError(f"{model} is trained on a text of its own; give one with --train-text FILE")
    return list(dict.fromkeys(asked))


def _classified(
    groups: ParaphraseGroups,
    model: str,
    vectors: WordVectors,
    trained: KeptParagraphs,
    asked: Mapping[str, Any],
    fresh: bool,
) -> Classified:
    paragraphs: dict[str, Float] = {name: trained.of(groups.name, name) for name in PARAGRAPH_MODELS if name == model}
    inputs = {
        "model": model,
        "texts": groups.texts,
        "groups": groups.groups.tolist(),
        "vectors": vectors.digest,
        **asked,
        "paragraphs": trained.inputs if paragraphs else None,
        "versions": versions("scikit-learn", "numpy"),
    }

    def compute() -> dict[str, Any]:
        features = features_of(
            model,
            groups.texts,
            vectors,
            a=asked["a"],
            components=asked["components"],
            paragraphs=paragraphs,
        )
        return classify(features, groups.groups, cost=asked["cost"], seed=asked["seed"]).to_dict()

    return Classified.from_dict(cached("classify", inputs, compute, fresh=fresh, modules=DECISIVE))


def _sizes(groups: ParaphraseGroups) -> GroupSizes:
    return GroupSizes(
        groups.name,
        len(groups.texts),
        len(groups.names),
        len({token for text in groups.texts for token in tokens(text)}),
        groups.sizes,
        published_sizes(groups.name, len(groups.texts)),
    )


def _score(groups: ParaphraseGroups, model: str, found: Classified) -> ClassifyScore:
    folds = [found.fold == number for number in range(len(found.costs))]
    accuracies, at_1 = (
        tuple(100 * float((guess[fold] == groups.groups[fold]).mean()) for fold in folds)
        for guess in (found.predicted, found.usual)
    )
    published = published_accuracies(groups.name, len(groups.texts)).get(model)
    drawn, drawn_at_1 = (
        _interval(groups.name, guess == groups.groups, folds) for guess in (found.predicted, found.usual)
    )
    intervals = drawn.low, drawn.high, drawn_at_1.low, drawn_at_1.high
    return ClassifyScore(groups.name, model, found.dimension, accuracies, found.costs, at_1, published, *intervals)


def _interval(name: str, right: npt.NDArray[np.bool_], folds: Sequence[npt.NDArray[np.bool_]]) -> Figure:
    """The mean accuracy × 100 over the folds with its interval, by drawing the sentences of each fold anew."""
    drawn = (PairDraws(f"{name} {number}", int(fold.sum())).mean(right[fold]) for number, fold in enumerate(folds))
    each = zip(folds, drawn, strict=True)
    return Resampled.mean(Resampled(100 * float(right[fold].mean()), 100 * draws) for fold, draws in each).interval


def _comparisons(
    groups: ParaphraseGroups, models: Sequence[str], found: Mapping[tuple[str, str], Classified]
) -> list[ModelComparison]:
    """The comparisons of all pairs of models; the one that the paper has above comes first."""
    name, sentences = groups.name, len(groups.texts)
    compared = []
    for pair in combinations(models, 2):
        first, second = reversed(pair) if is_expected(name, sentences, *reversed(pair)) else pair
        counts = mcnemar(found[name, first].predicted, found[name, second].predicted, groups.groups)
        expected = is_expected(name, sentences, first, second)
        compared.append(ModelComparison(name, first, second, sentences, *counts, expected))
    return compared
