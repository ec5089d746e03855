"""What scikit-learn expects of an embedder, without scikit-learn, which is loaded only if it asks.

Parameters are those of the constructor, which stores them unchanged; `clone`, pipelines and searches over parameters
work by them. They are checked and opened when they are used. Texts are given as lists, arrays or columns of a table,
each a string. See https://scikit-learn.org/stable/developers/develop.html
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
import numpy.typing as npt

from semsearch.embedding.weights import Method, Unknown, check_a, find_method
from semsearch.errors import FitError, UsageError
from semsearch.word_vectors.table import WordVectors, WordVectorsLike, open_vectors

BATCH = 8192  # texts at a time


def batched(texts: Iterable[str]) -> Iterator[Sequence[str]]:
    """Some texts at a time, of any iterable. Raises UsageError for a single string, and for what is not a string."""
    _check_several(texts)
    rest = iter(texts)
    while batch := list(islice(rest, BATCH)):
        yield _checked(batch)


def listed(texts: Iterable[str]) -> Sequence[str]:
    """All texts, as a list unless they are a list or tuple already. Raises UsageError as `batched` does."""
    _check_several(texts)
    return _checked(texts if isinstance(texts, list | tuple) else list(texts))


def _checked(texts: Sequence[str]) -> Sequence[str]:
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise UsageError(
                f"text {number} is {text!r}, not a string; give a flat list of texts, such as one column of a table"
            )
    return texts


def _check_several(texts: Iterable[str]) -> None:
    if isinstance(texts, str):
        raise UsageError("expected a list of texts, got a single string; for one text give [text]")
    if not isinstance(texts, Iterable):
        raise UsageError(f"texts must be a list of strings, not {texts!r}")


class TextEstimator:
    """Something with parameters that is fitted to texts and turns texts into vectors, as scikit-learn has it."""

    @property
    def is_fitted(self) -> bool:
        """Return whether it has been fitted."""
        raise NotImplementedError

    @property
    def dimension(self) -> int:
        """The number of dimensions of its vectors."""
        raise NotImplementedError

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """The names of the parameters, with their defaults."""
        return {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  # scikit-learn calls it with this name
        """The parameters by name, as they were given. None of them has parameters of its own, so `deep` is the same."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; what was learned stays until the next `fit`. Raises UsageError for an unknown name."""
        names = self._defaults()
        for name in params:
            if name not in names:
                raise UsageError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(names)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:  # noqa: ARG002
        """The names of the dimensions: "sentenceembedder0" and so on. Texts have no names, so they are ignored."""
        self._check_fitted()
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{number}" for number in range(self.dimension)], dtype=object)

    def __repr__(self) -> str:
        """The call that makes it: parameters that differ from the defaults, the first one always."""
        (first, *rest), defaults = self._defaults(), self._defaults()
        changed = [(name, getattr(self, name)) for name in rest if not _same(getattr(self, name), defaults[name])]
        arguments = [repr(getattr(self, first)), *(f"{name}={value!r}" for name, value in changed)]
        return f"{type(self).__name__}({', '.join(arguments)})"

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know: it transforms, learns without y, and takes strings in one dimension."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags  # optional: only scikit-learn asks

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(one_d_array=True, two_d_array=False, string=True),
        )

    def _check_fitted(self) -> None:
        """Raise FitError before `fit`; where scikit-learn is loaded, one that is its NotFittedError too."""
        if not self.is_fitted:
            error: type[FitError] = FitError
            if "sklearn" in sys.modules:
                from sklearn.exceptions import NotFittedError  # optional: scikit-learn

                error = type("NotFitted", (FitError, NotFittedError), {})
            raise error("this embedder is not fitted; call fit(texts) first")


def _same(value: object, other: object) -> bool:
    return value is other or (type(value) is type(other) and bool(value == other))


# -- Parameters --------------------------------------------------------------------------------------------------------

_MOST = 1e15  # sentences of the prior: beside so many, texts have no effect


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
        *,
        vectors: WordVectorsLike,
        method: str | Method,
        a: float | None,
        components: int | None,
        frequencies: str | Path,
        prior: float,
        unknown: Unknown,
    ) -> Choices:
        """Check parameters and open word vectors. Raises UsageError for invalid ones, VectorsError."""
        opened = open_vectors(vectors)
        if not hasattr(opened, "lookup"):
            raise UsageError(f"vectors must be word vectors, their name or their path, not {vectors!r}")
        if a is not None:
            check_a(a)
        if components is not None and not (isinstance(components, Integral) and 0 <= components <= opened.dimension):
            raise UsageError(f"components must be between 0 and {opened.dimension}, not {components!r}")
        if not isinstance(frequencies, str | Path):
            raise UsageError(f"frequencies must be vectors, corpus, mixed or a counts file, not {frequencies!r}")
        if not (isinstance(prior, Real) and 0 <= prior <= _MOST):
            raise UsageError(f"prior must be a number of sentences from 0 to {_MOST:g}, not {prior}; 0 means none")
        if unknown not in get_args(Unknown):
            raise UsageError(f"unknown must be one of {', '.join(get_args(Unknown))}, not {unknown!r}")
        chosen = find_method(method)
        m = chosen.components if components is None else components
        return cls(opened, chosen, a, m, frequencies, prior, unknown)
