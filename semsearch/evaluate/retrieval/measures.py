"""Measure rankings by the field's standard scorer: trec_eval, called by pytrec_eval.

ndcg@10      gains as judged (linear), discount log2(rank + 1)
mrr@10       1 / rank of the first relevant document, 0 beyond the tenth
recall@10    share of the relevant documents among the first ten; recall@100 likewise
map          mean of the precision at each relevant document, over the first 100
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.evaluate.optional import import_extra

Float64 = npt.NDArray[np.float64]
DEPTH = 100  # documents of a ranking that are scored
_NAMES = {
    "ndcg@10": "ndcg_cut_10",
    "mrr@10": "recip_rank",
    "recall@10": "recall_10",
    "recall@100": "recall_100",
    "map": "map_cut_100",
}
MEASURES = tuple(_NAMES)


def check_scorer() -> Any:
    """Import the scorer. Raises MissingExtra if it is not installed, which is worth knowing before the work."""
    return import_extra("pytrec_eval", package="pytrec-eval-terrier")


def measure(relevant: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]) -> Float64:
    """Measure the ranking of each judged query, in the order of `relevant`. One without a ranking scores 0. (q, 5)"""
    evaluator = check_scorer().RelevanceEvaluator({query: dict(relevant[query]) for query in relevant}, _NAMES.values())
    # the scorer sorts by score and breaks ties by its own rule: ranks, which are all different, leave it none
    run = {
        query: {document: -float(rank) for rank, document in enumerate(ranking[:DEPTH])}
        for query, ranking in rankings.items()
        if ranking
    }
    scored = evaluator.evaluate(run)
    nothing = dict.fromkeys(_NAMES.values(), 0.0)
    rows = [[scored.get(query, nothing)[name] for name in _NAMES.values()] for query in relevant]
    figures = np.array(rows, dtype=np.float64).reshape(len(relevant), len(_NAMES))
    reciprocal = figures[:, MEASURES.index("mrr@10")]
    reciprocal[reciprocal < 1 / 10] = 0  # trec_eval's has no depth
    return figures
