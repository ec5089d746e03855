"""Measure the effect of pieces on unknown words, as Markdown tables.

    python tests/benchmarks/quality/unknown_words.py FOLDER... --vectors NAME|PATH [--choose NAME,NAME,...] [--no-adapt]

The folders are as in retrieval.py. First nDCG@10 of each choice, by meaning alone and by both; then how well pieces
foretell words: they are learned from the first three quarters of the table's words and guess the others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import get_args

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from retrieval import row, score  # a script beside this one

from semsearch import Index, load_vectors
from semsearch.embedding.methods import Unknown
from semsearch.text.ragged import OovWords
from semsearch.word_vectors.table import VectorTable
from semsearch.word_vectors.table_writer import TableWriter
from semsearch_research.evaluate.beir import read_collection
from semsearch_research.train.piece_vectors import add_pieces


def held_out(table: VectorTable) -> str:
    """Cosines of guesses with the vectors of words that the pieces were not learned from."""
    known = 3 * len(table) // 4
    rows, rest = table.rows(np.arange(known)), table.rows(np.arange(known, len(table)))
    with tempfile.TemporaryDirectory() as folder:
        part = TableWriter(Path(folder) / "part", dtype="int8").write(
            table.words[:known], rows, table.frequencies[:known], card={}
        )
        guesses = add_pieces(part, Path(folder) / "pieces").guess(OovWords.of(table.words[known:]))
    lengths = np.linalg.norm(guesses, axis=1), np.linalg.norm(rest, axis=1)
    cosines = (guesses * rest).sum(axis=1) / np.maximum(lengths[0] * lengths[1], 1e-12)
    return (
        f"{len(rest)} words held out: mean cosine {cosines.mean():.3f}, mean length {lengths[0].mean():.2f} "
        f"of {lengths[1].mean():.2f}; of {(lengths[0] == 0).mean():.1%} no piece is known"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--choose", default="scifact,cranfield,cisi,xquad-en")
    parser.add_argument("--vectors", default="english")
    parser.add_argument("--no-adapt", action="store_true")
    arguments = parser.parse_args()
    collections = [read_collection(folder) for folder in arguments.folders]
    print("| setting | " + " | ".join(c.name for c in collections) + " | chosen on | others |")
    print("|---" * (len(collections) + 3) + "|")
    for unknown in get_args(Unknown):
        numbers: dict[str, dict[str, float]] = {"dense": {}, "hybrid": {}}
        for collection in collections:
            with (
                tempfile.TemporaryDirectory() as folder,
                Index.create(
                    Path(folder) / "index", vectors=arguments.vectors, unknown=unknown, adapt=not arguments.no_adapt
                ) as index,
            ):
                index.add(collection.documents)
                for mode, scores in numbers.items():
                    scores[collection.name] = score(index, collection, mode)
        for mode, scores in numbers.items():
            print(row(f"{unknown}, {mode}", scores, set(arguments.choose.split(","))), flush=True)
    print(held_out(load_vectors(arguments.vectors)))


if __name__ == "__main__":
    main()
