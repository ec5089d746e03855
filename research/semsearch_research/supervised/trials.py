"""Sentence vectors as features of a supervised task: SIF paper, section 4.2, and uSIF paper, section 4.4.

The vectors are fixed; only a classifier is learned (`semsearch_research.supervised.projection`). SIF removes no
component here, since a linear projection can do that by itself; uSIF keeps its removal, of components of the training
sentences. What is chosen is chosen on the dev split, and the test split is looked at once, by what was chosen.

What the papers leave open, and where we differ:
- SIF's a is chosen first, by the first setting of the grid; then rate and regularisation are, with that a. The whole
  grid would take twice the time. The other methods have no a to choose.
- All vectors of a data set are multiplied by one number, so that the numbers in the training vectors are about one:
  rates and first weights then mean the same for all methods and word vectors.
- Adam, with 45 steps a round (batches of 10 to 500), for 20 rounds at most, until dev has not improved for three; the
  released program has batches of 25, Adam or AdaGrad, and a fixed number of rounds. Its hidden layer is taken over: 50
  sigmoids for relatedness, 150 else. Its projection has a bias; the paper's and ours have none.
- The average is over |s|, as the papers have it; in this experiment the released program divides by the sum of weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch import SentenceEmbedder, WordVectors
from semsearch.embedding.weights import usif_a
from semsearch_research.evaluate.cache import digest_of, versions
from semsearch_research.evaluate.pair_bootstrap import PairDraws
from semsearch_research.evaluate.sts_cosines import USIF_N
from semsearch_research.evaluate.sts_scores import pearson, spearman
from semsearch_research.supervised.descent import Pace, Setting, learn, probabilities
from semsearch_research.supervised.labelled import HIGHEST, Examples, LabelledTask
from semsearch_research.supervised.projection import (
    Array,
    Classifier,
    Inputs,
    PairClassifier,
    TextClassifier,
    one_hot,
    spread,
)
from semsearch_research.supervised.supervised_report import SupervisedRun, Trial, measure_of

SIF_A_GRID = (3e-2, 1e-2, 3e-3, 1e-3)  # SIF paper, appendix A.2: 10^-i and 3 × 10^-i with i = 2, 3
SETTINGS = (Setting(1e-3, 1e-5), Setting(1e-3, 1e-3), Setting(3e-4, 1e-5), Setting(3e-4, 1e-3))
_HIDDEN = {"relatedness": 50}
_OTHERS_HIDDEN = 150
_STEPS, _SMALLEST_BATCH, _LARGEST_BATCH = 45, 10, 500
_BATCH = 8192  # texts embedded at a time

Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Trials:
    """The trials of one method on one task with one seed."""

    task: LabelledTask
    method: str
    vectors: WordVectors
    a: Sequence[float]
    width: int
    examples: int | None
    seed: int
    progress: Report | None

    def inputs(self) -> dict[str, Any]:
        """All that the result depends on, for the cache."""
        return {
            "task": self.task.name,
            "files": digest_of(self.task.files),
            "vectors": self.vectors.digest,
            "method": self.method,
            "a": list(self.a) if self.method == "sif" else None,
            "width": self.width,
            "examples": self.examples,
            "seed": self.seed,
            "versions": versions("numpy", "scipy"),
        }

    def compute(self) -> dict[str, Any]:
        """Try all settings on dev and measure the best on test: a SupervisedRun as a dict, and draws of its figure."""
        train = drawn_examples(self.task.train, self.examples, self.seed)
        trials: list[Trial] = []
        best: tuple[Trial, Features, Classifier] | None = None
        for a, settings in self._plan(trials):
            features = Features(self.vectors, self.method, a, train)
            inputs, dev = features.of(train), features.of(self.task.dev)
            for setting in settings:
                trial, classifier = self._try(a, setting, train, inputs, dev)
                trials.append(trial)
                if best is None or trial.dev > best[0].dev:
                    best = trial, features, classifier
        assert best is not None  # the plan is never empty
        chosen, features, classifier = best
        p = probabilities(classifier, features.of(self.task.test))
        figures = figures_of(self.task, p, self.task.test)
        run = SupervisedRun(self.seed, chosen, figures, tuple(trials))
        return {"run": run.to_dict(), "draws": draws_of(self.task, p)}

    def _plan(self, trials: Sequence[Trial]) -> Iterator[tuple[float | None, Sequence[Setting]]]:
        """The plan of trials: each a with the first setting, then the best a, by the trials so far, with the others."""
        if self.method != "sif":
            yield None, SETTINGS
            return
        for a in self.a:
            yield a, SETTINGS[:1]
        yield max(trials, key=lambda trial: trial.dev).a, SETTINGS[1:]

    def _try(
        self, a: float | None, setting: Setting, train: Examples, inputs: Inputs, dev: Inputs
    ) -> tuple[Trial, Classifier]:
        generator = np.random.default_rng(self.seed)
        classes = HIGHEST if self.task.kind == "relatedness" else len(self.task.labels)
        kind = TextClassifier if self.task.kind == "texts" else PairClassifier
        hidden = _HIDDEN.get(self.task.kind, _OTHERS_HIDDEN)
        classifier = kind(self.vectors.dimension, self.width, hidden, classes, generator)
        what = f"{self.task.name}, {self.method}: {'' if a is None else f'a {a:g}, '}rate {setting.rate:g}"
        learned = learn(
            classifier,
            inputs,
            targets_of(self.task, train),
            lambda: _score(self.task, probabilities(classifier, dev)),
            setting=setting,
            pace=Pace(batch=min(max(len(train) // _STEPS, _SMALLEST_BATCH), _LARGEST_BATCH)),
            generator=generator,
            progress=partial(self.progress, what) if self.progress else None,
        )
        return Trial(a, setting.rate, setting.regularisation, learned.rounds, learned.score), classifier


class Features:
    """Makes a method's vectors of texts, fitted and scaled on the train split. Columns of (n, d) each."""

    def __init__(self, vectors: WordVectors, method: str, a: float | None, train: Examples) -> None:
        components = 0 if method == "sif" else None  # the projection can remove what it likes
        if method == "usif":
            a = usif_a(vectors.frequencies, USIF_N)
        self.embedder = SentenceEmbedder(vectors, method=method, a=a, components=components)
        self.embedder.fit([text for column in train.texts for text in column])
        squares = [float(np.mean(np.square(column))) for column in self._unscaled(train)]
        self.scale = np.float32(1 / max(sum(squares) / len(squares), 1e-30) ** 0.5)

    def of(self, examples: Examples) -> Inputs:
        """The vectors of examples, a column for each text of a pair."""
        return tuple(column * self.scale for column in self._unscaled(examples))

    def _unscaled(self, examples: Examples) -> Iterator[Array]:
        for column in examples.texts:
            parts = [column[first : first + _BATCH] for first in range(0, len(column), _BATCH)]
            sums = [self.embedder.raw(self.embedder.tokenize(part)) for part in parts]
            yield self.embedder.common_.remove(np.concatenate(sums))


def drawn_examples(train: Examples, count: int | None, seed: int) -> Examples:
    """Draw `count` examples without replacement; all of them if there are no more."""
    if count is None or count >= len(train):
        return train
    return train.take(np.sort(np.random.default_rng((seed, count)).permutation(len(train))[:count]))


def targets_of(task: LabelledTask, examples: Examples) -> Array:
    """Make the targets of examples. (n, K)"""
    if task.kind == "relatedness":
        return spread(examples.gold, HIGHEST)
    return one_hot(examples.gold.astype(np.int64), len(task.labels))


def figures_of(task: LabelledTask, p: npt.NDArray[np.float64], examples: Examples) -> dict[str, float]:
    """Compute the figures from probabilities (n, K): a score is Σ_k k p_k, a label the most probable one."""
    if task.kind != "relatedness":
        return {"accuracy": 100 * float(np.mean(p.argmax(axis=1) == examples.gold))}
    found = p @ np.arange(1.0, HIGHEST + 1)
    return {
        "pearson": 100 * pearson(found, examples.gold),
        "spearman": 100 * spearman(found, examples.gold),
        "mse": float(np.mean((found - examples.gold) ** 2)),
    }


def draws_of(task: LabelledTask, p: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Compute the figure that counts on draws of the test examples, from their probabilities. (n, K) -> (B,)

    They are the same draws for all methods and seeds.
    """
    draws = PairDraws(task.name, len(task.test))
    if task.kind == "relatedness":
        found = draws.pearson(p @ np.arange(1.0, HIGHEST + 1), task.test.gold)
    else:
        found = draws.mean(p.argmax(axis=1) == task.test.gold)
    return np.asarray(100 * found, dtype=np.float32)


def _score(task: LabelledTask, p: npt.NDArray[np.float64]) -> float:
    """The score on dev, by which settings are chosen."""
    return figures_of(task, p, task.dev)[measure_of(task.kind)]
