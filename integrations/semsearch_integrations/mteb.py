"""An embedder as an encoder of the MTEB package.

Written to its EncoderProtocol (mteb 2) without importing it: it needs PyTorch, and takes seconds.
integrations/docs/frameworks.md has the commands. A whole index is measured by `semsearch evaluate retrieval`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semsearch import SentenceEmbedder, __version__
from semsearch_integrations.adapted_index import EmbedderLike, embedder_of

_PRIOR = 10_000.0  # sentences of general English that the fit leans on


class MtebEncoder:
    """An embedder as MTEB's EncoderProtocol has it: a fitted one, an index, or word vectors by their name or path.

    Word vectors are fitted to general English; nothing is learned from the texts of a task.
    """

    def __init__(
        self,
        model_name: EmbedderLike = "english",
        revision: str | None = None,
        *,
        device: str | None = None,  # noqa: ARG002  # given by the package; only the CPU is used
        **_: Any,
    ) -> None:
        if isinstance(model_name, str | Path):
            model_name = SentenceEmbedder(model_name, prior=_PRIOR, unknown="pieces").fit([])
        self._embed = embedder_of(model_name)
        self._revision = revision

    def encode(self, inputs: Iterable[Mapping[str, Sequence[str]]], **_: Any) -> NDArray[np.float32]:
        """Embed the texts of batches, each of which has them as `text`. n texts -> (n, d)"""
        batches = [np.array(self._embed(list(batch["text"])), np.float32) for batch in inputs]
        return np.concatenate(batches) if batches else np.zeros((0, 0), dtype=np.float32)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The cosines of all pairs. (n, d), (m, d) -> (n, m)"""
        return _tensor(_rows(embeddings1) @ _rows(embeddings2).T)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The cosines of pairs, row by row. (n, d), (n, d) -> (n,)"""
        return _tensor((_rows(embeddings1) * _rows(embeddings2)).sum(axis=1))

    @property
    def mteb_model_meta(self) -> Any:
        """The metadata that the package writes beside its results."""
        from mteb.models.model_meta import ModelMeta  # optional dependency

        return ModelMeta.create_empty(
            overwrites={
                "name": "semsearch/encoder",
                "revision": self._revision or __version__,
                "languages": ["eng-Latn"],
                "framework": ["NumPy"],
                "similarity_fn_name": "cosine",
                "open_weights": True,
                "use_instructions": False,
            }
        )


def _rows(vectors: Any) -> NDArray[np.float32]:
    return np.atleast_2d(np.asarray(vectors, dtype=np.float32))


def _tensor(cosines: NDArray[np.float32]) -> Any:
    """Cosines as the protocol requires: a tensor if PyTorch is loaded, since some tasks treat one as a number."""
    torch = sys.modules.get("torch")
    return cosines if torch is None else torch.from_numpy(cosines)
