"""`semsearch evaluate sts`: tables of similarity by task and group, beside the papers', and the papers' claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated

import typer

from semsearch.errors import UsageError
from semsearch_research.command_line import (
    AOption,
    BlankAsZeroOption,
    ComponentsOption,
    FreshOption,
    JsonOption,
    PairsArgument,
    PlotOption,
    SeveralVectorsOption,
    SplitOption,
    chosen,
    measuring,
    show,
)
from semsearch_research.evaluate.claims import CLAIMS, Ordering, counted
from semsearch_research.evaluate.inputs import MEANING, marked
from semsearch_research.evaluate.published import PUBLISHED, YEAR_TASKS, systems
from semsearch_research.evaluate.sts import evaluate_sts
from semsearch_research.evaluate.sts_cosines import DEFAULT, VARIANTS
from semsearch_research.evaluate.sts_picture import draw
from semsearch_research.evaluate.sts_scores import StsAverage, StsReport, StsScore
from semsearch_research.evaluate.table import NONE, Block, Bold, Table, bold, number, within

_AS_PRINTED = ", as printed"  # in the head of a column that is the papers' alone
_BOTH = 5  # columns up to which r and ρ are shown; if there are more, ρ is left to the JSON
_NAMES = {"sif": "sif (WR)", "usif": "usif (UP)"}
_FITS = {"task": "each alone", "corpus": "all together"}
Systems = Mapping[str, Mapping[str, float]]  # published figures by a system's name, and by task and group


def tasks_table(scores: Sequence[StsScore]) -> Table:
    """The table of tasks: a row for each, a column for each method and run."""
    runs = list(dict.fromkeys((score.method, score.vectors, score.fit_on) for score in scores))
    signs = "rρ" if len(runs) <= _BOTH else "r"
    columns = [
        f"{_label(*run, runs)} {sign}" if len(signs) > 1 else _label(*run, runs) for run in runs for sign in signs
    ]
    rows: dict[tuple[str, str], list[str]] = {}
    for score in sorted(scores, key=lambda score: runs.index((score.method, score.vectors, score.fit_on))):
        shown = (within(score.pearson, score.low, score.high), number(score.spearman))[: len(signs)]
        name = f"{score.task} {score.split}" if score.split not in ("", "test") else score.task
        rows.setdefault((name, f"{score.pairs:,}"), []).extend(shown)
    title = "task" if len(signs) > 1 else "task, r"
    return Table([title, "pairs", *columns], [[*head, *cells] for head, cells in rows.items()], labels=2)


def tasks_beside_published(report: StsReport, methods: Sequence[str], systems: Systems) -> Table:
    """The table of tasks beside published systems: a column for each of some methods, with the first word vectors."""
    first = report.scores[0]
    scores = [score for score in report.scores if (score.vectors, score.fit_on) == (first.vectors, first.fit_on)]
    columns: list[tuple[str, Mapping[str, str]]] = []
    for method in methods:
        ours = {score.name: within(score.pearson, score.low, score.high) for score in scores if score.method == method}
        columns.append((Bold(_NAMES.get(method, method)), ours))
        for name in _systems_of(method, systems):
            columns.append((name, {task: number(figure) for task, figure in systems[name].items()}))
    tasks = dict.fromkeys(score.name for score in scores)
    rows = [[task, *(found.get(task, NONE) for _, found in columns)] for task in tasks]
    return Table([f"Pearson's r × 100, {marked(first.vectors, report.taught)}", *(name for name, _ in columns)], rows)


def groups_table(
    report: StsReport, methods: Sequence[str], systems: Systems, *, apart: bool = False, printed: Sequence[str] = ()
) -> Table:
    """The table of groups, a column for each, Pearson's r: a row for each method and run, then its published systems.

    Systems of none of our methods, or with `apart` all, are at the end. A published mean of a year that was not run as
    a whole is that of the tasks that were run. Those groups of `printed` that were not run, or not as a whole, have a
    column with the figures as the papers print them.
    """
    averages, columns = report.averages, _groups(report.averages, report.scores)
    there = {column.name for column in columns if column.whole}
    columns += [_Group(f"{name}{_AS_PRINTED}", (), True, 0) for name in printed if name not in there]
    runs = list(dict.fromkeys((average.method, average.vectors, average.fit_on) for average in averages))
    rows: list[list[str]] = []
    for method in methods:
        for run in (run for run in runs if run[0] == method):
            own = (a for a in averages if (a.method, a.vectors, a.fit_on) == run)
            found = {a.group: within(a.pearson, a.low, a.high) for a in own}
            fit = f", {_short(run[2])}" if len({fit_on for *_, fit_on in runs}) > 1 else ""
            cells = (found.get(column.name, NONE) for column in columns)
            rows.append(bold([f"{_NAMES.get(method, method)}, {marked(run[1], report.taught)}{fit}", *cells]))
        rows += [_theirs(name, systems[name], columns) for name in _systems_of(method, systems) if not apart]
    ours = () if apart else {row.name for row in PUBLISHED}
    rows += [_theirs(name, found, columns) for name, found in systems.items() if name not in ours]
    return Table(["Pearson's r × 100", *(column.head for column in columns)], rows)


def fits_tables(report: StsReport) -> Iterator[Table]:
    """The tables of fits: r when fitted on all tasks together, or on a text, less r with the first fit."""
    columns = _groups(report.averages, report.scores)
    base, *others = dict.fromkeys(average.fit_on for average in report.averages)
    for fit_on in others:
        rows: dict[tuple[str, str], dict[str, str]] = {}
        for one in (one for one in report.fits if one.fit_on == fit_on):
            cell = within(one.difference, one.low, one.high, "+.1f")
            rows.setdefault((one.method, marked(one.vectors, report.taught)), {})[one.group] = cell
        head = f"{_FITS.get(fit_on, _short(fit_on))} less {_FITS.get(base, _short(base))}"
        yield Table(
            [head, *(column.head for column in columns)],
            [[" ".join(key), *(cells.get(c.name, NONE) for c in columns)] for key, cells in rows.items()],
        )


def claims_table(report: StsReport, pairs: Sequence[tuple[str, str]], *, percent: bool = True) -> Table:
    """The table of claims: in how many tasks, by how many points and per cent of the mean; in the papers and here."""
    found: dict[tuple[str, str], list[Ordering]] = {}
    for ordering in report.orderings:
        found.setdefault((ordering.better, ordering.worse), []).append(ordering)
    runs = list(dict.fromkeys(("", ordering.vectors, ordering.fit_on) for ordering in report.orderings))
    papers = [name for name in ("GloVe", "PSL") if any(name in ordering.published for ordering in report.orderings)]
    rows = []
    for (better, worse), ours in ((pair, found[pair]) for pair in pairs if pair in found):
        theirs = [counted(ours[0].published.get(name)) for name in papers]
        theirs += [number(ours[0].published_improvement, "+.1f")] * percent
        cells = [f"{one.verdict}: {_found(one)}" + f" ({one.improvement:+.1f} %)" * percent for one in ours]
        rows.append([f"{better} above {worse}", *theirs, *cells])
    heads = [f"paper, {name}" for name in papers] + ["paper, %"] * percent
    several = len({fit_on for *_, fit_on in runs}) > 1
    here = (f"here, {marked(vectors, report.taught)}" + f", {_short(fit_on)}" * several for _, vectors, fit_on in runs)
    return Table(["claim", *heads, *here], rows)


def notes_on(report: StsReport) -> str:
    """What the signs of the tables mean, and which pairs are counted once."""
    text = "± is half of the 95 % interval of ours, by drawing pairs anew within each task."
    for task, count in report.repeated.items():
        pairs = next(score.pairs for score in report.scores if task in (score.task, f"{score.task} {score.split}"))
        text += (
            f" {count:,} of the {pairs:,} pairs of {task} stand in tasks of the years too; claims over all tasks count "
            "them there alone."
        )
    return f"{text} {MEANING}" if report.taught else text


def _found(one: Ordering) -> str:
    """Format what was found of a claim: `13 of 20, +3.9 ± 0.8`."""
    return f"{counted(one.found)} ± {(one.high - one.low) / 2:.1f}"


@dataclass(frozen=True, slots=True)
class _Group:
    """A column of groups: the tasks that were run, by their names in the papers."""

    name: str
    tasks: tuple[str, ...]
    whole: bool
    count: int

    @property
    def head(self) -> str:
        of = len(YEAR_TASKS.get(self.name, ()))
        return self.name if self.whole or not of else f"{self.name} ({self.count} of {of})"


def _groups(averages: Iterable[StsAverage], scores: Sequence[StsScore]) -> list[_Group]:
    found = {average.group: average for average in averages}
    tasks = {name: tuple(dict.fromkeys(s.name for s in scores if s.group == name)) for name in found}
    return [_Group(name, tasks[name], one.whole, one.tasks) for name, one in found.items()]


def _theirs(name: str, found: Mapping[str, float], columns: Sequence[_Group]) -> list[str]:
    """A published system. The mean of a group that is whole is as printed, else that of the tasks which were run."""
    cells: list[float | None] = []
    for group in columns:
        tasks = [found[task] for task in group.tasks if task in found]
        partial = sum(tasks) / len(tasks) if tasks and len(tasks) == len(group.tasks) else None
        cells.append(found.get(group.name.removesuffix(_AS_PRINTED)) if group.whole else partial)
    return [name, *map(number, cells)]


def _systems_of(method: str, systems: Systems) -> list[str]:
    """The published systems that are our method with other word vectors."""
    return [row.name for row in PUBLISHED if row.method == method and row.name in systems]


def _label(method: str, vectors: str, fit_on: str, runs: Iterable[tuple[str, str, str]]) -> str:
    """The label of a run: the method, and whatever differs between runs."""
    _, others, fits = map(set, zip(*runs, strict=True))
    return method + f" {vectors}" * (len(others) > 1) + f" {_short(fit_on)}" * (len(fits) > 1)


def _short(fit_on: str) -> str:
    """A file by its name."""
    return PurePath(fit_on).name


_ALL = systems()


def tables(report: StsReport, *, published: bool = False) -> Iterator[Block]:
    """The blocks of the experiment: tasks, groups beside the papers', and the effect of other fits."""
    methods = list(dict.fromkeys(score.method for score in report.scores))
    yield tasks_table(report.scores)
    if published:
        by_task = {row.name: _ALL[row.name] for row in PUBLISHED if row.tasks}
        compared = [method for method in methods if any(row.method == method and row.tasks for row in PUBLISHED)]
        yield tasks_beside_published(report, compared, by_task)
    yield groups_table(report, methods, _ALL)
    yield from fits_tables(report)
    yield notes_on(report)


def claims(report: StsReport) -> Iterator[Block]:
    """The table of the papers' claims, and whether they hold here."""
    if report.orderings:
        yield claims_table(report, CLAIMS)
        yield "Published counts are of the same tasks, but of groups where uSIF is above SIF."


def sts(
    paths: PairsArgument,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method", metavar="NAME", help="mean, tfidf, w, r, sif, usif, or a part of uSIF; see above. Repeatable."
        ),
    ] = None,
    ablation: Annotated[bool, typer.Option("--ablation", help="All methods and all parts; not with --method.")] = False,
    vectors: SeveralVectorsOption = None,
    frequencies: Annotated[
        str, typer.Option(metavar="vectors|corpus|FILE", help="p(w): of the vectors, of what is fitted, or counts.")
    ] = "vectors",
    a: AOption = None,
    components: ComponentsOption = None,
    split: SplitOption = "test",
    fit_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="task|corpus|FILE",
            help="What components are fitted on: each task (the default), all tasks together, a text file. Repeatable.",
        ),
    ] = None,
    blank_as_zero: BlankAsZeroOption = False,
    published: Annotated[bool, typer.Option("--published", help="Each task beside the papers' figures.")] = False,
    fresh: FreshOption = False,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Correlate cosines of sentences with people's scores, as in the SIF and uSIF papers.

    Pearson's r and Spearman's ρ × 100 for each task; then Pearson's r by year (the mean of its tasks), beside the
    papers' figures; then in how many tasks a method is above another, and by how much. ± is half of a 95 % interval.

    Methods: mean, tfidf; w, r and sif (or wr) are the SIF paper's weights, removal and both. uSIF's parts are u, its
    weights, p, its piecewise removal, and n, its normalisation: sif+u, sif+p and sif+n have one of them in place of
    SIF's way, usif-u, usif-p and usif-n have SIF's way in place of one.
    """
    if ablation and methods:
        raise UsageError("--ablation runs all methods; give it, or --method")
    with measuring(plot) as progress:
        report = evaluate_sts(
            paths,
            methods=tuple(VARIANTS) if ablation else methods or DEFAULT,
            frequencies=frequencies,
            split=split,
            blank_as_zero=blank_as_zero,
            keep=True,
            fresh=fresh,
            progress=progress,
            **chosen(vectors=vectors, a=a, components=components, fit_on=fit_on),
        )
    blocks = [*tables(report, published=published), *claims(report)]
    show(report, blocks, json=json, plot=plot, figures={"": lambda: draw(report)})
