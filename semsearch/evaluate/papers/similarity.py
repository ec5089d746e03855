"""The report's tables of similarity: by group and by task, ours beside the papers', and what they claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from semsearch.evaluate.papers.markdown import NONE, bold, held, number, table, verdict
from semsearch.evaluate.papers.papers_report import PapersReport
from semsearch.evaluate.published import PUBLISHED, YEAR_TASKS, figures
from semsearch.evaluate.similarity.orderings import Ordering
from semsearch.evaluate.similarity.sts_report import StsAverage, StsReport

SIF_METHODS = ("mean", "tfidf", "w", "r", "sif")
USIF_PARTS = ("sif+u", "sif+p", "sif+n", "usif-u", "usif-p", "usif-n")
_NAMES = {"sif": "sif (WR)", "usif": "usif (UP)"}
_TWITTER = "Twitter15"


@dataclass(frozen=True, slots=True)
class _Group:
    """A column: the tasks that were run, by the names they have in the papers."""

    name: str
    tasks: tuple[str, ...]
    whole: bool

    @property
    def head(self) -> str:
        of = len(YEAR_TASKS.get(self.name, self.tasks))
        return self.name if self.whole or self.name not in YEAR_TASKS else f"{self.name} ({len(self.tasks)} of {of})"


def sif_groups(report: StsReport) -> Iterator[str]:
    """SIF paper, tables 1 and 6: by group. A published mean of a year is that of the tasks which were run."""
    groups, systems = _groups(report), _sif_systems()
    rows: list[list[str]] = []
    for method in SIF_METHODS:
        rows += _ours(report, method, groups)
        rows += [_theirs(row.name, systems, groups) for row in PUBLISHED if row.method == method and _is_sif(row.name)]
    named = {row.name for row in PUBLISHED}
    rows += [_theirs(name, systems, groups) for name in systems if name not in named]
    yield from table(["Pearson's r × 100", *(group.head for group in groups)], rows)


def sif_tasks(report: StsReport, methods: Sequence[str]) -> Iterator[str]:
    """SIF paper, tables 5 and 6: by task, of some methods, with the first word vectors."""
    vectors = report.scores[0].vectors
    systems = _sif_systems()
    columns: list[tuple[str, Mapping[str, float]]] = []
    for method in methods:
        found = {
            score.name: score.pearson for score in report.scores if (score.method, score.vectors) == (method, vectors)
        }
        columns.append((bold(_named(method)), found))
        names = [row.name for row in PUBLISHED if row.method == method and _is_sif(row.name)]
        columns += [(name, systems[name]) for name in names]
    tasks = dict.fromkeys(score.name for score in report.scores)
    rows = [[task, *(number(found.get(task)) for _, found in columns)] for task in tasks]
    yield from table([f"Pearson's r × 100, {vectors}", *(name for name, _ in columns)], rows)


def usif_groups(report: StsReport) -> Iterator[str]:
    """uSIF paper, tables 1 and 2, which have no tasks: a year that was not run whole stands alone."""
    groups, systems = _groups(report), _usif_systems()
    rows = [*_ours(report, "usif", groups), *_ours(report, "sif", groups)]
    for name, found in systems.items():
        cells = [number(found.get(group.name)) if group.whole else NONE for group in groups]
        rows.append([name, *cells])
    yield from table(["Pearson's r × 100", *(group.head for group in groups)], rows)


def usif_parts(report: StsReport) -> Iterator[str]:
    """uSIF paper, section 4.3: its parts alone over SIF; and, which the paper lacks, each of them left out."""
    groups = _groups(report)
    rows = [row for method in ("sif", *USIF_PARTS, "usif") for row in _ours(report, method, groups)]
    yield from table(["Pearson's r × 100", *(group.head for group in groups)], rows)


def fitted_once(report: StsReport) -> Iterator[str]:
    """What fitting on all tasks together gives, less what each task's own sentences give."""
    groups = _groups(report)
    bases = {
        (a.method, a.vectors, a.group): a.pearson for a in report.averages if a.fit_on == report.averages[0].fit_on
    }
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for average in report.averages:
        if average.fit_on != report.averages[0].fit_on:
            key = average.method, average.vectors
            rows.setdefault(key, {})[average.group] = (
                average.pearson - bases[average.method, average.vectors, average.group]
            )
    lines = [[" ".join(key), *(number(cells[group.name], "+.1f") for group in groups)] for key, cells in rows.items()]
    yield from table(["all together less each alone", *(group.head for group in groups)], lines)


def claims(report: StsReport, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What a paper has above what: in how many tasks, by how many points; there and here."""
    runs = list(dict.fromkeys(ordering.vectors for ordering in report.orderings))
    papers = [name for name in ("GloVe", "PSL") if any(name in ordering.published for ordering in report.orderings)]
    found: dict[tuple[str, str], list[Ordering]] = {}
    for ordering in report.orderings:
        found.setdefault((ordering.better, ordering.worse), []).append(ordering)
    said = [(pair, found[pair]) for pair in pairs if pair in found]
    percent = any(one.published_improvement is not None for _, ours in said for one in ours)
    rows = []
    for (better, worse), ours in said:
        theirs = [held(ours[0].published.get(name)) for name in papers]
        if percent:
            theirs.append(number(ours[0].published_improvement, "+.1f"))
        cells = [
            f"{verdict(one.found)}: {held(one.found)}" + (f" ({one.improvement:+.1f} %)" if percent else "")
            for one in ours
        ]
        rows.append([f"{better} above {worse}", *theirs, *cells])
    heads = [f"paper, {name}" for name in papers] + (["paper, %"] if percent else [])
    yield from table(["claim", *heads, *(f"here, {name}" for name in runs)], rows)


def a_of(report: PapersReport) -> Iterator[str]:
    """uSIF's a, which follows from p(w) and n: with the paper's counts it can be checked."""
    published = {figure.row: figure.value for figure in figures("usif", "section 4.2")}
    rows = [["paper", f"{published['a']:g}"]]
    if report.counted is not None:
        rows.append([f"counts in {report.counts[0]}", f"{report.counted.usif_a:.5g}"])
    if report.weights is not None:
        rows.append([f"p(w) of {report.weights.vectors}", f"{report.weights.usif_a:.5g}"])
    yield from table(["uSIF's a, n = 11, from", "a"], rows)


def _ours(report: StsReport, method: str, groups: Sequence[_Group]) -> list[list[str]]:
    """A row for each word vectors."""
    found: dict[str, dict[str, float]] = {}
    for average in report.averages:
        if average.method == method:
            found.setdefault(average.vectors, {})[average.group] = average.pearson
    return [
        [bold(f"{_named(method)}, {vectors}"), *(bold(number(cells.get(group.name))) for group in groups)]
        for vectors, cells in found.items()
    ]


def _theirs(name: str, systems: Mapping[str, Mapping[str, float]], groups: Sequence[_Group]) -> list[str]:
    """A published system. The mean of a group that is whole is as printed, else that of the tasks which were run."""
    found = systems[name]
    cells: list[float | None] = []
    for group in groups:
        tasks = [found[task] for task in group.tasks if task in found]
        partial = sum(tasks) / len(tasks) if tasks and len(tasks) == len(group.tasks) else None
        cells.append(found.get(group.name) if group.whole else partial)
    return [name, *(number(cell) for cell in cells)]


def _groups(report: StsReport) -> list[_Group]:
    found: dict[str, _Group] = {}
    for average in report.averages:
        found.setdefault(average.group, _Group(average.group, _tasks_of(report, average), average.whole))
    return list(found.values())


def _tasks_of(report: StsReport, average: StsAverage) -> tuple[str, ...]:
    return tuple(dict.fromkeys(score.name for score in report.scores if score.group == average.group))


def _sif_systems() -> dict[str, dict[str, float]]:
    """All systems of the SIF paper's tables 1, 5 and 6: figures by group and by task."""
    systems: dict[str, dict[str, float]] = {}
    for figure in (figure for place in ("table 1", "table 5", "table 6") for figure in figures("sif", place)):
        if figure.row != _TWITTER:
            systems.setdefault(figure.column, {})[figure.row] = figure.value
    return systems


def _usif_systems() -> dict[str, dict[str, float]]:
    systems: dict[str, dict[str, float]] = {}
    for figure in (figure for place in ("table 1", "table 2") for figure in figures("usif", place)):
        systems.setdefault(figure.column, {})[figure.row] = figure.value
    return dict(sorted(systems.items(), key=lambda item: not item[0].endswith("UP")))


def _is_sif(name: str) -> bool:
    return name in _sif_systems()


def _named(method: str) -> str:
    return _NAMES.get(method, method)
