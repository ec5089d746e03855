"""Search in languages other than English, beside bm25s with the stemmer of each: nDCG@10, as a Markdown table.

    python tests/benchmarks/quality/languages.py FOLDER... [--every N]

A folder is a collection in BEIR's layout whose name ends in the language's code (xquad-de). bm25s takes the language's
stemmer of Snowball, once with all words and once without the stop words of stopwords-iso. Where Snowball has none,
words stay as they are; Chinese, Japanese, Korean and Thai are cut into pairs of characters. --every 4 asks every
fourth question only.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import Stemmer
from retrieval import ndcg, score
from stopwordsiso import stopwords

from semsearch import Index
from semsearch.text.languages import RULES
from semsearch_research.evaluate.beir import Collection, read_collection

_RUNS = re.compile(r"[\u0e00-\u0e7f]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+|[^\W\u0e00-\u0e7f\u3040-\u9fff]+")
_PAIRED = ("zh", "ja", "ko", "th")


def pairs(text: str) -> list[str]:
    """The words of a text; of scripts without spaces, pairs of characters."""
    found: list[str] = []
    for run in _RUNS.findall(text.lower()):
        size = len(run) - 1 if run[0] > "\u0e00" and len(run) > 1 else 0
        found += [run[first : first + 2] for first in range(size)] or [run]
    return found


def tokens(texts: Sequence[str], language: str, stops: Sequence[str]) -> Any:
    """The terms of texts as bm25s is commonly given them."""
    if language in _PAIRED:
        return [pairs(text) for text in texts]
    name = RULES[language].stemmer
    stemmer = None if name is None else Stemmer.Stemmer(name)
    return bm25s.tokenize(list(texts), stopwords=list(stops), stemmer=stemmer, return_ids=False, show_progress=False)


def bm25s_score(collection: Collection, language: str, stops: Sequence[str]) -> float:
    """The mean nDCG@10 of bm25s, k1 = 1.2 and b = 0.75."""
    retriever = bm25s.BM25(k1=1.2, b=0.75)
    retriever.index(tokens([each.text for each in collection.documents], language, stops), show_progress=False)
    total = 0.0
    for key, query in collection.queries.items():
        terms = tokens([query], language, stops)[0]
        scores = retriever.get_scores(terms) if terms else np.zeros(len(collection.documents))
        best = np.argsort(-scores, kind="stable")[:10].tolist()
        total += ndcg([collection.documents[index].id for index in best], collection.relevant[key])
    return total / len(collection.queries)


def every(collection: Collection, step: int) -> Collection:
    """A collection with every so manieth question."""
    queries = dict(list(collection.queries.items())[::step])
    relevant = {key: collection.relevant[key] for key in queries}
    return Collection(collection.name, collection.documents, queries, relevant)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    print("| | language found | hybrid | dense | lexical | bm25s | bm25s, stop words |")
    print("|---|---|---|---|---|---|---|")
    for folder in arguments.folders:
        collection, language = every(read_collection(folder), arguments.every), folder.name.rpartition("-")[2]
        with tempfile.TemporaryDirectory() as made, Index.create(Path(made) / "index") as index:
            index.add(collection.documents)
            found = index.status().languages.get(language, 0) / len(collection.documents)
            ours = [score(index, collection, mode) for mode in ("hybrid", "dense", "lexical")]
        theirs = [bm25s_score(collection, language, stops) for stops in ((), sorted(stopwords(language)))]
        cells = " | ".join(f"{value:.3f}" for value in (*ours, *theirs))
        print(f"| {folder.name} | {found:.0%} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
