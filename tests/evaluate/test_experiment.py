"""Declarations of experiments are light to import, and match the functions that they run."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import fields

import pytest

from semsearch import evaluate
from semsearch.evaluate.experiment import Experiment
from semsearch.evaluate.experiments.catalogue import EXPERIMENTS
from semsearch.evaluate.experiments.vectors_experiment import VECTORS_EXPERIMENT
from semsearch.evaluate.papers.chapters import CHAPTERS
from semsearch.evaluate.papers.data import NEEDS
from semsearch.evaluate.papers.papers_report import PapersReport
from semsearch.evaluate.paraphrase.paragraph_vectors import ParagraphSettings

# what `run` itself makes of options, before the function of semsearch.evaluate sees them
OF_RUN = {"sts": {"ablation"}, "classify": {"train_sentences", "train_rounds"}, "evaluate": {"name", "record"}}


def function_of(experiment: Experiment) -> inspect.Signature:
    name = "vectors" if experiment is VECTORS_EXPERIMENT else experiment.name
    return inspect.signature(getattr(evaluate, f"evaluate_{name}"))


def test_declarations_import_nothing_heavy() -> None:
    command = "import semsearch.cli.evaluate.evaluate_command, sys; print({'numpy', 'scipy'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


@pytest.mark.parametrize("experiment", [*EXPERIMENTS, VECTORS_EXPERIMENT], ids=lambda one: one.name)
def test_options_are_arguments_of_what_is_run_with_the_same_defaults(experiment: Experiment) -> None:
    own = OF_RUN.get(experiment.name, set())
    parameters = function_of(experiment).parameters
    for option in experiment.options:
        if option.shown or option.name in own:
            continue
        assert option.name in parameters, option.name
        if option.default is not None:
            assert parameters[option.name].default == option.default, option.name


def test_what_paragraph_vectors_are_trained_on_is_theirs_by_default() -> None:
    [classify] = [one for one in EXPERIMENTS if one.name == "classify"]
    defaults = {option.name: option.default for option in classify.options}
    settings = ParagraphSettings()
    assert (defaults["train_sentences"], defaults["train_rounds"]) == (settings.sentences, settings.rounds)


def test_an_experiment_needs_what_a_folder_may_have() -> None:
    assert {one.reproduction.needs for one in EXPERIMENTS if one.reproduction} <= set(NEEDS)


def test_sections_are_about_what_the_report_has_and_their_notes_have_names_of_their_own() -> None:
    sections = [section for chapter in CHAPTERS for section in chapter.sections]
    assert {section.of.partition(".")[0] for section in sections} <= {field.name for field in fields(PapersReport)}
    notes = [section.note for section in sections if section.note]
    assert len(set(notes)) == len(notes)
    reproduced = {one.name for one in EXPERIMENTS if one.reproduction}
    assert reproduced <= {section.of.partition(".")[0] for section in sections}  # each has its place in the report
