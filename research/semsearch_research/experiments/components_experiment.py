"""`semsearch evaluate components`: describe in words what SIF and uSIF remove, as in section 4.1 of the SIF paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from semsearch_research.analysis.component_words import Direction
from semsearch_research.analysis.removed_directions import ComponentsReport, evaluate_components
from semsearch_research.command_line import AOption, JsonOption, SplitOption, VectorsOption, chosen, measuring, show
from semsearch_research.evaluate.table import NONE, Block, Table
from semsearch_research.section import Section

_WORDS = 6  # nearest to a direction, in the papers' report


def directions(
    removed: Iterable[tuple[str, Sequence[Direction]]], *, words: int | None = None, opposite: bool = True
) -> Table:
    """The table of directions, a row each: share of the variance, how much is removed, the nearest words.

    With `opposite` a second row has the words nearest to the opposite direction.
    """
    rows = []
    for name, found in removed:
        for one in found:
            near, far = (", ".join(word.word for word in way[:words]) for way in (one.nearest, one.opposite))
            first = name if one.number == 1 else ""
            rows.append([first, f"{one.number}", f"{one.share:.1%}", f"{one.strength:.0%}", near])
            rows += [["", "", "", "", f"{NONE} {far}"]] * opposite
    return Table(["", "direction", "variance", "removed", "nearest words"], rows)


def papers_words(reports: Iterable[ComponentsReport]) -> Iterator[Table]:
    """The table of the ranks of the paper's ten words, by their nearness to SIF's first direction."""
    rows = []
    words: Sequence[str] = ()
    for report in reports:
        for ranks in (removed.papers_words for removed in report.removed if removed.papers_words):
            words = list(ranks)
            shown = [NONE if rank is None else f"{rank:,}" for rank in ranks.values()]
            rows.append([f"{report.vectors}, of {report.words:,}", *shown])
    if rows:
        yield Table(["place of", *words], rows)


def tables(report: ComponentsReport) -> Iterator[Block]:
    """The blocks of the experiment: directions by data set and method; on SICK, the ranks of the paper's words."""
    yield f"the {report.words:,} words of {report.vectors} with p(w) of {report.min_frequency:g} or more are compared"
    fits = [[one.name, one.method, f"{one.a:.4g}", f"{one.sentences:,}"] for one in report.removed]
    yield Table(["removed from", "method", "a", "sentences"], fits, labels=2)
    yield directions((f"{one.name}, {one.method}", one.directions) for one in report.removed)
    for table in papers_words([report]):
        yield "The SIF paper's ten words, found with GloVe on SICK:"
        yield table


def _section(reports: Sequence[ComponentsReport]) -> Iterator[Block]:
    removed = ((f"{report.vectors}, {one.method}", one.directions) for report in reports for one in report.removed)
    yield directions(removed, words=_WORDS, opposite=False)
    yield "The paper's ten words, found with GloVe, by their places among all words that are compared:"
    yield from papers_words(reports)


def components(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Scored sentence pairs, folders of such, a folder of data, or text files."
        ),
    ],
    methods: Annotated[
        list[str] | None, typer.Option("--method", metavar="sif|usif", help="By default both. Repeatable.")
    ] = None,
    k: Annotated[int, typer.Option("--words", "-k", metavar="K", help="How many words for each direction.")] = 10,
    min_frequency: Annotated[
        float, typer.Option(metavar="P", help="Only words at least as frequent; rare ones lie anywhere by chance.")
    ] = 1e-05,
    vectors: VectorsOption = "english",
    a: AOption = None,
    components: Annotated[int | None, typer.Option(metavar="M", help="How many; by default the method's.")] = None,
    split: SplitOption = "test",
    json: JsonOption = False,
) -> None:
    """Show the words nearest to each direction that SIF and uSIF remove.

    Each task's, or each text file's, own directions. On SICK beside the words of the SIF paper, section 4.1.
    """
    with measuring() as progress:
        report = evaluate_components(
            paths,
            k=k,
            min_frequency=min_frequency,
            vectors=vectors,
            split=split,
            progress=progress,
            **chosen(methods=methods, a=a, components=components),
        )
    show(report, tables(report), json=json)


SECTION = Section(
    of="components",
    title="What is removed, in words (section 4.1)",
    command="components sts/sick.test.tsv",
    vectors="each",
    blocks=lambda reports, _: _section(reports),
    note="components",
)
