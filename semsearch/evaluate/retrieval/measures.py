"""Measure rankings by the field's standard scorer: ir_measures, which calls trec_eval.

ndcg@10      gains as judged (linear), discount log2(rank + 1)
mrr@10       1 / rank of the first relevant document, 0 beyond the tenth
recall@10    share of the relevant documents among the first ten; recall@100 likewise
map          mean of the precision at each relevant document, over the first 100
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from semsearch.evaluate.optional import import_extra

Float64 = npt.NDArray[np.float64]
DEPTH = 100  # documents of a ranking that are scored
_NAMES = {"ndcg@10": "nDCG@10", "mrr@10": "RR@10", "recall@10": "R@10", "recall@100": "R@100", "map": "AP@100"}
MEASURES = tuple(_NAMES)


def check_scorer() -> None:
    """Check before the work that the scorer is installed. Raises MissingExtra."""
    import_extra("ir_measures", package="ir-measures")


def measure(relevant: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]) -> Float64:
    """Measure the ranking of each judged query, in the order of `relevant`. One without a ranking scores 0. (q, 5)"""
    ir_measures = import_extra("ir_measures", package="ir-measures")
    columns = {ir_measures.parse_measure(name): column for column, name in enumerate(_NAMES.values())}
    rows = {query: row for row, query in enumerate(relevant)}
    # the scorer sorts by score and breaks ties by its own rule: ranks, which are all different, leave it none
    run = {
        query: {document: -float(rank) for rank, document in enumerate(ranking[:DEPTH])}
        for query, ranking in rankings.items()
        if ranking
    }
    figures = np.zeros((len(relevant), len(_NAMES)))
    if run:
        for metric in ir_measures.iter_calc(list(columns), {query: dict(relevant[query]) for query in relevant}, run):
            figures[rows[metric.query_id], columns[metric.measure]] = metric.value
    return figures
