"""Rankers, which answer the queries of a collection with documents: our modes, and peers that other packages implement.

A document's rank is that of its best passage.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import Stemmer

from semsearch.arrays.types import Float64
from semsearch.arrays.vectors import unit_rows
from semsearch.errors import UsageError, VectorsError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.rerankers import ModelReranker, standardised
from semsearch.results.options import Mode
from semsearch.text.tokens import words
from semsearch.word_vectors.table import WordVectorsLike
from semsearch_research.evaluate.inputs import import_extra


@dataclass(frozen=True, slots=True)
class ModeRanker:
    """A mode of one index, which may rerank, and the seconds that indexing the collection took."""

    name: str
    mode: Mode
    index: Index
    index_seconds: float

    def ask(self, query: str) -> None:
        """Search once with the default number of hits."""
        self.index.search(query, mode=self.mode, syntax="plain")  # peers read quotes and hyphens as text, too

    def rank(self, query: str, depth: int) -> list[str]:
        """The ids of the best documents: ask for more and more passages, until they are of `depth` documents.

        Near-duplicate passages count each: they may be of documents that were judged separately. A query without words
        finds nothing.
        """
        if not words(query):
            return []
        k = 2 * depth
        while True:
            hits = self.index.search(query, k, mode=self.mode, duplicates=True, syntax="plain")
            documents = list(dict.fromkeys(hit.document for hit in hits))
            if len(documents) >= depth or len(hits) < k:
                return documents[:depth]
            k *= 4


@contextmanager
def mode_rankers(
    documents: Sequence[Text],
    modes: Sequence[Mode],
    *,
    vectors: WordVectorsLike,
    method: str,
    a: float | None,
    components: int | None,
    reranker: ModelReranker | None = None,
) -> Iterator[list[ModeRanker]]:
    """Index documents in a temporary folder; a ranker for each mode, and one of the first mode for the reranker."""
    with tempfile.TemporaryDirectory(prefix="semsearch-") as folder:
        started = time.perf_counter()
        with Index.create(Path(folder) / "index", vectors=vectors, method=method, a=a, components=components) as index:
            index.add(documents)
            seconds = time.perf_counter() - started
            rankers = [ModeRanker(mode, mode, index, seconds) for mode in modes]
            if reranker is None:
                yield rankers
                return
            with Index.open(index.path, vectors=vectors, reranker=reranker) as reread:
                name = reranked_name(modes, reranker.model.name)
                yield [*rankers, ModeRanker(name, modes[0], reread, seconds)]


def reranked_name(modes: Sequence[Mode], model: str) -> str:
    """The name of the row of a model that reranks the hits of the first mode."""
    return f"{modes[0]}+{model}"


Scores = Callable[[str], Float64]  # a query to the score of every document, (n,)
Encode = Callable[[list[str]], npt.NDArray[Any]]  # n texts -> (n, d)

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
FUSED = "minilm+bm25s"
_TOKENS = 256
_ASKED = 10  # documents a user asks for


@dataclass(frozen=True, slots=True)
class ScoredRanker:
    """A peer on one collection: it scores every document. Documents that do not score above `floor` are not found."""

    name: str
    ids: Sequence[str]
    scores: Scores
    index_seconds: float
    floor: float = -np.inf

    def ask(self, query: str) -> None:
        """Rank the best ten documents, as for a user."""
        self.rank(query, _ASKED)

    def rank(self, query: str, depth: int) -> list[str]:
        """The ids of the best `depth` documents; equal scores in the order of the collection."""
        scores = self.scores(query)
        order = np.argsort(-scores, kind="stable")[:depth]
        return [self.ids[index] for index in order.tolist() if scores[index] > self.floor]


Ranker = ModeRanker | ScoredRanker


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer that is loaded, but has no documents yet."""

    name: str
    prepare: Callable[[list[str]], Scores]
    floor: float = -np.inf

    def on(self, documents: Sequence[Text]) -> ScoredRanker:
        """Index or encode documents with the peer; the ranker of them."""
        texts = [f"{document.title} {document.text}".strip() for document in documents]
        started = time.perf_counter()
        scores = self.prepare(texts)
        seconds = time.perf_counter() - started
        return ScoredRanker(self.name, [document.id for document in documents], scores, seconds, self.floor)


def open_peers(specs: Sequence[str]) -> list[Peer]:
    """Open peers by their names. Raises UsageError, MissingExtra, and VectorsError if a model cannot be loaded."""
    return [_open(name, spec) for name, spec in zip(peer_names(specs), specs, strict=False)]


def peer_names(specs: Sequence[str]) -> list[str]:
    """The names of the peers' rows, in order. Raises UsageError for an unknown peer, or one that comes twice."""
    names = [_name(spec) for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the peer {name} is named twice; name each once")
    return names + ([FUSED] if {"minilm", "bm25s"} <= set(names) else [])


def fused(rankers: Sequence[ScoredRanker]) -> list[ScoredRanker]:
    """The fusion of minilm and bm25s, if both are there."""
    by_name = {ranker.name: ranker for ranker in rankers}
    if not {"minilm", "bm25s"} <= by_name.keys():
        return []
    first, second = by_name["minilm"], by_name["bm25s"]

    def scores(query: str) -> Float64:
        return standardised(first.scores(query)) + standardised(second.scores(query))

    return [ScoredRanker(FUSED, first.ids, scores, first.index_seconds + second.index_seconds)]


def _name(spec: str) -> str:
    kind, _, path = spec.partition(":")
    if spec in ("bm25s", "minilm") or (kind == "minilm" and path):
        return kind
    if kind == "model2vec" and path:
        return f"model2vec:{Path(path).name}"
    raise UsageError(f"there is no peer {spec!r}; expected bm25s, minilm, minilm:PATH or model2vec:PATH")


def _open(name: str, spec: str) -> Peer:
    if name == "bm25s":
        return Peer(name, _bm25s(), floor=0.0)
    path = spec.partition(":")[2]
    return Peer(name, _by_cosine(_minilm(path or MINILM) if name == "minilm" else _model2vec(path)))


def _bm25s() -> Callable[[list[str]], Scores]:
    bm25s = import_extra("bm25s", package="bm25s")
    stemmer = Stemmer.Stemmer("english")

    def tokens(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False)

    def prepare(texts: list[str]) -> Scores:
        corpus = tokens(texts)
        if not any(corpus):
            return lambda _: np.zeros(len(texts))
        retriever = bm25s.BM25(k1=1.2, b=0.75)
        retriever.index(corpus, show_progress=False)

        def scores(query: str) -> Float64:
            terms = tokens([query])[0]
            return np.asarray(retriever.get_scores(terms) if terms else np.zeros(len(texts)), dtype=np.float64)

        return scores

    return prepare


def _by_cosine(encode: Encode) -> Callable[[list[str]], Scores]:
    def prepare(texts: list[str]) -> Scores:
        documents = unit_rows(encode(texts))
        return lambda query: np.asarray(documents @ unit_rows(encode([query]))[0], dtype=np.float64)

    return prepare


def _minilm(name: str) -> Encode:
    library = import_extra("sentence_transformers", package="sentence-transformers", extra="train")
    model = _loaded(name, "sentence-transformers", lambda: library.SentenceTransformer(name))
    model.max_seq_length = _TOKENS
    return lambda texts: np.asarray(model.encode(texts, convert_to_numpy=True, show_progress_bar=False))


def _model2vec(name: str) -> Encode:
    library = import_extra("model2vec", package="model2vec")
    model = _loaded(name, "model2vec", lambda: library.StaticModel.from_pretrained(name))
    return lambda texts: np.asarray(model.encode(texts, show_progress_bar=False))


def _loaded(name: str, package: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:  # whatever the package and its downloader make of a name that is no model
        reason = " ".join(str(error).split())[:200]
        raise VectorsError(
            f"{name} is not a model that {package} can load: {reason}; give a name or a folder"
        ) from error
