"""`semsearch evaluate NAME` for each experiment of the papers, made of its declaration."""

from __future__ import annotations

from semsearch_research.commands.experiment_command import command_of
from semsearch_research.evaluate.retrieval_experiment import RETRIEVAL
from semsearch_research.evaluate.sts_experiment import STS
from semsearch_research.evaluate.vectors_experiment import VECTORS_EXPERIMENT
from semsearch_research.experiments.assumptions_experiment import ASSUMPTIONS
from semsearch_research.experiments.cbos_experiment import CBOS
from semsearch_research.experiments.classify_experiment import CLASSIFY
from semsearch_research.experiments.components_experiment import COMPONENTS
from semsearch_research.experiments.confound_experiment import CONFOUND
from semsearch_research.experiments.released_experiment import RELEASED
from semsearch_research.experiments.removal_experiment import REMOVAL
from semsearch_research.experiments.supervised_experiment import SUPERVISED
from semsearch_research.experiments.sweep_experiment import SWEEP
from semsearch_research.experiments.weights_experiment import WEIGHTS

retrieval = command_of(RETRIEVAL)
sts = command_of(STS)
vectors = command_of(VECTORS_EXPERIMENT)
released = command_of(RELEASED)
weights = command_of(WEIGHTS)
sweep = command_of(SWEEP)
components = command_of(COMPONENTS)
removal = command_of(REMOVAL)
confound = command_of(CONFOUND)
assumptions = command_of(ASSUMPTIONS)
supervised = command_of(SUPERVISED)
classify = command_of(CLASSIFY)
cbos = command_of(CBOS)
