"""The experiments of the papers, in the order of the report. A new one is a file and a line in each list below."""

from __future__ import annotations

from semsearch_research.evaluate.experiment import Experiment
from semsearch_research.experiments import (
    assumptions_experiment,
    cbos_experiment,
    classify_experiment,
    components_experiment,
    confound_experiment,
    released_experiment,
    removal_experiment,
    similarity_sections,
    supervised_experiment,
    sweep_experiment,
    weights_experiment,
)
from semsearch_research.papers_data import Reproduction

REPRODUCTIONS: tuple[Reproduction, ...] = (
    similarity_sections.REPRODUCTION,
    released_experiment.REPRODUCTION,
    weights_experiment.REPRODUCTION,
    sweep_experiment.REPRODUCTION,
    components_experiment.REPRODUCTION,
    removal_experiment.REPRODUCTION,
    confound_experiment.REPRODUCTION,
    assumptions_experiment.REPRODUCTION,
    supervised_experiment.REPRODUCTION,
    classify_experiment.REPRODUCTION,
    cbos_experiment.REPRODUCTION,
)
EXPERIMENTS: tuple[Experiment, ...] = tuple(one.experiment for one in REPRODUCTIONS[1:])  # the first is semsearch's own
