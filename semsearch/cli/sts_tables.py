"""What `semsearch evaluate sts` found, as lines of aligned columns: tasks, groups, differences, orderings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from semsearch.cli.formats import one_line
from semsearch.cli.inspecting import aligned

if TYPE_CHECKING:
    from semsearch.evaluate import StsAverage, StsReport, StsScore
    from semsearch.evaluate.similarity.orderings import Held, Ordering

NONE = "–"
_WIDTH, _NARROWEST = 100, 80
_BOTH = 5  # so many columns have r and ρ; where there are more, ρ is left to the JSON
Run = tuple[str, str, str]  # method, vectors, what it was fitted on


def _width() -> int:
    """How many characters a line may have: those of the terminal, but not fewer than a table needs."""
    return max(get_terminal_size().columns, _NARROWEST) if sys.stdout.isatty() else _WIDTH


def sts_lines(report: StsReport, *, published: bool = False) -> Iterator[str]:
    """A line a task; then the averages, and which method is above which. `published`: the tasks beside the papers'."""
    yield from _task_lines(report.scores)
    if published:
        yield from _block(_beside_papers(report.scores))
    yield from _block(average_lines(report.averages))
    for fit_on in list(dict.fromkeys(average.fit_on for average in report.averages))[1:]:
        yield from _block(_difference_lines(report.averages, fit_on))
    if report.orderings:
        yield from _block(_ordering_lines(report.orderings))
    yield from _incomplete(report.averages)


def average_lines(averages: Sequence[StsAverage]) -> list[str]:
    """A line a method and run, a column a group, Pearson's r; below, what was published of the same methods."""
    from semsearch.evaluate.published import PUBLISHED  # start-up time

    groups = list(dict.fromkeys(average.group for average in averages))
    heads = _heads([_run(average) for average in averages], "Pearson's r")
    lines: dict[tuple[str, ...], dict[str, float]] = {}
    for average in averages:
        lines.setdefault(heads[_run(average)], {})[average.group] = average.pearson
    for system in PUBLISHED:
        for average in averages:
            if system.method == average.method and system.name in average.published:
                head = (f"{system.name} (published)", *("" for _ in heads[_HEADER][1:]))
                lines.setdefault(head, {})[average.group] = average.published[system.name]
    table = [(*heads[_HEADER], *map(one_line, groups))]
    table += [(*head, *_cells(groups, cells)) for head, cells in lines.items()]
    return aligned(table, left=range(len(heads[_HEADER])))


def _task_lines(scores: Sequence[StsScore]) -> Iterator[str]:
    """A line a task, a column a method and run; as many tables as the width needs."""
    runs = list(dict.fromkeys(map(_run, scores)))
    both = len(runs) <= _BOTH
    columns = {run: _column(run, runs) for run in runs}
    tasks: dict[tuple[str, str], dict[Run, StsScore]] = {}
    for score in scores:
        name = f"{score.task} {score.split}" if score.split not in ("", "test") else score.task
        tasks.setdefault((one_line(name), f"{score.pairs:,}"), {})[_run(score)] = score
    longest = max(len(name) for name, _ in tasks) + len("  pairs")
    for place, part in enumerate(_parts(runs, columns, _width() - longest, both=both)):
        if place:
            yield ""
        signs = [f"{columns[run]} {sign}" if both else columns[run] for run in part for sign in ("rρ" if both else "r")]
        table: list[Sequence[str]] = [("task" if both else "task, r", "pairs", *signs)]
        for head, cells in tasks.items():
            shown = [cells[run] for run in part]
            figures = [f for score in shown for f in ((score.pearson, score.spearman) if both else (score.pearson,))]
            table.append((*head, *(f"{figure:.1f}" for figure in figures)))
        yield from aligned(table, left=(0,))


def _parts(runs: Sequence[Run], columns: Mapping[Run, str], width: int, *, both: bool) -> Iterator[list[Run]]:
    """The runs, as many at a time as the width holds."""
    part: list[Run] = []
    used = 0
    for run in runs:
        needed = (max(len(columns[run]) + 2 * both, 4) + 2) * (1 + both)
        if part and used + needed > width:
            yield part
            part, used = [], 0
        part.append(run)
        used += needed
    yield part


def _beside_papers(scores: Sequence[StsScore]) -> list[str]:
    """Each method of the first run beside the papers' systems, Pearson's r. Only for what was published by task."""
    from semsearch.evaluate.published import PUBLISHED  # start-up time

    methods = dict.fromkeys(score.method for score in scores)
    first = [score for score in scores if (score.vectors, score.fit_on) == (scores[0].vectors, scores[0].fit_on)]
    systems = {
        method: [row.name for row in PUBLISHED if row.method == method and any(row.name in s.published for s in first)]
        for method in methods
    }
    tasks: dict[str, dict[str, float]] = {}
    for score in first:
        if score.published:
            tasks.setdefault(one_line(score.task), {}).update({score.method: score.pearson, **score.published})
    lines: list[str] = []
    for columns in _fitting(
        [(name, *systems[name]) for name in methods if systems[name]], max(map(len, tasks), default=0)
    ):
        table = [("published", *columns), *((name, *_cells(columns, cells)) for name, cells in tasks.items())]
        lines += [*([""] if lines else []), *aligned(table, left=(0,))]
    return lines


def _fitting(groups: Iterable[tuple[str, ...]], used: int) -> Iterator[list[str]]:
    """Columns, as many groups of them at a time as the width holds beside what is used."""
    part: list[str] = []
    for group in groups:
        if part and used + sum(max(len(name), 4) + 2 for name in (*part, *group)) > _width():
            yield part
            part = []
        part += group
    if part:
        yield part


def _difference_lines(averages: Sequence[StsAverage], fit_on: str) -> list[str]:
    """What fitting on this gives, less what the first that it was fitted on gives."""
    base = averages[0].fit_on
    groups = list(dict.fromkeys(average.group for average in averages))
    several = len({average.vectors for average in averages}) > 1
    lines: dict[tuple[str, ...], dict[str, float]] = {}
    figures = {(a.method, a.vectors, a.fit_on, a.group): a.pearson for a in averages}
    for (method, vectors, other, group), figure in figures.items():
        if other == fit_on:
            head = (method, one_line(vectors)) if several else (method,)
            lines.setdefault(head, {})[group] = figure - figures[method, vectors, base, group]
    title = (f"{_short(fit_on)} less {_short(base)}", *(("vectors",) if several else ()))
    table = [(*title, *map(one_line, groups))]
    table += [(*head, *_cells(groups, cells, "+.1f")) for head, cells in lines.items()]
    return aligned(table, left=range(len(title)))


def _ordering_lines(orderings: Sequence[Ordering]) -> list[str]:
    """How often each method was above another, and the same in the papers."""
    heads = _heads([(f"{o.better} above {o.worse}", o.vectors, o.fit_on) for o in orderings], "ordering")
    papers = list(dict.fromkeys(name for ordering in orderings for name in ordering.published))
    better = any(ordering.published_improvement is not None for ordering in orderings)
    columns = (column for name in papers for column in (f"{name}*", "points*"))
    header = (*heads[_HEADER], "held", "points", "%", *columns, *(("%*",) if better else ()))
    table: list[Sequence[str]] = [header]
    for ordering in orderings:
        head = heads[f"{ordering.better} above {ordering.worse}", ordering.vectors, ordering.fit_on]
        shown = [*_held(ordering.found), f"{ordering.improvement:+.1f}"]
        for name in papers:
            shown += _held(ordering.published[name]) if name in ordering.published else ["", ""]
        if better:
            said = ordering.published_improvement
            shown.append("" if said is None else f"{said:+.1f}")
        table.append((*head, *shown))
    note = ["* as published, of the same tasks; of uSIF by group"] if papers or better else []
    return aligned(table, left=range(len(heads[_HEADER]))) + note


def _held(held: Held) -> list[str]:
    return [f"{held.held} of {held.of}", f"{held.difference:+.1f}"]


def _incomplete(averages: Iterable[StsAverage]) -> Iterator[str]:
    """Which years lack tasks, and so stand alone."""
    from semsearch.evaluate.published import YEAR_TASKS  # start-up time

    for group, tasks in dict.fromkeys((average.group, average.tasks) for average in averages if not average.whole):
        if group in YEAR_TASKS:
            of = len(YEAR_TASKS[group])
            yield f"{group}: the mean of {tasks} of the year's {of} tasks, and so without published figures"


def _block(lines: Iterable[str]) -> Iterator[str]:
    yield ""
    yield from lines


_HEADER: Run = ("", "", "")


def _heads(runs: Sequence[Run], title: str) -> dict[Run, tuple[str, ...]]:
    """The first cells of each run's line, and of the header: vectors and what is fitted on only where they differ."""
    vectors, fits = len({run[1] for run in runs}) > 1, len({run[2] for run in runs}) > 1
    named: list[tuple[Run, Run]] = [(_HEADER, (title, "vectors", "fitted on"))]
    named += [(run, (run[0], one_line(run[1]), _short(run[2]))) for run in runs]
    return {run: (cells[0], *([cells[1]] * vectors), *([cells[2]] * fits)) for run, cells in named}


def _column(run: Run, runs: Sequence[Run]) -> str:
    return " ".join(_heads(runs, "")[run])


def _run(row: StsScore | StsAverage) -> Run:
    return row.method, row.vectors, row.fit_on


def _short(fit_on: str) -> str:
    """A file by its name."""
    return one_line(PurePath(fit_on).name)


def _cells(names: Sequence[str], cells: Mapping[str, float], form: str = ".1f") -> tuple[str, ...]:
    return tuple(f"{cells[name]:{form}}" if name in cells else NONE for name in names)
