"""`semsearch evaluate confound`: long word vectors pass for meaning, as in sections 3.2 and 3.3 of the uSIF paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import typer

from semsearch_research.analysis.confound import ConfoundReport, Likelihoods, RealWords, evaluate_confound
from semsearch_research.command_line import JsonOption, VectorsOption, chosen, measuring, show
from semsearch_research.evaluate.table import NONE, Block, Table
from semsearch_research.section import Section


def scenarios(report: ConfoundReport) -> Table:
    """The table of the paper's two dimensions, which need no word vectors."""
    papers = {
        "log-linear": report.published["p(g) / p(h), log-linear"],
        "angular": report.published["p(g), angular"] / report.published["p(h), angular"],
    }
    rows = []
    for one in report.scenarios:
        is_printed = one.stretch == 2 and (one.ratio == 1 or one.model == "log-linear")  # equations (4) and (6)
        paper = f"{papers[one.model]:g}" if is_printed else NONE
        logs = (f"{one.formula.g:.4f}", f"{one.formula.h:.4f}")
        shown = (*logs, _ratio(one.formula), _ratio(one.search), paper)
        rows.append([f"{one.k:g}", f"{one.k * one.ratio:g}", f"{one.stretch:g}", one.model, *shown])
    logs = ("log p(x y)", "log p(z z)")
    return Table(["k1", "k2", "β", "model", *logs, "p(x y) ÷ p(z z)", "by search", "paper"], rows, labels=4)


def real_words(reals: Sequence[RealWords]) -> Table:
    """The table of likelihoods with three real words of each of the word vectors."""
    rows = []
    for real in reals:
        x, y, z = (word.word for word in real.words)
        for model, (plain, longer) in real.models.items():
            rows.append([real.vectors, f"{x} {y} against {z} {z}", model, _ratio(plain), _ratio(longer)])
    return Table(["vectors", "words", "model", "ratio", f"x and y {reals[0].stretch:g} times as long"], rows, labels=3)


def tables(report: ConfoundReport) -> Iterator[Block]:
    """The blocks of the experiment: the paper's two dimensions, then real words with their likelihoods."""
    yield "x = (βk1, 0), y = (0, βk2), z = (k1, k2): how probable x y is, given its discourse vector, beside z z"
    yield scenarios(report)
    real = report.real
    rows = [
        [name, word.word, f"{word.length:.2f}", f"{word.p:.1e}", f"{cosine:.2f}"]
        for name, word, cosine in zip("xyz", real.words, (*real.cosines[1:], 1.0), strict=True)
    ]
    yield Table(["", "word", "length", "p(w)", "cosine to z"], rows, labels=2)
    yield f"The cosine of x and y is {real.cosines[0]:.2f}."
    yield real_words([real])
    if real.even is not None:
        yield f"log-linear: as probable as z z when x and y are {real.even:.2f} times as long; angular: never"


def _section(reports: Sequence[ConfoundReport]) -> Iterable[Block]:
    return scenarios(reports[0]).without("log p(x y)", "log p(z z)"), real_words([report.real for report in reports])


def _ratio(likelihoods: Likelihoods) -> str:
    ratio = likelihoods.ratio
    return f"{ratio:.4g}" if 1e-3 < ratio < 1e4 else f"e^{likelihoods.g - likelihoods.h:.1f}"


def confound(
    k: Annotated[
        list[float] | None,
        typer.Option("--k", metavar="K", help="The length of the words, k1; by default 1. Repeatable."),
    ] = None,
    ratio: Annotated[
        list[float] | None,
        typer.Option(metavar="RATIO", help="k2 / k1; by default 1, the paper's worst case, and 3. Repeatable."),
    ] = None,
    stretch: Annotated[
        list[float] | None,
        typer.Option(
            metavar="BETA", help="How long x and y are beside z; by default 2, the paper's, and 3. Repeatable."
        ),
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
    with measuring():
        report = evaluate_confound(vectors=vectors, **chosen(k=k, ratio=ratio, stretch=stretch, words=words))
    show(report, tables(report), json=json)


SECTION = Section(
    of="confound",
    title="Long vectors (sections 3.2 and 3.3)",
    command="confound",
    vectors="each",
    says="x = (βk1, 0), y = (0, βk2), z = (k1, k2): how probable two unlike words are, given the mean as discourse "
    "vector, beside one word twice; and given the most probable discourse vector, by search. It should be far less.",
    blocks=lambda reports, _: _section(reports),
    note="confound",
)
