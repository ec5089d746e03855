"""Word vectors by gensim's word2vec, skip-gram and continuous bag of words: the baselines of the paper of CBOS.

Mikolov et al. 2013. Yuan and Zhang give no settings but the dimension; others are those of the authors' program: window
5, five negative samples, frequent words thinned out at 1e-3, a rate of 0.025 for skip-gram and 0.05 for CBOW that falls
to nothing. gensim has 0.025 for both by default, with which CBOW learns far less from a short text. One thread, so that
the same text and seed give the same vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch_research.evaluate.inputs import import_extra
from semsearch_research.reread import Reread

Float32 = npt.NDArray[np.float32]
Sentences = Callable[[], Iterable[list[str]]]
_RATES = {True: 0.025, False: 0.05}  # of skip-gram; of CBOW


def word2vec(
    sentences: Sentences,
    words: list[str],
    *,
    skip_gram: bool,
    dimension: int = 100,
    window: int = 5,
    epochs: int = 5,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Float32:
    """Train vectors (V, d) of all words (V) of the sentences, which `sentences()` yields again for each round.

    `progress(n)` is called with the number of sentences read in all rounds. Raises MissingExtra.
    """
    model: Any = check_gensim().Word2Vec(
        vector_size=dimension,
        window=window,
        min_count=1,
        sg=int(skip_gram),
        alpha=_RATES[skip_gram],
        epochs=epochs,
        seed=seed,
        workers=1,
    )
    model.build_vocab(Reread(sentences, None))
    model.train(Reread(sentences, progress), total_examples=model.corpus_count, epochs=epochs)
    return np.asarray(model.wv[words], dtype=np.float32)


def check_gensim() -> Any:
    """Import gensim's models. Raises MissingExtra if it is not installed."""
    return import_extra("gensim.models", package="gensim", extra="papers")
