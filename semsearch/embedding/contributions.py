"""Contributions: what each word adds to the vector of a text, and so each pair of words to the cosine of two texts.

SIF. The average is a sum over words, and the removal of components is linear, so that with x_j the vector and a_j the
weight of the j-th of n words

    v = Σ_j R a_j x_j / n,  R = I - Σ_i λ_i c_i c_iᵀ          v / ‖v‖ = Σ_j s_j,  s_j = R a_j x_j / (n ‖v‖)

uSIF. Each dimension of x_j is divided by its norm over the words of the text, ν = √Σ_j x_j². That is not linear in the
words; but ν is the same for all words of a text, and known once the text is. For a given text the sum is over words
again, and s_j = R (a_j x_j / ν) / (n ‖v‖).

For two texts with the shares p_i and s_j the cosine is p · s = Σ_i Σ_j p_i · s_j. It says how the cosine is composed;
not how it would change if a word were left out, for then n, ‖v‖ and ν would be others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from semsearch.arrays.types import Float32
from semsearch.arrays.vectors import row_lengths, to_unit
from semsearch.embedding.components import CommonComponents
from semsearch.embedding.weighted_sums import WeightedSums
from semsearch.text.ragged import Ragged


@dataclass(frozen=True, eq=False, slots=True)
class WordShares:
    """The distinct words of a text in order (w,) and what all occurrences of each add to the text's vector (w, d).

    `unknown` are the words that have no vector.
    """

    words: tuple[str, ...]
    rows: Float32
    unknown: tuple[str, ...]

    def summing_to(self, vector: Float32) -> WordShares:
        """Shares that sum to a stored vector (d,): its rounding error is divided evenly among the words."""
        rounding = (vector - self.rows.sum(axis=0)) / np.float32(max(len(self.words), 1))
        return WordShares(self.words, np.asarray(self.rows + rounding, dtype=np.float32), self.unknown)


def share_out(
    words: Sequence[str], tokens: Ragged, weighted_sums: WeightedSums, common: CommonComponents
) -> WordShares:
    """The shares of a text's words (n,) in its vector. `tokens` are the ids of the words, as n texts of one word each,
    or of the parts of an unknown one."""
    known = weighted_sums.known(tokens)
    shares = weighted_sums.shares(known)
    rest, whole = common.remove(shares), shares.sum(axis=0)[None]
    factor = to_unit(rest.sum(axis=0)[None], scale=row_lengths(whole))
    named = [word for word, length in zip(words, known.lengths.tolist(), strict=True) for _ in range(length)]
    indices = {word: index for index, word in enumerate(dict.fromkeys(named))}
    rows = np.zeros((len(indices), shares.shape[1]), dtype=np.float32)
    np.add.at(rows, [indices[word] for word in named], rest * factor)
    unknown = dict.fromkeys(word for word, length in zip(words, known.lengths.tolist(), strict=True) if not length)
    return WordShares(tuple(indices), rows, tuple(unknown))
