"""How to bring meaning and words together: nDCG@10 of ways to fuse the two halves, as a Markdown table.

    python tests/benchmarks/fusion.py FOLDER... [--choose NAME,NAME,...]

For collections in BEIR's layout. The candidates of a query are its first 200 hits, with both their scores. The way is
chosen on the collections named by --choose and reported on the others.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from retrieval import load, ndcg

from semsearch import Index

DEPTH = 200
Fuse = Callable[[np.ndarray, np.ndarray], np.ndarray]


def weighted(weight: float) -> Fuse:
    return lambda dense, words: weight * dense + (1 - weight) * words / max(words.max(), 1e-9)


def both_relative(weight: float) -> Fuse:
    return lambda dense, words: weight * dense / max(dense.max(), 1e-9) + (1 - weight) * words / max(words.max(), 1e-9)


def standardised(weight: float) -> Fuse:
    def z(scores: np.ndarray) -> np.ndarray:
        return (scores - scores.mean()) / max(scores.std(), 1e-9)

    return lambda dense, words: weight * z(dense) + (1 - weight) * z(words)


def reciprocal_rank(weight: float) -> Fuse:
    def share(scores: np.ndarray) -> np.ndarray:
        return 1 / (60 + np.argsort(np.argsort(-scores)))

    return lambda dense, words: weight * share(dense) + (1 - weight) * share(words)


WAYS: dict[str, Fuse] = {
    "words alone": weighted(0),
    **{f"{w} · cosine + {1 - w:.1f} · BM25 / best": weighted(w) for w in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)},
    **{f"both over their best, {w}": both_relative(w) for w in (0.3, 0.4)},
    **{f"z-scores, {w}": standardised(w) for w in (0.3, 0.4, 0.5, 0.6)},
    **{f"reciprocal ranks, {w}": reciprocal_rank(w) for w in (0.3, 0.5)},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--choose", default="scifact,cranfield,cisi,xquad-en")
    arguments = parser.parse_args()
    groups: dict[str, dict[bool, list[float]]] = defaultdict(lambda: {True: [], False: []})
    for folder in arguments.folders:
        collection = load(folder)
        scores: dict[str, list[float]] = defaultdict(list)
        with tempfile.TemporaryDirectory() as place, Index.create(Path(place) / "index") as index:
            index.add(collection.documents)
            for query, text in collection.queries.items():
                found = index.search(text, DEPTH, duplicates=True)
                dense = np.array([hit.dense or 0.0 for hit in found])
                words = np.array([hit.lexical or 0.0 for hit in found])
                for way, fuse in WAYS.items():
                    order = np.argsort(-fuse(dense, words), kind="stable") if found else []
                    ranking = dict.fromkeys(found[place].document for place in order)
                    ranking.pop(query, None)
                    scores[way].append(ndcg(list(ranking), collection.relevant[query]))
        for way, values in scores.items():
            groups[way][folder.name in arguments.choose.split(",")].append(float(np.mean(values)))
    print("| way | chosen on | others |\n|---|---|---|")
    for way, means in groups.items():
        print(f"| {way} | {np.mean(means[True]):.4f} | {np.mean(means[False]):.4f} |")


if __name__ == "__main__":
    main()
