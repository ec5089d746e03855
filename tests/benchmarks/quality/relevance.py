"""Fit how likely a hit answers, and say how well that is calibrated on collections that it was not fitted on.

    python tests/benchmarks/quality/relevance.py FOLDER... [--languages FOLDER...]

For collections in BEIR's layout. Of each, four kinds of index are made: of all documents, of half of them, of a
hundred and of twenty, in which there are answers to some questions. Each is asked its own questions, at most 300, of
which some have no answer among the documents, and some of the other collections, which have none either. An answer is
the first ten documents, by their best passages; a question's own document is not counted.

Printed are the coefficients of `semsearch.tuning`, fitted on all collections; and tables in which each collection is
reported by a fit on the others: the expected calibration error (ECE, fifteen bins of equal mass), the Brier score, and
what a floor cuts. With --languages, also what the fit on all of FOLDER cuts of other collections.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from semsearch import Index, tuning
from semsearch.evaluate.beir import Collection, read_collection
from semsearch.results.hits import Hit

Array = np.ndarray[Any, Any]
DEPTH, PASSAGES = 10, 30
BINS = 15
OF_OTHERS = 0.2  # the share of questions of other collections, in the fit and in what is reported
MOST_OF_OTHERS = 30  # questions of each other collection
SHARES = {"all": 0.4, "half": 0.3, "100": 0.15, "20": 0.15}  # of the kinds of index in the fit
RELATED = [{"cisi", "cacm"}, {"nfcorpus-test-original", "scifact"}]  # whose questions may be answered by each other
USED = {"all": 0.03, "half": 0.03, "100": 0.01, "20": 0.01}  # floors; without topics only what is below 1 % is cut
FLOORS = (0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1)
OWN, WITHOUT, FOREIGN = range(3)  # kinds of questions: with answers, own ones without, of other collections


@dataclass(frozen=True)
class Answers:
    """The hits of the questions asked of indexes of one kind, (n,) each."""

    question: Array  # its number
    kind: Array  # of the question
    rank: Array  # of the document, from 1
    answers: Array  # 1 if the document is judged to
    features: Array  # (n, 2) cosine and share of the words, NaN if it cannot be told

    @property
    def told(self) -> Answers:
        """Only those of which it can be told how likely they answer."""
        known = ~np.isnan(self.features).any(axis=1)
        return Answers(*(each[known] for each in vars(self).values()))

    @property
    def weights(self) -> Array:
        """Weights of questions with answers, and of those of other collections, by their shares; they sum to one. (n,)

        Others have none: how often a question has no answer in a part of its collection is chance.
        """
        own, foreign = self.kind == OWN, self.kind == FOREIGN
        of_own = (1 - OF_OTHERS) / max(int(own.sum()), 1)
        return np.where(own, of_own, np.where(foreign, OF_OTHERS / max(int(foreign.sum()), 1), 0.0))


def asked(index: Index, questions: Sequence[str]) -> list[list[Hit]]:
    """The hits of each question, whose relevance is the logistic function of the share of the words that are there."""
    usual = tuning.TUNING
    tuning.TUNING = replace(usual, relevance_bias=0.0, relevance_of_cosine=0.0, relevance_of_words=1.0)
    try:
        return list(index.search_many(questions, PASSAGES, syntax="plain"))
    finally:
        tuning.TUNING = usual


def features_of(hit: Hit) -> tuple[float, float]:
    if hit.relevance is None or hit.dense is None:
        return np.nan, np.nan
    return hit.dense, float(np.log(hit.relevance / (1 - hit.relevance)))


def measured(
    documents: Sequence[Any], questions: Sequence[tuple[str, str, int, Mapping[str, int]]], first: int
) -> Iterator[tuple[Any, ...]]:
    """A row of `Answers` for each document found. A question: its id, its text, its kind, and what answers it."""
    with tempfile.TemporaryDirectory() as folder, Index.create(Path(folder) / "index") as index:
        index.add(documents)
        found = asked(index, [text for _, text, _, _ in questions])
    for number, ((name, _, kind, gains), hits) in enumerate(zip(questions, found, strict=True), start=first):
        best: dict[str, Hit] = {}
        for hit in hits:
            best.setdefault(hit.document, hit)
        best.pop(name, None)
        for rank, (document, hit) in enumerate(list(best.items())[:DEPTH], start=1):
            yield number, kind, rank, float(gains.get(document, 0) > 0), *features_of(hit)


def chosen_documents(collection: Collection, size: int, chance: random.Random) -> list[Any]:
    """Some documents, a quarter of them such as answer some question."""
    documents = {document.id: document for document in collection.documents}
    chosen: dict[str, Any] = {}
    questions = list(collection.queries)
    chance.shuffle(questions)
    for question in questions:
        answers = [name for name, gain in collection.relevant[question].items() if gain > 0 and name in documents]
        if answers and len(chosen) < size // 4:
            name = chance.choice(answers)
            chosen[name] = documents[name]
    rest = [document for name, document in documents.items() if name not in chosen]
    return [*chosen.values(), *chance.sample(rest, size - len(chosen))]


def questions_for(
    collection: Collection, others: Sequence[Collection], documents: Sequence[Any], most: int, chance: random.Random
) -> list[tuple[str, str, int, Mapping[str, int]]]:
    """The questions to ask of some documents."""
    there = {document.id for document in documents}
    own = list(collection.queries.items())
    chance.shuffle(own)
    found: list[tuple[str, str, int, Mapping[str, int]]] = []
    for name, text in own[:most]:
        gains = {each: gain for each, gain in collection.relevant[name].items() if each in there and each != name}
        found.append((name, text, OWN if any(gain > 0 for gain in gains.values()) else WITHOUT, gains))
    for other in others:
        texts = list(other.queries.values())
        found += [("", text, FOREIGN, {}) for text in chance.sample(texts, min(MOST_OF_OTHERS, len(texts)))]
    return found


def answers_of(collection: Collection, others: Sequence[Collection], kind: str) -> Answers:
    chance = random.Random(17)
    documents = list(collection.documents)
    sizes = {"all": [len(documents)], "half": [len(documents) // 2], "100": [100] * 3, "20": [20] * 6}[kind]
    rows: list[tuple[Any, ...]] = []
    for size in sizes:
        few = size <= 100
        part = chosen_documents(collection, size, chance) if few else chance.sample(documents, size)
        first = int(rows[-1][0]) + 1 if rows else 0
        rows += measured(part, questions_for(collection, others, part, 100 if few else 300, chance), first)
    table = np.array(rows, dtype=np.float64)
    return Answers(table[:, 0].astype(np.int64), table[:, 1], table[:, 2], table[:, 3], table[:, 4:])


def fit(parts: Sequence[tuple[Answers, float]]) -> Array:
    """The bias and the coefficients of a logistic regression, by Newton's method. Parts come with their weights."""
    known = [part.told for part, _ in parts]
    x = np.concatenate([np.c_[np.ones(len(part.rank)), part.features] for part in known])
    y = np.concatenate([part.answers for part in known])
    w = np.concatenate([part.weights * weight for part, (_, weight) in zip(known, parts, strict=True)])
    found = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ found))
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x
        found -= np.linalg.solve(hessian, x.T @ (w * (p - y)))
    return found


def likely(coefficients: Array, answers: Answers) -> Array:
    return np.asarray(1 / (1 + np.exp(-(coefficients[0] + answers.features @ coefficients[1:]))))


def calibration(coefficients: Array, answers: Answers) -> dict[str, float]:
    """ECE and Brier score, with the share that answers and the mean of what was said."""
    known = answers.told
    p, y, w = likely(coefficients, known), known.answers, known.weights
    order = np.argsort(p, kind="stable")
    bins = np.minimum((np.cumsum(w[order]) / w.sum() * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=(w * (p - y))[order], minlength=BINS)
    ece, brier = float(np.abs(gaps).sum() / w.sum()), float(np.average((p - y) ** 2, weights=w))
    base = float(np.average(y, weights=w))
    return {
        "answer": base,
        "said": float(np.average(p, weights=w)),
        "ECE": ece,
        "Brier": brier,
        "of the mean": base * (1 - base),
    }


def cut(coefficients: Array, answers: Answers, floor: float) -> dict[str, float]:
    """What a floor cuts at the ends of the answers; shares of hits, and of questions whose answer becomes empty."""
    p = likely(coefficients, answers)
    stays = np.isnan(p) | (p >= floor)
    questions = int(answers.question.max()) + 1
    last, kinds = np.zeros(questions), np.full(questions, -1.0)
    np.maximum.at(last, answers.question, np.where(stays, answers.rank, 0))
    kinds[answers.question] = answers.kind
    gone = answers.rank > last[answers.question]
    own, right = answers.kind == OWN, answers.answers > 0

    def share(of: Array, among: Array) -> float:
        return float(of[among].mean()) if among.any() else float("nan")

    return {
        "answers lost": share(gone, right),
        "noise cut": share(gone, own & ~right),
        "of others cut": share(gone, answers.kind == FOREIGN),
        "own empty": share(last == 0, kinds == OWN),
        "without answer empty": share(last == 0, kinds == WITHOUT),
        "of others empty": share(last == 0, kinds == FOREIGN),
    }


def print_table(title: str, rows: Mapping[str, Mapping[str, float]]) -> None:
    heads = list(next(iter(rows.values())))
    print(f"\n| {title} | " + " | ".join(heads) + " |\n" + "|---" * (len(heads) + 1) + "|")
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join("–" if np.isnan(row[head]) else f"{row[head]:.3f}" for head in heads) + " |")
    if not title.endswith("floor"):
        with np.errstate(all="ignore"):
            means = [float(np.nanmean([row[head] for row in rows.values()])) for head in heads]
        print("| mean | " + " | ".join(f"{mean:.3f}" for mean in means) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--languages", nargs="*", type=Path, default=[])
    arguments = parser.parse_args()
    collections = {folder.name: read_collection(folder) for folder in arguments.folders}
    parts: dict[str, dict[str, Answers]] = {}
    for name, collection in collections.items():
        others = [each for other, each in collections.items() if other != name and {other, name} not in RELATED]
        parts[name] = {kind: answers_of(collection, others, kind) for kind in SHARES}

    def fitted(without: str = "") -> Array:
        return fit([(parts[n][kind], share) for n in parts if n != without for kind, share in SHARES.items()])

    of_all = fitted()
    print("fitted on all: bias {:.2f}, cosine {:.2f}, words {:.2f}".format(*of_all))
    left_out = {name: fitted(name) for name in parts}
    for kind in SHARES:
        print_table(f"{kind} documents", {n: calibration(left_out[n], parts[n][kind]) for n in parts})
    for kind, floor in USED.items():
        print_table(
            f"{kind} documents, floor {floor}", {name: cut(left_out[name], parts[name][kind], floor) for name in parts}
        )
    for kind in SHARES:
        means: dict[str, dict[str, float]] = {}
        for floor in FLOORS:
            rows = [cut(left_out[name], parts[name][kind], floor) for name in parts]
            lost = sorted(row["answers lost"] for row in rows)
            means[f"{floor}"] = {
                head: float(np.mean([row[head] for row in rows])) for head in rows[0] if "wi" not in head
            }
            means[f"{floor}"] |= {"most lost": lost[-1], "second most": lost[-2]}
        print_table(f"{kind} documents, means by floor", means)
    for folder in arguments.languages:
        collection = read_collection(folder)
        rows_of = {kind: cut(of_all, answers_of(collection, [], kind), USED[kind]) for kind in ("all", "20")}
        print_table(folder.name, rows_of)


if __name__ == "__main__":
    main()
