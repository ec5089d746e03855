"""`semsearch evaluate supervised`: learn tasks from fixed sentence vectors, as in the SIF and uSIF papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer

from semsearch_research.command_line import FreshOption, JsonOption, SeedOption, VectorsOption, chosen, measuring, show
from semsearch_research.evaluate.claims import counted
from semsearch_research.evaluate.inputs import MEANING, marked
from semsearch_research.evaluate.table import NONE, Table, bold, number, within
from semsearch_research.papers_report import PapersReport
from semsearch_research.section import Section
from semsearch_research.supervised.published_tasks import SYSTEMS
from semsearch_research.supervised.several_seeds import evaluate_supervised
from semsearch_research.supervised.supervised_report import SeedsDifference, SupervisedReport, SupervisedScore

_OURS, _SIF_TABLE = "Ours (SIF, table 2)", " (SIF, table 2)"


_SEEDS = 3


def figures(report: SupervisedReport, papers: Sequence[str] = ("SIF", "uSIF")) -> Table:
    """The table of figures: our methods, then the systems of some papers, a column for each task."""
    tasks = _tasks(report)
    rows = []
    for method in dict.fromkeys(score.method for score in report.scores):
        ours = {score.task: _shown(score) for score in report.scores if score.method == method}
        rows.append(
            bold(
                [
                    f"{method}, {marked(report.vectors, [report.vectors] * report.taught)}",
                    *(ours.get(task, NONE) for task in tasks),
                ]
            )
        )
    for paper in papers:
        ending = f"({paper}, "
        names = dict.fromkeys(name for task in tasks for name in report.published.get(task, {}) if ending in name)
        for name in sorted(names, key=lambda name: name not in SYSTEMS.values()):
            system, _, table = name.rstrip(")").rpartition(f" {ending}")
            shown = f"{system} ({table})" if len(papers) == 1 else name
            rows.append([shown, *(number(report.published.get(task, {}).get(name)) for task in tasks)])
    return Table(["test split; r or accuracy × 100", *tasks], rows)


def settings(report: SupervisedReport) -> Table:
    """The table of settings that were chosen on dev, with how many seeds chose them, and of the figures on test."""
    header = ["task", "method", "train / dev / test", "a", "rate", "λ", "rounds", "on dev", "on test", "ρ", "MSE"]
    rows = []
    for score in report.scores:
        chosen = [run.chosen for run in score.runs]
        rows.append([score.task, score.method, " / ".join(f"{size:,}" for size in score.examples)])
        rows[-1] += [_counted(number(one.a, "g") for one in chosen), _counted(f"{one.rate:g}" for one in chosen)]
        rows[-1] += [_counted(f"{one.regularisation:g}" for one in chosen), _counted(str(one.rounds) for one in chosen)]
        rows[-1] += [number(fmean(one.dev for one in chosen)), _shown(score)]
        rows[-1] += [number(score.mean_of("spearman")), number(score.mean_of("mse"), ".3f")]
    return Table(header, rows, labels=2)


def usif_claims(report: SupervisedReport) -> Table:
    """The table of the uSIF paper's claims: its count of tasks, and the verdict on each task here."""
    tasks, rows = _tasks(report), []
    for one in report.orderings:
        found = {each.task: f"{each.verdict}: {_difference(each)}" for each in one.tasks}
        rows.append([f"{one.better} above {one.worse}", counted(one.published), *(found.get(t, NONE) for t in tasks)])
    return Table(["claim", "uSIF paper, tasks", *(f"here, {task}" for task in tasks)], rows)


def sif_claims(report: SupervisedReport) -> Iterator[Table]:
    """The table of SIF less each other system, in the paper (table 2) and with our SIF instead."""
    tasks = _tasks(report)
    ours = {score.task: score for score in report.scores if score.method == "sif"}
    printed = {task: report.published.get(task, {}) for task in tasks}
    names = dict.fromkeys(name for task in tasks for name in printed[task] if name.endswith(_SIF_TABLE))
    rows = []
    for name in (name for name in names if name != _OURS):
        cells = []
        for task in tasks:
            if {name, _OURS} <= set(printed[task]) and task in ours:
                low, high = ours[task].interval.low, ours[task].interval.high
                paper, here = (figure - printed[task][name] for figure in (printed[task][_OURS], ours[task].figure))
                cells.append(f"{paper:+.1f}, here {within(here, low, high, '+.1f')}")
            else:
                cells.append(NONE)
        rows.append([name.removesuffix(_SIF_TABLE), *cells])
    if rows:
        yield Table(["SIF less", *tasks], rows)


def claims(report: SupervisedReport) -> Iterator[Table]:
    """The tables of both papers' claims."""
    yield from sif_claims(report)
    if report.orderings:
        yield usif_claims(report)


def _counted(values: Iterable[str]) -> str:
    """Format what each seed chose: `0.01`, or the most frequent first, `0.01 (3), 0.003 (2)`."""
    counts = Counter(values).most_common()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{value} ({count})" for value, count in counts)


def _seeds(report: SupervisedReport) -> str:
    count = len(report.seeds)
    said = "± is half of the 95 % interval, by drawing the test examples anew."
    if count > 1:
        apart = max(score.spread or 0 for score in report.scores)
        said = (
            f"A figure is the mean over {count} seeds; {said} The standard deviation over seeds is {apart:.1f} at "
            "most. A verdict needs both: Welch's t-test over the seeds, and zero outside the difference's interval."
        )
    else:
        said = f"The figures are of one run with seed {report.seeds[0]}; another seed gives others. {said}"
    return f"{said} {MEANING}" if report.taught else said


def _shown(score: SupervisedScore) -> str:
    return within(score.figure, score.interval.low, score.interval.high)


def _difference(found: SeedsDifference) -> str:
    return within(found.difference, found.low, found.high, "+.1f")


def _tasks(report: SupervisedReport) -> list[str]:
    return list(dict.fromkeys(score.task for score in report.scores))


def supervised(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...",
            help="Folders with sick.train.tsv, .dev, .test; sentiment-train; and so on; a folder of data.",
        ),
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option("--method", metavar="mean|tfidf|sif|usif", help="By default mean, sif and usif. Repeatable."),
    ] = None,
    vectors: VectorsOption = "english",
    a: Annotated[
        list[float] | None,
        typer.Option(metavar="A", help="The values tried for SIF; by default the paper's four. Repeatable."),
    ] = None,
    width: Annotated[
        int, typer.Option(metavar="N", min=0, help="Dimensions of the learned projection; 0 leaves it out.")
    ] = 2400,
    examples: Annotated[
        int | None,
        typer.Option(metavar="N", min=2, help="Train on so many at most, drawn by chance; by default on all."),
    ] = None,
    seed: SeedOption = 0,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="How many seeds, from --seed on.")] = 3,
    fresh: FreshOption = False,
    json: JsonOption = False,
) -> None:
    """Learn relatedness, entailment and sentiment from sentence vectors that stay fixed.

    A file has one of three forms, with tabs: score sentence sentence label (SICK), sentence sentence label (SNLI),
    sentence label (SST, IMDB); each data set has the splits train, dev and test. What is chosen is chosen on dev. The
    figures are of test: Pearson's r × 100 for relatedness, else accuracy × 100. All is done with each of several seeds;
    the figures are means, ± half of the 95 % interval, by drawing the test examples anew.
    """
    with measuring(one_thread=False) as progress:
        report = evaluate_supervised(
            paths,
            vectors=vectors,
            width=width,
            seed=seed,
            seeds=seeds,
            fresh=fresh,
            progress=progress,
            **chosen(methods=methods, a=a, examples=examples),
        )
    show(report, [settings(report), figures(report), _seeds(report), *claims(report)], json=json)


def _command(papers: PapersReport) -> str:
    found = papers.supervised
    assert found is not None  # or the section is left out
    seeds = "" if len(found.seeds) == _SEEDS else f" --seeds {len(found.seeds)}"
    return f"supervised sts/ supervised/{seeds}"


OF_SIF = Section(
    of="supervised",
    title="Supervised tasks (tables 2, 3, 7 and 8)",
    command=_command,
    says="SIF removes no component here. What was chosen on dev stands in the second table, with how many seeds chose "
    "it; SIF less each system of the paper in the third.",
    blocks=lambda report, _: [
        _seeds(report),
        figures(report, ["SIF"]),
        settings(report).without("on test", "ρ", "MSE"),
        *sif_claims(report),
    ],
    note="supervised",
)
OF_USIF = Section(
    of="supervised",
    title="Supervised tasks (table 3)",
    command=_command,
    blocks=lambda report, _: [figures(report, ["uSIF"]), usif_claims(report)],
    note="usif-supervised",
)
