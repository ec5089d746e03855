"""scikit-learn's contract for estimators, kept without scikit-learn, which is loaded only if it asks.

Parameters are those of the constructor, which stores them unchanged; `clone`, pipelines and searches over parameters
work by them. See https://scikit-learn.org/stable/developers/develop.html
"""

from __future__ import annotations

import inspect
import sys
from abc import ABC, abstractmethod
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from semsearch.errors import FitError, UsageError

_UNFITTED = "this embedder is not fitted; call fit(texts) first"


class TextTransformer(ABC):
    """Something with parameters that is fitted to texts and turns texts into vectors, as scikit-learn has it."""

    @property
    @abstractmethod
    def is_fitted(self) -> bool:
        """Return whether it has been fitted."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of dimensions of its vectors."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """The names of the parameters, with their defaults."""
        return {name: found.default for name, found in inspect.signature(cls).parameters.items()}

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
        """The names of the dimensions: "sentenceembedder0" and so on. Texts have no names, so none are looked at."""
        self._check_fitted()
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{number}" for number in range(self.dimension)], dtype=object)

    def __repr__(self) -> str:
        """The call that makes it: parameters that differ from the defaults, the first one always."""
        (first, *rest), defaults = self._defaults(), self._defaults()
        given = [(name, getattr(self, name)) for name in rest if not _same(getattr(self, name), defaults[name])]
        arguments = [repr(getattr(self, first)), *(f"{name}={value!r}" for name, value in given)]
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
        if not self.is_fitted:
            _raise_unfitted()


def _raise_unfitted() -> NoReturn:
    """Raise FitError; where scikit-learn is loaded, one that is its NotFittedError too."""
    if "sklearn" in sys.modules:
        from semsearch.embedding.estimator.unfitted import Unfitted  # optional: scikit-learn

        raise Unfitted(_UNFITTED)
    raise FitError(_UNFITTED)


def _same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))
