"""What scikit-learn and sentence-transformers expect of an embedder: parameters, `fit` and `transform`, `encode`.

scikit-learn's contract is kept without scikit-learn, which is loaded only if it asks. Parameters are those of the
constructor, which stores them unchanged; `clone`, pipelines and searches over parameters work by them. They are checked
and opened when they are used. See https://scikit-learn.org/stable/developers/develop.html

Texts are given as lists, arrays or columns of a table, each a string. `encode` takes one text or many, as in the
sentence-transformers package.
"""

from __future__ import annotations

import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self, get_args

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float32
from semsearch.embedding.methods import Method, Unknown, find_method
from semsearch.embedding.weights import check_a
from semsearch.errors import FitError, UsageError
from semsearch.word_vectors.loading import WordVectorsLike, open_vectors
from semsearch.word_vectors.table import DEFAULT_VECTORS, WordVectors

if TYPE_CHECKING:
    from semsearch.embedding.components import CommonComponents
    from semsearch.text.ragged import Ragged

BATCH = 8192  # texts at a time


def batched(texts: Iterable[str]) -> Iterator[Sequence[str]]:
    """Some texts at a time, of any iterable. Raises UsageError for a single string, and for what is not a string."""
    _check_several(texts)
    rest = iter(texts)
    while batch := list(islice(rest, BATCH)):
        yield checked(batch)


def listed(texts: Iterable[str]) -> Sequence[str]:
    """All texts, as a list unless they are a list or tuple already. Raises UsageError as `batched` does."""
    _check_several(texts)
    return checked(texts if isinstance(texts, list | tuple) else list(texts))


def checked(texts: Sequence[str]) -> Sequence[str]:
    """Return texts if each is a string. Raises UsageError, which names the first that is not."""
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


# -- scikit-learn ------------------------------------------------------------------------------------------------------

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
        """The names of the dimensions: "sentenceembedder0" and so on. Texts have no names, so they are ignored."""
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
        from semsearch.embedding.unfitted import Unfitted  # optional: scikit-learn

        raise Unfitted(_UNFITTED)
    raise FitError(_UNFITTED)


def _same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


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
        found = find_method(method)
        m = found.components if components is None else components
        return cls(opened, found, a, m, frequencies, prior, unknown)


class EmbedderParameters(TextTransformer):
    """The parameters of a `SentenceEmbedder`, which documents them."""

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
        """Check the parameters, as `fit` does: raises UsageError for invalid ones, VectorsError."""
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


class Encoding:
    """The `encode` methods of sentence-transformers, for programs made for it. Another class makes the vectors."""

    if TYPE_CHECKING:
        common_: CommonComponents

        @property
        def dimension(self) -> int: ...
        def transform(self, texts: Iterable[str]) -> Float32: ...
        def tokenize(self, texts: Sequence[str]) -> Ragged: ...
        def raw(self, texts: Ragged) -> Float32: ...
        def expect_texts(self, count: int) -> None: ...
        def _check_fitted(self) -> None: ...

    def encode(
        self,
        inputs: str | Iterable[str],
        *,
        batch_size: int = BATCH,
        show_progress_bar: bool = False,
        normalize_embeddings: bool = True,
    ) -> Float32:
        """Embed one text, (d,), or many, (n, d), as float32. Needs a fit, as `transform` does.

        Rows have length one; without `normalize_embeddings` they keep the length that they have when the common
        components are removed. `batch_size` texts are embedded at a time; vectors differ by it in the last digits only.
        Raises FitError before `fit`, UsageError for what is not a text.
        """
        from semsearch.system.progress_bar import progress_bar  # start-up time: no query is asked so

        if not isinstance(batch_size, int) or batch_size < 1:
            raise UsageError(f"batch_size must be at least 1, not {batch_size!r}")
        self._check_fitted()
        texts = [inputs] if isinstance(inputs, str) else listed(inputs)
        self.expect_texts(len(texts))
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        with progress_bar(show_progress_bar) as show:
            for first in range(0, len(texts), batch_size):
                batch = texts[first : first + batch_size]
                rows[first : first + batch_size] = self.transform(batch) if normalize_embeddings else self._rest(batch)
                show("embedding", min(first + batch_size, len(texts)), len(texts))
        return rows[0] if isinstance(inputs, str) else rows

    def encode_query(self, inputs: str | Iterable[str], *, normalize_embeddings: bool = True) -> Float32:
        """Embed questions: as `encode` does, for questions and documents are embedded alike here."""
        return self.encode(inputs, normalize_embeddings=normalize_embeddings)

    def encode_document(
        self,
        inputs: str | Iterable[str],
        *,
        batch_size: int = BATCH,
        show_progress_bar: bool = False,
        normalize_embeddings: bool = True,
    ) -> Float32:
        """Embed documents: as `encode` does, for questions and documents are embedded alike here."""
        return self.encode(
            inputs,
            batch_size=batch_size,
            show_progress_bar=show_progress_bar,
            normalize_embeddings=normalize_embeddings,
        )

    def _rest(self, texts: Sequence[str]) -> Float32:
        """What is left of raw vectors without the common components. n texts -> (n, d)"""
        return self.common_.remove(self.raw(self.tokenize(texts)))
