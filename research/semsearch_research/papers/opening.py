"""The opening of the report: the command that wrote it, the word vectors, what was not run, what verdicts mean."""

from __future__ import annotations

from collections.abc import Iterator

from semsearch_research.evaluate.published import YEAR_TASKS
from semsearch_research.evaluate.table import Table, prose
from semsearch_research.papers.chapters import shown
from semsearch_research.papers_report import SEEDS, TRAINED, PapersReport
from semsearch_research.section import Section

TITLE = "The papers, reproduced"
_TWITTER = "Twitter15"  # of the SIF paper's table 1
_COMMAND = Section(of="vectors", command="report DATA --out FOLDER", vectors="all")
_OF_SIF = {"snli": "SIF, table 7", "imdb": "SIF, table 8"}  # data sets of its appendix


def opening(report: PapersReport) -> Iterator[str]:
    """The lines of the opening."""
    yield f"# {TITLE}"
    yield ""
    yield from prose(
        "Each method and experiment of the papers that semsearch is built on, with what was published beside what was "
        "measured. Written by this command, and to be written anew by it; the notes between marks are by hand:"
    )
    text = "".join(f" --train-text {name}" for name in report.texts)
    text += f" --train-sentences {report.train_sentences}" if text and report.train_sentences != TRAINED else ""
    text += f" --seeds {report.seeds}" if report.seeds != SEEDS else ""
    yield from (line + text * line.startswith("semsearch") for line in shown(*_COMMAND.commands(report)))
    rows = [[one.name, f"{one.words:,}", str(one.dimension), one.digest[:8]] for one in report.vectors]
    yield from Table(["word vectors", "words", "dimensions", "digest"], rows).markdown()
    if len(report.vectors) > 1:
        yield from prose(f"Supervised tasks, paraphrase groups and weights are those of {report.vectors[0].name}.")
    if report.libraries:
        yield from prose(
            f"Made in one run, with {', '.join(report.libraries)}. The same run gives the same bytes again. With other "
            "libraries or kernels, what is learned is as if of another seed."
        )
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
    if report.supervised is not None:
        learned = {score.task.partition(" ")[0] for score in report.supervised.scores}
        lacking_texts = [(name, table) for name, table in _OF_SIF.items() if name not in learned]
        found += [f"{name} ({table}): its files are not in supervised/" for name, table in lacking_texts]
    if found:
        yield from prose("Not run:")
        yield from (f"- {one}" for one in found)
        yield ""
