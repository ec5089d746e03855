"""Turn texts into unit vectors: words, weights, average, removal of the common components.

`SentenceEmbedder` follows scikit-learn's contract: the constructor only stores its arguments, `fit` learns, what was
learned ends in an underscore, `transform` never learns. What is learned has two parts. The weights (a, p(w) or idf) are
frozen by the first texts that are fitted; the components follow from a sum over all texts, so that `partial_fit` and
`merge` give what one `fit` on everything gives, as long as the weights are the same. Vectors that unknown words get
from their contexts are frozen with the weights.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from semsearch.embedding.components import CommonComponents, Statistics
from semsearch.embedding.contributions import WordShares, share_out
from semsearch.embedding.induced_words import Induced, induce
from semsearch.embedding.methods import Method, Unknown, find_method
from semsearch.embedding.weighted_sums import RawVectors
from semsearch.embedding.weights import WordWeights, check_a, learn_weights
from semsearch.embedding.word_memory import Memory
from semsearch.errors import FitError, SemsearchError, StorageError, UsageError, VectorsMismatch
from semsearch.system.durable import write_durably
from semsearch.system.threads import in_order
from semsearch.text.ragged import Ragged
from semsearch.text.tokens import TOKENISER_VERSION, WordChunk, hash_chunks, words
from semsearch.text.unknown_words import Strangers
from semsearch.word_vectors.table import Guessing, WordVectors

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

_BATCH = 8192  # texts at a time
_WORDS = 10  # of a text, on average, roughly
_SAMPLE = 4000  # sentences drawn for the prior
_MOST = 1e15  # sentences of the prior: beside so many, no text says anything


class SentenceEmbedder:
    """Sentence vectors by SIF, uSIF, tf-idf or plain mean. Rows have length one, or are zero if no word is known.

    vectors      word vectors, as `load_vectors` gives them
    method       "sif", "usif", "tfidf", "mean", or a custom `Method`
    a            the weights' parameter; by default 1e-3 for SIF and the paper's formula for uSIF
    components   how many common components are removed; by default the method's
    frequencies  where p(w) comes from: "vectors" (general English), "corpus" (what is fitted), "mixed" (general
                 English where little is fitted, the corpus where much is), or a counts file
    prior        how many sentences of general language are added to what is fitted, so that a few sentences keep
                 their meaning; 0 is the papers' way
    unknown      what becomes of words that the vectors lack: "skip" leaves them out; "pieces" takes what the table's
                 pieces say of them; "contexts" besides gives those that are frequent in what is fitted a vector from
                 the words around them
    """

    induced_: Induced | None = None

    def __init__(
        self,
        vectors: WordVectors,
        *,
        method: str | Method = "sif",
        a: float | None = None,
        components: int | None = None,
        frequencies: str | Path = "vectors",
        prior: float = 0,
        unknown: Unknown = "skip",
    ) -> None:
        if a is not None:
            check_a(a)
        if components is not None and not 0 <= components <= vectors.dimension:
            raise UsageError(f"components must be between 0 and {vectors.dimension}, not {components}")
        if not 0 <= prior <= _MOST:
            raise UsageError(f"prior must be a number of sentences from 0 to {_MOST:g}, not {prior}; 0 is for none")
        if unknown not in get_args(Unknown):
            raise UsageError(f"unknown must be one of {', '.join(get_args(Unknown))}, not {unknown!r}")
        self.vectors = vectors
        self.method = find_method(method)
        self.a = a
        self.components = self.method.components if components is None else components
        self.frequencies = frequencies
        self.prior = prior
        self.unknown: Unknown = unknown
        self._raw_: RawVectors | None = None
        self._expected = 0

    # -- learning ------------------------------------------------------------------------------------------------

    def fit(self, texts: Iterable[str]) -> SentenceEmbedder:
        """Learn weights and components from texts, and forget what was learned before.

        Raises UsageError for a single string.
        """
        batches = [self.tokenize(batch) for batch in _batched(texts)]
        self.expect(sum(len(batch.ids) for batch in batches))
        return self.fit_ragged(lambda: batches)

    def fit_ragged(self, batches: Callable[[], Iterable[Ragged]], *, threads: int = 1) -> SentenceEmbedder:
        """Like `fit`, from word ids. `batches` is called a few times, and must give the same texts each time.

        The result does not depend on the number of threads.
        """
        self.weights_ = learn_weights(
            self.method.weighting, self.vectors, batches, a=self.a, frequencies=self.frequencies
        )
        self.induced_, self._raw_ = None, None
        if self.unknown == "contexts":
            plain = self._raw() if not self.method.normalise else self._raw_vectors(normalise=False)
            self.induced_ = induce(batches, self.vectors, plain, threads=threads)
            plain.forget()
        total = Statistics.empty(self.vectors.dimension)
        for part in in_order(self.statistics_of, batches(), threads=threads):
            total = total + part
        return self._learn(total)

    def expect(self, words: int) -> None:
        """Announce the number of words to come: for many, it pays to prepare all words of the table once."""
        self._expected = words
        if self._raw_ is not None:
            self._raw_.expected = words

    def partial_fit(self, texts: Iterable[str]) -> SentenceEmbedder:
        """Learn components from more texts. The first call is a `fit`, which also learns and freezes the weights."""
        if not self.is_fitted:
            return self.fit(texts)
        total = self.statistics_
        for batch in _batched(texts):
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

    def _learn(self, total: Statistics) -> SentenceEmbedder:
        self.statistics_ = total
        self.common_ = self._components_of(total)
        return self

    def statistics_of(self, texts: Ragged) -> Statistics:
        """The sums over texts, under the frozen weights, from which components follow. They add and subtract."""
        total = Statistics.empty(self.vectors.dimension)
        for part in _parts(texts):
            known = self._raw().known(part)
            total = total + Statistics.of(self.raw(known), len(known.ids))
        return total

    def drift(self, today: Statistics) -> float:
        """The largest principal angle, in degrees, between the components in use and those of newer sums."""
        self._check_fitted()
        angles = self.common_.angles(self._components_of(today))
        return float(angles.max()) if len(angles) else 0.0

    # -- embedding -----------------------------------------------------------------------------------------------

    def transform(self, texts: Sequence[str]) -> Float32:
        """Embed texts: n texts -> (n, d) float32, rows of length one, or zero if no word of the text is known.

        Raises FitError before `fit`, UsageError for a single string.
        """
        _check_several(texts)
        self._check_fitted()
        if len(texts) <= _BATCH:
            return self._raw().without(self.common_, self.tokenize(texts))
        self.expect(max(self._expected, _WORDS * len(texts)))
        result = np.empty((len(texts), self.vectors.dimension), dtype=np.float32)
        for first in range(0, len(texts), _BATCH):
            batch = self.tokenize(texts[first : first + _BATCH])
            self._raw().put_without(self.common_, batch, result[first : first + _BATCH])
        return result

    def fit_transform(self, texts: Sequence[str]) -> Float32:
        """Fit on texts, then embed them: `fit(texts).transform(texts)`."""
        return self.fit(texts).transform(texts)

    def transform_ragged(self, texts: Ragged) -> Float32:
        """Like `transform`, from word ids. n texts -> (n, d)"""
        self._check_fitted()
        result = np.zeros((len(texts), self.vectors.dimension), dtype=np.float32)
        first = 0
        for part in _parts(texts):
            self._raw().put_without(self.common_, part, result[first : first + len(part)])
            first += len(part)
        return result

    def transform_both(self, texts: Ragged, starts: Int64) -> tuple[Float32, Float32]:
        """Embed n texts, and m joined ones of rows starts[i] to starts[i + 1], from word ids. -> (n, d), (m, d)"""
        self._check_fitted()
        return self._raw().both(self.common_, texts, starts)

    def shares(self, text: str) -> WordShares:
        """The share that each word of a text has in its vector: rows that sum to `transform([text])[0]`."""
        self._check_fitted()
        found = words(text)
        return share_out(found, self.tokenize(found), self._raw(), self.common_)

    def tokenize(self, texts: Sequence[str]) -> Ragged:
        """The ids of each text's words. Unknown words are left out if `unknown` is "skip", else kept. Needs no fit."""
        return self.ids_of(hash_chunks(texts))

    def ids_of(self, chunks: Iterable[WordChunk]) -> Ragged:
        """Like `tokenize`, but for texts whose words have been found already."""
        parts: list[npt.NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
        counts: list[npt.NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
        strangers: list[Strangers] = []
        for chunk in chunks:
            parts.append(self.vectors.lookup(chunk.hashes))
            counts.append(chunk.counts)
            if self.unknown != "skip":
                strangers.append(Strangers.in_chunk(chunk, np.flatnonzero(parts[-1] < 0)))
        ids, indptr = np.concatenate(parts), np.cumsum(np.concatenate(counts))
        if self.unknown == "skip":
            return Ragged(ids, indptr).only(ids >= 0)
        distinct, which = Strangers.concatenate(strangers).distinct()
        ids[ids < 0] = -1 - which
        return Ragged(ids, indptr, distinct)

    def _guess(self, strangers: Strangers) -> Float32:
        """The vectors of unknown words, from their contexts or else their pieces; zero without both. (u,) -> (u, d)"""
        result: Float32
        if self._by_pieces is None:
            result = np.zeros((len(strangers), self.vectors.dimension), dtype=np.float32)
        else:
            result = self._by_pieces(strangers)
        if self.induced_ is not None:
            self.induced_.put(strangers, result)
        return result

    def raw(self, texts: Ragged) -> Float32:
        """The weighted averages of texts, before removal and scaling. n texts -> (n, d)"""
        return self._raw().of(texts)

    @cached_property
    def _by_pieces(self) -> Memory | None:
        vectors = self.vectors
        return Memory(vectors.guess, vectors.dimension) if isinstance(vectors, Guessing) else None

    def _raw(self) -> RawVectors:
        if self._raw_ is None:
            self._raw_ = self._raw_vectors(normalise=self.method.normalise)
        return self._raw_

    def _raw_vectors(self, *, normalise: bool) -> RawVectors:
        guess = None if self.unknown == "skip" else self._guess
        return RawVectors(self.vectors, self.weights_, normalise=normalise, guess=guess, expected=self._expected)

    # -- components ----------------------------------------------------------------------------------------------

    def _components_of(self, statistics: Statistics) -> CommonComponents:
        if self.prior:
            statistics = statistics + self.general_statistics().scaled(self.prior)
        return CommonComponents.of(statistics, self.components, piecewise=self.method.piecewise)

    def general_statistics(self) -> Statistics:
        """The sums over sentences of general language, drawn word by word from p(w), under the frozen weights."""
        generator = np.random.default_rng(0)
        lengths = generator.integers(5, 25, size=_SAMPLE)
        p = self.vectors.frequencies.astype(np.float64)
        ids = generator.choice(len(p), size=int(lengths.sum()), p=p / p.sum()).astype(np.int32)
        return self.statistics_of(Ragged(ids, np.concatenate(([0], np.cumsum(lengths)))))

    # -- keeping -------------------------------------------------------------------------------------------------

    @property
    def is_fitted(self) -> bool:
        """Whether the embedder has been fitted."""
        return hasattr(self, "common_")

    @property
    def weights_digest(self) -> str:
        """A digest of all that determines raw vectors: equal digests mean equal raw vectors."""
        self._check_fitted()
        weights = self.weights_
        text = f"{self.vectors.digest} {TOKENISER_VERSION} {weights.weighting} {self.method.normalise} {weights.a!r}"
        if self.unknown != "skip":
            text += f" {weights.of_strangers!r} {self.unknown} {self.induced_.digest() if self.induced_ else None}"
        stored = weights.values.tobytes() if weights.stored else b""
        return hashlib.blake2b(text.encode() + stored, digest_size=16).hexdigest()

    def card(self) -> dict[str, Any]:
        """A description for people: method, a, components and their shares of the variance, word vectors."""
        self._check_fitted()
        return {
            "method": self.method.name,
            "weighting": self.method.weighting,
            "normalise": self.method.normalise,
            "piecewise": self.method.piecewise,
            "a": self.weights_.a or None,
            "components": len(self.common_.directions),
            "shares": [round(float(share), 6) for share in self.common_.shares],
            "frequencies": str(self.frequencies),
            "prior": self.prior,
            "unknown": self.unknown,
            "induced words": len(self.induced_) if self.induced_ else 0,
            "vectors": self.vectors.name,
            "vectors_digest": self.vectors.digest,
            "dimension": self.vectors.dimension,
            "tokeniser": TOKENISER_VERSION,
            "asked": {"a": self.a, "components": self.components},
        }

    def to_bytes(self) -> bytes:
        """Serialise all that was learned, as a NumPy archive without pickles."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "card": np.frombuffer(json.dumps(self.card()).encode(), dtype=np.uint8),
            "a": np.array(self.weights_.a),
            "directions": self.common_.directions,
            "strengths": self.common_.strengths,
            "shares": self.common_.shares,
            "gram": self.statistics_.gram,
            "sums": np.array([self.statistics_.sentences, self.statistics_.words], dtype=np.float64),
            "rounding": np.array(self.statistics_.rounding),
        }
        if self.weights_.stored:
            arrays["weights"] = self.weights_.values
        if self.induced_ is not None:
            arrays["induced_hashes"], arrays["induced_vectors"] = self.induced_.hashes, self.induced_.vectors
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]  # stubs see allow_pickle among the names
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, vectors: WordVectors) -> SentenceEmbedder:
        """Restore an embedder from what `to_bytes` gave.

        Raises VectorsMismatch if it was fitted with other word vectors, FitError if the data are damaged.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                card = json.loads(arrays["card"].tobytes())
                _check_vectors(card, vectors)
                method = Method(
                    card["method"],
                    card["weighting"],
                    card["normalise"],
                    card["asked"]["components"],
                    card["piecewise"],
                )
                embedder = cls(
                    vectors,
                    method=method,
                    a=card["asked"]["a"],
                    components=card["asked"]["components"],
                    frequencies=card["frequencies"],
                    prior=card["prior"],
                    unknown=card.get("unknown", "skip"),  # absent in embedders saved before there was a choice
                )
                stored = "weights" in arrays
                values = arrays["weights"] if stored else vectors.frequencies
                embedder.weights_ = WordWeights(method.weighting, float(arrays["a"]), values, stored)
                embedder.common_ = CommonComponents(arrays["directions"], arrays["strengths"], arrays["shares"])
                if "induced_hashes" in arrays:
                    embedder.induced_ = Induced(arrays["induced_hashes"], arrays["induced_vectors"])
                sentences, words = arrays["sums"].tolist()
                embedder.statistics_ = Statistics.in_single(arrays["gram"], sentences, words)
                if "rounding" in arrays:  # since it is kept
                    embedder.statistics_ = replace(embedder.statistics_, rounding=float(arrays["rounding"]))
        except SemsearchError:
            raise
        except Exception as error:  # whatever zipfile, NumPy and json make of damaged bytes
            raise FitError(
                f"this is not a fitted embedder, or it is damaged ({error}); fit and save it again"
            ) from error
        return embedder

    def save(self, path: str | Path) -> None:
        """Write what was learned to a file, which appears whole or not at all. Raises StorageError."""
        data = self.to_bytes()
        try:
            write_durably(Path(path), lambda write: write(data))
        except OSError as error:
            raise StorageError(f"{path} cannot be written: {error.strerror or error}; choose another place") from error

    @classmethod
    def load(cls, path: str | Path, vectors: WordVectors) -> SentenceEmbedder:
        """Read an embedder that `save` wrote. Raises as `from_bytes`, and FitError if the file cannot be read."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise FitError(f"{path} cannot be read: {error}") from error
        return cls.from_bytes(data, vectors)

    def _check_fitted(self) -> None:
        if not self.is_fitted:
            raise FitError("this embedder is not fitted; call fit(texts) first")

    def _summary(self) -> str:
        return f"{self.vectors.name}, {self.method.name}, a = {self.weights_.a:.6g}, p(w) from {self.frequencies}"


def _check_vectors(card: dict[str, Any], vectors: WordVectors) -> None:
    if card["vectors_digest"] != vectors.digest:
        raise VectorsMismatch(
            f"this was fitted with the word vectors {card['vectors']} ({card['vectors_digest'][:8]}), not with "
            f"{vectors.name} ({vectors.digest[:8]}); open it with those"
        )
    if card["tokeniser"] != TOKENISER_VERSION:
        raise VectorsMismatch(
            f"this was fitted with tokeniser {card['tokeniser']}, not {TOKENISER_VERSION}; fit it again"
        )


def _parts(texts: Ragged) -> Iterator[Ragged]:
    for first in range(0, len(texts), _BATCH):
        yield texts.part(first, min(first + _BATCH, len(texts)))


def _batched(texts: Iterable[str]) -> Iterator[list[str]]:
    _check_several(texts)
    rest = iter(texts)
    while batch := list(islice(rest, _BATCH)):
        yield batch


def _check_several(texts: Iterable[str]) -> None:
    if isinstance(texts, str):
        raise UsageError("a single string is a sequence of letters; for one text give [text]")
