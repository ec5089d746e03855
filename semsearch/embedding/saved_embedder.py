"""Save and restore a fitted embedder: a NumPy archive without pickles, with a card that people can read."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from semsearch.embedding.components import CommonComponents
from semsearch.embedding.weights import Choices, Method, WordWeights
from semsearch.errors import FitError, SemsearchError, VectorsMismatch
from semsearch.text.tokens import TOKENISER_VERSION
from semsearch.word_vectors.multilingual import MultilingualVectors, as_multilingual, english_of, opened_tables
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    from semsearch.embedding.embedder import SentenceEmbedder


def card_of(embedder: SentenceEmbedder) -> dict[str, Any]:
    """A description of a fitted embedder for people: method, a, components and their shares of the variance."""
    chosen, method = embedder.chosen_, embedder.chosen_.method
    multilingual = as_multilingual(chosen.vectors)
    tables = {} if multilingual is None else multilingual.tables
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
        "vectors_digest": english_of(chosen.vectors).digest,
        **({"languages": {code: table.digest for code, table in tables.items()}} if tables else {}),
        "dimension": chosen.vectors.dimension,
        "tokeniser": TOKENISER_VERSION,
        "asked": {"a": chosen.a, "components": chosen.components},
    }


def to_bytes(embedder: SentenceEmbedder) -> bytes:
    """Serialise all that an embedder has learned."""
    common = embedder.common_
    arrays: dict[str, npt.NDArray[Any]] = {
        "card": np.frombuffer(json.dumps(card_of(embedder)).encode(), dtype=np.uint8),
        "a": np.array(embedder.weights_.a),
        "directions": common.directions,
        "strengths": common.strengths,
        "shares": common.shares,
    }
    if embedder.weights_.stored:
        arrays["weights"] = embedder.weights_.values
    if (multilingual := as_multilingual(embedder.chosen_.vectors)) is not None:
        arrays.update({f"removed_{code}": directions for code, directions in multilingual.removed.items()})
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # stubs see allow_pickle among the names
    return buffer.getvalue()


Learned = tuple[Choices, WordWeights, CommonComponents]


def restore(data: bytes, vectors: WordVectors) -> Learned:
    """The parameters, weights and components of an embedder, from its bytes.

    Raises VectorsMismatch if it was fitted with other word vectors, FitError if the data are damaged.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            card = json.loads(arrays["card"].tobytes())
            _check_vectors(card, vectors)
            if card.get("languages"):
                names = [name for name in arrays.files if name.startswith("removed_")]
                removed = {name.removeprefix("removed_"): arrays[name] for name in names}
                vectors = MultilingualVectors(vectors, opened_tables(vectors, card["languages"]), removed)
            return _learned(card, vectors, arrays)
    except SemsearchError:
        raise
    except Exception as error:  # whatever zipfile, NumPy and json make of damaged bytes
        raise FitError(f"this is not a fitted embedder, or it is damaged ({error}); fit and save it again") from error


def _learned(card: Mapping[str, Any], vectors: WordVectors, arrays: Mapping[str, npt.NDArray[Any]]) -> Learned:
    asked = card["asked"]
    method = Method(card["method"], card["weighting"], card["normalise"], asked["components"], card["piecewise"])
    chosen = Choices(
        vectors, method, asked["a"], asked["components"], card["frequencies"], card["prior"], card["unknown"]
    ).checked()
    stored = "weights" in arrays
    values = arrays["weights"] if stored else vectors.frequencies
    return (
        chosen,
        WordWeights(chosen.method.weighting, float(arrays["a"]), values, stored),
        CommonComponents(arrays["directions"], arrays["strengths"], arrays["shares"]),
    )


def _check_vectors(card: Mapping[str, Any], vectors: WordVectors) -> None:
    if card["vectors_digest"] != vectors.digest:  # of the English ones
        raise VectorsMismatch(
            f"this embedder was fitted with the word vectors {card['vectors']} ({card['vectors_digest'][:8]}), not "
            f"with {vectors.name} ({vectors.digest[:8]}); open it with these"
        )
    if card["tokeniser"] != TOKENISER_VERSION:
        raise VectorsMismatch(
            f"this embedder was fitted with tokeniser {card['tokeniser']}, not {TOKENISER_VERSION}; fit it again"
        )
