"""Cosines of sentence pairs by the papers' own methods, by their parts, and by uSIF's three parts taken singly.

mean tfidf          the baselines
w r sif             SIF paper, table 6: weights only, removal only, both (WR)
usif                all three parts of the uSIF paper: weights (u), piecewise removal (p), normalisation (n)
sif+u sif+p sif+n   uSIF paper, section 4.3: one of the parts in place of SIF's
usif-u usif-p usif-n   the counterpart, which the paper lacks: SIF's way in place of one of the parts
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from semsearch.arrays.types import Float32, Floating
from semsearch.arrays.vectors import row_lengths, unit
from semsearch.embedding.components import CommonComponents, SentenceSums
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.embedding.weighted_sums import WeightedSums
from semsearch.embedding.weights import (
    METHODS,
    SIF_A,
    Method,
    Weighting,
    WordWeights,
    learn_weights,
    usif_a,
)
from semsearch.errors import UsageError
from semsearch.text.ragged import Ragged
from semsearch.word_vectors.table import WordVectors
from semsearch_research.evaluate.sentence_pairs import Task
from semsearch_research.word_tables.word_counts import probabilities, read_counts, shares

DEFAULT = tuple(METHODS)
VARIANTS: dict[str, Method] = {
    "mean": METHODS["mean"],
    "tfidf": METHODS["tfidf"],
    "w": Method("w", "sif", normalise=False, components=0, piecewise=False),
    "r": Method("r", "none", normalise=False, components=1, piecewise=False),
    "sif": METHODS["sif"],
    "usif": METHODS["usif"],
    "sif+u": Method("sif+u", "usif", normalise=False, components=1, piecewise=False),
    "sif+p": Method("sif+p", "sif", normalise=False, components=5, piecewise=True),
    "sif+n": Method("sif+n", "sif", normalise=True, components=1, piecewise=False),
    "usif-u": Method("usif-u", "sif", normalise=True, components=5, piecewise=True),
    "usif-p": Method("usif-p", "usif", normalise=True, components=1, piecewise=False),
    "usif-n": Method("usif-n", "usif", normalise=False, components=5, piecewise=True),
}
_OTHER_NAMES = {"wr": "sif"}  # as the SIF paper calls it


def find_variants(methods: Sequence[str | Method]) -> list[Method]:
    """The methods of these names, or as they are. Raises UsageError where there is none, or one twice."""
    chosen = [method if isinstance(method, Method) else _find(method) for method in methods]
    if len({method.name for method in chosen}) != len(chosen):
        raise UsageError(f"methods must be different, got {', '.join(method.name for method in chosen)}")
    return chosen


def _find(name: str) -> Method:
    known = _OTHER_NAMES.get(name, name)
    if known not in VARIANTS:
        raise UsageError(f"there is no method {name!r}; choose one of {', '.join([*VARIANTS, *_OTHER_NAMES])}")
    return VARIANTS[known]


USIF_N = 11  # uSIF paper, section 4.2: E|s| over all the papers' data
UNIFORM = "uniform"  # all words alike, whatever a is
_BATCH = 8192  # sentences at a time
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Cosines:
    """The cosines of a method on a task, one for each pair (n,), 0 if a sentence has no known word; and its a."""

    task: Task
    method: Method
    values: Float32
    a: float


@dataclass(frozen=True)
class WeighedWords:
    """Word vectors, and the source of p(w): "vectors", "corpus" (the fitted sentences), "uniform", or a counts file."""

    vectors: WordVectors
    frequencies: str | Path = "vectors"

    def tokenize(self, sentences: Sequence[str]) -> Ragged:
        """The ids of the words of each sentence; OOV words are left out."""
        return SentenceEmbedder(self.vectors).tokenize(sentences)

    def weights(self, weighting: Weighting, fitted: Sequence[Ragged], a: float | None) -> WordWeights:
        """Learn weights as in the papers: SIF's a is 1e-3, uSIF's follows from p(w) and n = 11 words."""
        if weighting in ("none", "idf"):
            return learn_weights(weighting, self.vectors, lambda: fitted, a=None, frequencies="corpus")
        if self.frequencies == "corpus":
            table: Floating
            counted = learn_weights("sif", self.vectors, lambda: fitted, a=SIF_A, frequencies="corpus")
            table = p = counted.values
        else:
            table, p = self._counted
        if a is None:
            a = SIF_A if weighting == "sif" else usif_a(table, USIF_N)
        return WordWeights(weighting, a, p, stored=self.frequencies != "vectors")

    @cached_property
    def _counted(self) -> tuple[Floating, Float32]:
        """p(w) of all counted words, of which uSIF's α is a share, and of those that have vectors."""
        if self.frequencies == "vectors":
            return self.vectors.frequencies, self.vectors.frequencies
        if self.frequencies == UNIFORM:
            even = np.full(len(self.vectors), 1 / len(self.vectors), dtype=np.float32)
            return even, even
        counts = read_counts(Path(self.frequencies))
        return shares(counts), probabilities(counts, self.vectors)


def cosines(
    words: WeighedWords,
    tasks: Sequence[Task],
    methods: Sequence[Method],
    *,
    fit_on: Sequence[str] | None = None,
    a: Sequence[float | None] = (None,),
    components: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Cosines]:
    """Compute the cosines of every method with each a on every task, methods with the same weighted sums together.

    Components are those of the sentences `fit_on`, or of each task if that is None.
    """
    texts = [words.tokenize(task.sentences) for task in tasks]
    fitted = texts if fit_on is None else [words.tokenize(batch) for batch in _batches(fit_on)]
    kinds = dict.fromkeys((method.weighting, method.normalise, value) for method in methods for value in a)
    for index, (weighting, normalise, value) in enumerate(kinds):
        chosen = [method for method in methods if (method.weighting, method.normalise) == (weighting, normalise)]
        weights = words.weights(weighting, fitted, value)
        weighted_sums = WeightedSums(words.vectors, weights, normalise=normalise)
        common = None if fit_on is None else _sums_over(weighted_sums, fitted)
        for number, (task, text) in enumerate(zip(tasks, texts, strict=True), index * len(tasks)):
            if progress is not None:
                progress(f"{words.vectors.name}: tasks", number, len(kinds) * len(tasks))
            rows = weighted_sums.of(text)
            own = _sums_over(weighted_sums, [text]) if common is None else common
            for method in chosen:
                m = method.components if components is None else components
                rest = CommonComponents.of(own, m, piecewise=method.piecewise).remove(rows) if m else rows
                yield Cosines(task, method, _pairwise(unit(rest, scale=row_lengths(rows))), weights.a)


def _sums_over(weighted_sums: WeightedSums, fitted: Sequence[Ragged]) -> SentenceSums:
    total = SentenceSums.of(weighted_sums.of(fitted[0]))
    for batch in fitted[1:]:
        total = total + SentenceSums.of(weighted_sums.of(batch))
    return total


def _pairwise(rows: Float32) -> Float32:
    """The products of row i with row n + i, of rows of length one. (2n, d) -> (n,)"""
    first, second = np.split(rows, 2)
    return np.asarray(np.einsum("ij,ij->i", first, second))


def _batches(sentences: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(sentences), _BATCH):
        yield sentences[first : first + _BATCH]
