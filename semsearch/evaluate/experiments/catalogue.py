"""The catalogue of experiments, in the order of `semsearch evaluate --help`. A new one is a file and a line below."""

from __future__ import annotations

from semsearch.evaluate.experiment import Experiment
from semsearch.evaluate.experiments.assumptions_experiment import ASSUMPTIONS
from semsearch.evaluate.experiments.cbos_experiment import CBOS
from semsearch.evaluate.experiments.classify_experiment import CLASSIFY
from semsearch.evaluate.experiments.components_experiment import COMPONENTS
from semsearch.evaluate.experiments.confound_experiment import CONFOUND
from semsearch.evaluate.experiments.released_experiment import RELEASED
from semsearch.evaluate.experiments.removal_experiment import REMOVAL
from semsearch.evaluate.experiments.retrieval_experiment import RETRIEVAL
from semsearch.evaluate.experiments.sts_experiment import STS
from semsearch.evaluate.experiments.supervised_experiment import SUPERVISED
from semsearch.evaluate.experiments.sweep_experiment import SWEEP
from semsearch.evaluate.experiments.weights_experiment import WEIGHTS

EXPERIMENTS: tuple[Experiment, ...] = (
    RETRIEVAL,
    STS,
    RELEASED,
    WEIGHTS,
    SWEEP,
    COMPONENTS,
    REMOVAL,
    CONFOUND,
    ASSUMPTIONS,
    SUPERVISED,
    CLASSIFY,
    CBOS,
)
