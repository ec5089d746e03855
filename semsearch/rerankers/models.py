"""The protocols of the models that take a second look: encoders of texts, and scorers of pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from semsearch.errors import ModelError

Float32 = npt.NDArray[np.float32]
PROBE = "How is a text read?"  # what every model reads once, so that one that cannot is refused before it is asked


class TextEncoder(Protocol):
    """A model that makes a vector of each text by itself (a bi-encoder), so that those of passages can be kept."""

    @property
    def name(self) -> str:
        """What explanations call it."""

    @property
    def digest(self) -> bytes:
        """The digest of all that decides its vectors: other weights, another digest. At most 64 bytes."""

    def encode_query(self, text: str) -> Float32:
        """The vector of a question, of length one. (d,)"""

    def encode_passages(self, texts: Sequence[str]) -> Float32:
        """The vectors of passages, each of length one. n texts -> (n, d)"""


@runtime_checkable
class PairScorer(Protocol):
    """A model that reads question and passage together (a cross-encoder), so that nothing of it can be kept."""

    @property
    def name(self) -> str:
        """What explanations call it."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers a question: the larger, the better, on any scale."""


RerankingModel: TypeAlias = TextEncoder | PairScorer


def unit_rows(vectors: Any) -> Float32:
    """Rows of length one, as float32; a row of zeros stays. (n, d) -> (n, d)"""
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def probed(model: RerankingModel) -> RerankingModel:
    """Have a model read a text, and return it. Raises ModelError if that fails, or gives no numbers."""
    try:
        if isinstance(model, PairScorer):
            read = np.asarray(model.score(PROBE, [PROBE]), dtype=np.float32)
        else:
            read = np.concatenate([model.encode_passages([PROBE])[0], model.encode_query(PROBE)])
    except ModelError:
        raise
    except Exception as error:  # whatever the library makes of a model that is not as it should be
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"the model {model.name} cannot read a text: {reason}; give another one") from error
    if not read.size or not np.isfinite(read).all():
        raise ModelError(f"the model {model.name} gives no finite numbers; give another one")
    return model
