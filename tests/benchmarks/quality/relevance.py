"""How well relevance tells what is there from what is not, and how often it is right; and the fit of its numbers.

    python tests/benchmarks/quality/relevance.py FOLDER... [--others FOLDER...] [--halves NAME...]
        [--modes hybrid,lexical,dense] [--fit]

A FOLDER is a collection in BEIR's layout, or a guide in Markdown or reStructuredText, whose questions are made as in
known_items.py, and by tests/golden. Each is indexed and asked its own questions, at most 200, and thirty of each other
folder, --others included, which nothing answers. Folders in RELATED may answer each other's, and are asked more of
those, apart. The collections named after --halves, which are in a language of their own, are asked only about
themselves: half of their titles are indexed (without titles, runs of five documents), and questions about the others
have no answer. Documents are ranked by their best passages; a question's own document is not counted.

Printed are, for each folder: the area under the curve of the first hit's relevance, own questions against the others;
how often the first hit is right, and what is said of it; which questions nothing is said to answer; and of the hits
whose relevance is within some limits, how many are right. With --fit, instead, the numbers of `semsearch.tuning`,
fitted on all folders, on their first ten documents, and on parts of the collections, of a hundred and of twenty.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from known_items import prepared

from semsearch import Index
from semsearch.results.hits import Hit
from semsearch_research.evaluate.beir import Collection, read_collection

Array = np.ndarray[Any, Any]
GOLDEN = Path(__file__).parents[2] / "golden" / "questions.jsonl"
LIKELY = 0.2  # relevance of the best hit, below which it hardly answers
DEPTH, PASSAGES, MOST, MOST_OF_OTHERS, MOST_WITHOUT = 10, 30, 200, 30, 40
RELATED = [{"cisi", "cacm"}, {"nfcorpus-test-original", "scifact"}, {"rust-book", "rust-rfcs"}]
OWN, FOREIGN, NEAR = range(3)  # kinds of questions: with answers, of other folders, of related ones
OF_OTHERS = 0.3  # the weight of questions of other folders in the fit
SIZES = {"all": 0.5, "100": 0.1, "20": 0.07}  # weights of the kinds of index in the fit
LIMITS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01)


@dataclass(frozen=True)
class Question:
    """A question, and what answers it."""

    text: str
    answers: frozenset[str] = frozenset()
    kind: int = OWN
    own: str = ""  # its own document, which is not counted


@dataclass(frozen=True)
class Folder:
    """Documents, or a folder of files, with the questions about them."""

    name: str
    documents: Sequence[Any] | Path
    questions: Sequence[Question]


def read_folder(path: Path, files: Path) -> Folder:
    """A collection, or a guide, whose files without their summaries are written below `files`."""
    if (path / "corpus.jsonl").exists():
        return folder_of(read_collection(path))
    asked = [Question(text, frozenset([answer])) for text, answer in prepared(path, files / path.name)]
    golden = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    asked += [
        Question(each["question"], frozenset(each["answers"])) for each in golden if each["collection"] == path.name
    ]
    return Folder(path.name, files / path.name, asked)


def folder_of(collection: Collection) -> Folder:
    questions = [
        Question(
            text,
            frozenset(key for key, gain in collection.relevant[name].items() if gain > 0 and key != name),
            own=name,
        )
        for name, text in collection.queries.items()
    ]
    random.Random(17).shuffle(questions)
    return Folder(collection.name, collection.documents, questions)


def half(folder: Folder) -> tuple[Sequence[Any], list[Question]]:
    """The documents of half of the titles, and all questions: those about the other half have no answer."""
    assert not isinstance(folder.documents, Path)
    titles = [document.title or str(number // 5) for number, document in enumerate(folder.documents)]
    chosen = sorted(set(titles))
    random.Random(3).shuffle(chosen)
    first = set(chosen[: len(chosen) // 2])
    kept = [document for title, document in zip(titles, folder.documents, strict=True) if title in first]
    there = {document.id for document in kept}
    asked = [each if each.answers & there else Question(each.text, kind=FOREIGN) for each in folder.questions]
    return kept, asked[: MOST * 3]


def part(folder: Folder, size: int, chance: random.Random) -> tuple[Sequence[Any], list[Question]]:
    """Some documents, a quarter of them such as answer some question, and the questions that they answer."""
    assert not isinstance(folder.documents, Path)
    documents = {document.id: document for document in folder.documents}
    answering = list(
        dict.fromkeys(key for each in folder.questions for key in sorted(each.answers) if key in documents)
    )
    chosen = chance.sample(answering, min(size // 4, len(answering)))
    chosen += chance.sample([key for key in documents if key not in set(chosen)], size - len(chosen))
    there = frozenset(chosen)
    return [documents[key] for key in chosen], [
        Question(each.text, each.answers & there, own=each.own)
        for each in folder.questions[:MOST]
        if each.answers & there
    ]


def foreign(folder: Folder, others: Sequence[Folder]) -> list[Question]:
    """Questions of other folders."""
    chance, found = random.Random(5), list[Question]()
    for other in others:
        kind = NEAR if {folder.name, other.name} in RELATED else FOREIGN
        most = MOST if kind == NEAR else MOST_OF_OTHERS
        found += [
            Question(each.text, kind=kind) for each in chance.sample(other.questions, min(most, len(other.questions)))
        ]
    return found


@dataclass(frozen=True)
class Answers:
    """The first documents of some questions, (n,) each."""

    kind: Array  # of the question
    rank: Array  # from 1
    right: Array  # 1 if the document is judged to answer
    relevance: Array
    features: Array  # (n, 5) one, cosine by its spread, words, share, unknown; for a fit

    @property
    def weights(self) -> Array:
        """Weights of documents in a fit: first ones count more, questions of other folders by their share. (n,)"""
        found = np.zeros(len(self.kind))
        for kind, share in ((OWN, 1 - OF_OTHERS), (FOREIGN, OF_OTHERS)):
            own = np.where(self.kind == kind, self.rank**-0.5, 0.0)
            found += share * own / max(own.sum(), 1e-9)
        return found


def answers_of(documents: Sequence[Any] | Path, questions: Sequence[Question], mode: Any, *, fits: bool) -> Answers:
    with tempfile.TemporaryDirectory() as folder, Index.create(Path(folder) / "index") as index:
        if isinstance(documents, Path):
            index.sync(documents)
        else:
            index.add(documents)
        found = index.search_many([each.text for each in questions], PASSAGES, syntax="plain", mode=mode)
        rows = [row for pair in zip(questions, found, strict=True) for row in first_documents(*pair, fits=fits)]
    table = np.array(rows, dtype=np.float64)
    return Answers(table[:, 0], table[:, 1], table[:, 2], table[:, 3], table[:, 4:])


def first_documents(question: Question, hits: Sequence[Hit], *, fits: bool) -> Iterator[tuple[float, ...]]:
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.document, hit)
    best.pop(question.own, None)
    for rank, (document, hit) in enumerate(list(best.items())[:DEPTH], start=1):
        features = (1.0, 0.0, 0.0, 0.0, 0.0)
        if fits and (found := hit.explain().relevance) is not None:
            unknown, known = (found.unknown, 1.0) if found.words else (0.0, 1 - found.unknown)
            features = (
                1.0,
                (found.cosine or 0.0) * (found.trust or 0.0) * known,
                found.words or 0.0,
                unknown,
                found.share - 1,
            )
        assert hit.relevance is not None
        yield question.kind, rank, float(document in question.answers), hit.relevance, *features


def fitted(parts: Sequence[tuple[Answers, float]]) -> Array:
    """Bias and coefficients of a logistic regression, by Newton's method; of features that are always 0 they are 0."""
    x = np.concatenate([each.features for each, _ in parts])
    y = np.concatenate([each.right for each, _ in parts])
    w = np.concatenate([each.weights * weight for each, weight in parts])
    found = np.zeros(x.shape[1])
    for _ in range(40):
        p = 1 / (1 + np.exp(-x @ found))
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(len(found))
        found -= np.linalg.solve(hessian, x.T @ (w * (p - y)) + 1e-6 * found)
    return found


def area(above: Array, below: Array) -> float:
    """The area under the ROC curve: how often one of the first is above one of the others, equal ones counting half."""
    if not len(above) or not len(below):
        return float("nan")
    _, which, counts = np.unique(np.concatenate((above, below)), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[which]
    return float((ranks[: len(above)].sum() - len(above) * (len(above) + 1) / 2) / (len(above) * len(below)))


def summary(found: Answers) -> dict[str, float]:
    first = {kind: (found.kind == kind) & (found.rank == 1) for kind in (OWN, FOREIGN, NEAR)}
    said = {kind: found.relevance[rows] for kind, rows in first.items()}
    with np.errstate(invalid="ignore"):
        return {
            "AUC": area(said[OWN], said[FOREIGN]),
            "of related": area(said[OWN], said[NEAR]),
            "first right": float(found.right[first[OWN]].mean()),
            "said": float(said[OWN].mean()),
            "of others": float(said[FOREIGN].mean()),
            "own unanswered": float((said[OWN] < LIKELY).mean()),
            "others unanswered": float((said[FOREIGN] < LIKELY).mean()),
        }


def reliability(found: Answers, *, first: bool) -> dict[str, float]:
    """The share of right documents of own questions, by what was said of them."""
    rows = (found.kind == OWN) & ((found.rank == 1) | (not first))
    said, right = found.relevance[rows], found.right[rows]
    held = {f"{low:.1f}–{min(high, 1):.1f}": (said >= low) & (said < high) for low, high in pairwise(LIMITS)}
    return {name: float(right[own].mean()) if own.sum() >= 10 else float("nan") for name, own in held.items()}


def print_table(title: str, rows: Mapping[str, Mapping[str, float]]) -> None:
    heads = list(next(iter(rows.values())))
    print(f"\n| {title} | " + " | ".join(heads) + " |\n" + "|---" * (len(heads) + 1) + "|")
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join("–" if np.isnan(row[head]) else f"{row[head]:.3f}" for head in heads) + " |")


def joined(parts: Sequence[Answers]) -> Answers:
    return Answers(*(np.concatenate([getattr(each, name) for each in parts]) for name in vars(parts[0])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--others", nargs="*", type=Path, default=[])
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--halves", nargs="*", default=[])
    parser.add_argument("--modes", default="hybrid")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as files:
        folders = [read_folder(path, Path(files)) for path in arguments.folders]
        asking = [*folders, *(read_folder(path, Path(files)) for path in arguments.others)]
        asking = [each for each in asking if each.name not in arguments.halves]
        for mode in arguments.modes.split(","):
            measure(folders, asking, mode, arguments.halves, fits=arguments.fit)


def measure(
    folders: Sequence[Folder], asking: Sequence[Folder], mode: str, halves: Sequence[str], *, fits: bool
) -> None:
    found: dict[str, Answers] = {}
    parts: list[tuple[Answers, float]] = []
    documents: Sequence[Any] | Path
    for folder in folders:
        others = [each for each in asking if each.name != folder.name]
        if folder.name in halves:
            documents, questions = half(folder)
        else:
            own = folder.questions if isinstance(folder.documents, Path) else folder.questions[:MOST]
            documents, questions = folder.documents, [*own, *foreign(folder, others)]
        found[folder.name] = answers_of(documents, questions, mode, fits=fits)
        parts.append((found[folder.name], SIZES["all"]))
        if fits and folder.name not in halves and not isinstance(folder.documents, Path):
            chance, asked = random.Random(17), [each for each in foreign(folder, others) if each.kind == FOREIGN]
            for size in (100, 100, 20, 20, 20):
                documents, questions = part(folder, size, chance)
                answers = answers_of(documents, [*questions, *chance.sample(asked, len(asked) // 2)], mode, fits=fits)
                parts.append((answers, SIZES[str(size)]))
    if fits:
        print(
            f"{mode}: bias {{:.2f}}, cosine {{:.2f}}, words {{:.2f}}, unknown {{:.2f}}, fall {{:.2f}}".format(
                *fitted(parts)
            ),
            flush=True,
        )
        return
    print_table(mode, {name: summary(own) for name, own in found.items()})
    for first in (False, True):
        rows = {name: reliability(own, first=first) for name, own in found.items()}
        rows["all together"] = reliability(joined(list(found.values())), first=first)
        print_table(f"right, of {'first hits' if first else 'hits'} said to be", rows)
    print(flush=True)


if __name__ == "__main__":
    main()
