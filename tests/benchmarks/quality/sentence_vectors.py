"""Do answers move if vectors of sentences are rounded? The first ten of each rounding beside those of exact vectors.

    python tests/benchmarks/quality/sentence_vectors.py FOLDER... [--docs FOLDER]

A FOLDER is a test collection in BEIR's layout, as for retrieval.py; --docs has the trees of golden.py. Indexes do not
store vectors of sentences, but make and round them in each of these ways: not at all, to half precision, to bytes (as
an index stores them), to six and to four bits. Printed for each mode: the share of questions with the same ten passages
in the same order, the share of passages that stay among the ten, and that of first ones that stay first; nDCG@10, or
how many golden questions have an answer among the first one, five and ten documents.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from golden import QUESTIONS, rank_of
from retrieval import score

from semsearch import Index
from semsearch.arrays.vectors import from_bytes, to_bytes
from semsearch.search import kept_rows
from semsearch_research.evaluate.beir import Collection, read_collection

MODES = ("hybrid", "dense")
Rounding = tuple[Callable[[Any], Any], Callable[[Any], Any]]  # what is kept, and what is made of it


def to_six_bits(rows: Any) -> Any:
    """As bytes are made, with 31 as the largest number."""
    largest = np.abs(rows).max(axis=1, initial=1e-9, keepdims=True)
    return (np.rint(rows * (31 / largest)) + 128).astype(np.uint8)


def to_four_bits(rows: Any) -> Any:
    """Sixteen steps over 2.73 standard deviations to both sides, which is best for a normal distribution."""
    step = 2 * 2.73 / 16 / np.sqrt(rows.shape[1])
    steps = 2 * np.clip(np.floor(rows / step), -8, 7) + 1
    return (np.where(rows.any(axis=1, keepdims=True), steps, 0) + 128).astype(np.uint8)


ROUNDINGS: dict[str, Rounding] = {
    "exact": (lambda rows: rows, lambda rows: rows),
    "half": (lambda rows: rows.astype(np.float16), lambda rows: rows.astype(np.float32)),
    "bytes": (to_bytes, from_bytes),
    "six bits": (to_six_bits, from_bytes),
    "four bits": (to_four_bits, from_bytes),
}


def compare(name: str, folder: Path, questions: Sequence[str], quality: Callable[[Index, Any], str]) -> None:
    """Ask an index with each rounding, and print a row for each and each mode."""
    exact: dict[str, list[list[int]]] = {}
    for label, (to, back) in ROUNDINGS.items():
        setattr(kept_rows, "to_bytes", to)  # noqa: B010  # as the module does not export it
        setattr(kept_rows, "from_bytes", back)  # noqa: B010
        with Index.open(folder) as index:  # anew: it remembers vectors
            for mode in MODES:
                answers = index.search_many(questions, 10, mode=mode)  # type: ignore[arg-type]
                found = [[hit.passage_id for hit in hits] for hits in answers]
                pairs = [*zip(exact.setdefault(mode, found), found, strict=True)]
                same = sum(one == other for one, other in pairs) / len(pairs)
                kept = sum(len({*one} & {*other}) for one, other in pairs) / sum(len(one) for one, _ in pairs)
                first = sum(one[:1] == other[:1] for one, other in pairs) / len(pairs)
                cells = name, mode, label, f"{same:.3f}", f"{kept:.4f}", f"{first:.4f}", quality(index, mode)
                print(f"| {' | '.join(cells)} |", flush=True)


def golden(asked: Sequence[Mapping[str, Any]]) -> Callable[[Index, Any], str]:
    """How many questions have an answer among the first 1, 5 and 10 documents."""

    def quality(index: Index, mode: Any) -> str:
        answers = index.search_many([each["question"] for each in asked], 50, mode=mode)
        found = [list(dict.fromkeys(hit.document for hit in hits)) for hits in answers]
        ranks = [
            rank_of([*each["answers"], *each.get("also", ())], own) for each, own in zip(asked, found, strict=True)
        ]
        return ", ".join(str(sum(rank <= limit for rank in ranks)) for limit in (1, 5, 10)) + f" of {len(asked)}"

    return quality


def ndcg_of(collection: Collection) -> Callable[[Index, Any], str]:
    return lambda index, mode: f"{score(index, collection, mode):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--docs", type=Path)
    arguments = parser.parse_args()
    asked = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    columns = "collection", "mode", "vectors", "same ten", "stay among ten", "same first", "quality"
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    with tempfile.TemporaryDirectory() as root:
        for collection in map(read_collection, arguments.folders):
            folder = Path(root) / collection.name
            with Index.create(folder, sentence_vectors=False) as index:
                index.add(collection.documents)
            compare(collection.name, folder, [*collection.queries.values()], ndcg_of(collection))
        trees = {
            each["collection"] for each in asked if arguments.docs and (arguments.docs / each["collection"]).is_dir()
        }
        for tree in sorted(trees):
            own = [each for each in asked if each["collection"] == tree]
            with Index.create(Path(root) / tree, sentence_vectors=False) as index:
                index.sync(arguments.docs / tree)
            compare(tree, Path(root) / tree, [each["question"] for each in own], golden(own))


if __name__ == "__main__":
    main()
