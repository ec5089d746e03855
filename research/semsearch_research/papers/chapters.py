"""The chapters of the report as Markdown, one for each paper: tables and pictures, with their commands and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from semsearch_research.evaluate.table import PictureOf, Table, prose
from semsearch_research.experiments import (
    cbos_experiment,
    classify_experiment,
    similarity_sections,
    supervised_experiment,
    sweep_experiment,
    weights_experiment,
)
from semsearch_research.papers import notes
from semsearch_research.papers_report import PapersReport
from semsearch_research.section import Section


@dataclass(frozen=True, slots=True)
class Chapter:
    """What is reproduced of a paper. `name` is that of its page, if the papers have a page each."""

    name: str
    heading: str
    sections: Sequence[Section]

    def there(self, report: PapersReport) -> list[Section]:
        """The sections whose experiments were run."""
        return [section for section in self.sections if _found(section, report)]

    @property
    def notes(self) -> list[str]:
        """The names of its notes."""
        return [section.note for section in self.sections if section.note]


CHAPTERS: Sequence[Chapter] = (
    Chapter(
        "sif",
        "SIF: Arora, Liang, Ma 2017",
        (
            similarity_sections.SIMILARITY,
            weights_experiment.SECTION,
            sweep_experiment.SECTION,
            similarity_sections.FITTED,
            similarity_sections.ON_COUNTS,
            supervised_experiment.OF_SIF,
        ),
    ),
    Chapter(
        "usif",
        "uSIF: Ethayarajh 2018",
        (
            similarity_sections.USIF,
            similarity_sections.PARTS,
            supervised_experiment.OF_USIF,
        ),
    ),
    Chapter(
        "cbos",
        "Continuous bag of sentences: Yuan, Zhang",
        (
            cbos_experiment.TRAINED,
            cbos_experiment.TABLE_I,
        ),
    ),
    Chapter(
        "white",
        "How well sentence embeddings capture meaning: White et al. 2015",
        (classify_experiment.SECTION,),
    ),
)


IMAGES = "images"  # the folder of the pictures, beside the pages


def sections_of(chapter: Chapter, report: PapersReport, written: Mapping[str, str]) -> Iterator[str]:
    """The lines of a chapter's sections with their notes. `written` are the notes by name."""
    for section in chapter.there(report):
        yield from _section(section, report)
        if section.note:
            yield from notes.passage(section.note, written)


def _found(section: Section, report: PapersReport) -> Any:
    """The results that a section is about; None or empty if the experiment was not run."""
    found: Any = report
    for name in section.of.split("."):
        found = getattr(found, name, None)
    return found


def _section(section: Section, report: PapersReport) -> Iterator[str]:
    if section.title:
        yield from prose(f"## {section.title}")
    if commands := list(section.commands(report)):
        yield from shown(*commands)
    if section.says:
        yield from prose(section.says if isinstance(section.says, str) else section.says(report))
    for block in section.blocks(_found(section, report), report):
        if isinstance(block, Table):
            yield from block.markdown()
        elif isinstance(block, PictureOf):
            yield f"![{block.shows}]({IMAGES}/{block.file}.png)"
            yield ""
        else:
            yield from prose(block)


def shown(*commands: str) -> Iterator[str]:
    """The lines of commands as a block."""
    yield "```sh"
    yield from commands
    yield "```"
    yield ""
