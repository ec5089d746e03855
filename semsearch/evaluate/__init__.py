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
    from semsearch.evaluate.agreement import ErrorAgreement, ModelComparison
    from semsearch.evaluate.bootstrap import Figure
    from semsearch.evaluate.cbos import CbosEffect, CbosReport, CbosTask, CbosYear, evaluate_cbos
    from semsearch.evaluate.classify import evaluate_classify
    from semsearch.evaluate.classify_report import ClassifyReport, ClassifyScore, GroupSizes
    from semsearch.evaluate.comparison import RetrievalRow
    from semsearch.evaluate.confound import ConfoundReport, evaluate_confound
    from semsearch.evaluate.directions import ComponentsReport, RemovedDirections, evaluate_components
    from semsearch.evaluate.orderings import Ordering
    from semsearch.evaluate.retrieval import evaluate_retrieval
    from semsearch.evaluate.sts import evaluate_sts
    from semsearch.evaluate.sts_report import StsAverage, StsReport, StsScore
    from semsearch.evaluate.supervised import evaluate_supervised
    from semsearch.evaluate.supervised_report import SupervisedOrdering, SupervisedReport, SupervisedScore, Trial
    from semsearch.evaluate.sweep import SweepPoint, SweepReport, evaluate_sweep
    from semsearch.evaluate.weighing import WeightRow, WeightsReport, evaluate_weights
    from semsearch.evaluate.word_vectors import VectorsReport, evaluate_vectors

__all__ = [
    "CbosEffect",
    "CbosReport",
    "CbosTask",
    "CbosYear",
    "ClassifyReport",
    "ClassifyScore",
    "ComponentsReport",
    "ConfoundReport",
    "ErrorAgreement",
    "Figure",
    "GroupSizes",
    "ModelComparison",
    "Ordering",
    "RemovedDirections",
    "RetrievalRow",
    "StsAverage",
    "StsReport",
    "StsScore",
    "SupervisedOrdering",
    "SupervisedReport",
    "SupervisedScore",
    "SweepPoint",
    "SweepReport",
    "Trial",
    "VectorsReport",
    "WeightRow",
    "WeightsReport",
    "evaluate_cbos",
    "evaluate_classify",
    "evaluate_components",
    "evaluate_confound",
    "evaluate_retrieval",
    "evaluate_sts",
    "evaluate_supervised",
    "evaluate_sweep",
    "evaluate_vectors",
    "evaluate_weights",
]

_HOMES = {
    "CbosEffect": "cbos",
    "CbosReport": "cbos",
    "CbosTask": "cbos",
    "CbosYear": "cbos",
    "ClassifyReport": "classify_report",
    "ClassifyScore": "classify_report",
    "ComponentsReport": "directions",
    "ConfoundReport": "confound",
    "ErrorAgreement": "agreement",
    "Figure": "bootstrap",
    "GroupSizes": "classify_report",
    "ModelComparison": "agreement",
    "Ordering": "orderings",
    "RemovedDirections": "directions",
    "RetrievalRow": "comparison",
    "StsAverage": "sts_report",
    "StsReport": "sts_report",
    "StsScore": "sts_report",
    "SupervisedOrdering": "supervised_report",
    "SupervisedReport": "supervised_report",
    "SupervisedScore": "supervised_report",
    "SweepPoint": "sweep",
    "SweepReport": "sweep",
    "Trial": "supervised_report",
    "VectorsReport": "word_vectors",
    "WeightRow": "weighing",
    "WeightsReport": "weighing",
    "evaluate_cbos": "cbos",
    "evaluate_classify": "classify",
    "evaluate_components": "directions",
    "evaluate_confound": "confound",
    "evaluate_retrieval": "retrieval",
    "evaluate_sts": "sts",
    "evaluate_supervised": "supervised",
    "evaluate_sweep": "sweep",
    "evaluate_vectors": "word_vectors",
    "evaluate_weights": "weighing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'semsearch.evaluate' has no attribute {name!r}")
    return getattr(import_module(f"semsearch.evaluate.{_HOMES[name]}"), name)
