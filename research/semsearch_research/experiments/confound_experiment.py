"""`semsearch evaluate confound`: long word vectors pass for meaning, as in sections 3.2 and 3.3 of the uSIF paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from semsearch.errors import UsageError
from semsearch_research.evaluate import options
from semsearch_research.evaluate.experiment import Experiment, Progress
from semsearch_research.evaluate.options import Option, Repeated
from semsearch_research.evaluate.table import NONE, Block, Table
from semsearch_research.papers_data import PapersData, Reproduction
from semsearch_research.section import Section

if TYPE_CHECKING:
    from semsearch_research.analysis.confound import ConfoundReport, Likelihoods, RealWords


def run(progress: Progress | None = None, **options: Any) -> ConfoundReport:
    """Run `evaluate_confound`, which takes no time to report progress in."""
    from semsearch_research.analysis.confound import evaluate_confound  # start-up time

    del progress  # it is done at once
    return evaluate_confound(**options)


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


def _reproduce(data: PapersData, _: Progress | None) -> dict[str, tuple[ConfoundReport, ...]]:
    found = []
    for one in data.vectors:
        try:
            found.append(run(vectors=one))
        except UsageError as error:  # vectors without two unlike words and a third between them
            data.missing[f"confound, {one.name}"] = str(error)
    return {"confound": tuple(found)}


CONFOUND = Experiment(
    name="confound",
    paper="uSIF, sections 3.2 and 3.3",
    summary="What the length of word vectors does (uSIF, section 3.2).",
    help="""Show that long word vectors pass for meaning in SIF's model, and not in uSIF's (uSIF paper, section 3.2).

    How probable a sentence of two unlike words is beside one of the same word twice: it should be far less.
    """,
    options=(
        Repeated("k", float, "", "The length of the words, k1; by default 1.", "--k"),
        Repeated("ratio", float, "", "k2 / k1; by default 1, the paper's worst case, and 3."),
        Repeated("stretch", float, "BETA", "How long x and y are beside z; by default 2, the paper's, and 3."),
        Option(
            "words",
            tuple[str, str, str],
            "X Y Z",
            "Two unlike words and one between them; by default the clearest that are found.",
        ),
        options.VECTORS,
    ),
    run=run,
    tables=tables,
)
REPRODUCTION = Reproduction(CONFOUND, _reproduce)
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
