"""What the parameters of an embedder mean: word vectors opened, the method found, numbers checked."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import get_args

from semsearch.embedding.methods import Method, Unknown, find_method
from semsearch.embedding.weights import check_a
from semsearch.errors import UsageError
from semsearch.word_vectors.loading import WordVectorsLike, open_vectors
from semsearch.word_vectors.table import WordVectors

_MOST = 1e15  # sentences of the prior: beside so many, no text says anything


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The parameters of a `SentenceEmbedder`, checked, with opened word vectors and the method's own defaults."""

    vectors: WordVectors
    method: Method
    a: float | None
    components: int
    frequencies: str | Path
    prior: float
    unknown: Unknown

    @classmethod
    def of(
        cls,
        vectors: WordVectorsLike,
        method: str | Method,
        a: float | None,
        components: int | None,
        frequencies: str | Path,
        prior: float,
        unknown: Unknown,
    ) -> Choices:
        """Check parameters and open word vectors. Raises UsageError for what makes no sense, VectorsError."""
        opened = open_vectors(vectors)
        if not hasattr(opened, "lookup"):
            raise UsageError(f"vectors are word vectors, their name or their path, not {vectors!r}")
        if a is not None:
            check_a(a)
        if components is not None and not (isinstance(components, Integral) and 0 <= components <= opened.dimension):
            raise UsageError(f"components must be between 0 and {opened.dimension}, not {components!r}")
        if not isinstance(frequencies, str | Path):
            raise UsageError(f"frequencies are vectors, corpus, mixed or a counts file, not {frequencies!r}")
        if not (isinstance(prior, Real) and 0 <= prior <= _MOST):
            raise UsageError(f"prior must be a number of sentences from 0 to {_MOST:g}, not {prior}; 0 is for none")
        if unknown not in get_args(Unknown):
            raise UsageError(f"unknown must be one of {', '.join(get_args(Unknown))}, not {unknown!r}")
        found = find_method(method)
        m = found.components if components is None else components
        return cls(opened, found, a, m, frequencies, prior, unknown)
