"""Methods of making a sentence vector: each is a choice of weights, normalisation and removal of components.

    mean    v_s = mean of v_w
    tfidf   weights log((1 + N) / (1 + N_w))                       SIF paper, equation (7)
    sif     weights a / (a + p(w)), one component removed          SIF paper, algorithm 1
    usif    weights a / (a/2 + p(w)), each dimension divided by its norm over the sentence's words,
            five components removed piecewise                      uSIF paper, sections 3.1 to 3.3

For ablations, a `Method` can combine them in any way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from semsearch.errors import UsageError

Weighting = Literal["none", "idf", "sif", "usif"]
MethodName = Literal["mean", "tfidf", "sif", "usif"]
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
