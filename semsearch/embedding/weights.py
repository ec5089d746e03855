"""Methods of making a sentence vector, the weights of words in each, and the frequencies p(w) that they follow from.

    mean    v_s = mean of v_w
    tfidf   weights log((1 + N) / (1 + N_w))                       SIF paper, equation (7)
    sif     weights a / (a + p(w)), one component removed          Arora, Liang, Ma 2017, section 3, algorithm 1
    usif    weights a / (a/2 + p(w)), each dimension divided by its norm over the sentence's words,
            five components removed piecewise                      Ethayarajh 2018, sections 3.1 to 4

For ablations, a `Method` can combine them in any way. Weights are learned once, from the first texts that are fitted,
and then frozen: vectors made with different weights cannot be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float32, Float64, Floating, Int64
from semsearch.errors import UsageError
from semsearch.text.languages import ENGLISH
from semsearch.text.ragged import Ragged
from semsearch.word_vectors.multilingual import MultilingualVectors
from semsearch.word_vectors.table import WordVectors

Weighting = Literal["none", "idf", "sif", "usif"]
FREQUENCIES = ("mixed", "vectors", "corpus")  # where p(w) comes from
Unknown = Literal["skip", "pieces"]  # how unknown words get a vector, if at all


@dataclass(frozen=True, slots=True)
class Method:
    """A way to make sentence vectors: the words' weights, whether dimensions are normalised, how much is removed."""

    name: str
    weighting: Weighting
    normalise: bool
    components: int
    piecewise: bool


METHODS: dict[str, Method] = {
    "mean": Method("mean", "none", normalise=False, components=0, piecewise=False),
    "tfidf": Method("tfidf", "idf", normalise=False, components=0, piecewise=False),
    "sif": Method("sif", "sif", normalise=False, components=1, piecewise=False),
    "usif": Method("usif", "usif", normalise=True, components=5, piecewise=True),
}


def find_method(method: str | Method) -> Method:
    """Return the method of that name; a `Method` is returned as it is. Raises UsageError for an unknown name."""
    if isinstance(method, Method):
        return method
    if not isinstance(method, str) or method not in METHODS:
        raise UsageError(f"there is no method {method!r}; choose one of {', '.join(METHODS)}")
    return METHODS[method]


# -- Parameters --------------------------------------------------------------------------------------------------------

_MOST = 1e15  # sentences of the prior: beside so many, texts have no effect


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The parameters of a `SentenceEmbedder`, with opened word vectors and the method's own defaults."""

    vectors: WordVectors
    method: Method
    a: float | None
    components: int
    frequencies: str
    prior: float
    unknown: Unknown

    def checked(self) -> Choices:
        """The same; raises UsageError for parameters that make no sense."""
        vectors, components, prior = self.vectors, self.components, self.prior
        if not hasattr(vectors, "lookup"):
            raise UsageError(f"vectors must be word vectors, their name or their path, not {vectors!r}")
        if self.a is not None:
            check_a(self.a)
        if not (isinstance(components, Integral) and 0 <= components <= vectors.dimension):
            raise UsageError(f"components must be between 0 and {vectors.dimension}, not {components!r}")
        if self.frequencies not in FREQUENCIES:
            raise UsageError(f"frequencies must be one of {', '.join(FREQUENCIES)}, not {self.frequencies!r}")
        if not (isinstance(prior, Real) and 0 <= prior <= _MOST):
            raise UsageError(f"prior must be a number of sentences from 0 to {_MOST:g}, not {prior}; 0 means none")
        if self.unknown not in get_args(Unknown):
            raise UsageError(f"unknown must be one of {', '.join(get_args(Unknown))}, not {self.unknown!r}")
        return self


# -- Weights -----------------------------------------------------------------------------------------------------------


SIF_A = 1e-3  # SIF paper, table 1
LEAST_A = 1e-12  # far below any p(w), where weights are a / p(w), a smaller a only makes them too small to compute with
STRANGER = 2.0  # weight of an unknown word, relative to the rarest known word's; see docs/research/measurements.md


def check_a(a: float) -> None:
    """Raise UsageError for a parameter a that makes no sense: below `LEAST_A`, or not finite."""
    if not (isinstance(a, Real) and LEAST_A <= a < float("inf")):
        raise UsageError(f"a must be at least {LEAST_A:g}, not {a}; it is added to p(w), and 1e-3 is usual")


def sif_weights(p: Floating, a: float) -> Float64:
    """The weights of SIF: a / (a + p(w)). (V,) -> (V,)"""
    return np.asarray(a / (a + p.astype(np.float64)))


def usif_weights(p: Floating, a: float) -> Float64:
    """The weights of uSIF: 1 / (a/2 + p(w)), times a as in the released program. (V,) -> (V,)"""
    return np.asarray(a / (a / 2 + p.astype(np.float64)))


def usif_a(p: Floating, n: float) -> float:
    """The parameter of uSIF: a = (1 - α) / (α Z), Z = |V| / 2, α the share of words with p(w) > 1 - (1 - 1/|V|)^n.

    p is (V,), n the mean number of words of a sentence. If no word is that frequent, as can happen only with a toy
    vocabulary, α is taken as 1/|V|: otherwise a would be infinite, that is, there would be no weights.
    """
    size = len(p)
    frequent = int(np.count_nonzero(p > 1 - (1 - 1 / size) ** n))
    alpha = min(max(frequent, 1) / size, 1 - 1 / (2 * size))
    return (1 - alpha) / (alpha * size / 2)


def idf_weights(sentences_with: npt.NDArray[np.integer[Any]], sentences: int) -> Float64:
    """The weights of tf-idf: log((1 + N) / (1 + N_w)), where N_w of N sentences have the word. (V,) -> (V,)"""
    return np.asarray(np.log((1 + sentences) / (1 + sentences_with.astype(np.float64))))


@dataclass(frozen=True)
class WordWeights:
    """The frozen weights of words: a formula, its parameter a, and the values of V words that it is applied to.

    `values` (V,) is p(w), or idf itself. `stored`: it came from the texts or a file, not from the word vectors.
    """

    weighting: Weighting
    a: float
    values: Float32
    stored: bool

    def of(self, ids: npt.NDArray[np.integer[Any]] | slice) -> Float32:
        """The weights of word ids. (t,) -> (t,)"""
        values = self.values[ids]
        if self.weighting == "none":
            return np.ones(len(values), dtype=np.float32)
        if self.weighting == "idf":
            return values
        formula = sif_weights if self.weighting == "sif" else usif_weights
        return formula(values, self.a).astype(np.float32)

    @cached_property
    def of_unknown_words(self) -> float:
        """The weight of every unknown word: all that is known of these is that they are rarer than the table's."""
        if self.weighting == "none":
            return 1.0
        rarest = self.values.argmax() if self.weighting == "idf" else self.values.argmin()
        return STRANGER * float(self.of(np.array([rarest]))[0])


def learn_weights(
    weighting: Weighting,
    vectors: WordVectors,
    batches: Callable[[], Iterable[Ragged]],
    *,
    a: float | None,
    frequencies: str,
) -> WordWeights:
    """Learn weights for texts, which are read only if the weights depend on them (idf, p(w) of the corpus, n)."""
    if weighting == "none":
        return WordWeights(weighting, 0.0, vectors.frequencies, stored=False)
    if weighting == "idf":
        having = _count(batches(), len(vectors), once_per_text=True)
        return WordWeights(weighting, 0.0, idf_weights(having.words, having.texts).astype(np.float32), stored=True)
    if frequencies == "vectors":
        p = vectors.frequencies
    else:
        counts = _count(batches(), len(vectors)).words
        p = smoothed(counts) if frequencies == "corpus" else _mixed(counts, vectors)
    if a is None:
        a = SIF_A if weighting == "sif" else usif_a(p, _mean_length(batches()))
    return WordWeights(weighting, a, p, stored=frequencies != "vectors")


def _mixed(counts: Int64, vectors: WordVectors) -> Float32:
    """p(w) of all words together; beside strays that of each language, so that they change nothing. (V,) -> (V,)"""
    if not isinstance(vectors, MultilingualVectors) or not vectors.are_strays:
        return mixed(counts, vectors.frequencies)
    parts = [vectors.language_ids(code) for code in (ENGLISH, *vectors.tables)]
    return np.concatenate([mixed(counts[part], vectors.frequencies[part]) for part in parts])


class _CorpusCounts(NamedTuple):
    """Counts of each known word in a corpus, and the number of texts that have words."""

    words: Int64  # (V,)
    texts: int


def _count(batches: Iterable[Ragged], size: int, *, once_per_text: bool = False) -> _CorpusCounts:
    words, texts = np.zeros(size, dtype=np.int64), 0
    for batch in batches:
        ids = batch.without_repetitions().ids if once_per_text else batch.ids
        words += np.bincount(ids[ids >= 0], minlength=size)
        texts += int(np.count_nonzero(batch.lengths))
    return _CorpusCounts(words, texts)


def _mean_length(batches: Iterable[Ragged]) -> float:
    """The mean number of words, E|s|, of the texts that have any; 1 if none has."""
    words = texts = 0
    for batch in batches:
        words += len(batch.ids)
        texts += int(np.count_nonzero(batch.lengths))
    return words / texts if texts else 1.0


# -- Probabilities -----------------------------------------------------------------------------------------------------


GENERAL_WORDS = 20_000  # see docs/research/measurements.md


def smoothed(counts: npt.NDArray[np.integer[Any]]) -> Float32:
    """p(w) by the counts (V,) of a corpus; a word that it lacks gets the probability of one occurrence. (V,) -> (V,)"""
    total = max(int(counts.sum()), 1)
    return np.asarray(np.maximum(counts, 1) / total, dtype=np.float32)


def mixed(counts: npt.NDArray[np.integer[Any]], general: Float32) -> Float32:
    """p(w) by the counts (V,) of a corpus to which `GENERAL_WORDS` words of general English p(w) (V,) are added. (V,)

    This is a Dirichlet prior, as used to smooth language models (Zhai and Lafferty 2004): for a few notes p(w) is that
    of general English, for a large corpus its own.
    """
    prior = general.astype(np.float64) / general.sum(dtype=np.float64)
    return np.asarray((counts + GENERAL_WORDS * prior) / (counts.sum() + GENERAL_WORDS), dtype=np.float32)
