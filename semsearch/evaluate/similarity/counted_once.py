"""Count a pair of sentences once, where it stands in several tasks.

The STS Benchmark was chosen from the tasks of earlier years: half of its test pairs are test pairs of STS 2012 to 2015.
Over all tasks together, such a pair counts in the task of its year, and the benchmark has the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from semsearch.evaluate.published import YEAR_TASKS
from semsearch.evaluate.similarity.sentence_pairs import Task
from semsearch.text.tokens import words

Key = tuple[tuple[str, ...], tuple[str, ...]]


def counted_once(tasks: Sequence[Task]) -> dict[str, npt.NDArray[np.bool_]]:
    """Which pairs of each task count, by the task's label: all those of a year; of others, those of no year. (n,)

    Pairs are the same if they have the same words, in either order of the two sentences.
    """
    yearly = {key for task in tasks if task.group in YEAR_TASKS for key in _keys(task)}
    return {
        task.label: np.array([task.group in YEAR_TASKS or key not in yearly for key in _keys(task)]) for task in tasks
    }


def _keys(task: Task) -> list[Key]:
    pairs = zip(task.first, task.second, strict=True)
    return [_ordered(tuple(words(first)), tuple(words(second))) for first, second in pairs]


def _ordered(first: tuple[str, ...], second: tuple[str, ...]) -> Key:
    return (first, second) if first <= second else (second, first)
