"""Turn texts into unit vectors: words, weights, average, removal of the common components.

`SentenceEmbedder` follows scikit-learn's contract (semsearch.embedding.estimator): the constructor only stores its
arguments, `fit` checks them and learns, what was learned ends in an underscore, `transform` never learns. What is
learned has two parts. The weights (a, p(w) or idf) are frozen by the first texts that are fitted; the components follow
from a sum over all texts, so that `partial_fit` and `merge` give what one `fit` on everything gives, as long as the
weights are the same.

    the words of s, as ids                     word_finder
    v_s = Σ_{w∈s} weight(w) v_w / |s|          weights, weighted_sums
    v_s - Σ_i λ_i (v_s·c_i) c_i                components
    the same, of length one

A prior stands for sentences of general language (general_language).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.arrays.types import Float32, Int64
from semsearch.embedding.components import CommonComponents, SentenceSums
from semsearch.embedding.estimator import BATCH, Choices, TextEstimator, batched, listed
from semsearch.embedding.general_language import (
    general_component,
    general_sentences,
    values_of_more,
    without_components,
)
from semsearch.embedding.saved_embedder import card_of, restore, to_bytes, weights_digest
from semsearch.embedding.weighted_sums import WeightedSums, WordShares, share_out
from semsearch.embedding.weights import Method, Unknown, WordWeights, learn_weights
from semsearch.embedding.word_finder import WordFinder, as_multilingual
from semsearch.errors import FitError, StorageError
from semsearch.system.durable import write_durably
from semsearch.system.parallel import Threads
from semsearch.text.languages import ENGLISH
from semsearch.text.ragged import Ragged
from semsearch.text.tokens import words
from semsearch.word_vectors.multilingual import MultilingualVectors, language_table
from semsearch.word_vectors.table import DEFAULT_VECTORS, WordVectors, WordVectorsLike, open_vectors


class SentenceEmbedder(TextEstimator):
    """Sentence vectors by SIF, uSIF, tf-idf or plain mean. Rows have length one, or are zero if no word is known.

        embedder = SentenceEmbedder("english").fit(texts)
        vectors = embedder.transform(["How do I rotate the keys?"])          # (1, 256)

    vectors      word vectors by name or path, or opened, as `load_vectors` gives them
    method       "sif", "usif", "tfidf", "mean", or a custom `Method`
    a            the weights' parameter; by default 1e-3 for SIF and the paper's formula for uSIF
    components   the number of common components to remove; by default the method's
    frequencies  where p(w) comes from: "vectors" (general English), "corpus" (the fitted texts), "mixed" (general
                 English for few fitted texts, the corpus for many), or a counts file
    prior        the number of sentences of general language that are added to the fitted texts, so that a few
                 sentences keep their meaning; 0 follows the papers
    unknown      how to treat words that the vectors lack: "skip" omits them; "pieces" predicts their vectors from
                 the table's pieces

    The parameters are checked by `fit`, and by `check`. It is a transformer of scikit-learn's: see `get_params`.
    """

    chosen_: Choices
    weights_: WordWeights
    statistics_: SentenceSums
    common_: CommonComponents
    _raw_: WeightedSums | None = None
    _opened: tuple[str | Path, WordVectors] | None = None  # by name or path

    def __init__(
        self,
        vectors: WordVectorsLike = DEFAULT_VECTORS,
        *,
        method: str | Method = "sif",
        a: float | None = None,
        components: int | None = None,
        frequencies: str | Path = "vectors",
        prior: float = 0,
        unknown: Unknown = "skip",
    ) -> None:
        self.vectors = vectors
        self.method = method
        self.a = a
        self.components = components
        self.frequencies = frequencies
        self.prior = prior
        self.unknown: Unknown = unknown

    # -- parameters ----------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Check the parameters, as `fit` does: raises UsageError for invalid ones, VectorsError."""
        self._choose()

    @property
    def opened_vectors(self) -> WordVectors:
        """The word vectors that `vectors` names, opened. Raises VectorsError."""
        if not isinstance(self.vectors, str | Path):
            return self.vectors
        if self._opened is None or self._opened[0] != self.vectors:
            self._opened = self.vectors, open_vectors(self.vectors)
        return self._opened[1]

    @property
    def is_fitted(self) -> bool:
        """Return whether the embedder has been fitted."""
        return hasattr(self, "common_")

    @property
    def dimension(self) -> int:
        """The number of dimensions of its vectors, d. Needs no fit."""
        return self._chosen.vectors.dimension

    @property
    def _chosen(self) -> Choices:
        """What was chosen when it was fitted; before, what would be chosen now."""
        return self.chosen_ if self.is_fitted else self._choose()

    def _choose(self) -> Choices:
        return Choices.of(**{**self.get_params(), "vectors": self.opened_vectors})

    # -- learning ------------------------------------------------------------------------------------------------

    def fit(self, texts: Iterable[str], y: object = None) -> SentenceEmbedder:  # noqa: ARG002  # as scikit-learn calls
        """Learn weights and components from texts, and forget what was learned before. `y` is ignored.

        Raises UsageError for a single string, and for parameters that make no sense.
        """
        fresh = SentenceEmbedder(**self.get_params())  # nothing that was learned before
        batches = [fresh.tokenize(batch) for batch in batched(texts)]
        return self.fit_ragged(lambda: batches)

    def fit_ragged(self, batches: Callable[[], Iterable[Ragged]], *, spread: Threads | None = None) -> SentenceEmbedder:
        """Like `fit`, from word ids. `batches` is called a few times, and must give the same texts each time.

        The result does not depend on how the work is `spread` over threads.
        """
        self.chosen_ = chosen = self._choose()
        self.weights_ = learn_weights(
            chosen.method.weighting, chosen.vectors, batches, a=chosen.a, frequencies=chosen.frequencies
        )
        self._raw_ = None
        if (multilingual := as_multilingual(chosen.vectors)) is not None:
            vectors = without_components(multilingual, self.weights_)
            self.chosen_ = replace(chosen, vectors=vectors)
        total = SentenceSums.empty(chosen.vectors.dimension)
        for part in (spread or Threads()).in_order(self.statistics_of, batches()):
            total = total + part
        self._learn(total)
        return self

    def partial_fit(self, texts: Iterable[str], y: object = None) -> SentenceEmbedder:
        """Learn components from more texts. The first call is a `fit`, which also learns and freezes the weights."""
        if not self.is_fitted:
            return self.fit(texts, y)
        total = self.statistics_
        for batch in batched(texts):
            total = total + self.statistics_of(self.tokenize(batch))
        return self._learn(total)

    def merge(self, other: SentenceEmbedder) -> SentenceEmbedder:
        """Add what another embedder has learned, as if this one had been fitted on its texts as well.

        Raises FitError if the weights of the two differ: then their vectors cannot be compared.
        """
        if self.weights_digest != other.weights_digest:
            raise FitError(
                f"these embedders weigh words differently ({self._summary()}; {other._summary()}); fit one, "
                "then partial_fit copies of it, or give both the same vectors, method, a and frequencies"
            )
        return self._learn(self.statistics_ + other.statistics_)

    def _learn(self, total: SentenceSums) -> SentenceEmbedder:
        self.statistics_ = total
        self.common_ = self._components_of(total)
        return self

    def statistics_of(self, texts: Ragged) -> SentenceSums:
        """The sums over texts, under the frozen weights, from which components follow. They add and subtract."""
        raw, total = self._raw(), SentenceSums.empty(self.chosen_.vectors.dimension)
        for first in range(0, len(texts), BATCH):
            known = raw.known(texts.part(first, min(first + BATCH, len(texts))))
            total = total + SentenceSums.of(raw.of(known), len(known.ids))
        return total

    def general_statistics(self) -> SentenceSums:
        """The sums over sentences of general language, drawn word by word from p(w), under the frozen weights.

        Of English alone where there are only stray texts in other languages.
        """
        vectors = self.chosen_.vectors
        if (multilingual := as_multilingual(vectors)) is None:
            return self.statistics_of(general_sentences(vectors))
        if ENGLISH not in multilingual.removed:
            return self.statistics_of(general_sentences(vectors, among=multilingual.language_ids(ENGLISH)))
        total = SentenceSums.empty(vectors.dimension)
        for code in (ENGLISH, *multilingual.tables):
            total = total + self.statistics_of(general_sentences(vectors, among=multilingual.language_ids(code)))
        return total

    def drift(self, today: SentenceSums) -> float:
        """The largest principal angle, in degrees, between the components in use and those of newer sums."""
        self._check_fitted()
        angles = self.common_.angles(self._components_of(today))
        return float(angles.max()) if len(angles) else 0.0

    def _components_of(self, sums: SentenceSums) -> CommonComponents:
        chosen = self.chosen_
        if chosen.prior:
            sums = sums + self.general_statistics().scaled(chosen.prior)
        return CommonComponents.of(sums, chosen.components, piecewise=chosen.method.piecewise)

    def add_languages(self, languages: Sequence[str]) -> None:
        """Know more languages from now on, by general text of each. What was learned and all vectors stay."""
        vectors = as_multilingual(self.chosen_.vectors) or MultilingualVectors(self.chosen_.vectors, [])
        for code in languages:
            if code not in vectors.tables and (table := language_table(code, vectors.english)) is not None:
                alone = MultilingualVectors(vectors.english, [table])
                raw = WeightedSums(alone, replace(self.weights_, values=alone.frequencies), normalise=False)
                vectors = vectors.with_table(table, general_component(raw, alone, code))
        self.chosen_ = replace(self.chosen_, vectors=vectors)
        self.weights_ = replace(self.weights_, values=values_of_more(self.weights_, vectors))
        self._raw_ = None

    # -- embedding -----------------------------------------------------------------------------------------------

    def transform(self, texts: Iterable[str], languages: Sequence[str] | None = None) -> Float32:
        """Embed texts: n texts -> (n, d) float32, rows of length one, or zero if no word of the text is known.

        `languages`: the language of each, where it is known; else it is guessed, if there are words of several.
        Raises FitError before `fit`, UsageError for a single string, and for what is no string.
        """
        self._check_fitted()
        listed_texts = listed(texts)
        result = np.empty((len(listed_texts), self.dimension), dtype=np.float32)
        for first in range(0, len(listed_texts), BATCH):
            part = slice(first, first + BATCH)
            tokens = self.tokenize(listed_texts[part], languages and languages[part])
            result[part] = self._raw().without(self.common_, tokens)
        return result

    def fit_transform(self, texts: Iterable[str], y: object = None) -> Float32:
        """Fit on texts, then embed them: `fit(texts).transform(texts)`. `y` is ignored."""
        listed_texts = listed(texts)
        return self.fit(listed_texts, y).transform(listed_texts)

    def transform_ragged(self, texts: Ragged) -> Float32:
        """Like `transform`, from word ids. n texts -> (n, d)"""
        self._check_fitted()
        result = np.empty((len(texts), self.dimension), dtype=np.float32)
        for first in range(0, len(texts), BATCH):
            last = min(first + BATCH, len(texts))
            result[first:last] = self._raw().without(self.common_, texts.part(first, last))
        return result

    def transform_both(self, texts: Ragged, starts: Int64) -> tuple[Float32, Float32]:
        """Embed n texts, and m joined ones of rows starts[i] to starts[i + 1], from word ids. -> (n, d), (m, d)"""
        self._check_fitted()
        return self._raw().both(self.common_, texts, starts)

    def raw(self, texts: Ragged) -> Float32:
        """The weighted averages of texts, before removal and scaling. n texts -> (n, d)"""
        return self._raw().of(texts)

    def shares(self, text: str, language: str | None = None) -> WordShares:
        """The share that each word of a text has in its vector: rows that sum to `transform([text])[0]`.

        `language`: that of the text, where it is known.
        """
        self._check_fitted()
        multilingual = as_multilingual(self.chosen_.vectors)
        if multilingual is not None and language in multilingual.tables:
            text_words = multilingual.split(text, language)
        else:
            text_words, language = words(text), ENGLISH
        tokens = self.tokenize(text_words, [language] * len(text_words))
        return share_out(text_words, tokens, self._raw(), self.common_)

    def _raw(self) -> WeightedSums:
        if self._raw_ is None:
            chosen = self.chosen_
            self._raw_ = WeightedSums(
                chosen.vectors,
                self.weights_,
                normalise=chosen.method.normalise,
                pieces=chosen.unknown != "skip",
            )
        return self._raw_

    def tokenize(self, texts: Sequence[str], languages: Sequence[str] | None = None) -> Ragged:
        """The ids of each text's words. Unknown words are left out if `unknown` is "skip", else kept. Needs no fit.

        `languages`: as in `transform`.
        """
        chosen = self._chosen
        return WordFinder(chosen.vectors, keep_unknown=chosen.unknown != "skip").of_texts(texts, languages)

    # -- keeping -------------------------------------------------------------------------------------------------

    @property
    def weights_digest(self) -> str:
        """A digest of all that determines raw vectors: equal digests mean equal raw vectors."""
        self._check_fitted()
        return weights_digest(self)

    def card(self) -> dict[str, Any]:
        """A description for people: method, a, components and their shares of the variance, word vectors."""
        self._check_fitted()
        return card_of(self)

    def to_bytes(self) -> bytes:
        """Serialise all that was learned, as a NumPy archive without pickles."""
        self._check_fitted()
        return to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, vectors: WordVectorsLike) -> SentenceEmbedder:
        """Restore an embedder from what `to_bytes` gave.

        Raises VectorsMismatch if it was fitted with other word vectors, FitError if the data are damaged.
        """
        embedder = cls(vectors)
        restore(embedder, data)
        chosen = embedder.chosen_
        return embedder.set_params(**{name: getattr(chosen, name) for name in cls._defaults() if name != "vectors"})

    def save(self, path: str | Path) -> None:
        """Write what was learned to a file, which appears whole or not at all. Raises StorageError."""
        data = self.to_bytes()
        try:
            write_durably(Path(path), lambda write: write(data))
        except OSError as error:
            raise StorageError(f"{path} cannot be written: {error.strerror or error}; choose another place") from error

    @classmethod
    def load(cls, path: str | Path, vectors: WordVectorsLike) -> SentenceEmbedder:
        """Read an embedder that `save` wrote. Raises as `from_bytes`, and FitError if the file cannot be read."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise FitError(f"{path} cannot be read: {error}") from error
        return cls.from_bytes(data, vectors)

    def __getstate__(self) -> dict[str, Any]:
        """The parameters, and what was learned as `to_bytes` has it: tables that can be made again are left behind."""
        return {"parameters": self.get_params(), "learned": self.to_bytes() if self.is_fitted else None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state["parameters"])
        if state["learned"] is not None:
            restore(self, state["learned"])

    def _summary(self) -> str:
        chosen = self.chosen_
        return f"{chosen.vectors.name}, {chosen.method.name}, a = {self.weights_.a:.6g}, p(w) from {chosen.frequencies}"
