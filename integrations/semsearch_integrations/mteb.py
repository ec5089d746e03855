"""The MTEB package's two ways to evaluate: an embedder as its encoder, and a whole index as its search engine.

Written to its protocols (EncoderProtocol and SearchProtocol of mteb 2), without importing it: it needs PyTorch, and
takes seconds. integrations/docs/frameworks.md has the commands.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, TypeAlias
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from semsearch import Hit, Index, Mode, SentenceEmbedder, Text, __version__
from semsearch_integrations.adapted_index import EmbedderLike, embedder_of

Ranked: TypeAlias = dict[str, dict[str, float]]  # by query, then by document

_PRIOR = 10_000.0  # sentences of general English that the fit leans on
_WIDER = 5  # passages per wanted document: a document may have several


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
        batches = [self._embed(list(batch["text"])) for batch in inputs]
        return np.concatenate(batches) if batches else np.zeros((0, 0), dtype=np.float32)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The cosines of all pairs. (n, d), (m, d) -> (n, m)"""
        return _tensor(np.atleast_2d(_array(embeddings1)) @ np.atleast_2d(_array(embeddings2)).T)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The cosines of pairs, row by row. (n, d), (n, d) -> (n,)"""
        return _tensor((np.atleast_2d(_array(embeddings1)) * np.atleast_2d(_array(embeddings2))).sum(axis=1))

    @property
    def mteb_model_meta(self) -> Any:
        """The metadata that the package writes beside its results."""
        return _meta("encoder", self._revision)


class MtebSearch:
    """An index as MTEB's SearchProtocol has it: documents are added to a new index, and ranked by their best passage.

    The options are those of `Index.create`. The index is in `folder`, or in a temporary one, and is created for each
    task.
    """

    def __init__(self, *, folder: str | Path | None = None, mode: Mode = "hybrid", **options: Any) -> None:
        self.mode: Mode = mode
        self._folder = Path(mkdtemp(prefix="semsearch-mteb-") if folder is None else folder)
        if folder is None:
            finalize(self, rmtree, self._folder, ignore_errors=True)
        self._options, self._made = options, 0
        self._index: Index | None = None

    def index(self, corpus: Iterable[Mapping[str, Any]], **_: Any) -> None:
        """Index documents with an `id`, a `text` and perhaps a `title`."""
        self.close()
        self._made += 1
        self._index = Index.create(self._folder / f"task-{self._made}", **self._options)
        self._index.add(Text(str(one["id"]), one["text"] or "", title=one.get("title") or "") for one in corpus)

    def search(
        self,
        queries: Iterable[Mapping[str, Any]],
        *,
        top_k: int,
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        **_: Any,
    ) -> Ranked:
        """Rank documents for queries, which have an `id` and a `text`: of all, or of those in `top_ranked`."""
        if self._index is None:
            raise RuntimeError("search was called before index")  # the package calls index first
        asked = {str(one["id"]): one["text"] for one in queries if any(map(str.isalnum, one["text"]))}
        k = max(1, top_k * _WIDER if top_ranked is None else self._index.status(drift=False, stale=False).passages)
        answers = self._index.search_many(list(asked.values()), k, mode=self.mode, duplicates=True)
        found = {query: _by_document(hits) for query, hits in zip(asked, answers, strict=True)}
        if top_ranked is not None:
            found = {query: _only(found.get(query, {}), wanted) for query, wanted in top_ranked.items()}
        return {query: dict(list(ranked.items())[:top_k]) for query, ranked in found.items()}

    def close(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()
            self._index = None

    @property
    def mteb_model_meta(self) -> Any:
        """The metadata that the package writes beside its results."""
        return _meta(f"index-{self.mode}", None)


def _by_document(hits: Sequence[Hit]) -> dict[str, float]:
    """Documents with the score of their best passage, best first."""
    found: dict[str, float] = {}
    for hit in hits:
        found.setdefault(hit.document, hit.score)
    return found


def _only(ranked: Mapping[str, float], wanted: Sequence[str]) -> dict[str, float]:
    """The wanted documents, best first; those not found come last."""
    least = min(ranked.values(), default=0.0) - 1.0
    return dict(sorted(((one, ranked.get(one, least)) for one in wanted), key=lambda pair: -pair[1]))


def _array(given: Any) -> NDArray[np.float32]:
    return np.asarray(given, dtype=np.float32)


def _tensor(cosines: NDArray[np.float32]) -> Any:
    """Cosines as the protocol requires: a tensor if PyTorch is loaded, since some tasks treat one as a number."""
    torch = sys.modules.get("torch")
    return cosines if torch is None else torch.from_numpy(cosines)


def _meta(name: str, revision: str | None) -> Any:
    from mteb.models.model_meta import ModelMeta  # optional dependency

    return ModelMeta.create_empty(
        overwrites={
            "name": f"semsearch/{name}",
            "revision": revision or __version__,
            "languages": ["eng-Latn"],
            "framework": ["NumPy"],
            "similarity_fn_name": "cosine",
            "open_weights": True,
            "use_instructions": False,
        }
    )
