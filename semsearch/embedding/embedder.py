"""Turn texts into unit vectors: words, weights, average, removal of the common components.

`SentenceEmbedder` follows scikit-learn's contract (semsearch.embedding.estimator): the constructor only stores its
arguments, `fit` checks them and learns, what was learned ends in an underscore, `transform` never learns. What is
learned has two parts. The weights (a, p(w) or idf) are frozen by the first texts that are fitted; the components follow
from a sum over all texts, so that `partial_fit` and `merge` give what one `fit` on everything gives, as long as the
weights are the same.

A prior stands for sentences of general language, drawn word by word from p(w). A fitted embedder is saved as a NumPy
archive without pickles, with a card that people can read.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float32, Float64, Int64
from semsearch.embedding.components import CommonComponents, SentenceSums
from semsearch.embedding.estimator import BATCH, Choices, EmbedderParameters, Encoding, batched, listed
from semsearch.embedding.methods import Method
from semsearch.embedding.oov import OovVectors
from semsearch.embedding.weighted_sums import WeightedSums
from semsearch.embedding.weights import WordWeights, learn_weights
from semsearch.embedding.word_finder import as_multilingual, ids_of_passages, ids_of_texts, word_ids
from semsearch.errors import FitError, SemsearchError, StorageError, VectorsMismatch
from semsearch.text.languages import ENGLISH
from semsearch.text.ragged import Ragged
from semsearch.text.tokens import TOKENISER_VERSION, WordChunk, hash_chunks, words
from semsearch.word_vectors.loading import WordVectorsLike
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semsearch.embedding.contributions import WordShares
    from semsearch.system.threads import Threads
    from semsearch.text.passage_records import PassageWords
    from semsearch.word_vectors.multilingual import MultilingualVectors


# -- General language --------------------------------------------------------------------------------------------------

_SAMPLE = 4000  # sentences


def general_sentences(vectors: WordVectors, *, among: slice = slice(None)) -> Ragged:
    """Draw sentences of 5 to 24 words from the word vectors' own p(w), or from some of them: the same each time."""
    generator = np.random.default_rng(0)
    lengths = generator.integers(5, 25, size=_SAMPLE)
    p = vectors.frequencies[among].astype(np.float64)
    ids = generator.choice(len(p), size=int(lengths.sum()), p=p / p.sum()).astype(np.int32) + (among.start or 0)
    return Ragged(ids.astype(np.int32), np.concatenate(([0], np.cumsum(lengths))))


# -- Several languages -------------------------------------------------------------------------------------------------

REMOVED = 1  # directions that are removed from the words of each language


def texts_of_language(texts: Ragged, own: slice) -> Int64:
    """The numbers of the texts most of whose words are those of a language, by their ids. (n',)"""
    is_own = (texts.ids >= own.start) & (texts.ids < own.stop)
    counts = np.diff(np.concatenate(([0], np.cumsum(is_own)))[texts.indptr])
    return np.flatnonzero(2 * counts > texts.lengths)


# -- Saved -------------------------------------------------------------------------------------------------------------


def card_of(embedder: SentenceEmbedder) -> dict[str, Any]:
    """A description of a fitted embedder for people: method, a, components and their shares of the variance."""
    chosen, method = embedder.chosen_, embedder.chosen_.method
    return {
        "method": method.name,
        "weighting": method.weighting,
        "normalise": method.normalise,
        "piecewise": method.piecewise,
        "a": embedder.weights_.a or None,
        "components": len(embedder.common_.directions),
        "shares": [round(float(share), 6) for share in embedder.common_.shares],
        "frequencies": str(chosen.frequencies),
        "prior": chosen.prior,
        "unknown": chosen.unknown,
        "vectors": chosen.vectors.name,
        "vectors_digest": _english(chosen.vectors).digest,
        **_languages_of(chosen.vectors),
        "dimension": chosen.vectors.dimension,
        "tokeniser": TOKENISER_VERSION,
        "asked": {"a": chosen.a, "components": chosen.components},
    }


def _with_more(weights: WordWeights, vectors: MultilingualVectors) -> Float32:
    """The values of weights, with those of the words of languages that are new: p(w), or idf as of a rare word."""
    if not weights.stored:
        return vectors.frequencies
    more = vectors.frequencies[len(weights.values) :]
    more = np.full_like(more, weights.values.max(initial=0)) if weights.weighting == "idf" else more
    return np.concatenate([weights.values, more])


def _english(vectors: WordVectors) -> WordVectors:
    """The English word vectors of several languages'."""
    several = as_multilingual(vectors)
    return vectors if several is None else several.english


def _languages_of(vectors: WordVectors) -> dict[str, Any]:
    several = as_multilingual(vectors)
    return {} if several is None else {"languages": {code: table.digest for code, table in several.tables.items()}}


def weights_digest(embedder: SentenceEmbedder) -> str:
    """A digest of all that determines a fitted embedder's raw vectors: equal digests mean equal raw vectors."""
    chosen, weights = embedder.chosen_, embedder.weights_
    text = f"{chosen.vectors.digest} {TOKENISER_VERSION} {weights.weighting} {chosen.method.normalise} {weights.a!r}"
    if chosen.unknown != "skip":
        text += f" {weights.of_unknown_words!r} {chosen.unknown}"
    stored = weights.values.tobytes() if weights.stored else b""
    return blake2b(text.encode() + stored, digest_size=16).hexdigest()


def embedder_to_bytes(embedder: SentenceEmbedder) -> bytes:
    """Serialise all that an embedder has learned, as a NumPy archive without pickles."""
    statistics, common = embedder.statistics_, embedder.common_
    arrays: dict[str, npt.NDArray[Any]] = {
        "card": np.frombuffer(json.dumps(card_of(embedder)).encode(), dtype=np.uint8),
        "a": np.array(embedder.weights_.a),
        "directions": common.directions,
        "strengths": common.strengths,
        "shares": common.shares,
        "gram": statistics.gram,
        "sums": np.array([statistics.sentences, statistics.words], dtype=np.float64),
        "rounding": np.array(statistics.rounding),
    }
    if embedder.weights_.stored:
        arrays["weights"] = embedder.weights_.values
    if (several := as_multilingual(embedder.chosen_.vectors)) is not None:
        arrays.update({f"removed_{code}": directions for code, directions in several.removed.items()})
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # stubs see allow_pickle among the names
    return buffer.getvalue()


def restore_embedder(embedder: SentenceEmbedder, data: bytes) -> None:
    """Give an embedder what another one had learned, from its bytes. Its parameters stay.

    Raises VectorsMismatch if that was fitted with other word vectors, FitError if the data are damaged.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            card, vectors = json.loads(arrays["card"].tobytes()), embedder.opened_vectors
            _check_vectors(card, vectors)
            if card.get("languages"):
                from semsearch.word_vectors.multilingual import MultilingualVectors, opened_tables  # start-up time

                names = [name for name in arrays.files if name.startswith("removed_")]
                removed = {name.removeprefix("removed_"): arrays[name] for name in names}
                vectors = MultilingualVectors(vectors, opened_tables(vectors, card["languages"]), removed)
            _put(embedder, _choices(card, vectors), arrays)
    except SemsearchError:
        raise
    except Exception as error:  # whatever zipfile, NumPy and json make of damaged bytes
        raise FitError(f"this is not a fitted embedder, or it is damaged ({error}); fit and save it again") from error


def write_saved(path: str | Path, data: bytes) -> None:
    """Write an embedder's bytes to a file, which appears whole or not at all. Raises StorageError."""
    from semsearch.system.durable import write_durably  # start-up time: only `save` writes

    try:
        write_durably(Path(path), lambda write: write(data))
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}; choose another place") from error


def read_saved(path: str | Path) -> bytes:
    """Read what `write` wrote. Raises FitError if the file cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise FitError(f"{path} cannot be read: {error}") from error


def _choices(card: dict[str, Any], vectors: WordVectors) -> Choices:
    asked = card["asked"]
    method = Method(card["method"], card["weighting"], card["normalise"], asked["components"], card["piecewise"])
    return Choices.of(
        vectors,
        method=method,
        a=asked["a"],
        components=asked["components"],
        frequencies=card["frequencies"],
        prior=card["prior"],
        unknown=card.get("unknown", "skip"),  # absent in embedders saved before there was a choice
    )


def _put(embedder: SentenceEmbedder, chosen: Choices, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    stored = "weights" in arrays
    values = arrays["weights"] if stored else chosen.vectors.frequencies
    sentences, words = arrays["sums"].tolist()
    statistics = SentenceSums.in_single(arrays["gram"], sentences, words)
    if "rounding" in arrays:  # since it is kept
        statistics = replace(statistics, rounding=float(arrays["rounding"]))
    embedder.chosen_ = chosen
    embedder.weights_ = WordWeights(chosen.method.weighting, float(arrays["a"]), values, stored)
    embedder.statistics_ = statistics
    embedder.common_ = CommonComponents(arrays["directions"], arrays["strengths"], arrays["shares"])


def _check_vectors(card: dict[str, Any], vectors: WordVectors) -> None:
    if card["vectors_digest"] != vectors.digest:  # of the English ones
        raise VectorsMismatch(
            f"this embedder was fitted with the word vectors {card['vectors']} ({card['vectors_digest'][:8]}), not "
            f"with {vectors.name} ({vectors.digest[:8]}); open it with these"
        )
    if card["tokeniser"] != TOKENISER_VERSION:
        raise VectorsMismatch(
            f"this embedder was fitted with tokeniser {card['tokeniser']}, not {TOKENISER_VERSION}; fit it again"
        )


# -- Embedder ----------------------------------------------------------------------------------------------------------


_WORDS = 10  # of a text, on average, roughly


class SentenceEmbedder(Encoding, EmbedderParameters):
    """Sentence vectors by SIF, uSIF, tf-idf or plain mean. Rows have length one, or are zero if no word is known.

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
    _expected = 0

    # -- learning ------------------------------------------------------------------------------------------------

    @property
    def dimension(self) -> int:
        """The number of dimensions of its vectors, d. Needs no fit."""
        return self._chosen.vectors.dimension

    @property
    def _chosen(self) -> Choices:
        """What was chosen when it was fitted; before, what would be chosen now."""
        return self.chosen_ if self.is_fitted else self._choose()

    def fit(self, texts: Iterable[str], y: object = None) -> SentenceEmbedder:  # noqa: ARG002  # as scikit-learn calls
        """Learn weights and components from texts, and forget what was learned before. `y` is ignored.

        Raises UsageError for a single string, and for parameters that make no sense.
        """
        fresh = SentenceEmbedder(**self.get_params())  # nothing that was learned before
        batches = [fresh.tokenize(batch) for batch in batched(texts)]
        self.expect(sum(len(batch.ids) for batch in batches))
        return self.fit_ragged(lambda: batches)

    def fit_ragged(self, batches: Callable[[], Iterable[Ragged]], *, spread: Threads | None = None) -> SentenceEmbedder:
        """Like `fit`, from word ids. `batches` is called a few times, and must give the same texts each time.

        The result does not depend on how the work is `spread` over threads.
        """
        from semsearch.system.threads import Threads

        spread = spread or Threads()
        self.chosen_ = chosen = self._choose()
        self.weights_ = learn_weights(
            chosen.method.weighting, chosen.vectors, batches, a=chosen.a, frequencies=chosen.frequencies
        )
        self._raw_ = None
        vars(self).pop("_guesses", None)
        if (several := as_multilingual(chosen.vectors)) is not None:
            self._remove_from_languages(several, batches)
        total = SentenceSums.empty(chosen.vectors.dimension)
        for part in spread.in_order(self.summing, batches()):
            total = total + part
        self._learn(total)
        self._raw().fold(self.common_)
        return self

    def _remove_from_languages(self, several: MultilingualVectors, batches: Callable[[], Iterable[Ragged]]) -> None:
        """Find the common components of each language by its own texts, and remove them from its words."""
        from semsearch.word_vectors.multilingual import MultilingualVectors  # start-up time, as below

        whole = MultilingualVectors(several.english, [*several.tables.values()])
        raw = WeightedSums(whole, self.weights_, normalise=False, guess=None, expected=self._expected)
        codes = [ENGLISH, *several.tables]
        sums = dict.fromkeys(codes, SentenceSums.empty(whole.dimension))
        for batch in batches():
            known = batch.only(batch.ids >= 0)
            for code in codes:
                own = known.take(texts_of_language(known, whole.language_ids(code)))
                if len(own):
                    sums[code] = sums[code] + SentenceSums.of(raw.of(own), len(own.ids))
        removed: dict[str, Float64] = {}
        for code in codes:
            general = general_sentences(whole, among=whole.language_ids(code))
            prior = SentenceSums.of(raw.of(general), len(general.ids)).scaled(self.chosen_.prior)
            removed[code] = CommonComponents.of(sums[code] + prior, REMOVED, piecewise=False).directions
        vectors = MultilingualVectors(several.english, [*several.tables.values()], removed)
        self.chosen_ = replace(self.chosen_, vectors=vectors)

    def add_languages(self, languages: Sequence[str]) -> None:
        """Know more languages from now on, by general text of each. What was learned and all vectors stay."""
        from semsearch.word_vectors.multilingual import MultilingualVectors, language_table  # start-up time, as above

        vectors = as_multilingual(self.chosen_.vectors) or MultilingualVectors(self.chosen_.vectors, [])
        for code in languages:
            if code not in vectors.tables and (table := language_table(code, vectors.english)) is not None:
                whole = MultilingualVectors(vectors.english, [table])
                weights = replace(self.weights_, values=whole.frequencies)
                raw = WeightedSums(whole, weights, normalise=False)
                general = general_sentences(whole, among=whole.language_ids(code))
                sums = SentenceSums.of(raw.of(general), len(general.ids))
                vectors = vectors.with_table(table, CommonComponents.of(sums, REMOVED, piecewise=False).directions)
        self.chosen_ = replace(self.chosen_, vectors=vectors)
        self.weights_ = replace(self.weights_, values=_with_more(self.weights_, vectors))
        self._raw_ = None
        vars(self).pop("_guesses", None)

    def expect(self, words: int) -> None:
        """Announce the number of words to come: for many, it pays to prepare all words of the table once."""
        self._expected = words
        if self._raw_ is not None:
            self._raw_.expected = words

    def expect_texts(self, count: int) -> None:
        """Announce the number of texts to come, where that of their words is not known."""
        if count > BATCH:
            self.expect(max(self._expected, _WORDS * count))

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
        return _sums_over(self._raw(), self.chosen_.vectors.dimension, texts)

    @property
    def summing(self) -> Callable[[Ragged], SentenceSums]:
        """`statistics_of` as a function for other processes, without the rest of the embedder."""
        return partial(_sums_over, self._raw(), self.chosen_.vectors.dimension)

    def drift(self, today: SentenceSums) -> float:
        """The largest principal angle, in degrees, between the components in use and those of newer sums."""
        self._check_fitted()
        angles = self.common_.angles(self._components_of(today))
        return float(angles.max()) if len(angles) else 0.0

    # -- embedding -----------------------------------------------------------------------------------------------

    def transform(self, texts: Iterable[str], languages: Sequence[str] | None = None) -> Float32:
        """Embed texts: n texts -> (n, d) float32, rows of length one, or zero if no word of the text is known.

        `languages`: the language of each, where it is known; else it is guessed, if there are words of several.
        Raises FitError before `fit`, UsageError for a single string, and for what is no string.
        """
        self._check_fitted()
        several = listed(texts)
        if len(several) <= BATCH:
            return self._raw().without(self.common_, self.tokenize(several, languages))
        self.expect_texts(len(several))
        result = np.empty((len(several), self.dimension), dtype=np.float32)
        for first in range(0, len(several), BATCH):
            own = languages and languages[first : first + BATCH]
            batch = self.tokenize(several[first : first + BATCH], own)
            self._raw().put_without(self.common_, batch, result[first : first + BATCH])
        return result

    def fit_transform(self, texts: Iterable[str], y: object = None) -> Float32:
        """Fit on texts, then embed them: `fit(texts).transform(texts)`. `y` is ignored."""
        several = listed(texts)
        return self.fit(several, y).transform(several)

    def transform_ragged(self, texts: Ragged) -> Float32:
        """Like `transform`, from word ids. n texts -> (n, d)"""
        self._check_fitted()
        raw = self._raw()
        if len(texts) <= BATCH:
            return raw.without(self.common_, texts)
        result = np.empty((len(texts), self.dimension), dtype=np.float32)
        first = 0
        for part in _parts(texts):
            raw.put_without(self.common_, part, result[first : first + len(part)])
            first += len(part)
        return result

    def transform_both(self, texts: Ragged, starts: Int64) -> tuple[Float32, Float32]:
        """Embed n texts, and m joined ones of rows starts[i] to starts[i + 1], from word ids. -> (n, d), (m, d)"""
        return self.transforming_both(texts, starts)

    @property
    def transforming_both(self) -> Callable[[Ragged, Int64], tuple[Float32, Float32]]:
        """`transform_both` as a function for other processes, without the rest of the embedder."""
        self._check_fitted()
        return partial(self._raw().both, self.common_)

    def shares(self, text: str, language: str | None = None) -> WordShares:
        """The share that each word of a text has in its vector: rows that sum to `transform([text])[0]`.

        `language`: that of the text, where it is known.
        """
        from semsearch.embedding.contributions import share_out

        self._check_fitted()
        several = as_multilingual(self.chosen_.vectors)
        if several is not None and language in several.tables:
            found = several.split(text, language)
            return share_out(found, self.tokenize(found, [language] * len(found)), self._raw(), self.common_)
        found = words(text)
        return share_out(found, self.tokenize(found, [ENGLISH] * len(found)), self._raw(), self.common_)

    def tokenize(self, texts: Sequence[str], languages: Sequence[str] | None = None) -> Ragged:
        """The ids of each text's words. Unknown words are left out if `unknown` is "skip", else kept. Needs no fit.

        `languages`: as in `transform`.
        """
        several = as_multilingual(self._chosen.vectors)
        if several is None:
            return self.ids_of(hash_chunks(texts))
        if languages is None:
            from semsearch.word_vectors.guess_language import guess_languages  # start-up time: English needs none

            languages = guess_languages(texts, several)
        return ids_of_texts(texts, languages, self.ids_of, self._foreign)

    def ids_of(self, chunks: Iterable[WordChunk]) -> Ragged:
        """Like `tokenize`, but for texts in English whose words have been found already."""
        chosen = self._chosen
        return word_ids(chunks, _english(chosen.vectors), keep_unknown=chosen.unknown != "skip")

    def _foreign(self, texts: Sequence[str], language: str) -> Ragged | None:
        several = as_multilingual(self._chosen.vectors)
        if several is None or language not in several.tables:
            return None
        return several.words_of(texts, language, keep_unknown=self._chosen.unknown != "skip")

    def read_texts(self, texts: Sequence[str], languages: Sequence[str]) -> Ragged:
        """The words of texts in whatever languages, by all tables there are, numbered as `renumber` expects them."""
        return ids_of_texts(texts, languages, self.ids_of, self._read_foreign)

    def read_passages(self, words: PassageWords) -> Ragged:
        """Like `read_texts`, but for passages whose English words have been found already."""
        return ids_of_passages(words, self.ids_of, self._read_foreign)

    def _read_foreign(self, texts: Sequence[str], language: str) -> Ragged | None:
        from semsearch.word_vectors.language_words import language_words  # start-up time, as above
        from semsearch.word_vectors.multilingual import id_base, language_table

        english = _english(self._chosen.vectors)
        table, keep = language_table(language, english), self._chosen.unknown != "skip"
        if table is None:
            return None
        return language_words(texts, table, english, base=id_base(language), keep_unknown=keep)

    def raw(self, texts: Ragged) -> Float32:
        """The weighted averages of texts, before removal and scaling. n texts -> (n, d)"""
        return self._raw().of(texts)

    @cached_property
    def _guesses(self) -> OovVectors:
        return OovVectors(self.chosen_.vectors)

    def _raw(self) -> WeightedSums:
        if self._raw_ is None:
            self._raw_ = self._raw_vectors(normalise=self.chosen_.method.normalise)
        return self._raw_

    def _raw_vectors(self, *, normalise: bool) -> WeightedSums:
        chosen, guess = self.chosen_, None if self.chosen_.unknown == "skip" else self._guesses
        return WeightedSums(chosen.vectors, self.weights_, normalise=normalise, guess=guess, expected=self._expected)

    # -- components ----------------------------------------------------------------------------------------------

    def _components_of(self, sums: SentenceSums) -> CommonComponents:
        chosen = self.chosen_
        if chosen.prior:
            sums = sums + self.general_statistics().scaled(chosen.prior)
        return CommonComponents.of(sums, chosen.components, piecewise=chosen.method.piecewise)

    def general_statistics(self) -> SentenceSums:
        """The sums over sentences of general language, drawn word by word from p(w), under the frozen weights."""

        vectors = self.chosen_.vectors
        if (several := as_multilingual(vectors)) is None:
            return self.statistics_of(general_sentences(vectors))
        total = SentenceSums.empty(vectors.dimension)
        for code in (ENGLISH, *several.tables):
            total = total + self.statistics_of(general_sentences(vectors, among=several.language_ids(code)))
        return total

    # -- keeping -------------------------------------------------------------------------------------------------

    @property
    def is_fitted(self) -> bool:
        """Return whether the embedder has been fitted."""
        return hasattr(self, "common_")

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
        return embedder_to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, vectors: WordVectorsLike) -> SentenceEmbedder:
        """Restore an embedder from what `to_bytes` gave.

        Raises VectorsMismatch if it was fitted with other word vectors, FitError if the data are damaged.
        """
        embedder = cls(vectors)
        restore_embedder(embedder, data)
        chosen = embedder.chosen_
        return embedder.set_params(
            method=chosen.method,
            a=chosen.a,
            components=chosen.components,
            frequencies=chosen.frequencies,
            prior=chosen.prior,
            unknown=chosen.unknown,
        )

    def save(self, path: str | Path) -> None:
        """Write what was learned to a file, which appears whole or not at all. Raises StorageError."""
        write_saved(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path, vectors: WordVectorsLike) -> SentenceEmbedder:
        """Read an embedder that `save` wrote. Raises as `from_bytes`, and FitError if the file cannot be read."""
        return cls.from_bytes(read_saved(path), vectors)

    def __getstate__(self) -> dict[str, Any]:
        """The parameters, and what was learned as `to_bytes` has it: tables that can be made again are left behind."""
        return {"parameters": self.get_params(), "learned": self.to_bytes() if self.is_fitted else None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state["parameters"])
        if state["learned"] is not None:
            restore_embedder(self, state["learned"])

    def _summary(self) -> str:
        chosen = self.chosen_
        return f"{chosen.vectors.name}, {chosen.method.name}, a = {self.weights_.a:.6g}, p(w) from {chosen.frequencies}"


def _sums_over(raw: WeightedSums, dimension: int, texts: Ragged) -> SentenceSums:
    total = SentenceSums.empty(dimension)
    for part in _parts(texts):
        known = raw.known(part)
        total = total + SentenceSums.of(raw.of(known), len(known.ids))
    return total


def _parts(texts: Ragged) -> Iterator[Ragged]:
    for first in range(0, len(texts), BATCH):
        yield texts.part(first, min(first + BATCH, len(texts)))
