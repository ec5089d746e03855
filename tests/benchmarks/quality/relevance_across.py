"""Relevance across languages: over every second English paragraph, so that half of the questions have no answer there.

Run: python tests/benchmarks/quality/relevance_across.py XQUAD-EN XQUAD-DE...  (folders as BEIR's, paragraphs in one
order). Of the first hits for every fourth question: how many, how many right, mean relevance, share of right ones,
area under the curve (right against without an answer), and the shares below .2 of the right ones and of the others.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from semsearch import Index, Text


def lines(path: Path) -> list[dict[str, str]]:
    """The objects of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measure(index: Index, folder: Path) -> str:
    """The row of a language."""
    number = {each["_id"]: at for at, each in enumerate(lines(folder / "corpus.jsonl"))}
    judged = [line.split("\t") for line in (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]]
    answers = {query: number[document] for query, document, _ in judged}
    right, absent, every = list[float](), list[float](), list[float]()
    for question in lines(folder / "queries.jsonl")[::4]:
        for hit in index.search(question["text"], 1):
            if hit.language is None or hit.relevance is None:
                continue
            answer = answers[question["_id"]]
            every.append(hit.relevance)
            if int(hit.document) == answer:
                right.append(hit.relevance)
            elif answer % 2:
                absent.append(hit.relevance)
    area = (np.array(right)[:, None] > np.array(absent)).mean()
    below = [np.mean(np.array(found) < 0.2) for found in (right, absent)]
    shares = f"{np.mean(every):.2f} | {len(right) / len(every):.2f} | {area:.3f} | {below[0]:.2f} | {below[1]:.2f}"
    return f"{folder.name} | {len(every)} | {len(right)} | {shares}"


if __name__ == "__main__":
    english, *others = map(Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as place, Index.create(Path(place, "index")) as index:
        texts = [each["text"] for each in lines(english / "corpus.jsonl")]
        index.add(Text(str(at), texts[at]) for at in range(0, len(texts), 2))
        for folder in others:
            print(measure(index, folder), flush=True)
