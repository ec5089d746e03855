"""The parameters of an embedder: kept as they are given, checked and opened when they are used."""

from __future__ import annotations

from pathlib import Path

from semsearch.embedding.choices import Choices
from semsearch.embedding.estimator.scikit_learn import TextTransformer
from semsearch.embedding.methods import Method, Unknown
from semsearch.word_vectors.loading import DEFAULT_VECTORS, WordVectorsLike, open_vectors
from semsearch.word_vectors.table import WordVectors


class EmbedderParameters(TextTransformer):
    """The parameters of a `SentenceEmbedder`, which explains them. Only scikit-learn's contract is known here."""

    _opened: tuple[str | Path, WordVectors] | None = None  # by name or path

    def __init__(
        self,
        vectors: WordVectorsLike = DEFAULT_VECTORS,
        *,
        method: str | Method = "sif",
        a: float | None = None,
        components: int | None = None,
        frequencies: str | Path = "vectors",
        prior: float = 0,
        unknown: Unknown = "skip",
    ) -> None:
        self.vectors = vectors
        self.method = method
        self.a = a
        self.components = components
        self.frequencies = frequencies
        self.prior = prior
        self.unknown: Unknown = unknown

    def check(self) -> None:
        """Check the parameters, as `fit` does: raises UsageError for what makes no sense, VectorsError."""
        self._choose()

    @property
    def opened_vectors(self) -> WordVectors:
        """The word vectors that `vectors` names, opened. Raises VectorsError."""
        if not isinstance(self.vectors, str | Path):
            return self.vectors
        if self._opened is None or self._opened[0] != self.vectors:
            self._opened = self.vectors, open_vectors(self.vectors)
        return self._opened[1]

    def _choose(self) -> Choices:
        return Choices.of(
            self.opened_vectors,
            method=self.method,
            a=self.a,
            components=self.components,
            frequencies=self.frequencies,
            prior=self.prior,
            unknown=self.unknown,
        )
