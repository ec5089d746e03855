"""The report's tables of what is learned: supervised tasks, paraphrase groups, and vectors of one's own."""

from __future__ import annotations

from collections.abc import Iterator

from semsearch.evaluate.cbos.beside_word2vec import RANDOM, CbosReport, above
from semsearch.evaluate.papers.markdown import (
    HOLDS,
    LEVEL,
    NONE,
    REVERSED,
    UNDECIDED,
    bold,
    held,
    number,
    table,
    verdict,
)
from semsearch.evaluate.paraphrase.classification import published_accuracies
from semsearch.evaluate.paraphrase.classify_report import ClassifyReport, GroupSizes
from semsearch.evaluate.similarity.orderings import Held
from semsearch.evaluate.supervised.published_tasks import SYSTEMS
from semsearch.evaluate.supervised.supervised_report import SupervisedReport

_PEERS = ("skip-gram", "CBOW")


def supervised(report: SupervisedReport, paper: str) -> Iterator[str]:
    """Ours, then the systems of one paper ("SIF" or "uSIF"), a column a task."""
    tasks = list(dict.fromkeys(score.task for score in report.scores))
    rows = []
    for method in dict.fromkeys(score.method for score in report.scores):
        ours = {score.task: score.figure for score in report.scores if score.method == method}
        rows.append([bold(f"{method}, {report.vectors}"), *(bold(number(ours.get(task))) for task in tasks)])
    ending = f"({paper}, "
    names = dict.fromkeys(name for task in tasks for name in report.published.get(task, {}) if ending in name)
    first = [SYSTEMS[method] for method in ("mean", "sif", "usif")]
    for name in sorted(names, key=lambda name: name not in first):
        system, _, place = name.rstrip(")").rpartition(f" {ending}")
        cells = [number(report.published.get(task, {}).get(name)) for task in tasks]
        rows.append([f"{system} ({place})", *cells])
    yield from table(["test split; r or accuracy × 100", *tasks], rows)


def supervised_settings(report: SupervisedReport) -> Iterator[str]:
    """What was chosen on dev."""
    rows = []
    for score in report.scores:
        chosen = score.chosen
        a = NONE if chosen.a is None else f"{chosen.a:g}"
        sizes = " / ".join(f"{size:,}" for size in score.examples)
        rows.append([score.task, score.method, sizes, a, f"{chosen.rate:g}", f"{chosen.regularisation:g}"])
        rows[-1] += [str(chosen.rounds), f"{chosen.dev:.1f}"]
    yield from table(["task", "method", "train / dev / test", "a", "rate", "λ", "rounds", "on dev"], rows)


def supervised_claims(report: SupervisedReport) -> Iterator[str]:
    """Which method is above which. Three tasks are too few for a test."""
    rows = [[f"{one.better} above {one.worse}", held(one.published), held(one.found)] for one in report.orderings]
    yield from table(["claim: tasks in which it holds", "uSIF paper", f"here, {report.vectors}"], rows)


def sif_claims(report: SupervisedReport) -> Iterator[str]:
    """SIF paper, table 2: its method less each other system, in the paper and with ours in its place."""
    tasks = list(dict.fromkeys(score.task for score in report.scores))
    ours = {score.task: score.figure for score in report.scores if score.method == "sif"}
    printed = {task: report.published.get(task, {}) for task in tasks}
    own, ending = "Ours (SIF, table 2)", " (SIF, table 2)"
    names = dict.fromkeys(name for task in tasks for name in printed[task] if name.endswith(ending) and name != own)
    rows = []
    for name in names:
        cells = []
        for task in tasks:
            there = name in printed[task] and own in printed[task] and task in ours
            paper, here = (
                (figure - printed[task][name] for figure in (printed[task][own], ours[task])) if there else (0, 0)
            )
            cells.append(f"{paper:+.1f}, here {here:+.1f}" if there else NONE)
        rows.append([name.removesuffix(ending), *cells])
    if rows:
        yield from table(["SIF less", *tasks], rows)


def groups(report: ClassifyReport) -> Iterator[str]:
    """White et al., figures 2 and 3 and section 3.2: what the data sets are."""
    rows = []
    for sizes in report.sizes:
        counts = (("sentences", sizes.sentences), ("groups", sizes.groups), ("tokens", sizes.tokens))
        rows.append([sizes.data, *(_beside(sizes, name, count) for name, count in counts)])
    yield from table(["data", "sentences", "groups", "tokens of bow"], rows)


def accuracies(report: ClassifyReport) -> Iterator[str]:
    """White et al., table 1."""
    for sizes in report.sizes:
        scores = [score for score in report.scores if score.data == sizes.data]
        published = published_accuracies(sizes.data, sizes.sentences)
        rows = []
        for score in scores:
            costs = " ".join(f"{cost:g}" for cost in score.costs)
            cells = (f"{score.accuracy:.2f} ± {score.spread:.2f}", costs, f"{score.accuracy_at_1:.2f}")
            rows.append([score.model, f"{score.dimension:,}", *cells, number(score.published, ".2f")])
        missing = [model for model in published if model not in {score.model for score in scores}]
        rows += [[model, NONE, NONE, NONE, NONE, f"{published[model]:.2f}"] for model in missing]
        yield from table([f"{sizes.data}, accuracy × 100", "dimensions", "ours", "C", "at C = 1", "paper"], rows)


def accuracy_claims(report: ClassifyReport) -> Iterator[str]:
    """What White et al. have above what, by McNemar's test over all sentences."""
    published = {sizes.data: published_accuracies(sizes.data, sizes.sentences) for sizes in report.sizes}
    rows = []
    for pair in (pair for pair in report.comparisons if pair.expected):
        found = UNDECIDED if pair.p >= LEVEL else HOLDS if pair.difference > 0 else REVERSED
        p = f"{pair.p:.2g}" if pair.p >= 1e-4 else "< 0.0001"
        paper = published[pair.data]
        printed = f"{paper[pair.one] - paper[pair.other]:+.1f}" if {pair.one, pair.other} <= set(paper) else NONE
        cells = [printed, f"{found}: {pair.difference:+.1f}", p]
        rows.append([pair.data, f"{pair.one} above {pair.other}", *cells])
    if rows:
        yield from table(["data", "claim", "paper", "here", "p"], rows)


def cbos_tasks(report: CbosReport) -> Iterator[str]:
    """Yuan and Zhang, table I: tasks, and the means of a year's tasks that were run."""
    ours, theirs = list(report.tasks[0].pearson), list(report.tasks[0].published)
    rows = []
    for year in report.years:
        for task in (task for task in report.tasks if task.group == year.group):
            rows.append([task.task, *(number(task.pearson[name]) for name in ours)])
            rows[-1] += [number(task.published[name]) for name in theirs]
        name = f"{year.group}, mean" + ("" if year.whole else f" of these {year.tasks}")
        means = [*(year.pearson[one] for one in ours), *(year.published[one] for one in theirs)]
        rows.append([bold(name), *(bold(number(mean)) for mean in means)])
    header = ["Pearson's r × 100", *(bold(name) for name in ours), *(f"paper: {name}" for name in theirs)]
    yield from table(header, rows)


def cbos_claims(report: CbosReport) -> Iterator[str]:
    """That CBOS is above what is learned from the same text; and above what it started from, which the paper lacks."""
    rows = []
    for other in (*_PEERS, RANDOM):
        pairs = [(task.pearson["CBOS"], task.pearson[other]) for task in report.tasks]
        ours = Held(sum(a > b for a, b in pairs), len(pairs), sum(a - b for a, b in pairs) / len(pairs))
        theirs = NONE
        if other in report.tasks[0].published:
            printed = [(task.published["CBOS"], task.published[other]) for task in report.tasks]
            theirs = held(
                Held(sum(a > b for a, b in printed), len(printed), sum(a - b for a, b in printed) / len(printed))
            )
        rows.append([f"CBOS above {other}", theirs, f"{verdict(ours)}: {held(ours)}"])
    both = (above(report.tasks, "CBOS", _PEERS, published=True), above(report.tasks, "CBOS", _PEERS))
    rows.append(["CBOS above both", *(f"{count} of {len(report.tasks)}" for count in both)])
    yield from table(["claim", "paper, the same tasks", "here"], rows)


def cbos_effects(report: CbosReport, parameter: str) -> Iterator[str]:
    """Yuan and Zhang, figures 3 and 4: r by task over k or m, with the best value."""
    effects = [effect for effect in report.effects if effect.parameter == parameter]
    if not effects:
        return
    rows = []
    lines = [(task.partition(".")[2], [effect.pearson[task] for effect in effects]) for task in effects[0].pearson]
    for name, found in [*lines, ("mean", [effect.mean for effect in effects])]:
        rows.append([name, *map(number, found), str(effects[found.index(max(found))].value)])
    yield from table(["STS 2014", *(f"{parameter} = {effect.value}" for effect in effects), "best"], rows)


def _beside(sizes: GroupSizes, name: str, count: int) -> str:
    published = sizes.published.get(name)
    return f"{count:,}" if published is None else f"{count:,} (paper: {published:,})"
