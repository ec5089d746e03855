"""How often the verdict on a query is right, and the fit of its numbers.

    python tests/benchmarks/quality/verdicts.py DATA --guides FOLDER [--mode MODE] [--sets NAME...] [--fit] [--ablate]

DATA has guides in docs/, everyday notes in personal/, and in answers/ questions on them, such as they do not answer,
and XQuAD. FOLDER has other guides, as golden.py says, and Pro Git; their questions are in tests/golden. Of XQuAD the
paragraphs of half of the articles are indexed ("half-de"), or twenty paragraphs ("few-de"); "half-en-de" asks German
questions on English paragraphs.

For each set the shares are printed that are told "answers", and "not here": of questions whose first hit is right, or
wrong, and of such as are not answered: far, near, about other articles, and everyday ones. `--fit` fits the numbers on
the sets in DEV, reports each of these by a fit on those of other languages and guides, and the others by a fit on all
of them; `--ablate` does so without each feature in turn.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np

from semsearch import Index, tuning
from semsearch.results.options import Mode
from semsearch.search import pipeline, relevance

Array = np.ndarray[Any, Any]
GOLDEN = Path(__file__).parents[2] / "golden"
DEV = "personal rust-book powershell peps half-en half-de half-es half-zh few-en few-de half-en-de half-en-es".split()
REPORTED = (
    "progit fastapi rust-rfcs pytest guide half-ru half-tr half-ar few-es few-ru few-zh few-tr few-ar "
    "half-en-zh half-de-en"
).split()
KINDS = ("right", "wrong", "far", "near", "others", "none")
WEIGHTS = {
    "right": 0.5,
    "far": 0.25,
    "near": 0.15,
    "others": 0.15,
    "none": 0.15,
}  # of the questions of a set in the fit
FEATURES = ("bias", "relevance", "coverage", "passages", "words", "foreign")
MOST_OF_NONE = 0.02, 0.22  # shares of far and near questions that are told "answers", in the mean of sets
MOST_OF_RIGHT = 0.01  # share of right first hits that are told "not here"


@dataclass(frozen=True)
class Question:
    """A question, its kind if it is not answered, and what tells a right document."""

    text: str
    kind: str = ""
    is_right: Callable[[str], bool] = lambda _: False


@dataclass(frozen=True)
class Asked:
    """What was told of a question."""

    kind: str
    features: Array  # (6,)
    verdict: str


# -- Sets --------------------------------------------------------------------------------------------------------------


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line] if path.exists() else []


def having(parts: Sequence[str]) -> Callable[[str], bool]:
    return lambda document: any(part in document for part in parts)


def on_guide(name: str, data: Path) -> list[Question]:
    """The questions on a guide: those that it answers, and near and far ones that it does not."""
    own, facts = read(GOLDEN / "verdicts.jsonl"), data / "answers" / f"facts-{name}.jsonl"
    asked = [
        Question(each["question"], is_right=having([*each["answers"], *each.get("also", ())]))
        for each in [*read(GOLDEN / "questions.jsonl"), *own]
        if each.get("collection") == name and "answers" in each
    ]
    if facts.exists():
        asked += [Question(each["question"], is_right=having(each["paths"])) for each in read(facts)]
        near, far = lines(data / "answers" / f"near-dev-{name}.txt"), lines(data / "answers" / "offtopic-dev.txt")
    else:
        near = [each["question"] for each in own if each.get("collection") == name and "answers" not in each]
        far = [each["question"] for each in own if each.get("language") == "en"]
    return [*asked, *(Question(text, "near") for text in near), *(Question(text, "far") for text in far)]


def on_notes(data: Path) -> list[Question]:
    asked = [
        Question(each["question"], "" if each["paths"] else "none", having(each["paths"]))
        for each in read(data / "personal" / "questions.jsonl")
    ]
    return asked + [Question(text, "far") for text in lines(data / "answers" / "offtopic-dev.txt")]


def on_articles(name: str, data: Path) -> tuple[list[tuple[str, str]], list[Question]]:
    """Some paragraphs of XQuAD, and questions on these, on others, and on something else."""
    size, language, *others = name.split("-")
    articles = [each["title"] for each in read(data / "retrieval" / "xquad-en" / "corpus.jsonl")]
    titles, chance = sorted(set(articles)), random.Random(3)
    chance.shuffle(titles)
    chosen = set(titles[: len(titles) // 2] if size == "half" else titles[:8])
    numbers = [number for number, title in enumerate(articles) if title in chosen]
    if size == "few":
        numbers = sorted(chance.sample(numbers, 20))
    texts = read(data / "answers" / f"xquad-{language}.jsonl")
    asked_in = others[0] if others else language
    paragraphs = read(data / "answers" / f"xquad-{asked_in}.jsonl")
    own = [
        Question(each["question"], is_right=f"p{number}".__eq__)
        for number in numbers
        for each in paragraphs[number]["questions"]
    ]
    other = [
        Question(each["question"], "others")
        for number, paragraph in enumerate(paragraphs)
        if articles[number] not in chosen
        for each in paragraph["questions"]
    ]
    far = lines(data / "answers" / "offtopic-dev.txt") if asked_in == "en" else []
    far += [each["question"] for each in read(GOLDEN / "verdicts.jsonl") if each.get("language") == asked_in != "en"]
    asked = [
        *chance.sample(own, min(200, len(own))),
        *chance.sample(other, 60),
        *(Question(text, "far") for text in far),
    ]
    return [(f"p{number}", texts[number]["text"]) for number in numbers], asked


def ask(name: str, data: Path, guides: Path, folder: Path, mode: Mode) -> list[Asked]:
    """Index a set, unless that was done, and ask its questions."""
    paths = {"personal": data / "personal" / "files"}
    texts: list[tuple[str, str]] = []
    if name.startswith(("half-", "few-")):
        texts, questions = on_articles(name, data)
    else:
        questions = on_notes(data) if name == "personal" else on_guide(name, data)
    if not (folder / name).exists():
        with Index.create(folder / name) as index:
            if texts:
                index.add(texts)
            else:
                index.sync(paths.get(name, data / "docs" / name if (data / "docs" / name).exists() else guides / name))
    told: list[relevance.Judgement | None] = []

    def judge(*arguments: Any) -> relevance.Judgement | None:
        told.append(relevance.judge(*arguments))
        return told[-1]

    asked = []
    with Index.open(folder / name) as index, mock.patch.object(pipeline, "judge", judge):
        for question in questions:
            hits, judgement = index.search(question.text, 10, mode=mode), told[-1]
            kind = question.kind or ("right" if hits and question.is_right(hits[0].document) else "wrong")
            if judgement is not None and judgement.features:
                asked.append(Asked(kind, np.array(judgement.features), str(hits.verdict)))
    return asked


# -- The fit -----------------------------------------------------------------------------------------------------------


def fit(sets: Sequence[Sequence[Asked]], columns: Sequence[int]) -> Array:
    """Logistic regression of "right" against what is not answered, each set with the same weight. -> (6,)"""
    rows, are_right, weights = [], [], []
    for asked in sets:
        count = Counter(each.kind for each in asked)
        for each in asked:
            if each.kind in WEIGHTS:
                rows.append(each.features[columns])
                are_right.append(each.kind == "right")
                weights.append(WEIGHTS[each.kind] / max(count[each.kind], 10))
    x, y, w = np.array(rows), np.array(are_right, dtype=float), np.array(weights) / np.sum(weights)
    scale, numbers = np.maximum(x.std(axis=0), 1e-9), np.zeros(len(columns))
    scale[0] = 1
    x /= scale
    ridge = 1e-3 * np.eye(len(columns))
    ridge[0, 0] = 1e-9
    for _ in range(60):  # Newton's method
        p = 1 / (1 + np.exp(-x @ numbers))
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x + ridge
        numbers -= np.linalg.solve(hessian, x.T @ (w * (p - y)) + ridge @ numbers)
    result = np.zeros(len(FEATURES))
    result[columns] = numbers / scale
    return result


def is_kin(name: str, other: str) -> bool:
    """Whether two sets are the same, or have questions in one language."""
    return name == other or ("-" in name and name.startswith(("half", "few")) and name[-3:] == other[-3:])


def scores_of(asked: Sequence[Asked], numbers: Array) -> Array:
    return np.array([each.features @ numbers for each in asked])


def mean_share(scores: Mapping[str, Array], sets: Mapping[str, Sequence[Asked]], kind: str, least: float) -> float:
    """The share of questions of a kind with at least a score, in the mean of the sets that have some."""
    shares = []
    for name, values in scores.items():
        of_kind = values[np.array([each.kind == kind for each in sets[name]])]
        if len(of_kind):
            shares.append(float((of_kind >= least).mean()))
    return float(np.mean(shares))


def limits_of(scores: Mapping[str, Array], sets: Mapping[str, Sequence[Asked]]) -> tuple[float, float]:
    """The scores from which on a set is told "answers", and below which "not here"."""
    grid = np.quantile(np.concatenate([*scores.values()]), np.linspace(0, 1, 500))
    far, near = MOST_OF_NONE
    answers = min(
        least
        for least in grid
        if mean_share(scores, sets, "far", least) <= far and mean_share(scores, sets, "near", least) <= near
    )
    return answers, max(least for least in grid if mean_share(scores, sets, "right", least) >= 1 - MOST_OF_RIGHT)


def fitted(sets: Mapping[str, Sequence[Asked]], columns: Sequence[int]) -> tuple[dict[str, Array], Array]:
    """The scores of all sets, those of DEV by a fit without their kin, and the numbers of the fit on all of DEV."""
    dev = [name for name in sets if name in DEV]
    numbers = fit([sets[name] for name in dev], columns)
    scores = {}
    for name, asked in sets.items():
        rest = [sets[other] for other in dev if not is_kin(name, other)]
        scores[name] = scores_of(asked, fit(rest, columns) if name in DEV else numbers)
    return scores, numbers


# -- The report --------------------------------------------------------------------------------------------------------


def table(sets: Mapping[str, Sequence[Asked]], verdict_of: Callable[[str, int], str]) -> Iterator[str]:
    """The shares that are told "answers", and "not here", of each kind; the last row is the mean of the sets."""
    yield f"| | {' | '.join(KINDS)} |\n|---|{'---|' * len(KINDS)}"
    shares: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for name, asked in sets.items():
        cells = []
        for kind in KINDS:
            told = [verdict_of(name, number) for number, each in enumerate(asked) if each.kind == kind]
            if told:
                pair = told.count("answers") / len(told), told.count("not here") / len(told)
                shares[kind].append(pair)
                cells.append(f"{pair[0]:.2f}, {pair[1]:.2f} ({len(told)})")
            else:
                cells.append("–")
        yield f"| {name} | {' | '.join(cells)} |"
    means = [np.mean(shares[kind], axis=0) if shares[kind] else (np.nan, np.nan) for kind in KINDS]
    yield f"| mean | {' | '.join(f'{answers:.3f}, {not_here:.3f}' for answers, not_here in means)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--guides", type=Path, required=True)
    parser.add_argument("--indexes", type=Path, help="where indexes are kept; default: nowhere")
    parser.add_argument("--mode", default="hybrid", choices=("hybrid", "dense", "lexical"))
    parser.add_argument("--sets", nargs="+", default=[*DEV, *REPORTED])
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--ablate", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    with TemporaryDirectory() as temporary:
        folder = arguments.indexes or Path(temporary)
        sets = {name: ask(name, arguments.data, arguments.guides, folder, arguments.mode) for name in arguments.sets}
    every = range(len(FEATURES))
    if not arguments.fit and not arguments.ablate:
        print("\n".join(table(sets, lambda name, number: sets[name][number].verdict)))
    for left_out in (None, *FEATURES[1:]) if arguments.ablate else (None,) if arguments.fit else ():
        scores, numbers = fitted(sets, [number for number in every if FEATURES[number] != left_out])
        dev = {name: values for name, values in scores.items() if name in DEV}
        answers, not_here = limits_of(dev, sets)
        of_fit = dict(zip(FEATURES, numbers.round(3).tolist(), strict=True))
        print(f"\nwithout {left_out or 'nothing'}: {of_fit}; answers from {answers:.2f}, not here below {not_here:.2f}")
        for title, names in (("chosen on", [*dev]), ("reported", [name for name in sets if name not in DEV])):

            def told(name: str, number: int) -> str:
                score = scores[name][number]  # noqa: B023
                return "answers" if score >= answers else "not here" if score < not_here else "perhaps"  # noqa: B023

            rows = [*table({name: sets[name] for name in names}, told)]
            print(title, *(rows if left_out is None else rows[-1:]), sep="\n")
    print(f"\nin use: {tuning.TUNING.verdict}, {tuning.TUNING.verdict_not_here}")


if __name__ == "__main__":
    main()
