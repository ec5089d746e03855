"""How likely a passage answers: a probability, learned from the judged questions of several collections.

    P(answers) = 1 / (1 + exp(-(b + c · cosine + w · covered)))

The cosine is that of the dense score; `covered` is the share of the query's words that the passage and its neighbours
have, by their idf. Both mean the same for any query, which the score of a hit does not: its words are divided by the
best passage's. More features, and trees in place of the sum, were no better on collections that they had not seen.
docs/research/measurements.md has how well it is calibrated there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.results.floor import FLOOR

Float64 = npt.NDArray[np.float64]

_DOUBTFUL = 0.01, FLOOR  # without topics, where the cosine knows less, too many that answer lie between
_DIGITS = 4  # what is beyond them is noise, and long in JSON


def relevance(cosine: Float64, covered: Float64) -> Float64:
    """How likely passages answer, 0 to 1; NaN where either is not known. (n,), (n,) -> (n,)"""
    tuned = tuning.TUNING
    logits = tuned.relevance_bias + tuned.relevance_of_cosine * cosine + tuned.relevance_of_words * covered
    return np.asarray(np.round(1 / (1 + np.exp(-logits)), _DIGITS))


def beyond_doubt(values: Float64) -> Float64:
    """How likely passages answer, NaN where that is doubtful if their index has no topics. (n,) -> (n,)"""
    least, most = _DOUBTFUL
    return np.where((values >= least) & (values < most), np.nan, values)
