"""The trainings that are compared: CBOS by semsearch.train, skip-gram and CBOW by gensim, all of one text.

The text is read and stemmed once, and only where a training is not in the cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.evaluate.cache import digest_of, versions
from semsearch.evaluate.cbos.gensim_vectors import check_gensim, word2vec
from semsearch.evaluate.cbos.kept_vectors import Trained, kept
from semsearch.evaluate.cbos.stemmed import StemmedText, Stemming, read_stemmed
from semsearch.train.cbos import Settings, start, train_round
from semsearch.train.corpus import Skipped, Stages

Float32 = npt.NDArray[np.float32]
_LIBRARIES = ("numpy", "scipy", "sentencex", "PyStemmer")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is trained on, and what all trainings share."""

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
        """All but the text."""
        return {name: value for name, value in asdict(self).items() if name not in ("corpus", "sentences")}


class Trainer:
    """Trains on one text, which is read when it is first needed; what was trained before comes from the cache."""

    def __init__(self, recipe: Recipe, fresh: bool, skipped: Skipped, progress: Stages | None) -> None:
        self.recipe = recipe
        self.fresh = fresh
        self.skipped = skipped
        self.progress = progress

    @cached_property
    def digest(self) -> str:
        """Of the files and folders of the text."""
        return digest_of(self.recipe.corpus)

    @cached_property
    def text(self) -> StemmedText:
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

    def cbos(self, k: int, m: int) -> Trained:
        """Vectors by continuous bag of sentences."""
        recipe = self.recipe
        settings = Settings(window=k, negatives=m, batch=recipe.batch, seed=recipe.seed)

        def train() -> Float32:
            state = start(len(self.text.words), recipe.dimension, recipe.seed)
            for _ in range(recipe.epochs):
                train_round(
                    self.text.sentences, state, settings, rounds=recipe.epochs, progress=self._named(f"CBOS {k=} {m=}")
                )
            return state.vectors

        inputs = self._inputs(k=k, m=m, batch=recipe.batch, rate=settings.rate, versions=versions(*_LIBRARIES))
        return kept("cbos", inputs, lambda: self._timed(train), fresh=self.fresh)

    def word2vec(self, name: str) -> Trained:
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

        def checked() -> Trained:
            check_gensim()  # before the text is read
            return self._timed(train)

        inputs = self._inputs(versions=versions(*_LIBRARIES, "gensim"))
        return kept(name.lower(), inputs, checked, fresh=self.fresh)

    def _inputs(self, **further: Any) -> dict[str, Any]:
        """What the vectors depend on, for the cache: all that is shared but the batch, which is CBOS's alone."""
        shared = asdict(self.recipe) | {"corpus": self.digest}
        del shared["batch"]
        return shared | further

    def _timed(self, train: Callable[[], Float32]) -> Trained:
        text = self.text
        begun = time.perf_counter()
        vectors = train()
        seconds = time.perf_counter() - begun
        return Trained(text.words, vectors, len(text.sentences), int(text.counts.sum()), seconds)

    def _named(self, name: str) -> Stages | None:
        report = self.progress
        return (lambda stage, done, total: report(f"{name}: {stage}", done, total)) if report else None
