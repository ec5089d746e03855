"""`semsearch evaluate cbos`: continuous bag of sentences beside skip-gram and CBOW, and the effects of k and m."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.cli.counter import stages
from semsearch.cli.formats import to_json
from semsearch.cli.inspecting import aligned
from semsearch.cli.messages import warn
from semsearch.cli.startup import use_one_thread
from semsearch.errors import UsageError

if TYPE_CHECKING:
    from semsearch.evaluate.cbos.beside_word2vec import CbosEffect, CbosReport, CbosYear


def cbos(
    corpus: Annotated[
        list[Path], typer.Argument(metavar="CORPUS...", help="Files and folders of text; also .txt.xz and .txt.gz.")
    ],
    sts: Annotated[
        list[Path], typer.Option("--sts", metavar="PATH", help="Sentence pairs, as evaluate sts reads. Repeated.")
    ],
    k: Annotated[
        list[int] | None,
        typer.Option("--k", metavar="N", min=1, help="Repeated: compare these numbers of sentences on each side."),
    ] = None,
    m: Annotated[
        list[int] | None,
        typer.Option("--m", metavar="N", min=1, help="Repeated: compare these numbers of random sentences."),
    ] = None,
    sentences: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Train on the first N sentences; by default on all.")
    ] = None,
    baselines: Annotated[
        bool, typer.Option(help="Skip-gram and CBOW of the same text; they need semsearch[papers].")
    ] = True,
    stem: Annotated[bool, typer.Option(help="Words as stems, as the paper has them, or as they stand.")] = True,
    dimension: Annotated[int, typer.Option(metavar="D", min=1, help="How long vectors are.")] = 100,
    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="Rounds over the text, of each method.")] = 10,
    batch: Annotated[int, typer.Option(metavar="N", min=1, help="Sentences in a step of CBOS.")] = 1000,
    min_count: Annotated[
        int, typer.Option("--min-count", metavar="N", min=1, help="How often a word must stand in the text.")
    ] = 5,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of all that is drawn by chance.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The effects of --k and --m as .png, .svg or .pdf.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Train anew what was trained before.")] = False,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Train CBOS, skip-gram and CBOW on one text, and compare plain sums of their vectors, as Yuan and Zhang do.

    Pearson's r × 100 on the tasks of their table I, beside their figures. --k and --m show the effects of both numbers
    on STS 2014, the other being 1 or 2 (figures 3 and 4). Needs semsearch[papers].
    """
    use_one_thread()
    from semsearch.evaluate.cbos.beside_word2vec import evaluate_cbos  # start-up time, as those below
    from semsearch.evaluate.plots import check_target, save

    if plot and not (k or m):
        raise UsageError("the picture shows the effects of k and m; give --k N or --m N, several times")
    check_target(plot)
    with stages() as progress:
        report = evaluate_cbos(
            corpus,
            sts,
            ks=k or (),
            ms=m or (),
            sentences=sentences,
            baselines=baselines,
            stem=stem,
            dimension=dimension,
            epochs=epochs,
            batch=batch,
            min_count=min_count,
            seed=seed,
            fresh=fresh,
            skipped=lambda path, reason: warn(f"skipped {path}: {reason}"),
            progress=progress,
        )
    if plot:
        from semsearch.evaluate.cbos.effects_picture import draw

        save(draw(report.effects), plot)
    for line in [to_json(report.to_dict())] if json else _lines(report):
        print(line)


def _lines(report: CbosReport) -> Iterator[str]:
    """What was trained; table I; which method is above which; the effects."""
    yield (
        f"{report.sentences:,} sentences, {report.running_words:,} running words, {report.words:,} different; "
        f"{report.known:.1%} of the tasks' words are known"
    )
    yield "trained in " + ", ".join(f"{seconds:.0f} s ({name})" for name, seconds in report.seconds.items())
    yield ""
    yield from _tasks(report)
    yield from _claims(report)
    for parameter, other in (("k", "m = 2"), ("m", "k = 1")):
        if effects := [effect for effect in report.effects if effect.parameter == parameter]:
            yield ""
            yield from _effects(effects, other)


def _tasks(report: CbosReport) -> list[str]:
    """A line a task, under the tasks of a year their means; to the right the paper's."""
    ours, papers = list(report.tasks[0].pearson), list(report.tasks[0].published)
    blanks = ["" for _ in ours[1:]]
    heads = [
        ("", *name.replace("-", " ").split(" ", 1))[-2:] for name in (*ours, *papers)
    ]  # in two lines: narrow columns
    first, second = ([head[line] for head in heads] for line in (0, 1))
    table: list[Sequence[str]] = [
        ("Pearson's r × 100", "", "ours", *blanks, "", "paper", *("" for _ in papers[1:])),
        ("", "", *first[: len(ours)], "", *first[len(ours) :]),
        ("task", "pairs", *second[: len(ours)], "", *second[len(ours) :]),
    ]
    for year in report.years:
        members = [task for task in report.tasks if task.group == year.group]
        cells = [(task.task, f"{task.pairs:,}", task.pearson, task.published) for task in members]
        for name, pairs, found, published in [*cells, (_mean_of(year), "", year.pearson, year.published)]:
            shown = (*(f"{found[method]:.1f}" for method in ours), "")
            table.append((name, pairs, *shown, *(f"{published[method]:.1f}" for method in papers)))
    return aligned(table, left=(0,))


def _mean_of(year: CbosYear) -> str:
    return f"{year.group}, mean" if year.whole else f"{year.group}, mean of these {year.tasks}"


def _claims(report: CbosReport) -> Iterator[str]:
    """On how many tasks CBOS is above the others."""
    from semsearch.evaluate.cbos.beside_word2vec import RANDOM, above  # start-up time

    of = len(report.tasks)
    yield ""
    if {"skip-gram", "CBOW"} <= set(report.tasks[0].pearson):
        others = ("skip-gram", "CBOW")
        own, theirs = (above(report.tasks, "CBOS", others, published=which) for which in (False, True))
        yield f"CBOS is above skip-gram and CBOW on {own} of {of} tasks; in the paper on {theirs} of them"
    yield f"CBOS is above the random vectors that it starts from on {above(report.tasks, 'CBOS', (RANDOM,))} of {of}"
    if any(not year.whole for year in report.years):
        yield "means of the paper are those of its rows for the tasks that were run"


def _effects(effects: Sequence[CbosEffect], other: str) -> list[str]:
    """A line a task, a column a value of k or m, and the value that is best."""
    parameter = effects[0].parameter
    table: list[Sequence[str]] = [
        (f"effect of {parameter}, {other}", *(f"{parameter} = {effect.value}" for effect in effects), "best")
    ]
    rows = [(task, [effect.pearson[task] for effect in effects]) for task in effects[0].pearson]
    for name, found in [*rows, ("mean", [effect.mean for effect in effects])]:
        best = effects[found.index(max(found))].value
        table.append((name, *(f"{value:.1f}" for value in found), str(best)))
    return aligned(table, left=(0,))
