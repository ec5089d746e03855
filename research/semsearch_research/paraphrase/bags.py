"""Bags of words: counts of each token in a sentence, punctuation too.  White et al. 2015, section 3.2.4.

The paper does not say how it finds tokens; here they are runs of letters and digits, lower-cased, and every other
character that is not a space, alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_TOKEN = re.compile(r"\w+|[^\w\s]")


def tokens(text: str) -> list[str]:
    """Split a text into tokens. `tokens("Don't!")` is `["don", "'", "t", "!"]`."""
    return _TOKEN.findall(text.lower())


def bags(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Count the tokens of texts, a column for each token in alphabetical order. n texts -> (n, v)

    A token that no training sentence has is a column of zeros to a classifier, which gives it no weight: the columns
    may be those of all sentences, and nothing is learned from those that are tested on.
    """
    found = [tokens(text) for text in texts]
    columns = {token: column for column, token in enumerate(sorted({token for text in found for token in text}))}
    counts = np.zeros((len(texts), len(columns)))
    for row, text in enumerate(found):
        np.add.at(counts[row], [columns[token] for token in text], 1)
    return counts
