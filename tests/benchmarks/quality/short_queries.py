"""uSIF and short queries: does dividing by a norm over one to three words harm them?

    python tests/benchmarks/quality/short_queries.py FOLDER...

For collections in BEIR's layout, each document is one vector (title and text); nDCG@10 of the cosine by the number of
words of the query. Compared are uSIF, uSIF with queries that are not normalised, uSIF without normalisation at all, and
SIF as an index uses it.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from retrieval import ndcg

from semsearch import Method, SentenceEmbedder, load_vectors
from semsearch.arrays.vectors import row_lengths, unit
from semsearch.text.tokens import words
from semsearch_research.evaluate.beir import Collection, read_collection

PRIOR = 3000
GROUPS = ("1 word", "2 or 3", "4 to 8", "9 and more")


def group_of(query: str) -> str:
    count = len(words(query))
    return GROUPS[0] if count <= 1 else GROUPS[1] if count <= 3 else GROUPS[2] if count <= 8 else GROUPS[3]


def cosines(collection: Collection) -> dict[str, np.ndarray]:
    """For each way, the cosine of each query with each document. (q, n)"""
    vectors = load_vectors()
    plain = Method("uSIF without normalisation", "usif", normalise=False, components=5, piecewise=True)
    texts = [f"{document.title}\n{document.text}" for document in collection.documents]
    queries = list(collection.queries.values())
    usif = SentenceEmbedder(vectors, method="usif", prior=PRIOR).fit(texts)
    unnormalised = SentenceEmbedder(vectors, method=plain, prior=PRIOR).fit(texts)
    sif = SentenceEmbedder(vectors, method="sif", prior=PRIOR).fit(texts)
    raw = unnormalised.raw(unnormalised.tokenize(queries))
    mixed = unit(usif.common_.remove(raw), scale=row_lengths(raw))
    documents = usif.transform(texts)
    return {
        "uSIF": usif.transform(queries) @ documents.T,
        "uSIF, queries not normalised": mixed @ documents.T,
        "uSIF, no normalisation": unnormalised.transform(queries) @ unnormalised.transform(texts).T,
        "SIF, a = 1e-3, m = 1": sif.transform(queries) @ sif.transform(texts).T,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for folder in parser.parse_args().folders:
        collection = read_collection(folder)
        names = [document.id for document in collection.documents]
        for way, table in cosines(collection).items():
            for row, (query, text) in zip(table, collection.queries.items(), strict=True):
                ranking = [names[index] for index in np.argsort(-row, kind="stable")[:11] if names[index] != query]
                scores[way][group_of(text)].append(ndcg(ranking, collection.relevant[query]))
    print("| way | " + " | ".join(f"{g} ({len(scores['uSIF'][g])} queries)" for g in GROUPS) + " |")
    print("|---" * (len(GROUPS) + 1) + "|")
    for way, groups in scores.items():
        print(f"| {way} | " + " | ".join(f"{np.mean(groups[g]):.3f}" for g in GROUPS) + " |")


if __name__ == "__main__":
    main()
