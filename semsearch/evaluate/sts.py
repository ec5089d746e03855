"""Semantic similarity as in the SIF and uSIF papers: cosines of sentence vectors against people's scores.

Per task, as the papers do, the common components are those of the task's own sentences, both sides, without a prior.
Fitted on a file instead, they are the same for all tasks, as in an index. The weights never depend on the task: p(w) is
that of the word vectors, tf-idf counts over all the tasks that are run, and uSIF's a follows from n = 11 words, the
mean length over all the papers' data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.components import CommonComponents
from semsearch.embedder import SentenceEmbedder
from semsearch.errors import SourceError, UsageError
from semsearch.evaluate.correlation import pearson, spearman
from semsearch.evaluate.lines import numbered_lines
from semsearch.evaluate.pairs import Task, read_tasks
from semsearch.evaluate.published import GROUPS, YEAR_TASKS, published
from semsearch.methods import METHODS, Method, find_method
from semsearch.sentences import sentence_spans
from semsearch.settings import WordVectorsLike, open_vectors
from semsearch.vectors.table import WordVectors
from semsearch.weights import usif_a

USIF_N = 11  # uSIF paper, section 4: E|s|
PER_TASK = "task"


@dataclass(frozen=True, slots=True)
class StsScore:
    """A method on one task; r and ρ × 100."""

    task: str
    group: str
    split: str
    method: str
    pairs: int
    pearson: float
    spearman: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "task": self.task,
            "group": self.group,
            "split": self.split,
            "method": self.method,
            "pairs": self.pairs,
            "pearson": round(self.pearson, 4),
            "spearman": round(self.spearman, 4),
        }


@dataclass(frozen=True, slots=True)
class StsAverage:
    """A method's mean over the tasks of a group. `whole`: these are all its tasks in the papers, their test split."""

    group: str
    method: str
    tasks: int
    whole: bool
    pearson: float
    spearman: float
    published: Mapping[str, float] = field(default_factory=dict)  # Pearson × 100, only where whole

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "group": self.group,
            "method": self.method,
            "tasks": self.tasks,
            "whole": self.whole,
            "pearson": round(self.pearson, 4),
            "spearman": round(self.spearman, 4),
            "published": dict(self.published),
        }


@dataclass(frozen=True, slots=True)
class StsReport:
    """What was run, with which word vectors, and what came out."""

    vectors: str
    fit_on: str
    scores: tuple[StsScore, ...]
    averages: tuple[StsAverage, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "vectors": self.vectors,
            "fit_on": self.fit_on,
            "tasks": [score.to_dict() for score in self.scores],
            "averages": [average.to_dict() for average in self.averages],
        }


def evaluate_sts(
    paths: Sequence[str | Path],
    *,
    methods: Sequence[str | Method] = tuple(METHODS),
    vectors: WordVectorsLike = "english",
    a: float | None = None,
    components: int | None = None,
    split: str = "test",
    fit_on: str | Path = PER_TASK,
) -> StsReport:
    """Correlations of each method on each task, and their means over years.

    `paths` are read by `semsearch.evaluate.pairs`; `split` chooses among a folder's files. `fit_on` is "task", or a
    text file whose sentences the components (and tf-idf's counts) are learned from. `a` and `components` are the
    papers' unless given. Raises SourceError for broken files, UsageError, VectorsError.
    """
    if isinstance(paths, str | Path) or not paths:
        raise UsageError(f"paths are a sequence of at least one file or folder, not {paths!r}")
    tasks = read_tasks(map(Path, paths), split=split)
    opened = open_vectors(vectors)
    chosen = _methods(methods)
    texts = None if fit_on == PER_TASK else list(sentences_of(Path(fit_on)))
    scores: list[StsScore] = []
    for method in chosen:
        embedder = _embedder(opened, method, a, components)
        embedder.fit(texts if texts is not None else [text for task in tasks for text in task.sentences])
        for task in tasks:
            if texts is None:
                _refit(embedder, task.sentences)
            scores.append(_score(embedder, task))
    averages = _averages(scores)
    return StsReport(opened.name, str(fit_on), tuple(scores), tuple(averages))


def sentences_of(path: Path) -> Iterator[str]:
    """The sentences of a text file; a line's end always ends one. Raises SourceError where there are none."""
    found = False
    for _, line in numbered_lines(path):
        for start, end in sentence_spans(line):
            found = True
            yield line[start:end]
    if not found:
        raise SourceError(f"{path} has no sentences to fit on; give a text file")


def _methods(methods: Sequence[str | Method]) -> list[Method]:
    if isinstance(methods, str | Method) or not methods:
        raise UsageError(f"methods are a sequence of at least one, not {methods!r}")
    chosen = [find_method(method) for method in methods]
    if len({method.name for method in chosen}) != len(chosen):
        raise UsageError(f"methods are named once each, not {', '.join(method.name for method in chosen)}")
    return chosen


def _embedder(vectors: WordVectors, method: Method, a: float | None, components: int | None) -> SentenceEmbedder:
    if a is None and method.weighting == "usif":
        a = usif_a(vectors.frequencies, USIF_N)
    return SentenceEmbedder(vectors, method=method, a=a, components=components)


def _refit(embedder: SentenceEmbedder, sentences: Sequence[str]) -> None:
    """Learn the components of these sentences alone; the weights stay."""
    embedder.statistics_ = embedder.statistics_of(embedder.tokenize(sentences))
    embedder.common_ = CommonComponents.of(
        embedder.statistics_.gram, embedder.components, piecewise=embedder.method.piecewise
    )


def _score(embedder: SentenceEmbedder, task: Task) -> StsScore:
    """Rows are of length one, so a cosine is a product; 0 for a sentence of which no word is known."""
    cosines = np.einsum("ij,ij->i", embedder.transform(task.first), embedder.transform(task.second))
    return StsScore(
        task.name,
        task.group,
        task.split,
        embedder.method.name,
        len(task.scores),
        100 * pearson(cosines, task.scores),
        100 * spearman(cosines, task.scores),
    )


def _averages(scores: Iterable[StsScore]) -> list[StsAverage]:
    """The mean of each group's tasks, as the papers have it: tasks count the same, however many pairs they have."""
    groups: dict[tuple[str, str, str], list[StsScore]] = {}
    for score in scores:
        groups.setdefault((score.method, score.group, score.split), []).append(score)
    averages = []
    for (method, group, split), members in groups.items():
        names = {member.task.partition(".")[2] for member in members}
        whole = split == "test" and group in GROUPS and names == YEAR_TASKS.get(group, names)
        averages.append(
            StsAverage(
                group if split in ("test", "") else f"{group} {split}",
                method,
                len(members),
                whole,
                float(np.mean([member.pearson for member in members])),
                float(np.mean([member.spearman for member in members])),
                published(group) if whole else {},
            )
        )
    return averages
