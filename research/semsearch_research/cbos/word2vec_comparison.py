"""Compare continuous bag of sentences with word2vec: one text, the same words, sentences as sums of word vectors.

Yuan and Zhang, table I. Skip-gram, CBOW and CBOS learn from the same stemmed text, each in as many
rounds; the words of the evaluation sentences are stemmed likewise. A sentence is the sum of its words' vectors, and
similarity the cosine of two sums. Beside them stand the random vectors that CBOS starts from: what is due to shared
words alone.

All of it is trained with several seeds: figures are means over them, with their standard deviation, and with the
interval that the tasks' pairs leave them (semsearch_research.evaluate.pair_bootstrap).

Where we differ: the paper trained on the Toronto books, which may not be passed on, and took batches of 10 sentences;
see semsearch_research.train.cbos. Its figures for the other methods are not for the same text everywhere.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.embedding.weighted_sums import average
from semsearch.errors import SourceError
from semsearch.results.codec import Record, digits
from semsearch_research.cbos.stemmed import Stemming, ids_of
from semsearch_research.cbos.trainer import Recipe, TrainedVectors, Trainer
from semsearch_research.evaluate.claims import verdict_of_interval
from semsearch_research.evaluate.pair_bootstrap import PairDraws, Resampled
from semsearch_research.evaluate.published import YEAR_TASKS, published_figures
from semsearch_research.evaluate.sentence_pairs import Task, read_tasks
from semsearch_research.evaluate.sts_scores import pearson
from semsearch_research.train.cbos import start
from semsearch_research.train.corpus import Skipped, Stages

logger = logging.getLogger(f"semsearch.{__name__}")  # with semsearch's own warnings
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Interval = tuple[float, float]  # the lowest and the highest of 95 % of the draws of pairs

K, M = 1, 2  # the paper's choice
RANDOM = "random"


@dataclass(frozen=True, slots=True)
class CbosTask(Record):
    """The results on a task: Pearson's r × 100 by method, ours (mean and deviation over seeds) and the paper's.

    `interval` is that of the mean over seeds.
    """

    task: str
    group: str
    pairs: int
    pearson: Mapping[str, float] = field(metadata=digits(4))
    spread: Mapping[str, float | None] = field(metadata=digits(4))
    published: Mapping[str, float] = field(metadata=digits(4))
    interval: Mapping[str, Interval] = field(metadata=digits(4))


@dataclass(frozen=True, slots=True)
class CbosYear(Record):
    """The results of a year: means of its tasks that were run, ours and the paper's, and the paper's own averages."""

    group: str
    tasks: int
    whole: bool  # all tasks of the year were run
    pearson: Mapping[str, float] = field(metadata=digits(4))
    spread: Mapping[str, float | None] = field(metadata=digits(4))
    published: Mapping[str, float] = field(metadata=digits(4))
    printed: Mapping[str, float] = field(metadata=digits(4))
    interval: Mapping[str, Interval] = field(metadata=digits(4))


@dataclass(frozen=True, slots=True)
class CbosDifference(Record):
    """How far CBOS is above another method: in how many of the tasks, and the mean difference of r × 100.

    The interval has 95 % of the draws of pairs within each task (semsearch_research.evaluate.pair_bootstrap); on each
    draw, r is the mean over seeds.
    """

    other: str
    held: int
    of: int
    difference: float = field(metadata=digits(4))
    low: float = field(metadata=digits(4))
    high: float = field(metadata=digits(4))

    @property
    def verdict(self) -> str:
        """The verdict on the claim that CBOS is above."""
        return verdict_of_interval(self.low, self.high)


@dataclass(frozen=True, slots=True)
class CbosReport(Record):
    """The results of CBOS and its baselines: the training text, the seconds of all trainings, and the figures."""

    sentences: int
    running_words: int
    words: int
    known: float = field(metadata=digits(4))  # share of the tasks' running words
    settings: Mapping[str, Any]
    seconds: Mapping[str, float] = field(metadata=digits(4))
    tasks: tuple[CbosTask, ...]
    years: tuple[CbosYear, ...]
    differences: tuple[CbosDifference, ...] = field(default=())


def _warn(path: str, reason: str) -> None:
    logger.warning("skipped %s: %s", path, reason)


def evaluate_cbos(
    corpus: Sequence[str | Path],
    sts: Sequence[str | Path],
    *,
    sentences: int | None = None,
    baselines: bool = True,
    stem: bool = True,
    dimension: int = 100,
    epochs: int = 10,
    batch: int = 1000,
    min_count: int = 5,
    seed: int = 0,
    seeds: int = 3,
    blank_as_zero: bool = False,
    fresh: bool = False,
    skipped: Skipped = _warn,
    progress: Stages | None = None,
) -> CbosReport:
    """Train CBOS, and with `baselines` skip-gram and CBOW; measure them on the paper's tasks among the files of `sts`.

    `corpus` are files and folders of text, of which the first `sentences` are taken. All is trained with `seeds` seeds
    from `seed` on. With `blank_as_zero` pairs without a score have score 0. Vectors that were trained before are
    taken from the cache folder unless `fresh`. `skipped(path, reason)` is called for files that could not be read,
    which by default are logged. Raises SourceError for broken files, UsageError for arguments that make no sense,
    MissingExtra if gensim is not installed.
    """
    tasks = _tasks(map(Path, sts), blank_as_zero=blank_as_zero)
    recipe = Recipe(tuple(map(Path, corpus)), sentences, stem, dimension, epochs, batch, min_count, seed)
    scorer = _Scorer(tasks, Stemming(stem=stem))
    trainer = Trainer(recipe, fresh, skipped, progress)
    runs = [_SeedRun(trainer.seeded(one), scorer, baselines) for one in range(seed, seed + seeds)]
    rows = tuple(_row(task, runs) for task in tasks)
    trained = runs[0].cbos
    return CbosReport(
        sentences=trained.sentences,
        running_words=trained.running_words,
        words=len(trained.words),
        known=scorer.known(trained.words),
        settings=recipe.settings | {"seeds": seeds},
        seconds={name: sum(run.seconds[name] for run in runs) for name in runs[0].seconds},
        tasks=rows,
        years=tuple(_years(rows, runs)),
        differences=tuple(_differences(runs, scorer.tasks)),
    )


class _SeedRun:
    """The trainings with one seed and their scores by method."""

    def __init__(self, trainer: Trainer, scorer: _Scorer, baselines: bool) -> None:
        self._trainer, self._scorer = trainer, scorer
        self.measured: dict[str, Mapping[str, Resampled]] = {}
        self.seconds: dict[str, float] = {}
        for name in ("skip-gram", "CBOW") if baselines else ():
            self._measure(name, trainer.word2vec(name))
        self.cbos = trainer.cbos(K, M)
        self._measure("CBOS", self.cbos)
        words, recipe = self.cbos.words, trainer.recipe
        self.measured[RANDOM] = scorer.scores(words, start(len(words), recipe.dimension, recipe.seed).vectors)

    def by_method(self, task: str) -> dict[str, float]:
        """Pearson's r × 100 of each method on a task."""
        return {name: found[task].value for name, found in self.measured.items()}

    def _measure(self, name: str, trained: TrainedVectors) -> None:
        self.measured[name] = self._scorer.scores(trained.words, trained.vectors)
        self.seconds[name] = trained.seconds


class _Scorer:
    """Scores word vectors on tasks, whose sentences are stemmed: correlations of cosines of sums with gold scores."""

    def __init__(self, tasks: Sequence[Task], stemming: Stemming) -> None:
        self.tasks = tasks
        self._draws = [PairDraws(task.label, len(task.scores)) for task in tasks]
        self._texts = [(list(map(stemming, task.first)), list(map(stemming, task.second))) for task in tasks]

    def scores(self, words: Sequence[str], vectors: Float32) -> dict[str, Resampled]:
        """Compute Pearson's r × 100 by task; a sentence without known words is similar to nothing. (V), (V, d)"""
        numbers = {word: number for number, word in enumerate(words)}
        found = {}
        for task, draws, sides in zip(self.tasks, self._draws, self._texts, strict=True):
            first, second = (_unit(average(ids_of(texts, numbers), vectors)) for texts in sides)
            cosines = np.einsum("ij,ij->i", first, second)
            r, drawn = pearson(cosines, task.scores), draws.pearson(cosines, task.scores)
            found[task.name] = Resampled(100 * r, 100 * drawn)
        return found

    def known(self, words: Sequence[str]) -> float:
        """The share of the tasks' running words that have a vector."""
        vocabulary = set(words)
        running = [word in vocabulary for sides in self._texts for texts in sides for text in texts for word in text]
        return sum(running) / len(running) if running else 0.0


def _unit(rows: Float32) -> Float64:
    """Scale rows to length one (a mean has the direction of the sum). Zero rows stay."""
    wide = rows.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.asarray(wide / np.where(lengths > 0, lengths, 1))


def _tasks(paths: Iterable[Path], *, blank_as_zero: bool) -> list[Task]:
    """The paper's tasks among the files. Raises SourceError if there are none."""
    named = set(_printed())
    tasks = [
        task
        for task in read_tasks(paths, blank_as_zero=blank_as_zero)
        if task.name in named and task.split in ("test", "")
    ]
    if not tasks:
        raise SourceError(
            "none of the files is a task of the paper; expected names such as 2014.images.test.tsv, years 2012 to 2015"
        )
    if len({task.name for task in tasks}) != len(tasks):
        raise SourceError("two of the files are of one task, such as x.test.tsv and x.tsv; give one of them")
    return tasks


def _differences(runs: Sequence[_SeedRun], tasks: Sequence[Task]) -> Iterable[CbosDifference]:
    """CBOS against each of the others, on the mean over seeds of each task."""
    by_method = {
        name: {task.name: Resampled.mean(run.measured[name][task.name] for run in runs) for task in tasks}
        for name in runs[0].measured
    }
    for other in (name for name in by_method if name != "CBOS"):
        found = [by_method["CBOS"][task.name].above(by_method[other][task.name]) for task in tasks]
        mean = Resampled.mean(found).interval
        held = sum(one.value > 0 for one in found)
        yield CbosDifference(other, held, len(found), mean.value, mean.low, mean.high)


def _intervals(figures: Mapping[str, Resampled]) -> dict[str, Interval]:
    found = {name: figure.interval for name, figure in figures.items()}
    return {name: (one.low, one.high) for name, one in found.items()}


def _over_seeds(runs: Sequence[_SeedRun], tasks: Sequence[str]) -> dict[str, Resampled]:
    """The mean over seeds and tasks of each method, draw by draw."""
    return {
        name: Resampled.mean(run.measured[name][task] for run in runs for task in tasks) for name in runs[0].measured
    }


def _row(task: Task, runs: Sequence[_SeedRun]) -> CbosTask:
    measured = [run.by_method(task.name) for run in runs]
    return CbosTask(
        task.name,
        task.group,
        len(task.scores),
        _means(measured),
        _spreads(measured),
        _printed()[task.name],
        _intervals(_over_seeds(runs, [task.name])),
    )


def _years(rows: Sequence[CbosTask], runs: Sequence[_SeedRun]) -> Iterable[CbosYear]:
    groups: dict[str, list[CbosTask]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    for group, members in groups.items():
        whole = {row.task.partition(".")[2] for row in members} == YEAR_TASKS[group]
        yield CbosYear(
            group,
            len(members),
            whole,
            _means([row.pearson for row in members]),
            _spreads([_means([run.by_method(row.task) for row in members]) for run in runs]),
            _means([row.published for row in members]),
            _printed().get(group, {}) if whole else {},
            _intervals(_over_seeds(runs, [row.task for row in members])),
        )


@cache
def _printed() -> dict[str, dict[str, float]]:
    """The figures of table I × 100, by its rows: tasks and years."""
    rows: dict[str, dict[str, float]] = {}
    for figure in published_figures("cbos", "table I"):
        rows.setdefault(figure.row, {})[figure.column] = 100 * figure.value
    return rows


def _means(columns: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: _mean([column[name] for column in columns]) for name in columns[0]}


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _spreads(columns: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    return {name: _spread([column[name] for column in columns]) for name in columns[0]}


def _spread(values: Sequence[float]) -> float | None:
    """The standard deviation over seeds; None for one."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
