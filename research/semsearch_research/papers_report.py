"""The results of all experiments of the papers, from which the report is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semsearch.results.codec import Record
from semsearch_research.analysis.sweep import SweepReport
from semsearch_research.analysis.weighing import WeightsReport
from semsearch_research.cbos.word2vec_comparison import CbosReport
from semsearch_research.evaluate.sts_scores import StsReport
from semsearch_research.paraphrase.classify_report import ClassifyReport
from semsearch_research.supervised.supervised_report import SupervisedReport

TRAINED = 300_000  # sentences of the text that is trained on
SEEDS = 3  # of supervised tasks and CBOS


@dataclass(frozen=True, slots=True)
class UsedVectors(Record):
    """Word vectors that were used, by name, size and digest."""

    name: str
    words: int
    dimension: int
    digest: str


@dataclass(frozen=True, slots=True)
class PapersReport(Record):
    """The results of each experiment; None for one that was not run. `missing` names these, with reasons.

    `fitted` has SIF and uSIF fitted on all tasks together beside each task's own, `on_counts` both with p(w) from a
    file of word counts, `counted` the weights by it.
    Supervised, classify, weights and counted use the first word vectors. `counts` and `texts` are names of files: of
    word counts, and of training texts. `libraries` are the packages that the figures depend on, with versions.
    """

    vectors: tuple[UsedVectors, ...]
    missing: tuple[str, ...]
    counts: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    train_sentences: int = TRAINED
    seeds: int = SEEDS
    sts: StsReport | None = None
    fitted: StsReport | None = None
    on_counts: StsReport | None = None
    weights: WeightsReport | None = None
    counted: WeightsReport | None = None
    sweep: SweepReport | None = None
    supervised: SupervisedReport | None = None
    classify: ClassifyReport | None = None
    cbos: CbosReport | None = None

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON, without seconds and folders, so that it is the same everywhere."""
        found = Record.to_dict(self)
        for one in (value for value in found.values() if isinstance(value, dict)):
            one.pop("seconds", None)
            for each in (one, *one.get("points", ()), *one.get("best", ())):
                if "frequencies" in each:
                    each["frequencies"] = Path(each["frequencies"]).name
        return found
