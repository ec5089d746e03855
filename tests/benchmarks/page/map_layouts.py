"""Compare how maps are laid out: time, and how many neighbours stay neighbours.

    python tests/benchmarks/page/map_layouts.py INDEX PASSAGES [METHOD ...]

Takes evenly spread passages of an index, lays them out by each method (ours and pca unless told; opentsne, umap and
pacmap where they are installed), and prints the processor time, and for 1,500 of them the share of the 15 nearest by
vector that are among the 15 nearest on the map, and the trustworthiness (Venna and Kaski 2001).
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from semsearch.dense.neighbours import neighbours_of_each
from semsearch.dense.scan_plan import evenly
from semsearch.index import Index
from semsearch.mapping.arrange_passages import arrange, compare, two_directions
from semsearch.mapping.mapper import _passage_ids, _StoredRows
from semsearch.search.index_reader import IndexReader

Float32 = npt.NDArray[np.float32]
K, ASKED = 15, 1500


def vectors(path: str, most: int) -> Float32:
    with Index.open(path) as index:

        def read(db: sqlite3.Connection, snapshot: IndexReader) -> Float32:
            ids = _passage_ids(db)
            return _StoredRows(snapshot, ids[evenly(len(ids), most)])(np.arange(min(len(ids), most)))

        return index.searcher.in_one_generation(read)


def ours(rows: Float32) -> Float32:
    quiet: Callable[[object], None] = lambda _: None  # noqa: E731  # a report that nobody reads
    return arrange(compare(lambda numbers: rows[numbers], len(rows), report=quiet), report=quiet)


def pca(rows: Float32) -> Float32:
    return two_directions(lambda numbers: rows[numbers], len(rows))


def opentsne(rows: Float32) -> Float32:
    import openTSNE

    near = neighbours_of_each(lambda numbers: rows[numbers], len(rows), K)
    apart = np.sqrt(np.maximum(2 - 2 * np.einsum("nkd,nd->nk", rows[near], rows), 0))
    known = openTSNE.nearest_neighbors.PrecomputedNeighbors(near, apart)
    start = pca(rows)
    weights = openTSNE.affinity.Uniform(knn_index=known, k_neighbors=K)
    fit = openTSNE.TSNE(n_jobs=2, random_state=1, negative_gradient_method="fft", n_iter=500).fit
    return np.asarray(fit(affinities=weights, initialization=start / start[:, 0].std() * 1e-4), dtype=np.float32)


def umap(rows: Float32) -> Float32:
    import umap

    return np.asarray(umap.UMAP(metric="cosine", random_state=1, n_jobs=1).fit_transform(rows))


def pacmap(rows: Float32) -> Float32:
    import pacmap

    return np.asarray(pacmap.PaCMAP(random_state=1).fit_transform(rows))


METHODS = {method.__name__: method for method in (ours, pca, opentsne, umap, pacmap)}


def quality(rows: Float32, points: Float32) -> tuple[float, float]:
    """The share of neighbours that stay neighbours, and the trustworthiness."""
    asked = np.random.default_rng(0).choice(len(rows), min(ASKED, len(rows)), replace=False)
    kept, penalty = 0, 0
    for row in asked.tolist():
        near = rows @ rows[row]
        apart = np.square(points - points[row]).sum(axis=1)
        near[row], apart[row] = -2, np.inf
        shown = np.argpartition(apart, K)[:K]
        kept += len(np.intersect1d(shown, np.argpartition(-near, K)[:K]))
        ranks = (near[None] > near[shown][:, None]).sum(axis=1) + 1
        penalty += int(np.maximum(ranks - K, 0).sum())
    n, all_ = len(rows), len(asked) * K
    return kept / all_, 1 - 2 * penalty / (all_ * (2 * n - 3 * K - 1))


def main() -> None:
    path, most, *names = sys.argv[1:]
    rows = vectors(path, int(most))
    for name in names or ["ours", "pca"]:
        started = time.process_time()
        points = METHODS[name](rows)
        seconds = time.process_time() - started
        kept, trust = quality(rows, points)
        print(f"{name:9} {len(rows):,} passages: {seconds:.1f} s CPU, kept {kept:.3f}, trustworthiness {trust:.4f}")


if __name__ == "__main__":
    main()
