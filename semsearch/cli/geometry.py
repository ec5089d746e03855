"""`semsearch evaluate components` and `semsearch evaluate confound`: what is removed, and what length does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from semsearch.cli.counter import stages
from semsearch.cli.formats import one_line, to_json
from semsearch.cli.inspecting import JsonOption, aligned, count, direction_lines
from semsearch.cli.messages import tell_warnings
from semsearch.cli.startup import use_one_thread

if TYPE_CHECKING:
    from semsearch.evaluate.analysis.confound import ConfoundReport, Likelihoods, RealWords
    from semsearch.evaluate.analysis.removed_directions import ComponentsReport, RemovedDirections

NONE = "–"
_WIDTH = 100
VectorsOption = Annotated[
    str, typer.Option("--vectors", metavar="NAME|PATH", help="Shipped vectors, a folder, or a file.")
]


def components(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Sentence pairs (.tsv), folders of such, or text files."),
    ],
    method: Annotated[list[str] | None, typer.Option(metavar="sif|usif", help="Repeated; by default both.")] = None,
    k: Annotated[int, typer.Option("--words", "-k", metavar="K", help="How many words for each direction.")] = 10,
    min_frequency: Annotated[
        float, typer.Option(metavar="P", help="Only words at least as frequent; rare ones lie anywhere by chance.")
    ] = 1e-5,
    vectors: VectorsOption = "english",
    a: Annotated[float | None, typer.Option("--a", help="The weights' parameter; by default the method's.")] = None,
    number: Annotated[
        int | None, typer.Option("--components", metavar="M", help="How many; by default the method's.")
    ] = None,
    split: Annotated[
        Literal["train", "dev", "test"],
        typer.Option(help="Which of a folder's files; a file that is named is taken anyway.", show_choices=True),
    ] = "test",
    json: JsonOption = False,
) -> None:
    """Show the words nearest to each direction that SIF and uSIF remove.

    Each task's, or each text file's, own directions. On SICK beside the words of the SIF paper, section 4.1.
    """
    use_one_thread()
    tell_warnings()
    from semsearch.evaluate.analysis.removed_directions import METHODS, evaluate_components  # start-up time

    with stages() as progress:
        report = evaluate_components(
            paths,
            methods=tuple(method or METHODS),
            vectors=vectors,
            a=a,
            components=number,
            k=k,
            min_frequency=min_frequency,
            split=split,
            progress=progress,
        )
    print(to_json(report.to_dict()) if json else "\n".join(components_lines(report)))


def confound(
    k: Annotated[
        list[float] | None, typer.Option("--k", help="The length of the words, repeated; by default 1.")
    ] = None,
    stretch: Annotated[
        list[float] | None,
        typer.Option(metavar="BETA", help="How long x and y are beside z, repeated; by default 2, the paper's, and 3."),
    ] = None,
    words: Annotated[
        tuple[str, str, str] | None,
        typer.Option(
            metavar="X Y Z", help="Two unlike words and one between them; by default the clearest that are found."
        ),
    ] = None,
    vectors: VectorsOption = "english",
    json: JsonOption = False,
) -> None:
    """Show that long word vectors pass for meaning in SIF's model, and not in uSIF's (uSIF paper, section 3.2).

    How probable a sentence of two unlike words is beside one of the same word twice: it should be far less.
    """
    use_one_thread()
    tell_warnings()
    from semsearch.evaluate.analysis.confound import STRETCHES, evaluate_confound  # start-up time

    report = evaluate_confound(k or (1.0,), stretch=stretch or STRETCHES, words=words, vectors=vectors)
    print(to_json(report.to_dict()) if json else "\n".join(confound_lines(report)))


def components_lines(report: ComponentsReport) -> Iterator[str]:
    """For each data set and method its directions; first, which words they are compared with."""
    yield f"the {report.words:,} words of {one_line(report.vectors)} with p(w) of {report.min_frequency:g} or more"
    for removed in report.removed:
        yield ""
        sentences = count(removed.sentences, "sentence")
        yield f"{one_line(removed.name)}, {removed.method}, a = {removed.a:.4g}, {sentences}"
        yield from direction_lines(removed.directions)
        yield from _paper_lines(removed, report.words)


def confound_lines(report: ConfoundReport) -> Iterator[str]:
    """The paper's two dimensions, then real words."""
    yield "x = (βk, 0), y = (0, βk), z = (k, k); how probable x y is, given its discourse vector, beside z z"
    yield ""
    table: list[Sequence[str]] = [("k", "β", "model", "log p(x y)", "log p(z z)", "ratio", "by search", "paper")]
    papers = {
        "log-linear": report.published["p(g) / p(h), log-linear"],
        "angular": report.published["p(g), angular"] / report.published["p(h), angular"],
    }
    for scenario in report.scenarios:
        formula = scenario.formula
        shown = (_log(formula.g), _log(formula.h), _ratio(formula), _ratio(scenario.search))
        paper = f"{papers[scenario.model]:g}" if scenario.stretch == 2 else ""
        table.append((f"{scenario.k:g}", f"{scenario.stretch:g}", scenario.model, *shown, paper))
    yield from aligned(table, left=(2,))
    yield ""
    yield from _real_lines(report.real)


def _real_lines(real: RealWords) -> Iterator[str]:
    yield f"the same with words of {one_line(real.vectors)}"
    yield ""
    table: list[Sequence[str]] = [("", "word", "length", "p(w)", "cosine to z")]
    for name, word, cosine in zip("xyz", real.words, (*real.cosines[1:], 1.0), strict=True):
        table.append((name, one_line(word.word), f"{word.length:.2f}", f"{word.p:.1e}", f"{cosine:.2f}"))
    yield from aligned(table, left=(0, 1))
    yield f"cosine of x and y: {real.cosines[0]:.2f}"
    yield ""
    head = ("model", "ratio", f"x and y {real.stretch:g} times as long")
    rows = [(model, _ratio(plain), _ratio(longer)) for model, (plain, longer) in real.models.items()]
    yield from aligned([head, *rows], left=(0,))
    if real.even is not None:
        yield f"log-linear: as probable as z z when x and y are {real.even:.2f} times as long; angular: never"


def _paper_lines(removed: RemovedDirections, words: int) -> Iterator[str]:
    """The paper's words for SICK, with their places among ours."""
    if not removed.papers_words:
        return
    named = (f"{word} {NONE if place is None else f'{place:,}'}" for word, place in removed.papers_words.items())
    yield f"SIF paper, GloVe: {', '.join(removed.papers_words)}"
    found = sorted(place for place in removed.papers_words.values() if place is not None)
    middle = f", half of them up to {found[(len(found) - 1) // 2]:,}" if found else ""
    yield from wrap(f"their places here, of {words:,}: {', '.join(named)}{middle}", _WIDTH, subsequent_indent="  ")


def _log(value: float) -> str:
    return f"{value:.4f}"


def _ratio(likelihoods: Likelihoods) -> str:
    ratio = likelihoods.ratio
    return f"{ratio:.4f}" if 1e-3 < ratio < 1e4 else f"e^{likelihoods.g - likelihoods.h:.1f}"
