"""A fitted embedder as bytes: a NumPy archive without pickles, with a card that people can read."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from semsearch.embedding.choices import Choices
from semsearch.embedding.components import CommonComponents, SentenceSums
from semsearch.embedding.methods import Method
from semsearch.embedding.weights import WordWeights
from semsearch.errors import FitError, SemsearchError, StorageError, VectorsMismatch
from semsearch.text.tokens import TOKENISER_VERSION
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semsearch.embedding.embedder import SentenceEmbedder


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
        "induced words": len(embedder.induced_) if embedder.induced_ else 0,
        "vectors": chosen.vectors.name,
        "vectors_digest": chosen.vectors.digest,
        "dimension": chosen.vectors.dimension,
        "tokeniser": TOKENISER_VERSION,
        "asked": {"a": chosen.a, "components": chosen.components},
    }


def weights_digest(embedder: SentenceEmbedder) -> str:
    """A digest of all that determines a fitted embedder's raw vectors: equal digests mean equal raw vectors."""
    chosen, weights = embedder.chosen_, embedder.weights_
    text = f"{chosen.vectors.digest} {TOKENISER_VERSION} {weights.weighting} {chosen.method.normalise} {weights.a!r}"
    if chosen.unknown != "skip":
        induced = embedder.induced_.digest() if embedder.induced_ else None
        text += f" {weights.of_unknown_words!r} {chosen.unknown} {induced}"
    stored = weights.values.tobytes() if weights.stored else b""
    return hashlib.blake2b(text.encode() + stored, digest_size=16).hexdigest()


def to_bytes(embedder: SentenceEmbedder) -> bytes:
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
    if embedder.induced_ is not None:
        arrays["induced_hashes"], arrays["induced_vectors"] = embedder.induced_.hashes, embedder.induced_.vectors
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # stubs see allow_pickle among the names
    return buffer.getvalue()


def restore(embedder: SentenceEmbedder, data: bytes) -> None:
    """Give an embedder what another one had learned, from its bytes. Its parameters stay.

    Raises VectorsMismatch if that was fitted with other word vectors, FitError if the data are damaged.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            card, vectors = json.loads(arrays["card"].tobytes()), embedder.opened_vectors
            _check_vectors(card, vectors)
            _put(embedder, _choices(card, vectors), arrays)
    except SemsearchError:
        raise
    except Exception as error:  # whatever zipfile, NumPy and json make of damaged bytes
        raise FitError(f"this is not a fitted embedder, or it is damaged ({error}); fit and save it again") from error


def write(path: str | Path, data: bytes) -> None:
    """Write an embedder's bytes to a file, which appears whole or not at all. Raises StorageError."""
    from semsearch.system.durable import write_durably  # start-up time: only `save` writes

    try:
        write_durably(Path(path), lambda write: write(data))
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}; choose another place") from error


def read(path: str | Path) -> bytes:
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
    if "induced_hashes" in arrays:
        from semsearch.embedding.induced_words import InducedWords  # start-up time: few indexes have any

        embedder.induced_ = InducedWords(arrays["induced_hashes"], arrays["induced_vectors"])
    embedder.statistics_ = statistics
    embedder.common_ = CommonComponents(arrays["directions"], arrays["strengths"], arrays["shares"])


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
