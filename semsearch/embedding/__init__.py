"""Turn words into unit vectors: SIF, uSIF, frequencies, common components, out-of-vocabulary words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.embedding.components import CommonComponents as CommonComponents, SentenceSums as SentenceSums
    from semsearch.embedding.directions import Direction as Direction, FrequentWords as FrequentWords
    from semsearch.embedding.methods import METHODS as METHODS, find_method as find_method
    from semsearch.embedding.weighted_sums import WeightedSums as WeightedSums
    from semsearch.embedding.weights import (
        SIF_A as SIF_A,
        sif_weights as sif_weights,
        usif_a as usif_a,
        usif_weights as usif_weights,
    )
    from semsearch.settings import PRIOR as PRIOR, choose_frequencies as choose_frequencies
    from semsearch.word_vectors.word_frequencies import MIN_FREQUENCY as MIN_FREQUENCY, probabilities as probabilities

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
