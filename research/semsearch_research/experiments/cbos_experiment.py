"""`semsearch evaluate cbos`: continuous bag of sentences beside skip-gram and CBOW."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from semsearch_research.cbos.word2vec_comparison import CbosReport, evaluate_cbos
from semsearch_research.command_line import (
    BlankAsZeroOption,
    FreshOption,
    JsonOption,
    SeedOption,
    chosen,
    measuring,
    show,
)
from semsearch_research.evaluate.claims import Held, counted
from semsearch_research.evaluate.table import NONE, Block, Table, bold, number, within
from semsearch_research.papers_report import PapersReport
from semsearch_research.section import Section

_PEERS = ("skip-gram", "CBOW")
_SEEDS = 3


def tasks(report: CbosReport) -> Table:
    """The table of Yuan and Zhang's table I: tasks, and the means of a year's tasks that were run."""
    ours, theirs = list(report.tasks[0].pearson), list(report.tasks[0].published)
    rows = []
    for year in report.years:
        for task in (task for task in report.tasks if task.group == year.group):
            found = (within(task.pearson[name], *task.interval[name]) for name in ours)
            rows.append([task.task, f"{task.pairs:,}", *found, *(number(task.published[name]) for name in theirs)])
        name = f"{year.group}, mean" + ("" if year.whole else f" of these {year.tasks}")
        means = (within(year.pearson[one], *year.interval[one]) for one in ours)
        rows.append(bold([name, "", *means, *(number(year.published[one]) for one in theirs)]))
    return Table(["Pearson's r × 100", "pairs", *bold(ours), *(f"paper: {name}" for name in theirs)], rows, labels=2)


def claims(report: CbosReport) -> Iterator[Table]:
    """The table of claims: CBOS is above methods that learn from the same text; and above its random start (ours)."""
    found, printed = ([task.pearson for task in report.tasks], [task.published for task in report.tasks])
    rows = []
    for one in report.differences:
        theirs = counted(_held(printed, one.other)) if one.other in printed[0] else NONE
        ours = f"{one.held} of {one.of}, {within(one.difference, one.low, one.high, '+.1f')}"
        rows.append([f"CBOS above {one.other}", theirs, f"{one.verdict}: {ours}"])
    if len(peers := [name for name in _PEERS if name in found[0]]) > 1:
        both = (f"{above(tasks, 'CBOS', peers)} of {len(found)}" for tasks in (printed, found))
        rows.append(["CBOS above both", *both])
    yield Table(["claim", "paper, the same tasks", "here"], rows)


def above(tasks: Sequence[Mapping[str, float]], method: str, others: Sequence[str]) -> int:
    """The number of tasks, each with figures by method, on which one method is above all others."""
    return sum(all(task[method] > task[other] for other in others) for task in tasks)


def tables(report: CbosReport) -> Iterator[Block]:
    """The blocks of the experiment: the training and its seconds; table I."""
    yield _trained(report)
    yield "trained in " + ", ".join(f"{seconds:.0f} s ({name})" for name, seconds in report.seconds.items())
    yield tasks(report)
    yield _seeds(report)
    yield "Means of the paper are those of its rows for the tasks that were run."


def _held(tasks: Sequence[Mapping[str, float]], other: str) -> Held:
    """In how many tasks CBOS is above another method."""
    both = ({str(n): task[name] for n, task in enumerate(tasks)} for name in ("CBOS", other))
    held = Held.between(*both)
    assert held is not None  # there is a task at least
    return held


def _seeds(report: CbosReport) -> str:
    count = report.settings["seeds"]
    said = "± is half of the 95 % interval, by drawing pairs anew within each task."
    if count < 2:
        return f"Ours are of one seed. {said}"
    apart = max(spread or 0 for task in report.tasks for spread in task.spread.values())
    years = max(spread or 0 for year in report.years for spread in year.spread.values())
    return (
        f"Ours are means over {count} seeds. {said} The standard deviation over seeds is {apart:.1f} at most on a "
        f"task, {years:.1f} on a year."
    )


def _trained(report: CbosReport) -> str:
    return (
        f"{report.sentences:,} sentences, {report.running_words:,} running words, {report.words:,} different stems; of "
        f"the tasks' words {report.known:.1%} are known."
    )


def cbos(
    corpus: Annotated[
        list[Path], typer.Argument(metavar="CORPUS...", help="Files and folders of text; also .txt.xz and .txt.gz.")
    ],
    sts: Annotated[list[Path], typer.Option(metavar="PATH", help="Sentence pairs, as evaluate sts reads. Repeatable.")],
    sentences: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Train on the first N sentences; by default on all.")
    ] = None,
    baselines: Annotated[
        bool,
        typer.Option(
            "--baselines/--no-baselines", help="Skip-gram and CBOW of the same text; they need the extra `papers`."
        ),
    ] = True,
    stem: Annotated[
        bool, typer.Option("--stem/--no-stem", help="Words as stems, as in the paper, or as they are.")
    ] = True,
    dimension: Annotated[int, typer.Option(metavar="D", min=1, help="How long vectors are.")] = 100,
    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="Rounds over the text, of each method.")] = 10,
    batch: Annotated[int, typer.Option(metavar="N", min=1, help="Sentences in a step of CBOS.")] = 1000,
    min_count: Annotated[int, typer.Option(metavar="N", min=1, help="How often a word must occur in the text.")] = 5,
    blank_as_zero: BlankAsZeroOption = False,
    seed: SeedOption = 0,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="How many seeds, from --seed on.")] = 3,
    fresh: FreshOption = False,
    json: JsonOption = False,
) -> None:
    """Train CBOS, skip-gram and CBOW on one text, and compare plain sums of their vectors, as Yuan and Zhang do.

    Pearson's r × 100 on the tasks of their table I, beside their figures. Needs the extra `papers`.
    """
    with measuring() as progress:
        report = evaluate_cbos(
            corpus,
            sts=sts,
            baselines=baselines,
            stem=stem,
            dimension=dimension,
            epochs=epochs,
            batch=batch,
            min_count=min_count,
            blank_as_zero=blank_as_zero,
            seed=seed,
            seeds=seeds,
            fresh=fresh,
            progress=progress,
            **chosen(sentences=sentences),
        )
    show(report, [*tables(report), *claims(report)], json=json)


def _of_text(papers: PapersReport) -> str:
    seeds = "" if papers.seeds == _SEEDS else f" --seeds {papers.seeds}"
    return f"cbos {' '.join(papers.texts)} --sts sts/ --sentences {papers.train_sentences}{seeds}"


def _settings(papers: PapersReport) -> str:
    found = papers.cbos
    assert found is not None  # or the section is left out
    said = {True: "yes", False: "no"}
    settings = (
        f"{name.replace('_', ' ')} {said[value] if isinstance(value, bool) else value}"
        for name, value in found.settings.items()
    )
    return f"{_trained(found)} Settings: {', '.join(settings)}."


def _beside(papers: PapersReport) -> str:
    assert papers.cbos is not None  # or the section is left out
    return (
        "All three learn from the same text; random is what CBOS starts from, and so what shared words alone give. "
        f"{_seeds(papers.cbos)}"
    )


TRAINED = Section(of="cbos", says=_settings)
TABLE_I = Section(
    of="cbos",
    title="Beside skip-gram and CBOW (table I)",
    command=_of_text,
    vectors="none",
    says=_beside,
    blocks=lambda report, _: [tasks(report).without("pairs"), *claims(report)],
    note="cbos",
)
