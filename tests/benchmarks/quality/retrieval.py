"""Which method finds best: nDCG@10 of each setting on test collections in BEIR's layout, as Markdown tables.

    python tests/benchmarks/quality/retrieval.py FOLDER... [--choose NAME,NAME,...]

A folder has corpus.jsonl (_id, title, text), queries.jsonl (_id, text) and qrels/test.tsv. A document's rank is that
of its best passage; a query's own document is no answer; gains are linear. The setting is chosen on the collections
named by --choose and reported on the others.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from semsearch import Index
from semsearch_research.evaluate.beir import Collection, read_collection

DEPTH = 10
SETTINGS: dict[str, dict[str, Any]] = {
    "mean, m = 0": {"method": "mean"},
    "tf-idf, m = 0": {"method": "tfidf"},
    "SIF, a = 1e-3, m = 0": {"a": 1e-3, "components": 0},
    "SIF, a = 1e-3, m = 1": {"a": 1e-3},
    "SIF, a = 1e-3, m = 3": {"a": 1e-3, "components": 3},
    "SIF, a = 1e-3, m = 5": {"a": 1e-3, "components": 5},
    "SIF, a = 5e-4, m = 1": {"a": 5e-4},
    "SIF, a = 3e-4, m = 1": {},
    "SIF, a = 2e-4, m = 1": {"a": 2e-4},
    "SIF, a = 1e-4, m = 1": {"a": 1e-4},
    "SIF, a = 3e-4, m = 5": {"components": 5},
    "SIF, a = 1e-3, p(w) of general English": {"a": 1e-3, "frequencies": "vectors"},
    "SIF, a = 1e-3, p(w) of the corpus": {"a": 1e-3, "frequencies": "corpus"},
    "uSIF, m = 5 (the paper)": {"method": "usif"},
    "SIF, a = 1e-3, without topics": {"a": 1e-3, "adapt": False},
    "SIF, a = 1e-3, unknown words by their pieces": {"a": 1e-3, "unknown": "pieces"},
    "SIF, a = 1e-3, unknown words left out": {"a": 1e-3, "unknown": "skip"},
    "SIF, a = 1e-3, neither topics nor unknown words": {"a": 1e-3, "adapt": False, "unknown": "skip"},
    **{f"prior of {n} sentences": {"a": 1e-3, "prior": n} for n in (0, 1000, 10_000, 30_000)},
}


def ndcg(ranking: Sequence[str], relevant: Mapping[str, int]) -> float:
    gained = sum(relevant.get(document, 0) / math.log2(rank + 2) for rank, document in enumerate(ranking[:DEPTH]))
    ideal = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(sorted(relevant.values(), reverse=True)[:DEPTH]))
    return gained / ideal


def score(index: Index, collection: Collection, mode: Any) -> float:
    answers = index.search_many(
        list(collection.queries.values()), 5 * DEPTH, mode=mode, duplicates=True, syntax="plain"
    )
    total = 0.0
    for query, hits in zip(collection.queries, answers, strict=True):
        documents = [document for document in dict.fromkeys(hit.document for hit in hits) if document != query]
        total += ndcg(documents, collection.relevant[query])
    return total / len(collection.queries)


def row(label: str, numbers: dict[str, float], chosen_on: set[str]) -> str:
    groups = [[numbers[n] for n in numbers if (n in chosen_on) == inside] for inside in (True, False)]
    means = [sum(group) / len(group) if group else float("nan") for group in groups]
    cells = [f"{value:.3f}" for value in numbers.values()] + [f"{mean:.4f}" for mean in means]
    return f"| {label} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--choose", default="scifact,cranfield,cisi,xquad-en")
    parser.add_argument("--vectors", default="english")
    parser.add_argument("--only", help="run only the settings whose label contains this")
    arguments = parser.parse_args()
    collections = [read_collection(folder) for folder in arguments.folders]
    chosen_on = set(arguments.choose.split(","))
    names = [collection.name for collection in collections]
    print("| setting | " + " | ".join(names) + " | chosen on | others |")
    print("|---" * (len(names) + 3) + "|")
    settings: dict[str, dict[str, Any]] = {"default": {}, **SETTINGS}
    for label, options in settings.items():
        if arguments.only and arguments.only not in label:
            continue
        modes = ["lexical", "dense", "hybrid"] if label == "default" else ["dense", "hybrid"]
        numbers: dict[str, dict[str, float]] = {mode: {} for mode in modes}
        for collection in collections:
            with (
                tempfile.TemporaryDirectory() as folder,
                Index.create(Path(folder) / "index", vectors=arguments.vectors, **options) as index,
            ):
                index.add(collection.documents)
                for mode in modes:
                    numbers[mode][collection.name] = score(index, collection, mode)
        for mode in modes:
            print(row(f"{label}, {mode}", numbers[mode], chosen_on), flush=True)


if __name__ == "__main__":
    main()
