"""What each choice of SIF's released program costs, by group of tasks: r × 100 with it, less r as the paper says.

What uSIF's program does besides is counted, since no r comes of it: a dimension that is zero in all words of a sentence
is 0 / 0 there, and the singular vectors of all sentences are refused; here it stays zero. A sentence without a word is
a constant vector there, and a zero vector here. Its tokeniser is NLTK's, which is not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from semsearch import VectorTable, load_vectors
from semsearch.embedding.weights import SIF_A
from semsearch.results.codec import Record, digits
from semsearch.text.ragged import Ragged
from semsearch.word_vectors.word_frequencies import read_counts
from semsearch_research.evaluate.inputs import Progress, check_several, counts_in, is_distilled
from semsearch_research.evaluate.pair_bootstrap import PairDraws, Resampled
from semsearch_research.evaluate.sentence_pairs import Task, read_tasks
from semsearch_research.evaluate.sts_scores import pearson
from semsearch_research.released.rules import ReleasedRules, RuledSentences, sides


@dataclass(frozen=True, slots=True)
class ReleasedChoice:
    """A choice of the released program, in words, and the method that it is measured with."""

    name: str
    method: str  # sif, tfidf or mean
    rules: ReleasedRules


CHOICES = (
    ReleasedChoice("words between white space", "sif", ReleasedRules(white_space=True)),
    ReleasedChoice("unknown words have the last row", "sif", ReleasedRules(last_for_unknown=True)),
    ReleasedChoice("words without a count weigh 1", "sif", ReleasedRules(uncounted_weigh_one=True)),
    ReleasedChoice("a component for each side", "sif", ReleasedRules(each_side=True)),
    ReleasedChoice(
        "all four",
        "sif",
        ReleasedRules(white_space=True, last_for_unknown=True, uncounted_weigh_one=True, each_side=True),
    ),
    ReleasedChoice("idf by occurrences, log2((N + 2) / (1 + n))", "tfidf", ReleasedRules(occurrences=True)),
    ReleasedChoice("unweighted is 1 / (1 + p)", "mean", ReleasedRules(nearly_unweighted=True)),
)


@dataclass(frozen=True, slots=True)
class ReleasedCost(Record):
    """The cost of a choice in a group: r × 100 as the paper says, and the difference; both with 95 % intervals."""

    choice: str
    method: str
    group: str
    tasks: int
    pearson: float = field(metadata=digits(4))
    pearson_low: float = field(metadata=digits(4))
    pearson_high: float = field(metadata=digits(4))
    difference: float = field(metadata=digits(4))
    low: float = field(metadata=digits(4))
    high: float = field(metadata=digits(4))


@dataclass(frozen=True, slots=True)
class ReleasedReport(Record):
    """The costs of all choices, and how often sentences and words are such that programs differ.

    `uncounted` is the share of the running words with a vector that have no count. Of `sentences`, `empty` have no word
    with a vector, and `zero_dimension` have words, but a dimension that is zero in all of them.
    """

    vectors: str
    taught: bool
    frequencies: str
    costs: tuple[ReleasedCost, ...]
    sentences: int
    empty: int
    zero_dimension: int
    uncounted: float = field(metadata=digits(6))


def evaluate_released(
    paths: Sequence[str | Path],
    *,
    frequencies: str | Path,
    vectors: str | Path | VectorTable = "english",
    a: float = SIF_A,
    split: str = "test",
    progress: Progress | None = None,
) -> ReleasedReport:
    """Measure the choices of `CHOICES` one by one on sentence pairs, with p(w) from a file of counts.

    Raises SourceError for broken pairs, VectorsError for broken counts or vectors, UsageError.
    """
    check_several(paths=paths)
    tasks = read_tasks(map(Path, paths), split=split)
    table = vectors if isinstance(vectors, VectorTable) else load_vectors(vectors)
    frequencies = counts_in(frequencies)
    counts = read_counts(Path(frequencies))
    draws = {task.label: PairDraws(task.label, len(task.scores)) for task in tasks}
    plain = RuledSentences(table, counts, ReleasedRules())
    papers: dict[str, dict[str, Resampled]] = {}
    costs: list[ReleasedCost] = []
    for number, choice in enumerate(CHOICES):
        if progress:
            progress("choices", number, len(CHOICES))
        if choice.method not in papers:
            papers[choice.method] = _measured(
                RuledSentences(table, counts, ReleasedRules()), choice.method, a, tasks, draws
            )
        ours = _measured(RuledSentences(table, counts, choice.rules), choice.method, a, tasks, draws)
        costs += _costs(choice, papers[choice.method], ours, tasks)
    texts = [plain.ids(sides(task)) for task in tasks]
    uncounted = np.array([word not in counts for word in table.words])
    running = np.concatenate([text.ids for text in texts])
    return ReleasedReport(
        table.name,
        is_distilled(table),
        Path(frequencies).name,
        tuple(costs),
        sum(map(len, texts)),
        sum(int((text.lengths == 0).sum()) for text in texts),
        sum(_zero_dimensions(text, table) for text in texts),
        float(uncounted[running].mean()) if len(running) else 0.0,
    )


def _measured(
    sentences: RuledSentences, method: str, a: float, tasks: Sequence[Task], draws: dict[str, PairDraws]
) -> dict[str, Resampled]:
    """r × 100 of a method by the label of a task."""
    texts = [sentences.ids(sides(task)) for task in tasks]
    if method == "tfidf":
        weights = sentences.idf(texts)
    else:
        weights = sentences.sif_weights(a) if method == "sif" else sentences.equal_weights()
    found = {}
    for task, text in zip(tasks, texts, strict=True):
        cosines = sentences.cosines(text, weights, components=1 if method == "sif" else 0)
        r, drawn = pearson(cosines, task.scores), draws[task.label].pearson(cosines, task.scores)
        found[task.label] = Resampled(100 * r, 100 * drawn)
    return found


def _costs(
    choice: ReleasedChoice, paper: dict[str, Resampled], ours: dict[str, Resampled], tasks: Sequence[Task]
) -> list[ReleasedCost]:
    costs = []
    for group in dict.fromkeys(task.group for task in tasks):
        labels = [task.label for task in tasks if task.group == group]
        base, changed = (Resampled.mean(found[label] for label in labels) for found in (paper, ours))
        difference = changed.above(base).interval
        costs.append(
            ReleasedCost(
                choice.name,
                choice.method,
                group,
                len(labels),
                base.value,
                base.interval.low,
                base.interval.high,
                difference.value,
                difference.low,
                difference.high,
            )
        )
    return costs


def _zero_dimensions(texts: Ragged, table: VectorTable) -> int:
    """The number of texts with words, all of which are zero in one dimension."""
    bounds = texts.indptr.tolist()
    rows = (table.rows(texts.ids[start:end]) for start, end in pairwise(bounds) if end > start)
    return sum(int((~row.any(axis=0)).any()) for row in rows)
