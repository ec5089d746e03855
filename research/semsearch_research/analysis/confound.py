"""Long word vectors pass for meaning: sections 3.2 and 3.3 of the uSIF paper.

A sentence g has two words x and y that have nothing in common; a sentence h has one word z twice. The word vectors are

    v_x = β (σ k1, (1 - σ) k2)    v_y = β ((1 - σ) k1, σ k2)    v_z = (k1, k2)        equation (5)

with k1 = k and k2 = ρ k; it is equation (4) for β = 2, σ = 1, ρ = 1. The words are rare and weigh C each, so that the
discourse vectors are the means c_g = C (v_x + v_y) / 2 and c_h = C v_z. How probable are the sentences, given these?

    log-linear, as SIF has it    p(s | c) ∝ exp(Σ <c, v_w>)
    angular, as uSIF has it      p(s | c) ∝ Π (1 - arccos(cos(c, v_w)) / π)

h should be far more probable. The log-linear model gives g as much for β = 2, and more the longer its words are. The
angular model gives g 9/16 of h at whatever β. Both are computed by the paper's formulas, and by searching all
directions of the plane for the discourse vector that makes the sentence most probable.

Where k1 and k2 differ, x and y are not of one length, and the mean c_g lies nearer to the longer one. The log-linear
model is as mistaken as before, by equation (6). In the angular model the mean is not the most probable discourse vector
any more, which lies midway: p(g | c_g) is below 9/16, while by search it stays there. So β has no effect, but how the
lengths of x and y compare has one, through the weighted mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from semsearch import VectorTable, load_vectors
from semsearch.embedding.weights import SIF_A, sif_weights, usif_a, usif_weights
from semsearch.errors import UsageError
from semsearch.results.codec import Record
from semsearch_research.evaluate.inputs import check_positive, check_several, ids_of_words
from semsearch_research.evaluate.sts_cosines import USIF_N
from semsearch_research.published import figures

Float64 = npt.NDArray[np.float64]
Model = Literal["log-linear", "angular"]
MODELS: tuple[Model, ...] = ("log-linear", "angular")
STRETCHES = (2.0, 3.0)  # β: the paper's worst case, and longer vectors
RATIOS = (1.0, 3.0)  # k2 / k1: the paper's worst case, and unlike lengths
_UNLIKE = 0.05  # a cosine below which two words have nothing in common
_MOST_WORDS, _NEAR = 4000, 40  # how many words are looked at, and how many of each one's nearest
_BAND = (1e-5, 1e-4)  # p(w) of the words that are chosen: all about as rare, and known to everyone


@dataclass(frozen=True, slots=True)
class Likelihoods(Record):
    """The likelihoods of both sentences under one model: log p(g | c_g), log p(h | c_h), up to a common constant."""

    g: float
    h: float

    @property
    def ratio(self) -> float:
        """The ratio p(g | c_g) / p(h | c_h)."""
        difference = self.g - self.h
        return math.exp(difference) if difference < 700 else math.inf

    def to_dict(self) -> dict[str, float | None]:
        """For JSON; a ratio that no float can hold is null."""
        return {"log p(g)": self.g, "log p(h)": self.h, "ratio": self.ratio if self.ratio < math.inf else None}


@dataclass(frozen=True, slots=True)
class Scenario(Record):
    """The likelihoods for k1 = `k`, k2 = `ratio` k and β under one model: by the paper's formulas, and by search."""

    k: float
    ratio: float
    stretch: float
    model: Model
    formula: Likelihoods
    search: Likelihoods


@dataclass(frozen=True, slots=True)
class Word(Record):
    """A word of real vectors, with its length and frequency."""

    word: str
    length: float
    p: float


@dataclass(frozen=True, slots=True)
class RealWords(Record):
    """The likelihoods with the vectors of three real words: x and y against z twice.

    `cosines` are of x and y, x and z, y and z. `models` has the words as they are, and with x and y `stretch` times as
    long; `even` is the stretch at which both sentences are as likely in the log-linear model, None if there is none.
    """

    vectors: str
    words: tuple[Word, Word, Word]
    cosines: tuple[float, float, float]
    stretch: float
    models: dict[Model, tuple[Likelihoods, Likelihoods]]
    even: float | None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "vectors": self.vectors,
            "words": [word.to_dict() for word in self.words],
            "cosines": dict(zip(("x y", "x z", "y z"), self.cosines, strict=True)),
            "stretch": self.stretch,
            "models": {
                model: {"as they are": plain.to_dict(), "stretched": longer.to_dict()}
                for model, (plain, longer) in self.models.items()
            },
            "even": self.even,
        }


@dataclass(frozen=True, slots=True)
class ConfoundReport(Record):
    """The results for the paper's two dimensions, and for real words."""

    scenarios: tuple[Scenario, ...]
    real: RealWords
    published: dict[str, float]


def evaluate_confound(
    k: Sequence[float] = (1.0,),
    *,
    stretch: Sequence[float] = STRETCHES,
    ratio: Sequence[float] = RATIOS,
    words: tuple[str, str, str] | None = None,
    vectors: str | Path | VectorTable = "english",
) -> ConfoundReport:
    """Compare likelihoods for each k, k2 / k1 (`ratio`) and β (`stretch`) under both models, then for three words.

    By default these are the clearest that are found. Raises UsageError for a number that is not above zero, and for
    words that the vectors lack; VectorsError.
    """
    check_several(k=k, stretch=stretch, ratio=ratio)
    check_positive(k=k, stretch=stretch, ratio=ratio)
    if words and len(words) != 3:
        raise UsageError(f"give three words, x, y and z, not {len(words)}")
    table = vectors if isinstance(vectors, VectorTable) else load_vectors(vectors)
    word_ids = ids_of_words(words, table) if words else _clearest(table)
    if zero := [table.words[id_] for id_ in word_ids if not table.rows(np.array([id_])).any()]:
        raise UsageError(f"{zero[0]!r} has no vector in {table.name}; name another word")
    scenarios = tuple(
        Scenario(
            one,
            rho,
            beta,
            model,
            by_formula(model, one, beta, ratio=rho),
            by_search(model, *assignment(one, beta, ratio=rho)),
        )
        for one in dict.fromkeys(k)
        for rho in dict.fromkeys(ratio)
        for beta in dict.fromkeys(stretch)
        for model in MODELS
    )
    published = {f"{figure.row}, {figure.column}": figure.value for figure in _published()}
    return ConfoundReport(scenarios, _real(table, word_ids, max(stretch)), published)


def assignment(k: float, beta: float = 2.0, sigma: float = 1.0, *, ratio: float = 1.0) -> tuple[Float64, Float64]:
    """Make the words of g (2, 2) and of h (2, 2), a row a word: equation (5) with k1 = k and k2 = `ratio` k."""
    z = np.array([k, ratio * k])
    shares = np.array([[sigma, 1 - sigma], [1 - sigma, sigma]])
    return beta * shares * z, np.stack([z, z])


def by_formula(model: Model, k: float, beta: float = 2.0, sigma: float = 1.0, *, ratio: float = 1.0) -> Likelihoods:
    """Compute likelihoods by equation (6), and the products of section 3.3, for words so rare that C is 1."""
    k1, k2 = k, ratio * k
    squares = k1**2 + k2**2
    if model == "log-linear":
        return Likelihoods(beta**2 / 2 * squares, 2 * squares)
    total = 0.0
    for share in (sigma, 1 - sigma):  # of v_x and v_y in the first dimension
        product = share * k1**2 + (1 - share) * k2**2
        cosine = product / (math.sqrt(squares) * math.hypot(share * k1, (1 - share) * k2))  # with c_g, at whatever β
        total += math.log(1 - math.acos(min(cosine, 1.0)) / math.pi)
    return Likelihoods(total, 0.0)


def by_search(model: Model, g: Float64, h: Float64) -> Likelihoods:
    """Compute likelihoods by searching all directions of the plane for the discourse vector that makes the sentence
    most probable, among those as long as the mean of its words. (2, 2), (2, 2)"""
    return Likelihoods(_most(model, g), _most(model, h))


def log_likelihood(model: Model, discourse: Float64, words: Float64) -> Float64:
    """log p(s | c) for each of m discourse vectors, up to a constant. (m, d), (n, d) -> (m,)"""
    products = discourse @ words.T
    if model == "log-linear":
        return np.asarray(products.sum(axis=1))
    lengths = np.linalg.norm(discourse, axis=1)[:, None] * np.linalg.norm(words, axis=1)
    angles = np.arccos(np.clip(products / lengths, -1, 1))
    with np.errstate(divide="ignore"):  # a word right opposite is impossible
        return np.asarray(np.log(1 - angles / np.pi).sum(axis=1))


def _most(model: Model, words: Float64) -> float:
    """The greatest log-likelihood over the circle: a grid of directions, then ever finer ones round the best."""
    length = float(np.linalg.norm(words.mean(axis=0)))
    around: Callable[[Float64], Float64] = lambda angles: length * np.stack([np.cos(angles), np.sin(angles)], axis=1)  # noqa: E731
    angles: Float64 = np.linspace(-np.pi, np.pi, 3601, dtype=np.float64)
    for _ in range(5):
        values = log_likelihood(model, around(angles), words)
        best, step = angles[values.argmax()], angles[1] - angles[0]
        angles = best + np.linspace(-step, step, 101)
    return float(values.max())


def _published() -> tuple[Any, ...]:
    return (*figures("usif", "section 3.2"), *figures("usif", "section 3.3"))


def _real(table: VectorTable, word_ids: Sequence[int], stretch: float) -> RealWords:
    """Compare x, y and z under both models, each with its paper's weights and the mean as the discourse vector."""
    ids = np.array(word_ids)
    v, p = table.rows(ids).astype(np.float64), table.frequencies[ids].astype(np.float64)
    weights = {
        "log-linear": sif_weights(p, SIF_A),
        "angular": usif_weights(p, usif_a(table.frequencies, USIF_N)),
    }
    models: dict[Model, tuple[Likelihoods, Likelihoods]] = {}
    for model in MODELS:
        models[model] = (_of_means(model, v, weights[model], 1.0), _of_means(model, v, weights[model], stretch))
    plain = models["log-linear"][0]
    units = v / np.linalg.norm(v, axis=1, keepdims=True)
    cosines = units @ units.T
    words = [Word(table.words[i], float(np.linalg.norm(row)), float(q)) for i, row, q in zip(ids, v, p, strict=True)]
    return RealWords(
        table.name,
        (words[0], words[1], words[2]),
        (float(cosines[0, 1]), float(cosines[0, 2]), float(cosines[1, 2])),
        stretch,
        models,
        math.sqrt(plain.h / plain.g) if plain.g > 0 else None,
    )


def _of_means(model: Model, v: Float64, weights: Float64, stretch: float) -> Likelihoods:
    """The likelihoods of both sentences, given the weighted mean of their words; x and y stretched. (3, d), (3,)"""
    g, h = v[:2] * stretch, v[[2, 2]]
    c_g, c_h = (weights[:2, None] * g).mean(axis=0), weights[2] * v[2]
    return Likelihoods(*(float(log_likelihood(model, c[None], s)[0]) for c, s in ((c_g, g), (c_h, h))))


def _clearest(table: VectorTable) -> list[int]:
    """Find three about equally rare words: x and y unlike each other, z as near to both as possible.

    For each z, among its nearest words, take the two unlike ones of which the farther one is nearest. Raises UsageError
    if the vectors have no such words.
    """
    p = table.frequencies
    band = np.flatnonzero((p >= _BAND[0]) & (p < _BAND[1]))
    band = band if len(band) >= 3 else np.arange(len(p))
    band = np.array([number for number in band.tolist() if table.words[number].isalpha()], dtype=np.intp)[:_MOST_WORDS]
    rows = table.rows(band).astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1)
    band, rows = band[lengths > 0], rows[lengths > 0] / lengths[lengths > 0, None]
    cosines = rows @ rows.T
    best, found = 0.0, None
    for z in range(len(band)):
        near = np.argsort(-cosines[z], kind="stable")
        near = near[near != z][:_NEAR]
        farther = np.minimum(cosines[z, near][:, None], cosines[z, near])
        farther[np.abs(cosines[np.ix_(near, near)]) > _UNLIKE] = -1
        x, y = np.unravel_index(int(farther.argmax()), farther.shape)
        if farther[x, y] > best:
            best, found = float(farther[x, y]), [int(band[near[x]]), int(band[near[y]]), int(band[z])]
    if found is None:
        raise UsageError(f"{table.name} has no two unlike words with a third between them; name three words")
    return found
