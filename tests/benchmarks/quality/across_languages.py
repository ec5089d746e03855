"""Search from one language into another: nDCG@10, as Markdown tables.

    python tests/benchmarks/quality/across_languages.py FOLDER... [--every N] [--mode hybrid]

The folders are collections in BEIR's layout that have the same documents in the same order and the same questions in
several languages; the name of each ends in its language's code (xquad-de). Questions of each language (a row) are asked
of an index of each (a column), and of one index with the documents of all: the share of questions with a right
document, in whichever language, among the first ten, and with that of the question's own language before its
translations.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from languages import every
from retrieval import score

from semsearch import Index
from semsearch.readers.document import Text
from semsearch_research.evaluate.beir import Collection, read_collection

_KEPT = 10


def numbered(collection: Collection) -> Collection:
    """A collection with the documents' numbers as their ids, which are then the same in every language."""
    numbers = {document.id: str(number) for number, document in enumerate(collection.documents)}
    documents = [Text(numbers[document.id], document.text, document.title) for document in collection.documents]
    relevant = {key: {numbers[id_]: gain for id_, gain in gains.items()} for key, gains in collection.relevant.items()}
    return Collection(collection.name, documents, collection.queries, relevant)


def in_all(index: Index, asked: Collection, language: str, number: int, mode: Any) -> tuple[float, float]:
    """On an index of all languages: the share found among the first ten, and with the own language's first."""
    answers = index.search_many(list(asked.queries.values()), number, mode=mode, duplicates=True, syntax="plain")
    found, own = 0, 0
    for key, hits in zip(asked.queries, answers, strict=True):
        documents = [document.partition("/") for document in dict.fromkeys(hit.document for hit in hits)]
        right = [code for code, _, identifier in documents if identifier in asked.relevant[key]]
        found += any(identifier in asked.relevant[key] for _, _, identifier in documents[:_KEPT])
        own += right[:1] == [language]
    return found / len(asked.queries), own / len(asked.queries)


def measure(folders: Sequence[Path], step: int, mode: Any) -> None:
    """Print both tables."""
    read = {folder.name.rpartition("-")[2]: numbered(every(read_collection(folder), step)) for folder in folders}
    print(f"| {mode}, from | " + " | ".join(read) + " | all: first ten | own language first |")
    print("|---" * (len(read) + 3) + "|")
    with tempfile.TemporaryDirectory() as made:
        indexes = {language: Index.create(Path(made) / language) for language in [*read, "all"]}
        for language, collection in read.items():
            indexes[language].add(collection.documents)
            indexes["all"].add([Text(f"{language}/{each.id}", each.text) for each in collection.documents])
        for language, asked in read.items():
            ways = [score(indexes[other], asked, mode) for other in read]
            cells = [*ways, *in_all(indexes["all"], asked, language, 5 * _KEPT * len(read), mode)]
            print(f"| {language} | " + " | ".join(f"{value:.3f}" for value in cells) + " |", flush=True)
        for index in indexes.values():
            index.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--mode", choices=("hybrid", "dense", "lexical"), default="hybrid")
    arguments = parser.parse_args()
    measure(arguments.folders, arguments.every, arguments.mode)


if __name__ == "__main__":
    main()
