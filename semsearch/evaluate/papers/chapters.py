"""Write the report as Markdown: a chapter for each paper, tables and pictures, each with its command.

The text does not depend on when, where or how fast it was made: the same results and notes give the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from semsearch.evaluate.experiments import (
    assumptions_experiment,
    cbos_experiment,
    classify_experiment,
    components_experiment,
    confound_experiment,
    released_experiment,
    removal_experiment,
    sts_experiment,
    supervised_experiment,
    sweep_experiment,
    weights_experiment,
)
from semsearch.evaluate.experiments.section import Section
from semsearch.evaluate.papers import notes
from semsearch.evaluate.papers.papers_report import SEEDS, TRAINED, PapersReport
from semsearch.evaluate.published import YEAR_TASKS
from semsearch.evaluate.table import PictureOf, Table, prose

_TWITTER = "Twitter15"  # of the SIF paper's table 1
CHAPTERS: Mapping[str, Sequence[Section]] = {
    "SIF: Arora, Liang, Ma 2017": (
        sts_experiment.SIMILARITY,
        weights_experiment.SECTION,
        sweep_experiment.SECTION,
        components_experiment.SECTION,
        sts_experiment.FITTED,
        sts_experiment.ON_COUNTS,
        released_experiment.SECTION,
        supervised_experiment.OF_SIF,
    ),
    "uSIF: Ethayarajh 2018": (
        sts_experiment.USIF,
        sts_experiment.PARTS,
        removal_experiment.SECTION,
        confound_experiment.SECTION,
        assumptions_experiment.SECTION,
        supervised_experiment.OF_USIF,
    ),
    "Continuous bag of sentences: Yuan, Zhang": (
        cbos_experiment.TRAINED,
        cbos_experiment.TABLE_I,
        cbos_experiment.BLANKS,
        cbos_experiment.EFFECTS,
    ),
    "How well sentence embeddings capture meaning: White et al. 2015": (
        classify_experiment.SECTION,
        classify_experiment.REDUCED,
        classify_experiment.ERRORS,
    ),
}


def document(report: PapersReport, written: Mapping[str, str], *, link: Callable[[str], str] | None = None) -> str:
    """Write the report. `written` are the notes by name; `link` gives the path of a picture, None leaves them out."""
    lines = [*_opening(report), *notes.passage("opening", written)]
    placed = {"opening"}
    for heading, sections in CHAPTERS.items():
        there = [section for section in sections if _found(section, report)]
        lines += [f"## {heading}", ""] if there else []
        for section in there:
            lines += [*_section(section, report, link), *(notes.passage(section.note, written) if section.note else [])]
            placed.add(section.note)
    rest = [name for name in written if name not in placed and written[name]]
    if rest:
        lines += ["## Notes on what was not run this time", ""]
        lines += [line for name in rest for line in notes.passage(name, written)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _found(section: Section, report: PapersReport) -> Any:
    """The results that a section is about; None or empty if the experiment was not run."""
    found: Any = report
    for name in section.of.split("."):
        found = getattr(found, name, None)
    return found


def _section(section: Section, report: PapersReport, link: Callable[[str], str] | None) -> Iterator[str]:
    if section.title:
        yield from prose(f"### {section.title}")
    if commands := list(section.commands(report)):
        yield from _shown(*commands)
    if section.says:
        yield from prose(section.says if isinstance(section.says, str) else section.says(report))
    for block in section.blocks(_found(section, report), report):
        if isinstance(block, Table):
            yield from block.markdown()
        elif not isinstance(block, PictureOf):
            yield from prose(block)
        elif link is not None:
            yield f"![{block.shows}]({link(f'{block.file}.png')})"
            yield ""


def _opening(report: PapersReport) -> Iterator[str]:
    yield "# The papers, reproduced"
    yield ""
    yield from prose(
        "Each method and experiment of the papers that semsearch is built on, with what was published beside what was "
        "measured. Written by this command, and to be written anew by it; the notes between marks are by hand:"
    )
    text = "".join(f" --train-text {name}" for name in report.texts)
    text += f" --train-sentences {report.train_sentences}" if text and report.train_sentences != TRAINED else ""
    text += f" --seeds {report.seeds}" if report.seeds != SEEDS else ""
    yield from (line + text * line.startswith("semsearch") for line in _shown(*_COMMAND.commands(report)))
    rows = [[one.name, f"{one.words:,}", str(one.dimension), one.digest[:8]] for one in report.vectors]
    yield from Table(["word vectors", "words", "dimensions", "digest"], rows).markdown()
    if len(report.vectors) > 1:
        yield from prose(f"Supervised tasks, paraphrase groups and weights are those of {report.vectors[0].name}.")
    yield from _missing(report)
    yield from prose(
        '"holds", "reversed" and "no difference shown" are verdicts at the level of 95 %. Of similarities: whether '
        "zero lies in the interval of the mean difference, pairs of sentences being drawn anew within each task (the "
        "paired bootstrap). Of supervised tasks: Welch's t-test over the seeds, and whether zero lies in the interval "
        "as well, test examples being drawn anew. Where sentences are "
        "classified: McNemar's test. Behind them: in how many tasks the first was above the second, and the mean "
        "difference in points."
    )


def _missing(report: PapersReport) -> Iterator[str]:
    """The lines on experiments that were not run, and on years that are not complete."""
    found = list(report.missing)
    if report.sts is not None:
        tasks = dict.fromkeys((average.group, average.tasks) for average in report.sts.averages if not average.whole)
        lacking = [(group, count) for group, count in tasks if group in YEAR_TASKS]
        found += [f"{group}: {count} of its {len(YEAR_TASKS[group])} tasks were there" for group, count in lacking]
        if all(average.group != _TWITTER for average in report.sts.averages):
            found.append(f"{_TWITTER}: there is no sts/twitter15.test.tsv, which `semsearch evaluate data` makes")
    if found:
        yield from prose("Not run:")
        yield from (f"- {one}" for one in found)
        yield ""


def _shown(*commands: str) -> Iterator[str]:
    yield "```sh"
    yield from commands
    yield "```"
    yield ""


_COMMAND = Section(of="vectors", command="report FOLDER --out FILE", vectors="all")
