"""Declarations of experiments are light to import, and match the functions that they run."""

from __future__ import annotations

import inspect

import pytest

from semsearch import evaluate
from semsearch.evaluate.experiment import Experiment
from semsearch.evaluate.retrieval_experiment import RETRIEVAL
from semsearch.evaluate.sts_experiment import STS
from semsearch.evaluate.vectors_experiment import VECTORS_EXPERIMENT

# what `run` itself makes of options, before the function of semsearch.evaluate sees them
OF_RUN = {"sts": {"ablation"}, "evaluate": {"name", "record"}}


def function_of(experiment: Experiment) -> inspect.Signature:
    name = "vectors" if experiment is VECTORS_EXPERIMENT else experiment.name
    return inspect.signature(getattr(evaluate, f"evaluate_{name}"))


@pytest.mark.parametrize("experiment", [RETRIEVAL, STS, VECTORS_EXPERIMENT], ids=lambda one: one.name)
def test_options_are_arguments_of_what_is_run_with_the_same_defaults(experiment: Experiment) -> None:
    own = OF_RUN.get(experiment.name, set())
    parameters = function_of(experiment).parameters
    for option in experiment.options:
        if option.shown or option.name in own:
            continue
        assert option.name in parameters, option.name
        if option.default is not None:
            assert parameters[option.name].default == option.default, option.name
