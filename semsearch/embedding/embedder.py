"""Turn texts into unit vectors: words, weights, average, removal of the common components.

The constructor of `SentenceEmbedder` only stores its arguments, `fit` checks them and learns, what was learned ends in
an underscore, `transform` never learns. What is learned has two parts: the weights (a, p(w) or idf), and the
components, which follow from a sum over all texts, or over an even sample of very many.

    the words of s, as ids                     word_vectors/multilingual
    v_s = Σ_{w∈s} weight(w) v_w / |s|          weights, weighted_sums
    v_s - Σ_i λ_i (v_s·c_i) c_i                components
    the same, of length one

A fit on a few sentences would take their subject for what is common to all sentences. So sentences of general language,
drawn word by word from p(w), are added to it, as many as the prior says. In an index of several languages, each has a
component of its own, which is removed from its words (semsearch.word_vectors.multilingual).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from semsearch.arrays.id_ranges import evenly
from semsearch.arrays.types import Float32, Float64, Int64
from semsearch.embedding.components import CommonComponents, SentenceSums
from semsearch.embedding.saved_embedder import card_of, restore, to_bytes
from semsearch.embedding.weighted_sums import WeightedSums, WordShares, share_out
from semsearch.embedding.weights import Choices, Method, Unknown, WordWeights, find_method, learn_weights
from semsearch.errors import FitError, UsageError
from semsearch.text.languages import ENGLISH
from semsearch.text.ragged import Ragged
from semsearch.text.tokens import words
from semsearch.word_vectors.multilingual import MultilingualVectors, WordFinder, as_multilingual, language_table
from semsearch.word_vectors.table import DEFAULT_VECTORS, WordVectors, WordVectorsLike, open_vectors

SAMPLE = 1 << 16  # texts, evenly drawn, that components are learned from; see docs/research/measurements.md
_BATCH = 8192  # texts at a time


class SentenceEmbedder:
    """Sentence vectors by SIF, uSIF, tf-idf or plain mean. Rows have length one, or are zero if no word is known.

        embedder = SentenceEmbedder("english").fit(texts)
        vectors = embedder.transform(["How do I rotate the keys?"])          # (1, 256)

    vectors      word vectors by name or path, or opened, as `load_vectors` gives them
    method       "sif", "usif", "tfidf", "mean", or a custom `Method`
    a            the weights' parameter; by default 1e-3 for SIF and the paper's formula for uSIF
    components   the number of common components to remove; by default the method's
    frequencies  where p(w) comes from: "vectors" (general English), "corpus" (the fitted texts), or "mixed" (general
                 English for few fitted texts, the corpus for many)
    prior        the number of sentences of general language that are added to the fitted texts, so that a few
                 sentences keep their meaning; 0 follows the papers
    unknown      how to treat words that the vectors lack: "skip" omits them; "pieces" predicts their vectors from
                 the table's pieces

    The parameters are checked by `fit`, and by `check`.
    """

    chosen_: Choices
    weights_: WordWeights
    common_: CommonComponents
    _raw_: WeightedSums | None = None

    def __init__(
        self,
        vectors: WordVectorsLike = DEFAULT_VECTORS,
        *,
        method: str | Method = "sif",
        a: float | None = None,
        components: int | None = None,
        frequencies: str = "vectors",
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
    def dimension(self) -> int:
        """The number of dimensions of its vectors, d. Needs no fit."""
        return self._chosen.vectors.dimension

    @property
    def is_fitted(self) -> bool:
        """Return whether the embedder has been fitted."""
        return hasattr(self, "common_")

    @property
    def _chosen(self) -> Choices:
        """The choices of the fit; before it, those that it would make now."""
        return self.chosen_ if self.is_fitted else self._choose()

    @cached_property
    def _opened(self) -> WordVectors:
        return open_vectors(self.vectors)

    def _choose(self) -> Choices:
        method = find_method(self.method)
        components = method.components if self.components is None else self.components
        chosen = Choices(self._opened, method, self.a, components, self.frequencies, self.prior, self.unknown)
        return chosen.checked()

    def _check_fitted(self) -> None:
        if not self.is_fitted:
            raise FitError("this embedder is not fitted; call fit(texts) first")

    # -- learning ------------------------------------------------------------------------------------------------

    def fit(self, texts: Iterable[str]) -> SentenceEmbedder:
        """Learn weights and components from texts, and forget what was learned before.

        Raises UsageError for a single string, and for parameters that make no sense.
        """
        texts, finder = listed(texts), _word_finder(self._choose())
        batches = [finder.of_texts(texts[first : first + _BATCH]) for first in range(0, len(texts), _BATCH)]
        return self.fit_ragged(lambda: batches, count=len(texts))

    def fit_ragged(self, batches: Callable[[], Iterable[Ragged]], *, count: int) -> SentenceEmbedder:
        """Like `fit`, from the word ids of so many texts. `batches` is called a few times, and must give the same texts
        each time."""
        self.chosen_ = chosen = self._choose()
        self.weights_ = learn_weights(
            chosen.method.weighting, chosen.vectors, batches, a=chosen.a, frequencies=chosen.frequencies
        )
        self._raw_ = None
        if (multilingual := as_multilingual(chosen.vectors)) is not None:
            vectors = without_components(multilingual, self.weights_)
            self.chosen_ = replace(chosen, vectors=vectors)
        sample, total = evenly(count, SAMPLE), SentenceSums.empty(chosen.vectors.dimension)
        for part in _drawn(batches(), sample):
            total = total + self.statistics_of(part)
        self.common_ = self._components_of(total.scaled(total.sentences * count / max(len(sample), 1)))
        return self

    def statistics_of(self, texts: Ragged) -> SentenceSums:
        """The sums over texts, under the frozen weights, from which components follow."""
        raw, total = self._raw(), SentenceSums.empty(self.chosen_.vectors.dimension)
        for first in range(0, len(texts), _BATCH):
            known = raw.known(texts.part(first, min(first + _BATCH, len(texts))))
            total = total + SentenceSums.of(raw.of(known))
        return total

    def general_statistics(self) -> SentenceSums:
        """The sums over sentences of general language, drawn word by word from p(w), under the frozen weights.

        Of English alone where there are only stray texts in other languages.
        """
        vectors, parts = self.chosen_.vectors, [slice(None)]
        if (multilingual := as_multilingual(vectors)) is not None:
            others = multilingual.tables if ENGLISH in multilingual.removed else ()
            parts = [multilingual.language_ids(code) for code in (ENGLISH, *others)]
        total = SentenceSums.empty(vectors.dimension)
        for part in parts:
            total = total + self.statistics_of(general_sentences(vectors, among=part))
        return total

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
        for first in range(0, len(listed_texts), _BATCH):
            part = slice(first, first + _BATCH)
            tokens = self.tokenize(listed_texts[part], languages and languages[part])
            result[part] = self._raw().unit_vectors(self.common_, tokens)
        return result

    def fit_transform(self, texts: Iterable[str]) -> Float32:
        """Fit on texts, then embed them: `fit(texts).transform(texts)`."""
        listed_texts = listed(texts)
        return self.fit(listed_texts).transform(listed_texts)

    def transform_ragged(self, texts: Ragged) -> Float32:
        """Like `transform`, from word ids. n texts -> (n, d)"""
        self._check_fitted()
        return self._raw().unit_vectors(self.common_, texts)

    def transform_both(self, texts: Ragged, starts: Int64) -> tuple[Float32, Float32]:
        """Embed n texts, and m joined ones of rows starts[i] to starts[i + 1], from word ids. -> (n, d), (m, d)"""
        self._check_fitted()
        return self._raw().unit_vectors_joined(self.common_, texts, starts)

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
            self._raw_ = WeightedSums(chosen.vectors, self.weights_, normalise=chosen.method.normalise)
        return self._raw_

    def tokenize(self, texts: Sequence[str], languages: Sequence[str] | None = None) -> Ragged:
        """The ids of each text's words. Unknown words are left out if `unknown` is "skip", else kept. Needs no fit.

        `languages`: as in `transform`.
        """
        return _word_finder(self._chosen).of_texts(texts, languages)

    # -- keeping -------------------------------------------------------------------------------------------------

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
        chosen, weights, common = restore(data, open_vectors(vectors))
        embedder = cls(
            vectors,
            method=chosen.method,
            a=chosen.a,
            components=chosen.components,
            frequencies=chosen.frequencies,
            prior=chosen.prior,
            unknown=chosen.unknown,
        )
        embedder.chosen_, embedder.weights_, embedder.common_ = chosen, weights, common
        return embedder


def _word_finder(chosen: Choices) -> WordFinder:
    """The finder of the words of texts, as ids."""
    return WordFinder(chosen.vectors, keep_unknown=chosen.unknown != "skip")


def listed(texts: Iterable[str]) -> Sequence[str]:
    """All texts, as a list unless they are a list or tuple already.

    Raises UsageError for a single string, and for what is not a string.
    """
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise UsageError(f"expected a list of texts, not {texts!r}; for one text give [text]")
    several = texts if isinstance(texts, list | tuple) else list(texts)
    for number, text in enumerate(several):
        if not isinstance(text, str):
            raise UsageError(
                f"text {number} is {text!r}, not a string; give a flat list of texts, such as one column of a table"
            )
    return several


def _drawn(batches: Iterable[Ragged], numbers: Int64) -> Iterator[Ragged]:
    """The texts with the given numbers, which rise."""
    first = 0
    for batch in batches:
        rows = numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + len(batch))] - first
        first += len(batch)
        yield batch if len(rows) == len(batch) else batch.take(rows)


# -- General language --------------------------------------------------------------------------------------------------

_SAMPLE = 4000  # sentences


def general_sentences(vectors: WordVectors, *, among: slice = slice(None)) -> Ragged:
    """Draw sentences of 5 to 24 words from the word vectors' own p(w), or from some of them: the same each time."""
    generator = np.random.default_rng(0)
    lengths = generator.integers(5, 25, size=_SAMPLE)
    p = vectors.frequencies[among].astype(np.float64)
    ids = generator.choice(len(p), size=int(lengths.sum()), p=p / p.sum()).astype(np.int32) + (among.start or 0)
    return Ragged(ids.astype(np.int32), np.concatenate(([0], np.cumsum(lengths))))


def general_component(raw: WeightedSums, vectors: MultilingualVectors, language: str) -> Float64:
    """The common component of a language, by general text of it alone. (1, d)"""
    general = general_sentences(vectors, among=vectors.language_ids(language))
    return CommonComponents.of(SentenceSums.of(raw.of(general)), 1, piecewise=False).directions


def without_components(multilingual: MultilingualVectors, weights: WordWeights) -> MultilingualVectors:
    """Word vectors from which the component of each language is removed.

    Taking it from the indexed texts as well needs another pass over them, a tenth of the time of indexing, changes no
    nDCG of XQuAD by more than .0004, and turns that of English by 80 degrees with the texts that come first. English
    keeps its own beside strays: its sentences then have the vectors that they have without these.
    """
    tables = [*multilingual.tables.values()]
    vectors = MultilingualVectors(multilingual.english, tables)
    raw = WeightedSums(vectors, weights, normalise=False)
    codes = [*vectors.tables] if multilingual.are_strays else [ENGLISH, *vectors.tables]
    removed = {code: general_component(raw, vectors, code) for code in codes}
    return MultilingualVectors(multilingual.english, tables, removed)


def values_of_more(weights: WordWeights, vectors: MultilingualVectors) -> Float32:
    """The values of weights, with those of the words of languages that are new: p(w), or idf as of a rare word."""
    if not weights.stored:
        return vectors.frequencies
    new = vectors.frequencies[len(weights.values) :]
    new = np.full_like(new, weights.values.max(initial=0)) if weights.weighting == "idf" else new
    return np.concatenate([weights.values, new])
