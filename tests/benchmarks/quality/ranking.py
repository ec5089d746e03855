"""Measure ways to fuse meaning and words into one ranking: nDCG@10 of each, as Markdown tables.

    python tests/benchmarks/quality/ranking.py FOLDER... [--choose NAME,NAME,...]

For collections in BEIR's layout. Each is indexed; then all its passages are scored for all its queries by the parts of
the score, so that a way to put them together takes moments. A document's rank is that of its best passage. Ways are
chosen on the collections named by --choose; the last table chooses on all collections but the one it reports.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from semsearch import Index
from semsearch.search.index_reader import IndexReader
from semsearch.search.kept_rows import embed_titles
from semsearch.search.scoring import mean_cosine
from semsearch.storage.catalogue import Titled, get_passages
from semsearch.storage.segments import Kind
from semsearch.text.terms import Lexicon, of_question
from semsearch.text.text_lengths import heading_text
from semsearch.tuning import TUNING
from semsearch_research.evaluate.beir import read_collection

Matrix = np.ndarray[Any, Any]
WEIGHTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
NEIGHBOUR_WEIGHTS = (0.0, 0.15, 0.3, 0.5, 0.7, 1.0)
NEAR = ((1, 0.1), (1, 0.2), (1, 0.3), (2, 0.1), (2, 0.2), (2, 0.3), (3, 0.2), (5, 0.2))
EXPANSIONS = ((3, 10, 0.3), (5, 30, 0.3), (10, 10, 0.3), (10, 30, 0.3), (5, 30, 0.5))  # passages, terms, their share


@dataclass
class Parts:
    """p passages of d documents, q queries."""

    name: str
    owner: Matrix  # (p,) each passage's document
    dense: Matrix  # (p, q)
    vectors: Matrix  # (p, d) of passages
    counts: csr_array  # (p, t) terms of passages
    asked: csr_array  # (q, t) terms of queries
    gains: list[dict[int, int]]  # of each query, by document
    ideal: list[float]
    itself: list[int]  # the document that is the query, or -1


def parts_of(folder: Path, options: dict[str, Any]) -> Parts:
    collection = read_collection(folder)
    queries = list(collection.queries.items())
    with tempfile.TemporaryDirectory() as temporary, Index.create(Path(temporary) / "index", **options) as index:
        index.add(collection.documents)
        searcher = index._asking()
        with searcher._database.reading() as db:
            snapshot = searcher._current(db)
            embedder = snapshot.embedder(db)
            assert embedder is not None
            documents = dict(db.execute("SELECT id, path FROM documents").fetchall())
            titles = dict(db.execute("SELECT id, title FROM documents").fetchall())
            ids = [id_ for (id_,) in db.execute("SELECT id FROM passages ORDER BY id")]
            rows = list(get_passages(db, ids).values())
            halves = snapshot.halves
            texts = [text for _, text in queries]
            general = embedder.transform(texts)
            topics = np.stack([snapshot.topics.of_question(text) for text in texts]) if snapshot.topics else None
            array = np.array(ids)
            vectors = stored(snapshot, "passage", array)
            owners = np.repeat(np.arange(len(ids)), [len(row.sentences) for row in rows])
            numbered = [row.first_sentence + np.arange(len(row.sentences)) for row in rows]
            sentences = stored(snapshot, "sentence", np.concatenate(numbered))
    parts_known = halves.general(vectors)
    best = np.full((len(ids), len(texts)), -np.inf)
    np.maximum.at(best, owners, sentences @ general.T)
    whole = known(parts_known, general)
    about = np.full_like(whole, np.nan) if topics is None else known(halves.topics(vectors), topics)
    titled = embed_titles(embedder, [Titled(documents[row.document_id], titles[row.document_id]) for row in rows])
    named = known(titled, general)
    of_known = (np.where(np.isnan(whole), np.nan, each) for each in (best, named))
    together = mean_cosine(
        dict(zip(("topics", "passage", "sentence", "title"), map(np.ravel, (about, whole, *of_known)), strict=True))
    )
    dense = np.nan_to_num(together).reshape(whole.shape)
    lexicon = Lexicon()
    above = lexicon.of([heading_text(titles[row.document_id], row.headings) for row in rows])
    body = lexicon.of([row.text for row in rows])
    columns, owners = np.concatenate((above.numbers, body.numbers)), np.concatenate((above.texts, body.texts))
    times = np.concatenate((np.full(len(above.numbers), float(TUNING.heading_weight)), np.ones(len(body.numbers))))
    asked = [lexicon.number(of_question(text)) for text in texts]
    size = len(lexicon)
    counts = csr_array(coo_array((times, (owners, columns)), shape=(len(ids), size)))
    query_rows = np.repeat(np.arange(len(texts)), [len(terms) for terms in asked])
    numbers = {path: number for number, path in enumerate(dict.fromkeys(documents[row.document_id] for row in rows))}
    gains = [
        {numbers[document]: gain for document, gain in collection.relevant[query].items() if document in numbers}
        for query, _ in queries
    ]
    return Parts(
        collection.name,
        np.array([numbers[documents[row.document_id]] for row in rows]),
        dense,
        vectors,
        counts,
        csr_array(coo_array((np.ones(len(query_rows)), (query_rows, np.concatenate(asked))), shape=(len(texts), size))),
        gains,
        [discounted(sorted(collection.relevant[query].values(), reverse=True)) for query, _ in queries],
        [numbers.get(query, -1) for query, _ in queries],
    )


def stored(snapshot: IndexReader, kind: Kind, ids: Matrix) -> Matrix:
    """The vectors of all ids, zero for one without. (n,) -> (n, d)"""
    found = (snapshot.passage_vectors if kind == "passage" else snapshot.sentence_vectors).fetch(ids)
    result = np.zeros((len(ids), found.rows.shape[1]), dtype=np.float32)
    result[found.positions] = found.rows
    return result


def known(vectors: Matrix, queries: Matrix) -> Matrix:
    """Cosines, NaN where either is zero. (p, d), (q, d) -> (p, q)"""
    silent = np.logical_or.outer(~vectors.any(axis=1), ~queries.any(axis=1))
    return np.where(silent, np.nan, vectors @ queries.T).astype(np.float64)


def discounted(gains: list[int]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains[:10]))


def ndcg(parts: Parts, scores: Matrix) -> float:
    best = np.full((parts.owner.max() + 1, scores.shape[1]), -np.inf)
    np.maximum.at(best, parts.owner, scores)
    total = 0.0
    for query, (gains, ideal) in enumerate(zip(parts.gains, parts.ideal, strict=True)):
        column = best[:, query]
        if parts.itself[query] >= 0:
            column[parts.itself[query]] = -np.inf
        top = np.argsort(-column, kind="stable")[:10]
        total += discounted([gains.get(int(index), 0) for index in top]) / ideal if ideal else 0.0
    return total / len(parts.gains)


def weighted_terms(parts: Parts, neighbour_weight: float) -> csr_array:
    """BM25 of each term in each passage, where words of the neighbouring passages count `neighbour_weight`. (p, t)"""
    size = len(parts.owner)
    joined = np.flatnonzero(parts.owner[1:] == parts.owner[:-1])
    rows, columns = np.concatenate((joined, joined + 1)), np.concatenate((joined + 1, joined))
    near = csr_array(coo_array((np.full(len(rows), neighbour_weight), (rows, columns)), shape=(size, size)))
    counts = csr_array(parts.counts + near @ parts.counts)
    counts.eliminate_zeros()
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    having = np.bincount(parts.counts.indices, minlength=counts.shape[1])
    idf = np.log(1 + (size - having + 0.5) / (having + 0.5))
    norms = TUNING.k1 * (1 - TUNING.b + TUNING.b * lengths / lengths.mean())
    counts.data = (
        idf[counts.indices] * counts.data * (TUNING.k1 + 1) / (counts.data + np.repeat(norms, np.diff(counts.indptr)))
    )
    return counts


def over_best(scores: Matrix) -> Matrix:
    return np.asarray(scores / np.maximum(scores.max(axis=0), 1e-9))


def lexical(parts: Parts, neighbour_weight: float = TUNING.neighbour_weight) -> Matrix:
    return over_best((weighted_terms(parts, neighbour_weight) @ parts.asked.T).toarray())


def expanded(parts: Parts, ranking: Matrix, passages: int, terms: int, share: float) -> Matrix:
    """RM3: BM25 of the question's terms and, for a `share`, of the best terms of the passages that rank first."""
    weights = weighted_terms(parts, TUNING.neighbour_weight)
    result = np.zeros((len(parts.owner), parts.asked.shape[0]))
    lengths = np.maximum(np.asarray(parts.counts.sum(axis=1)).ravel(), 1)
    for query in range(parts.asked.shape[0]):
        top = np.argsort(-ranking[:, query], kind="stable")[:passages]
        model = np.asarray((parts.counts[top].toarray() / lengths[top, None]).mean(axis=0))
        model[np.argsort(-model)[terms:]] = 0
        own = parts.asked[[query]].toarray().ravel()
        mixed = (1 - share) * own / max(own.sum(), 1) + share * model / max(model.sum(), 1e-9)
        used = np.flatnonzero(mixed)
        result[:, query] = weights[:, used] @ mixed[used]
    return over_best(result)


def near(parts: Parts, scores: Matrix, n: int, weight: float) -> Matrix:
    top = np.argsort(-scores, axis=0, kind="stable")[:n]
    models = parts.vectors[top].mean(axis=0)
    return np.asarray((1 - weight) * scores + weight * (parts.vectors @ models.T))


def standard(scores: Matrix) -> Matrix:
    return np.asarray((scores - scores.mean(axis=0)) / np.maximum(scores.std(axis=0), 1e-9))


def reciprocal(scores: Matrix) -> Matrix:
    return np.asarray(1 / (61 + np.argsort(np.argsort(-scores, axis=0, kind="stable"), axis=0)))


def fused(parts: Parts, words: Matrix, weight: float, scale: Callable[[Matrix], Matrix] | None = None) -> Matrix:
    if scale is None:
        return np.asarray(weight * parts.dense + (1 - weight) * words)
    return weight * scale(parts.dense) + (1 - weight) * scale(words)


def best_way(parts: Parts, words: Matrix) -> Matrix:
    return near(parts, fused(parts, words, TUNING.dense_weight), 1, TUNING.near_weight)


def fused_and_near(parts: Parts, words: Matrix, n: int, weight: float) -> Matrix:
    return near(parts, fused(parts, words, TUNING.dense_weight), n, weight)


def as_found(found: dict[str, Matrix], parts: Parts, _: Matrix) -> Matrix:
    return found[parts.name]


def best_as_found(found: dict[str, Matrix], parts: Parts, _: Matrix) -> Matrix:
    return best_way(parts, found[parts.name])


class Tables:
    def __init__(self, everything: list[Parts], chosen_on: set[str]) -> None:
        self.everything = everything
        self.chosen_on = chosen_on
        self.words = {
            neighbour_weight: [lexical(parts, neighbour_weight) for parts in everything]
            for neighbour_weight in NEIGHBOUR_WEIGHTS
        }

    def head(self, title: str) -> None:
        names = [parts.name for parts in self.everything]
        print(f"\n| {title} | " + " | ".join(names) + " | chosen on | others |")
        print("|---" * (len(names) + 3) + "|")

    def row(
        self, label: str, way: Callable[[Parts, Matrix], Matrix], *, neighbour_weight: float = TUNING.neighbour_weight
    ) -> list[float]:
        values = [
            ndcg(parts, way(parts, words))
            for parts, words in zip(self.everything, self.words[neighbour_weight], strict=True)
        ]
        self.print(label, values)
        return values

    def print(self, label: str, values: list[float]) -> None:
        groups = [
            [
                value
                for value, parts in zip(values, self.everything, strict=True)
                if (parts.name in self.chosen_on) is inside
            ]
            for inside in (True, False)
        ]
        means = [f"{np.mean(group):.4f}" if group else "–" for group in groups]
        print(f"| {label} | " + " | ".join([*(f"{value:.3f}" for value in values), *means]) + " |", flush=True)

    def leave_one_out(self) -> None:
        """Weight, neighbours and nearness chosen on all collections but one, and reported on that one."""
        grid = list(product(WEIGHTS[2:], NEIGHBOUR_WEIGHTS, [(1, 0.0), *NEAR]))
        figures = np.array(
            [
                [
                    ndcg(parts, near(parts, fused(parts, self.words[neighbour_weight][number], weight), *nearness))
                    for number, parts in enumerate(self.everything)
                ]
                for weight, neighbour_weight, nearness in grid
            ]
        )
        chosen = [int(np.delete(figures, number, axis=1).mean(axis=1).argmax()) for number in range(figures.shape[1])]
        self.print("chosen on the six others", [float(figures[way, number]) for number, way in enumerate(chosen)])
        self.print("the best way of all on each", figures.max(axis=0).tolist())
        for parts, way in zip(self.everything, chosen, strict=True):
            weight, neighbour_weight, (n, nearness) = grid[way]
            print(
                f"\nfor {parts.name}: {weight} · cosine, neighbours {neighbour_weight}, nearness {nearness} to {n}",
                end="",
            )
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--choose", default="scifact,cranfield,cisi,xquad-en")
    arguments = parser.parse_args()
    everything = [parts_of(folder, {}) for folder in arguments.folders]
    tables = Tables(everything, set(arguments.choose.split(",")))
    tables.head("fusion, without nearness")
    tables.row("meaning alone", lambda parts, _: parts.dense)
    tables.row("words alone", lambda _, words: words)
    for weight in WEIGHTS:
        tables.row(f"{weight} · cosine + {1 - weight:.1f} · BM25 / best", partial(fused, weight=weight))
    for weight in (0.4, 0.5, 0.6):
        tables.row(f"z-scores, {weight}", partial(fused, weight=weight, scale=standard))
    for weight in (0.3, 0.5):
        tables.row(f"reciprocal ranks, {weight}", partial(fused, weight=weight, scale=reciprocal))
    tables.head("words of the neighbouring passages")
    for neighbour_weight in NEIGHBOUR_WEIGHTS:
        tables.row(f"count {neighbour_weight}, words alone", lambda _, words: words, neighbour_weight=neighbour_weight)
        tables.row(f"count {neighbour_weight}, hybrid", best_way, neighbour_weight=neighbour_weight)
    tables.head("nearness to the n best")
    for n, weight in ((1, 0.0), *NEAR):
        tables.row(f"n = {n}, {weight}", partial(fused_and_near, n=n, weight=weight))
    tables.head("RM3: passages, terms, their share")
    for way in EXPANSIONS:
        rankings = {
            parts.name: best_way(parts, words)
            for parts, words in zip(everything, tables.words[TUNING.neighbour_weight], strict=True)
        }
        found = {parts.name: expanded(parts, rankings[parts.name], *way) for parts in everything}
        label = f"{way[0]}, {way[1]}, {way[2]}"
        tables.row(f"{label}, words alone", partial(as_found, found))
        tables.row(f"{label}, hybrid", partial(best_as_found, found))
    tables.head("leaving one collection out")
    tables.leave_one_out()


if __name__ == "__main__":
    main()
