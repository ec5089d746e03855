"""`semsearch evaluate sweep` and `semsearch evaluate weights`: figures 2 and 1 of the SIF paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from semsearch.cli.counter import stages
from semsearch.cli.formats import one_line, to_json
from semsearch.cli.inspecting import JsonOption, aligned, count
from semsearch.cli.messages import tell_warnings
from semsearch.cli.startup import use_one_thread

if TYPE_CHECKING:
    from semsearch.evaluate.analysis.sweep import SweepReport
    from semsearch.evaluate.analysis.weighing import WeightRow, WeightsReport

PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw the figure: .png, .svg or .pdf.", show_default=False)
]
_COMPARED = 1e-3  # a, in the paper's comparison of sources of p(w)


def sweep(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Files of score, sentence, sentence (tabs); folders of such."),
    ],
    a: Annotated[
        list[float] | None,
        typer.Option("--a", help="Repeated; by default 1 and 3 times each power of ten from 1e-5 to 1e-1."),
    ] = None,
    frequencies: Annotated[
        list[str] | None,
        typer.Option(
            metavar="vectors|corpus|uniform|FILE", help="Where p(w) comes from, repeated; by default the first three."
        ),
    ] = None,
    vectors: Annotated[
        list[str] | None, typer.Option("--vectors", metavar="NAME|PATH", help="Repeated; by default english.")
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Which tasks, repeated: STS13, SICK14. By default STS12, or all without it."),
    ] = None,
    split: Annotated[
        Literal["train", "dev", "test"],
        typer.Option(help="Which of a folder's files; a file that is named is taken anyway.", show_choices=True),
    ] = "test",
    plot: PlotOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure anew what was measured before.")] = False,
    json: JsonOption = False,
) -> None:
    """Vary SIF's a and the source of p(w), as in figure 2 of the SIF paper.

    Pearson's r × 100, the mean of the tasks. A uniform p(w) weighs all words the same: removal alone.
    """
    use_one_thread()
    tell_warnings()
    from semsearch.evaluate.analysis.sweep import SOURCES, SWEPT, evaluate_sweep
    from semsearch.evaluate.plots import check_target, save  # start-up time, as all the imports below

    check_target(plot)
    with stages() as progress:
        report = evaluate_sweep(
            paths,
            vectors=vectors or ("english",),
            frequencies=frequencies or SOURCES,
            a=a or SWEPT,
            groups=group or (),
            split=split,
            fresh=fresh,
            progress=progress,
        )
    if plot is not None:
        from semsearch.evaluate.analysis.sif_pictures import draw_sweep

        save(draw_sweep(report), plot)
    print(to_json(report.to_dict()) if json else "\n".join(sweep_lines(report)))


def weights(
    word: Annotated[
        list[str] | None,
        typer.Option("--word", metavar="WORD", help="Repeated; by default the words of ranks 1, 10, 100, and so on."),
    ] = None,
    a: Annotated[float | None, typer.Option("--a", help="SIF's parameter; by default 1e-4, as in figure 1.")] = None,
    sample: Annotated[
        float | None, typer.Option(metavar="T", help="word2vec's threshold; by default 1e-5, as in figure 1.")
    ] = None,
    vectors: Annotated[
        str, typer.Option("--vectors", metavar="NAME|PATH", help="Shipped vectors, a folder, or a file.")
    ] = "english",
    frequencies: Annotated[
        str, typer.Option(metavar="vectors|FILE", help="Where p(w) comes from: the vectors, or a file of word counts.")
    ] = "vectors",
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Compare how much a word counts with SIF, word2vec and uSIF, as in figure 1 of the SIF paper."""
    use_one_thread()
    tell_warnings()
    from semsearch.evaluate.analysis.weighing import evaluate_weights
    from semsearch.evaluate.plots import check_target, save  # start-up time, as all the imports below

    check_target(plot)
    report = evaluate_weights(word or (), a=a, sample=sample, vectors=vectors, frequencies=frequencies)
    if plot is not None:
        from semsearch.evaluate.analysis.sif_pictures import draw_weights

        save(draw_weights(report), plot)
    print(to_json(report.to_dict()) if json else "\n".join(weights_lines(report)))


def sweep_lines(report: SweepReport) -> Iterator[str]:
    """A line an a, a column a source of p(w); below, the best a of each, the plain mean, and the paper's finding."""
    from semsearch.evaluate.analysis.sweep import UNIFORM, shown_source  # start-up time

    yield f"SIF, {one_line(', '.join(report.groups))}, {_mean_of(len(report.tasks))}, Pearson's r × 100"
    yield ""
    series = report.series
    table = [["a", *(one_line(shown_source(source)) for _, source in series)]]
    if len(report.means) > 1:
        table.insert(0, ["", *(one_line(vectors) for vectors, _ in series)])
    for points in zip(*series.values(), strict=True):
        table.append([f"{points[0].a:g}", *(f"{point.pearson:.1f}" for point in points)])
    # with a uniform p(w) it is the same for all, but for rounding
    table.append(["best a", *("any" if one.frequencies == UNIFORM else f"{one.a:g}" for one in report.best)])
    table.append(["plain mean", *(f"{report.means[vectors]:.1f}" for vectors, _ in series)])
    yield from aligned(table, left=(0,))
    yield ""
    low, high = report.published_best
    yield f"SIF paper, figure 2: the best a is usually from {low:g} to {high:g}; a wide range is above the plain mean;"
    yield f"at a = {_COMPARED:g} the source of p(w) hardly matters"
    for vectors in report.means:
        yield _found(report, vectors)


def _found(report: SweepReport, vectors: str) -> str:
    """What became of the paper's findings with some word vectors. A uniform p(w) is not a p(w) in the paper's sense."""
    from semsearch.evaluate.analysis.sweep import UNIFORM  # start-up time

    real = [point for point in report.points if point.vectors == vectors and point.frequencies != UNIFORM]
    if not real:
        return f"{one_line(vectors)}: only a uniform p(w)"
    best = ", ".join(f"{one.a:g}" for one in report.best if one.vectors == vectors and one.frequencies != UNIFORM)
    above = sum(point.pearson > report.means[vectors] for point in real)
    text = f"{one_line(vectors)}: best a {best}; {above} of {len(real)} figures are above the plain mean"
    there = [point.pearson for point in real if point.a == _COMPARED]
    spread = f"; at a = {_COMPARED:g} the sources are within {max(there) - min(there):.1f}" if len(there) > 1 else ""
    return text + spread


def weights_lines(report: WeightsReport) -> Iterator[str]:
    """A line a frequency, then a line a word; below, how far SIF and word2vec are apart."""
    header = ("", "p(w)", "SIF", "word2vec", "uSIF")
    yield from aligned([header, *map(_cells, (*report.curve, *report.words))], left=(0,))
    yield ""
    yield f"SIF: a / (a + p), a = {report.a:g}; word2vec: min(1, √(t / p)), t = {report.sample:g}"
    yield f"uSIF: a / (p + a/2), a = {report.usif_a:.4g}; twice SIF's weight with half its a"
    far = report.farthest
    yield f"SIF and word2vec are farthest apart at p(w) = {far.p:.1e}: {far.sif:.2f} and {far.word2vec:.2f}"
    yield f"over the words of {one_line(report.vectors)}, their weights correlate by r = {report.correlation:.3f}"


def _cells(row: WeightRow) -> tuple[str, ...]:
    return (
        one_line(row.word or ""),
        f"{row.p:.1e}",
        *(f"{weight:.4f}" for weight in (row.sif, row.word2vec, row.usif)),
    )


def _mean_of(tasks: int) -> str:
    return count(tasks, "task") if tasks == 1 else f"mean of {count(tasks, 'task')}"
