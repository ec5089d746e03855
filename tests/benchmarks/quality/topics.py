"""Measure the effect of topics: nDCG@10 without them, and with other weights, dimensions and samples, as Markdown.

    python tests/benchmarks/quality/topics.py FOLDER... [--together]

Folders are collections in BEIR's layout. With --together all of them are one index, so that it speaks of many things;
a query's answers are then still only those of its own collection.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from retrieval import ndcg

from semsearch import Index, tuning
from semsearch.results.options import Mode
from semsearch.topics.topic_fit import DIMENSION, SAMPLE, fit_topics
from semsearch_research.evaluate.beir import Collection, read_collection

MODES: tuple[Mode, ...] = ("dense", "hybrid")
SHOWN = 50


@dataclass(frozen=True)
class Setting:
    """A setting of topics: how they are learned, and their tenths of the score; 0 for an index without topics."""

    tenths: float = tuning.TUNING.topics_share
    dimension: int = DIMENSION
    sample: int = SAMPLE

    @property
    def label(self) -> str:
        if not self.tenths:
            return "no topics"
        return f"{self.tenths:g} tenths, k = {self.dimension}, of {self.sample:,} passages"


DEFAULT = Setting()
SETTINGS = [
    replace(DEFAULT, tenths=0),
    *(replace(DEFAULT, tenths=tenths) for tenths in (2, 3, 4, 5, 6)),
    *(replace(DEFAULT, dimension=dimension) for dimension in (64, 128, 256)),
    *(replace(DEFAULT, sample=sample) for sample in (1000, 2000, 4000)),
]


@contextmanager
def made(folders: Sequence[Collection], setting: Setting) -> Iterator[Index]:
    """An index of some collections, documents as collection/id."""
    assert fit_topics.__kwdefaults__ is not None
    fit_topics.__kwdefaults__.update(dimension=setting.dimension, sample=setting.sample)
    rest = (10 - setting.tenths) / 2
    shares: dict[str, Any] = {"topics_share": setting.tenths, "passage_share": rest, "sentence_share": rest}
    tuning.TUNING = replace(tuning.TUNING, **shares)
    documents = [replace(text, id=f"{c.name}/{text.id}") for c in folders for text in c.documents]
    with tempfile.TemporaryDirectory() as folder, Index.create(folder, adapt=setting.tenths > 0) as index:
        index.add(documents)
        yield index


def score(index: Index, collection: Collection, mode: Mode) -> float:
    """nDCG@10, the mean over the queries."""
    answers = index.search_many(list(collection.queries.values()), SHOWN, mode=mode, duplicates=True, syntax="plain")
    total = 0.0
    for query, hits in zip(collection.queries, answers, strict=True):
        found = [hit.document for hit in hits if hit.document != f"{collection.name}/{query}"]
        relevant = {f"{collection.name}/{key}": gain for key, gain in collection.relevant[query].items()}
        total += ndcg(list(dict.fromkeys(found)), relevant)
    return total / len(collection.queries)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--together", action="store_true")
    arguments = parser.parse_args()
    collections = [read_collection(folder) for folder in arguments.folders]
    names = " | ".join(collection.name for collection in collections)
    print(f"| mode | setting | {names} | mean |\n|{'---|' * (len(collections) + 3)}")
    for setting in SETTINGS:
        scores: dict[Mode, list[float]] = {mode: [] for mode in MODES}
        for group in [collections] if arguments.together else [[collection] for collection in collections]:
            with made(group, setting) as index:
                for collection in group:
                    for mode in MODES:
                        scores[mode].append(score(index, collection, mode))
        for mode, found in scores.items():
            cells = " | ".join(f"{value:.3f}" for value in found)
            print(f"| {mode} | {setting.label} | {cells} | {sum(found) / len(found):.4f} |", flush=True)


if __name__ == "__main__":
    main()
