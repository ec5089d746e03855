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
    from semsearch.evaluate.analysis.confound import ConfoundReport, evaluate_confound
    from semsearch.evaluate.analysis.directions import ComponentsReport, RemovedDirections, evaluate_components
    from semsearch.evaluate.analysis.sweep import SweepPoint, SweepReport, evaluate_sweep
    from semsearch.evaluate.analysis.weighing import WeightRow, WeightsReport, evaluate_weights
    from semsearch.evaluate.cbos.experiment import CbosEffect, CbosReport, CbosTask, CbosYear, evaluate_cbos
    from semsearch.evaluate.papers.experiments import evaluate_report
    from semsearch.evaluate.papers.report import PapersReport
    from semsearch.evaluate.papers.writing import write_report
    from semsearch.evaluate.paraphrase.agreement import ErrorAgreement, ModelComparison
    from semsearch.evaluate.paraphrase.experiment import evaluate_classify
    from semsearch.evaluate.paraphrase.report import ClassifyReport, ClassifyScore, GroupSizes
    from semsearch.evaluate.retrieval.bootstrap import Figure
    from semsearch.evaluate.retrieval.comparison import RetrievalRow
    from semsearch.evaluate.retrieval.experiment import evaluate_retrieval
    from semsearch.evaluate.similarity.orderings import Ordering
    from semsearch.evaluate.similarity.sts import evaluate_sts
    from semsearch.evaluate.similarity.sts_report import StsAverage, StsReport, StsScore
    from semsearch.evaluate.supervised.experiment import evaluate_supervised
    from semsearch.evaluate.supervised.report import SupervisedOrdering, SupervisedReport, SupervisedScore, Trial
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
    "PapersReport",
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
    "evaluate_report",
    "evaluate_retrieval",
    "evaluate_sts",
    "evaluate_supervised",
    "evaluate_sweep",
    "evaluate_vectors",
    "evaluate_weights",
    "write_report",
]

_HOMES = {
    "CbosEffect": "cbos.experiment",
    "CbosReport": "cbos.experiment",
    "CbosTask": "cbos.experiment",
    "CbosYear": "cbos.experiment",
    "ClassifyReport": "paraphrase.report",
    "ClassifyScore": "paraphrase.report",
    "ComponentsReport": "analysis.directions",
    "ConfoundReport": "analysis.confound",
    "ErrorAgreement": "paraphrase.agreement",
    "Figure": "retrieval.bootstrap",
    "GroupSizes": "paraphrase.report",
    "ModelComparison": "paraphrase.agreement",
    "Ordering": "similarity.orderings",
    "PapersReport": "papers.report",
    "RemovedDirections": "analysis.directions",
    "RetrievalRow": "retrieval.comparison",
    "StsAverage": "similarity.sts_report",
    "StsReport": "similarity.sts_report",
    "StsScore": "similarity.sts_report",
    "SupervisedOrdering": "supervised.report",
    "SupervisedReport": "supervised.report",
    "SupervisedScore": "supervised.report",
    "SweepPoint": "analysis.sweep",
    "SweepReport": "analysis.sweep",
    "Trial": "supervised.report",
    "VectorsReport": "word_vectors",
    "WeightRow": "analysis.weighing",
    "WeightsReport": "analysis.weighing",
    "evaluate_cbos": "cbos.experiment",
    "evaluate_classify": "paraphrase.experiment",
    "evaluate_components": "analysis.directions",
    "evaluate_confound": "analysis.confound",
    "evaluate_report": "papers.experiments",
    "evaluate_retrieval": "retrieval.experiment",
    "evaluate_sts": "similarity.sts",
    "evaluate_supervised": "supervised.experiment",
    "evaluate_sweep": "analysis.sweep",
    "evaluate_vectors": "word_vectors",
    "evaluate_weights": "analysis.weighing",
    "write_report": "papers.writing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'semsearch.evaluate' has no attribute {name!r}")
    return getattr(import_module(f"semsearch.evaluate.{_HOMES[name]}"), name)
