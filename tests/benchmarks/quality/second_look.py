"""How what a hybrid search says and what an encoder says of its first fifty passages become one ranking: nDCG@10.

    python tests/benchmarks/quality/second_look.py --model MODEL COLLECTION...

Each collection, in BEIR's layout, is indexed and asked once; the encoder reads the first fifty passages of each
question, and all ways of mixing are computed from its vectors. A document's rank is that of its best passage.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

import numpy as np

from semsearch import Index, load_reranker
from semsearch.rerankers.reranker import standardised as z, text_of
from semsearch.text.tokens import words
from semsearch_research.evaluate.beir import read_collection
from semsearch_research.evaluate.retrieval import MEASURES, measure

FIRST, DEPTH = 50, 200
Vector = Any
Way = Callable[[Vector, Vector, Vector], Vector]  # scores (n,), vectors (n, d), question (d,) -> (n,)


@dataclass(frozen=True)
class Read:
    """A question's first passages: their documents, scores and vectors, and the documents that come after them."""

    key: str
    documents: list[str]
    scores: Vector
    vectors: Vector
    question: Vector
    others: list[str]

    def ranking(self, way: Way) -> list[str]:
        order = np.argsort(-way(self.scores, self.vectors, self.question), kind="stable")
        found = dict.fromkeys([*(self.documents[index] for index in order), *self.others])
        return [document for document in found if document != self.key]


def read(folder: Path, encoder: Any) -> tuple[Any, list[Read]]:
    """Index a collection, ask its questions, and have the encoder read what they find first."""
    collection = read_collection(folder)
    vectors: dict[str, Vector] = {}
    found: list[Read] = []
    with tempfile.TemporaryDirectory() as place, Index.create(Path(place) / "index") as index:
        index.add(collection.documents)
        for key, query in collection.queries.items():
            hits = index.search(query, DEPTH, duplicates=True, syntax="plain") if words(query) else []
            texts = [text_of(hit) for hit in hits[:FIRST]]
            new = list(dict.fromkeys(text for text in texts if text not in vectors))
            vectors |= zip(new, encoder.encode_passages(new), strict=True) if new else ()
            if hits:
                documents = [hit.document for hit in hits]
                scores = np.array([hit.score for hit in hits[:FIRST]])
                read = np.array([vectors[text] for text in texts])
                asked = encoder.encode_query(query)
                found.append(Read(key, documents[:FIRST], scores, read, asked, documents[FIRST:]))
    return collection, found


def from_least_to_most(x: Vector) -> Vector:
    return (x - x.min()) / (np.ptp(x) or 1)


def ranks(x: Vector) -> Vector:
    return np.argsort(np.argsort(-x))


def alike(X: Vector, n: int) -> Vector:
    """The weights of the n passages most like each. (n, n)"""
    S = np.maximum(X @ X.T, 0)
    np.fill_diagonal(S, 0)
    if n < len(S):
        S = np.where(np.sort(S, axis=1)[:, -n, None] <= S, S, 0)
    return S / np.maximum(S.sum(axis=1, keepdims=True), 1e-9)


def moved(s: Vector, X: Vector, q: Vector) -> Vector:
    """The question moved towards the three best."""
    sums = z(s) + z(X @ q)
    best = np.argsort(-sums)[:3]
    shares = np.exp(sums[best] - sums[best].max())
    mean = shares @ X[best]
    return sums + 0.5 * z(X @ (mean / np.linalg.norm(mean)))


def with_alike(n: int, b: float, *, to_the_sum: bool) -> Way:
    def way(s: Vector, X: Vector, q: Vector) -> Vector:
        c = z(X @ q)
        heard = alike(X, n) @ (z(s) + c)
        return z(s) + c + b * heard if to_the_sum else z(s) + z(c + b * heard)

    return way


def z_scores(w: float, s: Vector, X: Vector, q: Vector) -> Vector:
    return (1 - w) * z(s) + w * z(X @ q)


def with_cosine(w: float, s: Vector, X: Vector, q: Vector) -> Vector:
    return s + w * (X @ q)


def ways() -> Iterator[tuple[str, Way]]:
    yield "hybrid", lambda s, *_: s
    yield "the encoder", lambda _, X, q: X @ q
    yield "ranks", lambda s, X, q: -(ranks(s) + ranks(X @ q))
    yield "reciprocal ranks", lambda s, X, q: 1 / (60 + ranks(s)) + 1 / (60 + ranks(X @ q))
    yield "least to most", lambda s, X, q: from_least_to_most(s) + from_least_to_most(X @ q)
    for w in (0.3, 0.4, 0.5, 0.6, 0.7):
        yield f"z-scores, {w}", partial(z_scores, w)
    for w in (0.6, 0.8, 1.0):
        yield f"the cosine, times {w}", partial(with_cosine, w)
    yield "z-scores, the question moved", moved
    yield "z-scores, eight alike: the default", with_alike(8, 0.5, to_the_sum=False)
    for n in (5, 10):
        yield f"z-scores, {n} alike, to the sum", with_alike(n, 0.4, to_the_sum=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="+", type=Path)
    parser.add_argument("--model", required=True)
    arguments = parser.parse_args()
    encoder = load_reranker(arguments.model).model
    ndcg = MEASURES.index("ndcg@10")
    all_read = [read(folder, encoder) for folder in arguments.collections]
    print("| way |", " | ".join(folder.name for folder in arguments.collections), "| mean |")
    print("|---|" + "---|" * (len(all_read) + 1))
    for name, way in ways():
        figures = [
            measure(collection.relevant, {each.key: each.ranking(way) for each in found})[:, ndcg].mean()
            for collection, found in all_read
        ]
        print(f"| {name} |", " | ".join(f"{figure:.4f}" for figure in figures), f"| {np.mean(figures):.4f} |")


if __name__ == "__main__":
    main()
