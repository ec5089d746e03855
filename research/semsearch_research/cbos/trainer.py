"""Train the word vectors that are compared: CBOS by train.cbos, skip-gram and CBOW by gensim, all on one text.

The text is read and stemmed once, and only if a training is not in the cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.embedding.weighted_sums import average
from semsearch.readers import text as plain_text
from semsearch.text.ragged import Ragged
from semsearch.text.sentences import sentence_spans
from semsearch.text.tokens import words
from semsearch_research import reread
from semsearch_research.cbos import gensim_vectors, stemmed
from semsearch_research.cbos.gensim_vectors import check_gensim, word2vec
from semsearch_research.cbos.stemmed import StemmedText, Stemming, read_stemmed
from semsearch_research.evaluate.cache import cached, digest_of, versions
from semsearch_research.train.cbos import CbosSettings, parts_of, start, train_round
from semsearch_research.train.corpus import Skipped, Stages, each_file, paragraphs_of

Float32 = npt.NDArray[np.float32]
_LIBRARIES = ("numpy", "scipy", "sentencex", "PyStemmer")


# what decides the vectors: if the program of one of these changes, all vectors are trained again
_TEXT = (plain_text.read, paragraphs_of, sentence_spans, words, Ragged)
DECISIVE = (gensim_vectors, reread, stemmed, train_round, each_file, parts_of, average, *_TEXT)


@dataclass(frozen=True, slots=True)
class TrainedVectors:
    """Trained vectors (V, d) of words (V), with the counts of the text and the seconds it took."""

    words: list[str]
    vectors: Float32
    sentences: int
    running_words: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Recipe:
    """The text to train on, and the settings that all trainings share."""

    corpus: tuple[Path, ...]
    sentences: int | None
    stem: bool
    dimension: int
    epochs: int
    batch: int
    min_count: int
    seed: int

    @property
    def settings(self) -> dict[str, Any]:
        """The settings, without the text."""
        return {name: value for name, value in asdict(self).items() if name not in ("corpus", "sentences")}


class TrainingText:
    """The text that is trained on: read when it is first needed, and once for all seeds."""

    def __init__(self, recipe: Recipe, skipped: Skipped, progress: Stages | None) -> None:
        self.recipe = recipe
        self.skipped = skipped
        self.progress = progress

    @cached_property
    def digest(self) -> str:
        """The digest of the files and folders of the text."""
        return digest_of(self.recipe.corpus)

    @cached_property
    def stemmed(self) -> StemmedText:
        """The text, read and stemmed."""
        recipe = self.recipe
        return read_stemmed(
            recipe.corpus,
            Stemming(stem=recipe.stem),
            limit=recipe.sentences,
            min_count=recipe.min_count,
            skipped=self.skipped,
            progress=self.progress,
        )


class Trainer:
    """Trains on one text with one seed; vectors trained before come from the cache."""

    def __init__(self, recipe: Recipe, fresh: bool, skipped: Skipped, progress: Stages | None) -> None:
        self.recipe = recipe
        self.fresh = fresh
        self.progress = progress
        self._source = TrainingText(recipe, skipped, progress)

    def seeded(self, seed: int) -> Trainer:
        """A trainer with another seed, on the same text."""
        other = copy(self)
        other.recipe = replace(self.recipe, seed=seed)
        return other

    @property
    def text(self) -> StemmedText:
        """The text, read and stemmed."""
        return self._source.stemmed

    def cbos(self, k: int, m: int) -> TrainedVectors:
        """Vectors by continuous bag of sentences."""
        recipe = self.recipe
        settings = CbosSettings(window=k, negatives=m, batch=recipe.batch, seed=recipe.seed)

        def train() -> Float32:
            state = start(len(self.text.words), recipe.dimension, recipe.seed)
            for _ in range(recipe.epochs):
                train_round(
                    self.text.sentences, state, settings, rounds=recipe.epochs, progress=self._named(f"CBOS {k=} {m=}")
                )
            return state.vectors

        inputs = self._inputs(k=k, m=m, batch=recipe.batch, rate=settings.rate, versions=versions(*_LIBRARIES))
        return self._kept("cbos", inputs, train)

    def word2vec(self, name: str) -> TrainedVectors:
        """Vectors by gensim's skip-gram or CBOW. Raises MissingExtra."""
        recipe = self.recipe

        def train() -> Float32:
            named, total = self._named(name), recipe.epochs * len(self.text.sentences)
            return word2vec(
                self.text.as_words,
                self.text.words,
                skip_gram=name == "skip-gram",
                dimension=recipe.dimension,
                epochs=recipe.epochs,
                seed=recipe.seed,
                progress=(lambda read: named("sentences of all rounds", read, total)) if named else None,
            )

        return self._kept(name.lower(), self._inputs(versions=versions(*_LIBRARIES, "gensim")), train, check_gensim)

    def _inputs(self, **further: Any) -> dict[str, Any]:
        """The inputs of a training, for the cache: all that trainings share except the batch, which only CBOS has."""
        shared = asdict(self.recipe) | {"corpus": self._source.digest}
        del shared["batch"]
        return shared | further

    def _kept(
        self, name: str, inputs: dict[str, Any], train: Callable[[], Float32], check: Callable[[], Any] = lambda: None
    ) -> TrainedVectors:
        """Take vectors from the cache, or train them; `check` is called before the text is read."""

        def compute() -> dict[str, Any]:
            check()
            text, begun = self.text, time.perf_counter()
            vectors = train()
            seconds = time.perf_counter() - begun
            counts = {"sentences": len(text.sentences), "running_words": int(text.counts.sum()), "seconds": seconds}
            return {"words": text.words, "vectors": vectors, **counts}

        return TrainedVectors(**cached(name, inputs, compute, fresh=self.fresh, modules=DECISIVE))

    def _named(self, name: str) -> Stages | None:
        report = self.progress
        return (lambda stage, done, total: report(f"{name}: {stage}", done, total)) if report else None
