"""Measuring what semsearch finds: retrieval on test collections, similarity on sentence pairs, the papers' experiments.

    from semsearch.evaluate import evaluate_retrieval, evaluate_sts
    for row in evaluate_retrieval(["scifact", "cisi"]):
        print(row.collection, row.mode, row.figures["ndcg@10"].value)

The names below are loaded when they are first used, so that a process pays only for what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.evaluate.analysis.assumptions import AssumptionsReport, evaluate_assumptions
    from semsearch.evaluate.analysis.confound import ConfoundReport, evaluate_confound
    from semsearch.evaluate.analysis.removal import RemovalPoint, RemovalReport, evaluate_removal
    from semsearch.evaluate.analysis.removed_directions import ComponentsReport, RemovedDirections, evaluate_components
    from semsearch.evaluate.analysis.sweep import SweepPoint, SweepReport, evaluate_sweep
    from semsearch.evaluate.analysis.weighing import WeightRow, WeightsReport, evaluate_weights
    from semsearch.evaluate.cbos.word2vec_comparison import (
        CbosDifference,
        CbosEffect,
        CbosReport,
        CbosTask,
        CbosYear,
        evaluate_cbos,
    )
    from semsearch.evaluate.datasets.data_report import DataReport, DatasetState
    from semsearch.evaluate.datasets.laying_out import lay_out_data
    from semsearch.evaluate.golden.golden_report import GoldenReport
    from semsearch.evaluate.golden.golden_run import evaluate_golden
    from semsearch.evaluate.papers.papers_report import PapersReport
    from semsearch.evaluate.papers.reproduction import evaluate_report
    from semsearch.evaluate.papers.writing import write_report
    from semsearch.evaluate.paraphrase.agreement import ErrorAgreement, ModelComparison
    from semsearch.evaluate.paraphrase.classification import evaluate_classify
    from semsearch.evaluate.paraphrase.classify_report import ClassifyReport, ClassifyScore, GroupSizes
    from semsearch.evaluate.released.costs import ReleasedCost, ReleasedReport, evaluate_released
    from semsearch.evaluate.retrieval.bootstrap import Figure
    from semsearch.evaluate.retrieval.comparison import RetrievalRow
    from semsearch.evaluate.retrieval.modes_and_peers import evaluate_retrieval
    from semsearch.evaluate.similarity.orderings import Ordering
    from semsearch.evaluate.similarity.sts import evaluate_sts
    from semsearch.evaluate.similarity.sts_report import FitDifference, StsAverage, StsReport, StsScore
    from semsearch.evaluate.supervised.several_seeds import evaluate_supervised
    from semsearch.evaluate.supervised.supervised_report import (
        SeedsDifference,
        SupervisedOrdering,
        SupervisedReport,
        SupervisedRun,
        SupervisedScore,
        Trial,
    )
    from semsearch.evaluate.vector_scores import VectorsReport, evaluate_vectors

__all__ = [
    "AssumptionsReport",
    "CbosDifference",
    "CbosEffect",
    "CbosReport",
    "CbosTask",
    "CbosYear",
    "ClassifyReport",
    "ClassifyScore",
    "ComponentsReport",
    "ConfoundReport",
    "DataReport",
    "DatasetState",
    "ErrorAgreement",
    "Figure",
    "FitDifference",
    "GoldenReport",
    "GroupSizes",
    "ModelComparison",
    "Ordering",
    "PapersReport",
    "ReleasedCost",
    "ReleasedReport",
    "RemovalPoint",
    "RemovalReport",
    "RemovedDirections",
    "RetrievalRow",
    "SeedsDifference",
    "StsAverage",
    "StsReport",
    "StsScore",
    "SupervisedOrdering",
    "SupervisedReport",
    "SupervisedRun",
    "SupervisedScore",
    "SweepPoint",
    "SweepReport",
    "Trial",
    "VectorsReport",
    "WeightRow",
    "WeightsReport",
    "evaluate_assumptions",
    "evaluate_cbos",
    "evaluate_classify",
    "evaluate_components",
    "evaluate_confound",
    "evaluate_golden",
    "evaluate_released",
    "evaluate_removal",
    "evaluate_report",
    "evaluate_retrieval",
    "evaluate_sts",
    "evaluate_supervised",
    "evaluate_sweep",
    "evaluate_vectors",
    "evaluate_weights",
    "lay_out_data",
    "write_report",
]

_HOMES = {
    "analysis.assumptions": "AssumptionsReport evaluate_assumptions",
    "analysis.confound": "ConfoundReport evaluate_confound",
    "analysis.removal": "RemovalPoint RemovalReport evaluate_removal",
    "analysis.removed_directions": "ComponentsReport RemovedDirections evaluate_components",
    "analysis.sweep": "SweepPoint SweepReport evaluate_sweep",
    "analysis.weighing": "WeightRow WeightsReport evaluate_weights",
    "cbos.word2vec_comparison": "CbosDifference CbosEffect CbosReport CbosTask CbosYear evaluate_cbos",
    "datasets.data_report": "DataReport DatasetState",
    "datasets.laying_out": "lay_out_data",
    "golden.golden_report": "GoldenReport",
    "golden.golden_run": "evaluate_golden",
    "papers.papers_report": "PapersReport",
    "papers.reproduction": "evaluate_report",
    "papers.writing": "write_report",
    "paraphrase.agreement": "ErrorAgreement ModelComparison",
    "paraphrase.classification": "evaluate_classify",
    "paraphrase.classify_report": "ClassifyReport ClassifyScore GroupSizes",
    "released.costs": "ReleasedCost ReleasedReport evaluate_released",
    "retrieval.bootstrap": "Figure",
    "retrieval.comparison": "RetrievalRow",
    "retrieval.modes_and_peers": "evaluate_retrieval",
    "similarity.orderings": "Ordering",
    "similarity.sts": "evaluate_sts",
    "similarity.sts_report": "FitDifference StsAverage StsReport StsScore",
    "supervised.several_seeds": "evaluate_supervised",
    "supervised.supervised_report": (
        "SeedsDifference SupervisedOrdering SupervisedReport SupervisedRun SupervisedScore Trial"
    ),
    "vector_scores": "VectorsReport evaluate_vectors",
}
_NAMES = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'semsearch.evaluate' has no attribute {name!r}")
    return getattr(import_module(f"semsearch.evaluate.{_NAMES[name]}"), name)
