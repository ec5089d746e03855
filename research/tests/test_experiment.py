"""The experiments match the report of the papers."""

from __future__ import annotations

from dataclasses import fields

from semsearch_research.experiments.catalogue import EXPERIMENTS, REPRODUCTIONS
from semsearch_research.papers.chapters import CHAPTERS
from semsearch_research.papers_data import NEEDS
from semsearch_research.papers_report import PapersReport
from semsearch_research.paraphrase.paragraph_vectors import ParagraphSettings


def test_what_paragraph_vectors_are_trained_on_is_theirs_by_default() -> None:
    [classify] = [one for one in EXPERIMENTS if one.name == "classify"]
    defaults = {option.name: option.default for option in classify.options}
    settings = ParagraphSettings()
    assert (defaults["train_sentences"], defaults["train_rounds"]) == (settings.sentences, settings.rounds)


def test_an_experiment_needs_what_a_folder_may_have() -> None:
    assert {one.needs for one in REPRODUCTIONS} <= set(NEEDS)


def test_sections_are_about_what_the_report_has_and_their_notes_have_names_of_their_own() -> None:
    sections = [section for chapter in CHAPTERS for section in chapter.sections]
    assert {section.of.partition(".")[0] for section in sections} <= {field.name for field in fields(PapersReport)}
    notes = [section.note for section in sections if section.note]
    assert len(set(notes)) == len(notes)
    reproduced = {one.experiment.name for one in REPRODUCTIONS}
    assert reproduced <= {section.of.partition(".")[0] for section in sections}  # each has its place in the report
