"""`semsearch evaluate classify`: can a sentence's meaning be told from its vector? White et al. 2015."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from semsearch_research.command_line import (
    AOption,
    ComponentsOption,
    FreshOption,
    JsonOption,
    SeedOption,
    VectorsOption,
    chosen,
    measuring,
    show,
)
from semsearch_research.evaluate.claims import verdict_of_test
from semsearch_research.evaluate.inputs import MEANING, marked
from semsearch_research.evaluate.table import NONE, Block, Table, number, within
from semsearch_research.papers_report import PapersReport
from semsearch_research.paraphrase.classification import evaluate_classify
from semsearch_research.paraphrase.classify_report import ClassifyReport, GroupSizes
from semsearch_research.paraphrase.paragraph_vectors import ParagraphSettings
from semsearch_research.paraphrase.published_accuracies import UNTRIED, published_accuracies
from semsearch_research.section import Section

_OF_WORD_VECTORS = ("mowe", "sowe", "sif", "usif")  # the models that word vectors are a part of


def groups(report: ClassifyReport) -> Table:
    """The table of data sets: White et al., figures 2 and 3 and section 3.2."""
    rows = []
    for sizes in report.sizes:
        counts = (("sentences", sizes.sentences), ("groups", sizes.groups), ("tokens", sizes.tokens))
        rows.append([sizes.data, *(_beside(sizes, name, count) for name, count in counts)])
    return Table(["data", "sentences", "groups", "tokens of bow"], rows)


def sizes_of_groups(sizes: GroupSizes) -> Table:
    """The table of groups by their number of sentences."""
    head = [f"{sizes.data}, sentences of a group", *(str(size) for size in sizes.sizes)]
    return Table(head, [["groups", *(f"{count:,}" for count in sizes.sizes.values())]])


def accuracies(report: ClassifyReport, sizes: GroupSizes, *, others: bool = True) -> Table:
    """The table of accuracies on one data set: White et al., table 1. `others`: published models that were not run."""
    published = published_accuracies(sizes.data, sizes.sentences)
    rows = []
    for score in (score for score in report.scores if score.data == sizes.data):
        folds = " ".join(f"{fold:.1f}" for fold in score.folds)
        costs = " ".join(f"{cost:g}" for cost in score.costs)
        ours = within(score.accuracy, score.low, score.high, ".2f")
        at_1 = within(score.accuracy_at_1, score.low_at_1, score.high_at_1, ".2f")
        cells = (ours, folds, costs, at_1)
        taught = [score.model] * (report.taught and score.model in _OF_WORD_VECTORS)
        rows.append([marked(score.model, taught), f"{score.dimension:,}", *cells, number(score.published, ".2f")])
    missing = [model for model in published if others and model not in {score.model for score in report.scores}]
    rows += [[model, *[NONE] * 5, f"{published[model]:.2f}"] for model in missing]
    head = f"{sizes.data}, accuracy × 100"
    return Table([head, "dimensions", "ours", "folds", "C", "at C = 1", "paper"], rows)


def claims(report: ClassifyReport) -> Iterator[Table]:
    """The table of White et al.'s claims, by McNemar's test over all sentences."""
    published = {sizes.data: published_accuracies(sizes.data, sizes.sentences) for sizes in report.sizes}
    rows = []
    for pair in (pair for pair in report.comparisons if pair.expected):
        p = f"{pair.p:.2g}" if pair.p >= 1e-4 else "< 0.0001"
        paper = published[pair.data]
        printed = f"{paper[pair.one] - paper[pair.other]:+.1f}" if {pair.one, pair.other} <= set(paper) else NONE
        cells = [printed, f"{verdict_of_test(pair.p, pair.difference)}: {pair.difference:+.1f}", p]
        rows.append([pair.data, f"{pair.one} above {pair.other}", *cells, str(pair.only_one), str(pair.only_other)])
    if rows:
        yield Table(["data", "claim", "paper", "here", "p", "only the one right", "only the other"], rows, labels=2)


def tables(report: ClassifyReport) -> Iterator[Block]:
    """The blocks of the experiment: the data sets, and for each the accuracies."""
    yield groups(report)
    for sizes in report.sizes:
        yield sizes_of_groups(sizes)
        yield accuracies(report, sizes)
        if UNTRIED in published_accuracies(sizes.data, sizes.sentences):
            yield f"{UNTRIED}: its program and parameters are its authors' own; the paper's figure stands alone"
    yield _said(report)
    if report.training:
        yield f"pv-dm and pv-dbow are trained on {report.training:,} sentences"


def _said(report: ClassifyReport) -> str:
    said = "± is half of the 95 % interval, by drawing the sentences of each fold anew."
    return f"{said} {MEANING}" if report.taught else said


def _beside(sizes: GroupSizes, name: str, count: int) -> str:
    published = sizes.published.get(name)
    return f"{count:,}" if published is None else f"{count:,} (paper: {published:,})"


def classify(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Groups of paraphrases: group, id, sentence (tabs); a folder of data."),
    ],
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="mowe, sowe, bow, pca-bow, pv-dm, pv-dbow, sif, usif: by default all that can be run. "
            "Also pca-bow-white, pca-bow-all, pca-bow-white-all. Repeatable.",
        ),
    ] = None,
    vectors: VectorsOption = "english",
    a: AOption = None,
    components: ComponentsOption = None,
    cost: Annotated[
        float | None, typer.Option("--C", metavar="C", help="Of the machine; by default chosen within each fold.")
    ] = None,
    seed: SeedOption = 0,
    train_text: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Text to train pv-dm and pv-dbow on, also .xz or .gz. Repeatable."),
    ] = None,
    train_sentences: Annotated[
        int, typer.Option(metavar="N", help="On so many of its sentences, at random.")
    ] = 1200000,
    train_rounds: Annotated[int, typer.Option(metavar="N", help="How often they are gone through.")] = 5,
    fresh: FreshOption = False,
    json: JsonOption = False,
) -> None:
    """Classify sentences into their paraphrase groups by a linear machine, as White et al. 2015.

    Accuracy × 100, the mean of three folds, beside the paper's; and whether the models that the paper has above others
    are, by McNemar's test.
    """
    with measuring() as progress:
        report = evaluate_classify(
            paths,
            vectors=vectors,
            seed=seed,
            paragraphs=ParagraphSettings(sentences=train_sentences, rounds=train_rounds),
            fresh=fresh,
            progress=progress,
            **chosen(models=models, a=a, components=components, cost=cost, train_text=train_text),
        )
    blocks = [*tables(report), *claims(report)]
    show(report, blocks, json=json)


def _command(papers: PapersReport) -> str:
    found = papers.classify
    assert found is not None  # or the section is left out
    text = f" --train-text {' '.join(papers.texts)} --train-sentences {found.training}" if found.training else ""
    return f"classify {' '.join(f'paraphrase/{sizes.data}.tsv' for sizes in found.sizes)}{text}"


SECTION = Section(
    of="classify",
    title="Into groups of paraphrases (table 1)",
    command=_command,
    says="Each sentence into its group of paraphrases, by a linear machine in three folds. C is chosen within each "
    "training fold; the paper does not say which it took.",
    blocks=lambda report, _: [
        groups(report),
        *(accuracies(report, sizes).without("folds") for sizes in report.sizes),
        _said(report),
        *(table.without("only the one right", "only the other") for table in claims(report)),
    ],
    note="classify",
)
