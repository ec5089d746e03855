"""What the experiments of the papers found together: everything that the report is written from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.evaluate.record import Record

if TYPE_CHECKING:
    from semsearch.evaluate.analysis.confound import ConfoundReport
    from semsearch.evaluate.analysis.removed_directions import ComponentsReport
    from semsearch.evaluate.analysis.sweep import SweepReport
    from semsearch.evaluate.analysis.weighing import WeightsReport
    from semsearch.evaluate.cbos.beside_word2vec import CbosReport
    from semsearch.evaluate.paraphrase.classify_report import ClassifyReport
    from semsearch.evaluate.similarity.sts_report import StsReport
    from semsearch.evaluate.supervised.supervised_report import SupervisedReport

TRAINED = 300_000  # sentences of the text that is trained on


@dataclass(frozen=True, slots=True)
class UsedVectors(Record):
    """Word vectors that were run."""

    name: str
    words: int
    dimension: int
    digest: str


@dataclass(frozen=True, slots=True)
class PapersReport(Record):
    """What each experiment found; None for one that was not run. `missing` says which were not, and why.

    `fitted` has SIF and uSIF fitted on all tasks together beside each task's own, `counted` the weights by a file of
    word counts. `components` and `confound` have one each for every word vectors; supervised, classify, weights and
    counted are of the first. `counts` and `texts` are the names of files: of word counts, and trained on.
    """

    vectors: tuple[UsedVectors, ...]
    missing: tuple[str, ...]
    counts: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    train_sentences: int = TRAINED
    sts: StsReport | None = None
    fitted: StsReport | None = None
    weights: WeightsReport | None = None
    counted: WeightsReport | None = None
    sweep: SweepReport | None = None
    components: tuple[ComponentsReport, ...] = ()
    confound: tuple[ConfoundReport, ...] = ()
    supervised: SupervisedReport | None = None
    classify: ClassifyReport | None = None
    cbos: CbosReport | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON: everything, but how long training took and where files lie, so that it is the same everywhere."""
        found = Record.to_dict(self)
        for one in (value for value in found.values() if isinstance(value, dict)):
            one.pop("seconds", None)
            for each in (one, *one.get("points", ()), *one.get("best", ())):
                if "frequencies" in each:
                    each["frequencies"] = Path(each["frequencies"]).name
        return found
