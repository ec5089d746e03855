"""Sentences of general language, drawn word by word from p(w): what a prior stands for."""

from __future__ import annotations

import numpy as np

from semsearch.text.ragged import Ragged
from semsearch.word_vectors.table import WordVectors

_SAMPLE = 4000  # sentences


def general_sentences(vectors: WordVectors) -> Ragged:
    """Draw sentences of 5 to 24 words from the word vectors' own p(w): the same ones each time."""
    generator = np.random.default_rng(0)
    lengths = generator.integers(5, 25, size=_SAMPLE)
    p = vectors.frequencies.astype(np.float64)
    ids = generator.choice(len(p), size=int(lengths.sum()), p=p / p.sum()).astype(np.int32)
    return Ragged(ids, np.concatenate(([0], np.cumsum(lengths))))
