"""Measure supervised tasks with several seeds: each method on each task, chosen and trained anew with each seed.

One run says little: with another seed, or by another processor's rounding, another setting is chosen on dev and other
parameters are learned. What holds everywhere is the mean over seeds, within its spread; the same run gives the same
figures on one machine with one number of threads. What other test examples would give, the seeds do not say: a figure's
interval does, by drawing these anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from semsearch import arrays, embedding, text, word_vectors
from semsearch.embedding.weights import find_method
from semsearch.errors import UsageError
from semsearch.word_vectors.table import WordVectorsLike
from semsearch_research.evaluate.cache import cached
from semsearch_research.evaluate.inputs import check_each_a, is_distilled
from semsearch_research.evaluate.pair_bootstrap import Resampled
from semsearch_research.evaluate.sts_scores import pearson
from semsearch_research.supervised import descent, labelled, projection, trials
from semsearch_research.supervised.labelled import LabelledTask, read_labelled
from semsearch_research.supervised.published_tasks import published_for
from semsearch_research.supervised.supervised_report import SupervisedReport, SupervisedRun, SupervisedScore
from semsearch_research.supervised.trials import SIF_A_GRID, Report, Trials
from semsearch_research.train.adam import Adam
from semsearch_research.word_tables.conversion import open_vectors

METHODS = ("mean", "sif", "usif")
WIDTH = 2400
SEEDS = 3
# what decides the figures: learning takes minutes, and need not follow every change of the program
_OURS = (trials, descent, labelled, projection)
DECISIVE = (*_OURS, pearson, Resampled, Adam, arrays, embedding, text, word_vectors)


def evaluate_supervised(
    paths: Sequence[str | Path],
    *,
    methods: Sequence[str] = METHODS,
    vectors: WordVectorsLike = "english",
    a: Sequence[float] = SIF_A_GRID,
    width: int = WIDTH,
    examples: int | None = None,
    seed: int = 0,
    seeds: int = SEEDS,
    fresh: bool = False,
    progress: Report | None = None,
) -> SupervisedReport:
    """Learn each task of the data sets in `paths` (semsearch_research.supervised.labelled) from each method's vectors.

    `a` are the values tried for SIF; `width` that of the projection, 0 for none; at most `examples` are drawn from the
    train split. All is done with each of `seeds` seeds from `seed` on. Cached results are used unless `fresh`. Raises
    SourceError for broken files, UsageError, VectorsError.
    """
    check_each_a(a)
    if len({find_method(method).name for method in methods}) != len(methods):
        raise UsageError(f"methods are named once each, not {', '.join(methods)}")
    tasks = read_labelled(map(Path, paths))
    opened = open_vectors(vectors)
    each = range(seed, seed + seeds)

    def score(task: LabelledTask, method: str) -> SupervisedScore:
        found = []
        for one in each:
            tried = Trials(task, method, opened, tuple(a), width, examples, one, progress)
            found.append(cached("supervised", tried.inputs(), tried.compute, fresh=fresh, modules=DECISIVE))
        runs = tuple(SupervisedRun.from_dict(one["run"]) for one in found)
        sizes = (min(len(task.train), examples or len(task.train)), len(task.dev), len(task.test))
        draws = np.asarray(np.mean([one["draws"] for one in found], axis=0, dtype=np.float64))
        return SupervisedScore(task.name, task.kind, method, sizes, runs, draws)

    return SupervisedReport(
        opened.name,
        width,
        tuple(each),
        tuple(score(task, method) for task in tasks for method in methods),
        {task.name: published_for(task, examples) for task in tasks},
        is_distilled(opened),
    )
