"""Measure what encodings of vectors cost and save: float32, float16 and 8-bit indexes of an index's own passages.

    python tests/benchmarks/quality/quantiser.py INDEX [--queries 200]

Prints, for each form, the time of a scan as a ratio to float32, the bytes a vector, and how much of float32's first ten
is among its first ten. The queries are passages with a little noise. One thread.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is imported

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import faiss as _faiss
import numpy as np

from semsearch.dense.faiss_store import Vectors
from semsearch.storage.database import SEGMENTS, IndexDatabase
from semsearch.storage.segments import get_segments

faiss: Any = _faiss
K = 10


def passage_vectors(folder: Path) -> np.ndarray:
    """The stored vectors, which are half precision already: what is compared is the form of the scan."""
    with IndexDatabase(folder).reading() as db:
        segments = [segment for segment in get_segments(db) if segment.kind == "passage"]
    opened = [Vectors(folder / SEGMENTS / segment.file, segment) for segment in segments]
    return np.concatenate([vectors.rows(np.arange(len(vectors.segment.id_ranges))) for vectors in opened])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--queries", type=int, default=200)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    vectors = passage_vectors(arguments.index)
    vectors = vectors + rng.normal(0, 2e-4, vectors.shape).astype(np.float32)  # what half precision has rounded away
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = vectors[rng.choice(len(vectors), arguments.queries, replace=False)]
    queries = queries + rng.normal(0, 0.03, queries.shape).astype(np.float32)
    kinds = {"float32": None, "float16": faiss.ScalarQuantizer.QT_fp16, "8 bits": faiss.ScalarQuantizer.QT_8bit}
    best: np.ndarray | None = None
    base = 0.0
    print(f"{len(vectors)} vectors\n\n| form | bytes | scan, ratio to float32 | recall@{K} |\n|---|---|---|---|")
    for name, kind in kinds.items():
        d = vectors.shape[1]
        index = (
            faiss.IndexFlatIP(d) if kind is None else faiss.IndexScalarQuantizer(d, kind, faiss.METRIC_INNER_PRODUCT)
        )
        index.train(vectors)
        index.add(vectors)
        found, times = [], []
        for query in queries:
            start = time.perf_counter()
            found.append(index.search(query[None], K)[1][0])
            times.append(time.perf_counter() - start)
        taken = statistics.median(times)
        ids = np.array(found)
        best, base = (ids, taken) if best is None else (best, base)
        recall = np.mean([len(set(one) & set(other)) / K for one, other in zip(ids, best, strict=True)])
        size = 4 * d if kind is None else index.sa_code_size()
        print(f"| {name} | {size} | {taken / base:.2f} | {recall:.4f} |", flush=True)


if __name__ == "__main__":
    main()
