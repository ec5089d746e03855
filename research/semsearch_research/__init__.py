"""The laboratory of semsearch: the experiments of the papers that it is built on, and `semsearch bench`.

    from semsearch_research import evaluate_sweep
    print(evaluate_sweep(["sts/"]).best)

It uses semsearch's public names alone. The names below are loaded when they are first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import semsearch

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch_research.analysis.assumptions import (
        AssumptionsReport as AssumptionsReport,
        evaluate_assumptions as evaluate_assumptions,
    )
    from semsearch_research.analysis.confound import (
        ConfoundReport as ConfoundReport,
        evaluate_confound as evaluate_confound,
    )
    from semsearch_research.analysis.removal import (
        RemovalPoint as RemovalPoint,
        RemovalReport as RemovalReport,
        evaluate_removal as evaluate_removal,
    )
    from semsearch_research.analysis.removed_directions import (
        ComponentsReport as ComponentsReport,
        RemovedDirections as RemovedDirections,
        evaluate_components as evaluate_components,
    )
    from semsearch_research.analysis.sweep import (
        SweepPoint as SweepPoint,
        SweepReport as SweepReport,
        evaluate_sweep as evaluate_sweep,
    )
    from semsearch_research.analysis.weighing import (
        WeightRow as WeightRow,
        WeightsReport as WeightsReport,
        evaluate_weights as evaluate_weights,
    )
    from semsearch_research.cbos.word2vec_comparison import (
        CbosDifference as CbosDifference,
        CbosEffect as CbosEffect,
        CbosReport as CbosReport,
        CbosTask as CbosTask,
        CbosYear as CbosYear,
        evaluate_cbos as evaluate_cbos,
    )
    from semsearch_research.datasets.data_report import DataReport as DataReport, DatasetState as DatasetState
    from semsearch_research.datasets.laying_out import lay_out_data as lay_out_data
    from semsearch_research.papers.reproduction import evaluate_report as evaluate_report
    from semsearch_research.papers.writing import write_report as write_report
    from semsearch_research.papers_report import PapersReport as PapersReport
    from semsearch_research.paraphrase.agreement import (
        ErrorAgreement as ErrorAgreement,
        ModelComparison as ModelComparison,
    )
    from semsearch_research.paraphrase.classification import evaluate_classify as evaluate_classify
    from semsearch_research.paraphrase.classify_report import (
        ClassifyReport as ClassifyReport,
        ClassifyScore as ClassifyScore,
        GroupSizes as GroupSizes,
    )
    from semsearch_research.published import figures as figures
    from semsearch_research.released.costs import (
        ReleasedCost as ReleasedCost,
        ReleasedReport as ReleasedReport,
        evaluate_released as evaluate_released,
    )
    from semsearch_research.supervised.several_seeds import evaluate_supervised as evaluate_supervised
    from semsearch_research.supervised.supervised_report import (
        SeedsDifference as SeedsDifference,
        SupervisedOrdering as SupervisedOrdering,
        SupervisedReport as SupervisedReport,
        SupervisedRun as SupervisedRun,
        SupervisedScore as SupervisedScore,
        Trial as Trial,
    )

PROGRAM = (semsearch, sys.modules[__name__])  # all that a result may depend on
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
    "papers.reproduction": "evaluate_report",
    "papers.writing": "write_report",
    "papers_report": "PapersReport",
    "paraphrase.agreement": "ErrorAgreement ModelComparison",
    "paraphrase.classification": "evaluate_classify",
    "paraphrase.classify_report": "ClassifyReport ClassifyScore GroupSizes",
    "published": "figures",
    "released.costs": "ReleasedCost ReleasedReport evaluate_released",
    "supervised.several_seeds": "evaluate_supervised",
    "supervised.supervised_report": (
        "SeedsDifference SupervisedOrdering SupervisedReport SupervisedRun SupervisedScore Trial"
    ),
}
_NAMES = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'semsearch_research' has no attribute {name!r}")
    return getattr(import_module(f"semsearch_research.{_NAMES[name]}"), name)
