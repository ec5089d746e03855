"""Which way of fusing the answers of several indexes finds best: nDCG@10 against one index of everything, as Markdown.

    python tests/benchmarks/quality/several.py FOLDER... [--choose NAME,NAME,...]

Each collection (in BEIR's layout) is split into indexes of its own: at random, or by subject (k-means over the vectors
of its documents). With --together, the collections are the indexes, and each query is asked of all of them. Figures are
differences to the one index of all, which is in the last row.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from semsearch import Hit, Index, Text
from semsearch.results.options import Weights
from semsearch.text.terms import Lexicon, of_question
from semsearch_research.evaluate.beir import Collection, read_collection

K, DEPTH = 10, 50
Answers = Sequence[Sequence[Hit]]  # of one query, by index


def best_document(hits: Sequence[tuple[float, Hit]], query: str) -> list[str]:
    ordered = sorted(hits, key=lambda pair: -pair[0])
    return [document for document in dict.fromkeys(hit.document for _, hit in ordered) if document != query]


def ndcg(ranking: Sequence[str], relevant: Mapping[str, int]) -> float:
    gained = sum(relevant.get(document, 0) / math.log2(rank + 2) for rank, document in enumerate(ranking[:K]))
    ideal = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(sorted(relevant.values(), reverse=True)[:K]))
    return gained / ideal


def as_they_are(answers: Answers) -> list[tuple[float, Hit]]:
    return [(hit.score, hit) for hits in answers for hit in hits]


def best_of_all(answers: Answers) -> list[tuple[float, Hit]]:
    found = [hit for hits in answers for hit in hits if hit.origin is not None]
    best = max((weights_of(hit).best for hit in found if hit.lexical is not None), default=1.0)
    return [(hit.score - lost(hit, best), hit) for hit in found]


def weights_of(hit: Hit) -> Weights:
    assert hit.origin is not None
    return hit.origin.weights


def lost(hit: Hit, best: float) -> float:
    weights = weights_of(hit)
    return weights.lexical * (hit.lexical or 0.0) * (1 / weights.best - 1 / best)


def without_near(answers: Answers) -> list[tuple[float, Hit]]:
    found = [hit for hits in answers for hit in hits]
    best = max((weights_of(hit).best for hit in found if hit.lexical is not None), default=1.0)
    return [(0.7 * (hit.dense or 0.0) + 0.3 * (hit.lexical or 0.0) / best, hit) for hit in found]


def near_where_best(power: float) -> Callable[[Answers], list[tuple[float, Hit]]]:
    """As best_of_all, but nearness counts by how good the best passage of its index is, in relation to that of all."""

    def fuse(answers: Answers) -> list[tuple[float, Hit]]:
        found = [list(hits) for hits in answers if hits]
        if not found:
            return []
        best = max((weights_of(hit).best for hits in found for hit in hits if hit.lexical is not None), default=1.0)
        base = [[0.7 * (hit.dense or 0.0) + 0.3 * (hit.lexical or 0.0) / best for hit in hits] for hits in found]
        top = max(max(own) for own in base)
        scored: list[tuple[float, Hit]] = []
        for hits, own in zip(found, base, strict=True):
            share = max(0.0, max(own) / top) ** power if top > 0 else 1.0
            for hit in hits:
                weights = weights_of(hit)
                near = (
                    hit.score - weights.dense * (hit.dense or 0) - weights.lexical * (hit.lexical or 0) / weights.best
                )
                scored.append((hit.score - lost(hit, best) - near * (1 - share), hit))
        return scored

    return fuse


def reciprocal_ranks(answers: Answers) -> list[tuple[float, Hit]]:
    return [(1 / (60 + hit.rank), hit) for hits in answers for hit in hits]


def over_their_best(answers: Answers) -> list[tuple[float, Hit]]:
    return [(hit.score / max(own.score for own in hits), hit) for hits in answers for hit in hits]


def union_reranked(index: Index, query: str) -> Callable[[Answers], list[tuple[float, Hit]]]:
    """Score the union of all hits again: cosines by one index's fit, BM25 with the union as its collection."""

    def fuse(answers: Answers) -> list[tuple[float, Hit]]:
        hits = [hit for own in answers for hit in own]
        if not hits:
            return []
        texts = ["\n".join([hit.title, *hit.headings, hit.passage]) for hit in hits]
        vectors = index.embed([query, *(hit.passage for hit in hits), *(hit.sentence for hit in hits)])
        cosines = vectors[1:] @ vectors[0]
        dense = (cosines[: len(hits)] + cosines[len(hits) :]) / 2
        words = bm25(query, texts)
        fused = 0.7 * dense + 0.3 * words / max(words.max(), 1e-9)
        first = int(np.argmax(fused))
        near = vectors[1 : len(hits) + 1] @ vectors[1 + first]
        return list(zip((0.8 * fused + 0.2 * near).tolist(), hits, strict=True))

    return fuse


def near_best_of_all(indexes: Sequence[Index]) -> Callable[[Answers], list[tuple[float, Hit]]]:
    """As best_of_all, but nearness is to the best passage of all, embedded by each index's own fit."""

    def fuse(answers: Answers) -> list[tuple[float, Hit]]:
        base = without_near(answers)
        if not base:
            return []
        _, first = max(base, key=lambda pair: pair[0])
        points = {id(hit): score for score, hit in base}
        scored: list[tuple[float, Hit]] = []
        for index, hits in zip(indexes, answers, strict=True):
            if hits:
                vectors = index.embed([first.passage, *(hit.passage for hit in hits)])
                near = vectors[1:] @ vectors[0]
                scored += [
                    (0.8 * points[id(hit)] + 0.2 * each, hit) for hit, each in zip(hits, near.tolist(), strict=True)
                ]
        return scored

    return fuse


def bm25(query: str, texts: Sequence[str]) -> np.ndarray[Any, Any]:
    lexicon = Lexicon()
    found = lexicon.of(texts)
    mean = found.lengths.mean()
    scores = np.zeros(len(texts))
    known = {term: number for number, term in enumerate(lexicon.terms.tolist())}
    for term in set(of_question(query).tolist()):
        if term in known:
            f = np.bincount(found.texts[found.numbers == known[term]], minlength=len(texts))
            idf = math.log(1 + (len(texts) - (f > 0).sum() + 0.5) / ((f > 0).sum() + 0.5))
            scores += idf * 2.2 * f / (f + 1.2 * (0.25 + 0.75 * found.lengths / mean))
    return scores


def shared_idf(indexes: Sequence[Index]) -> None:
    """Make the indexes weigh words as one index of everything would. To be undone by opening them again."""
    all_ = [index._asking().in_one_generation(lambda _, snapshot: snapshot.lexical._bm25) for index in indexes]
    passages = sum(each.passages for each in all_)
    originals = [each.find for each in all_]

    def find(own: int, terms: Any) -> Any:
        found = [original(terms) for original in originals]
        n = sum(np.array([sum(len(rows) for rows, _ in lists) for lists in each.lists]) for each in found)
        return replace(found[own], idf=np.where(n > 0, np.log(1 + (passages - n + 0.5) / (n + 0.5)), 0.0))

    for number, each in enumerate(all_):
        each.find = partial(find, number)  # type: ignore[method-assign]  # of these indexes alone


def split(collection: Collection, index: Index, how: str, parts: int) -> list[list[Text]]:
    if how == "random":
        owners = np.random.default_rng(7).integers(0, parts, len(collection.documents))
    else:
        owners = k_means(index.embed([f"{each.title} {each.text}" for each in collection.documents]), parts)
    return [[each for each, own in zip(collection.documents, owners, strict=True) if own == n] for n in range(parts)]


def k_means(rows: np.ndarray[Any, Any], parts: int) -> np.ndarray[Any, Any]:
    centres = rows[np.random.default_rng(7).choice(len(rows), parts, replace=False)]
    for _ in range(20):
        owners = np.argmax(rows @ centres.T, axis=1)
        centres = np.stack([rows[owners == n].sum(axis=0) for n in range(parts)])
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    return np.asarray(owners)


def measure(
    label: str, collections: Sequence[Collection], whole: Index, indexes: Sequence[Index], mode: Any
) -> dict[str, float]:
    totals: dict[str, float] = {}
    for collection in collections:
        queries = list(collection.queries)
        texts = list(collection.queries.values())
        each = [index.search_many(texts, DEPTH, mode=mode, duplicates=True, syntax="plain") for index in indexes]
        one = whole.search_many(texts, DEPTH, mode=mode, duplicates=True, syntax="plain")
        ways: dict[str, list[list[tuple[float, Hit]]]] = {}
        per_query = [[own[number] for own in each] for number in range(len(queries))]
        for name, fuse in WAYS.items():
            ways[name] = [fuse(answers) for answers in per_query]
        if mode == "hybrid":
            ways["near best of all"] = [near_best_of_all(indexes)(answers) for answers in per_query]
            ways["union reranked"] = [
                union_reranked(indexes[0], text)(answers) for text, answers in zip(texts, per_query, strict=True)
            ]
        ways["one index"] = [as_they_are([hits]) for hits in one]
        for name, found in ways.items():
            scores = [
                ndcg(best_document(hits, q), collection.relevant[q]) for q, hits in zip(queries, found, strict=True)
            ]
            totals[name] = totals.get(name, 0.0) + sum(scores) / len(scores) / len(collections)
    print(
        label,
        mode,
        {name: round(value - (0 if name == "one index" else totals["one index"]), 4) for name, value in totals.items()},
        flush=True,
    )
    return totals


WAYS: dict[str, Callable[[Answers], list[tuple[float, Hit]]]] = {
    "as they are": as_they_are,
    "best of all": best_of_all,
    **{f"best of all, near by share^{power:g}": near_where_best(power) for power in (1, 2, 4, 1000)},
    "without near": without_near,
    "reciprocal ranks": reciprocal_ranks,
    "over their best": over_their_best,
}


def made(folder: Path, documents: Sequence[Text], **options: Any) -> Index:
    index = Index.create(folder, **options)
    index.add(documents)
    return index


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--parts", type=int, nargs="*", default=[2, 3])
    parser.add_argument("--modes", nargs="*", default=["hybrid", "dense", "lexical"])
    arguments = parser.parse_args()
    collections = [read_collection(folder) for folder in arguments.folders]
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        if arguments.together:
            everything = [replace(each, id=f"{c.name}/{each.id}") for c in collections for each in c.documents]
            renamed = [
                Collection(
                    c.name,
                    [replace(each, id=f"{c.name}/{each.id}") for each in c.documents],
                    {f"{c.name}/{q}": text for q, text in c.queries.items()},
                    {
                        f"{c.name}/{q}": {f"{c.name}/{d}": g for d, g in gains.items()}
                        for q, gains in c.relevant.items()
                    },
                )
                for c in collections
            ]
            whole = made(here / "whole", everything)
            indexes = [made(here / c.name, c.documents) for c in renamed]
            for mode in arguments.modes:
                measure("together", renamed, whole, indexes, mode)
            shared_idf(indexes)
            measure("together, shared idf", renamed, whole, indexes, "hybrid")
            return
        for collection in collections:
            whole = made(here / collection.name, collection.documents)
            for how in ("random", "subject"):
                for parts in arguments.parts:
                    name = f"{collection.name}-{how}-{parts}"
                    divided = split(collection, whole, how, parts)
                    indexes = [made(here / f"{name}-{n}", documents) for n, documents in enumerate(divided)]
                    label = f"{name} {[len(each) for each in divided]}"
                    for mode in arguments.modes:
                        measure(label, [collection], whole, indexes, mode)
                    shared_idf(indexes)
                    measure(f"{label}, shared idf", [collection], whole, indexes, "hybrid")


if __name__ == "__main__":
    main()
