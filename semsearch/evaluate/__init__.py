"""Measuring what semsearch finds: retrieval on test collections, similarity on sentence pairs.

    from semsearch.evaluate import evaluate_retrieval, evaluate_sts
    for row in evaluate_retrieval(["scifact", "cisi"]):
        print(row.collection, row.mode, row.figures["ndcg@10"].value)

The names below are loaded when they are first used, so that a process pays only for what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semsearch.evaluate.bootstrap import Figure
    from semsearch.evaluate.comparison import RetrievalRow
    from semsearch.evaluate.retrieval import evaluate_retrieval
    from semsearch.evaluate.sts import StsAverage, StsReport, StsScore, evaluate_sts
    from semsearch.evaluate.word_vectors import VectorsReport, evaluate_vectors

__all__ = [
    "Figure",
    "RetrievalRow",
    "StsAverage",
    "StsReport",
    "StsScore",
    "VectorsReport",
    "evaluate_retrieval",
    "evaluate_sts",
    "evaluate_vectors",
]

_HOMES = {
    "Figure": "bootstrap",
    "RetrievalRow": "comparison",
    "StsAverage": "sts",
    "StsReport": "sts",
    "StsScore": "sts",
    "VectorsReport": "word_vectors",
    "evaluate_retrieval": "retrieval",
    "evaluate_sts": "sts",
    "evaluate_vectors": "word_vectors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'semsearch.evaluate' has no attribute {name!r}")
    return getattr(import_module(f"semsearch.evaluate.{_HOMES[name]}"), name)
