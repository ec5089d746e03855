"""`semsearch evaluate classify`: can a sentence's meaning be told from its vector?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.cli.counter import stages
from semsearch.cli.formats import one_line, to_json
from semsearch.cli.inspecting import aligned
from semsearch.cli.messages import tell_warnings
from semsearch.cli.startup import use_one_thread

if TYPE_CHECKING:
    from semsearch.evaluate.paraphrase.agreement import ErrorAgreement, ModelComparison
    from semsearch.evaluate.paraphrase.classify_report import ClassifyReport, ClassifyScore, GroupSizes

NONE = "–"
LEVEL = 0.05  # of p, for the words in the table


def classify(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Groups of paraphrases: group, id, sentence (tabs).")
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Repeated: mowe, sowe, bow, pca-bow, pv-dm, pv-dbow, sif, usif. By default all that can be run.",
        ),
    ] = None,
    vectors: Annotated[
        str, typer.Option("--vectors", metavar="NAME|PATH", help="Shipped vectors, a folder, or a file.")
    ] = "english",
    a: Annotated[float | None, typer.Option("--a", help="Of sif and usif; by default the method's.")] = None,
    components: Annotated[
        int | None, typer.Option(metavar="M", help="Removed by sif and usif; by default the method's.")
    ] = None,
    cost: Annotated[
        float | None, typer.Option("--C", metavar="C", help="Of the machine; by default chosen within each fold.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Draws the folds.")] = 0,
    train_text: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Text to train pv-dm and pv-dbow on, also .xz or .gz. Repeated."),
    ] = None,
    train_sentences: Annotated[
        int, typer.Option(metavar="N", help="On so many of its sentences, at random.")
    ] = 1_200_000,
    train_rounds: Annotated[int, typer.Option(metavar="N", help="How often they are gone through.")] = 5,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw sizes and shared errors; files get a suffix each: .png, .svg or .pdf."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute all anew, nothing from the cache.")] = False,
    json: Annotated[bool, typer.Option("--json", help="As JSON, with all comparisons.")] = False,
) -> None:
    """Classify sentences into their paraphrase groups by a linear machine, as White et al. 2015.

    Accuracy × 100, the mean of three folds, beside the paper's; which errors two models share, in the first fold; and
    whether the models that the paper has above others are, by McNemar's test. Needs semsearch[evaluate].
    """
    use_one_thread()
    tell_warnings()
    from semsearch.evaluate.paraphrase.classification import (
        evaluate_classify,  # start-up time, as all the imports below
    )
    from semsearch.evaluate.paraphrase.paragraph_vectors import ParagraphSettings
    from semsearch.evaluate.plots import check_target

    check_target(plot)
    settings = ParagraphSettings(sentences=train_sentences, rounds=train_rounds)
    with stages() as progress:
        report = evaluate_classify(
            files,
            models=model,
            vectors=vectors,
            a=a,
            components=components,
            cost=cost,
            seed=seed,
            train_text=train_text or (),
            paragraphs=settings,
            fresh=fresh,
            progress=progress,
        )
    if plot is not None:
        from semsearch.evaluate.paraphrase.group_pictures import write_pictures

        write_pictures(report, plot)
    for line in [to_json(report.to_dict())] if json else classify_lines(report):
        print(line)


def classify_lines(report: ClassifyReport) -> Iterator[str]:
    """For each data set: its groups, the accuracies, the shared errors, and the paper's order."""
    from semsearch.evaluate.paraphrase.classification import UNTRIED, published_accuracies  # start-up time

    for number, sizes in enumerate(report.sizes):
        if number:
            yield ""
        yield from _size_lines(sizes)
        yield ""
        scores = [score for score in report.scores if score.data == sizes.data]
        published = published_accuracies(sizes.data, sizes.sentences)
        yield from _score_lines(scores, published)
        if UNTRIED in published:
            yield f"{UNTRIED}: its program and parameters are its authors' own; the paper's figure stands alone"
        yield ""
        yield from _error_lines([pair for pair in report.agreements if pair.data == sizes.data])
        expected = [pair for pair in report.comparisons if pair.data == sizes.data and pair.expected]
        if expected:
            yield ""
            yield from _order_lines(expected)
    if report.training:
        yield ""
        yield f"pv-dm and pv-dbow are trained on {report.training:,} sentences"


def _size_lines(sizes: GroupSizes) -> list[str]:
    """What the data are; beside it the paper's count; then how many groups have how many sentences."""
    counts = (("sentences", sizes.sentences), ("groups", sizes.groups), ("tokens", sizes.tokens))
    said = ", ".join(f"{count:,} {name}{_beside(sizes.published, name, count)}" for name, count in counts)
    header = ("sentences of a group", *(str(size) for size in sizes.sizes))
    row = ("groups", *(f"{count:,}" for count in sizes.sizes.values()))
    return [f"{one_line(sizes.data)}: {said}", *aligned([header, row], left=(0,))]


def _beside(published: Mapping[str, int], name: str, count: int) -> str:
    return "" if published.get(name, count) == count else f" (published: {published[name]:,})"


def _score_lines(scores: Sequence[ClassifyScore], published: Mapping[str, float]) -> list[str]:
    """A line a model, and one for each that is only published."""
    header = ("accuracy × 100", "dimensions", "mean", "±", "folds", "C", "C = 1", "published")
    table: list[Sequence[str]] = [header]
    for score in scores:
        table.append(
            (
                score.model,
                f"{score.dimension:,}",
                f"{score.accuracy:.2f}",
                f"{score.spread:.2f}",
                " ".join(f"{fold:.1f}" for fold in score.folds),
                " ".join(f"{cost:g}" for cost in score.costs),
                f"{score.accuracy_at_1:.2f}",
                NONE if score.published is None else f"{score.published:.2f}",
            )
        )
    missing = [model for model in published if model not in {score.model for score in scores}]
    table += [(model, *[NONE] * (len(header) - 2), f"{published[model]:.2f}") for model in missing]
    return aligned(table, left=(0,))


def _error_lines(pairs: Sequence[ErrorAgreement]) -> list[str]:
    """A triangle: the same errors of all that two models have in common; on its edge each model's errors."""
    models = [pair.one for pair in pairs if pair.one == pair.other]
    cells = {(pair.one, pair.other): pair for pair in pairs}
    table: list[Sequence[str]] = [("the same errors", *models)]
    for row, model in enumerate(models):
        shown = [f"{cells[above, model].same}/{cells[above, model].both_wrong}" for above in models[:row]]
        table.append((model, *shown, str(cells[model, model].both_wrong), *[""] * (len(models) - row - 1)))
    return aligned(table, left=(0,))


def _order_lines(pairs: Sequence[ModelComparison]) -> list[str]:
    """What the paper has above what, and whether it is so here."""
    table: list[Sequence[str]] = [("the paper's order", "difference", "only the one right", "only the other", "p", "")]
    for pair in pairs:
        found = "no difference shown" if pair.p >= LEVEL else "holds" if pair.difference > 0 else "reversed"
        table.append(
            (
                f"{pair.one} above {pair.other}",
                f"{pair.difference:+.2f}",
                str(pair.only_one),
                str(pair.only_other),
                f"{pair.p:.2g}" if pair.p >= 1e-4 else "< 0.0001",
                found,
            )
        )
    return aligned(table, left=(0, 5))
