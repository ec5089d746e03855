"""The report's tables of what weights do, what is removed, and what the length of vectors does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from semsearch.evaluate.analysis.confound import ConfoundReport, Likelihoods
from semsearch.evaluate.analysis.removed_directions import ComponentsReport
from semsearch.evaluate.analysis.sweep import UNIFORM, SweepReport, shown_source
from semsearch.evaluate.analysis.weighing import WeightsReport
from semsearch.evaluate.papers.markdown import NONE, number, prose, table

COMPARED = 1e-3  # a, in the SIF paper's comparison of sources of p(w)
_WORDS = 6  # nearest to a direction


def weights(report: WeightsReport) -> Iterator[str]:
    """SIF paper, figure 1: words of the ranks 1, 10, 100 and so on."""
    rows = [
        [row.word or "", f"{row.p:.1e}", *(number(value, ".3f") for value in (row.sif, row.word2vec, row.usif / 2))]
        for row in report.words
    ]
    header = ["word", "p(w)", f"SIF, a = {report.a:g}", f"word2vec, t = {report.sample:g}"]
    yield from table([*header, f"uSIF ÷ 2, a = {report.usif_a:.4g}"], rows)
    far = report.farthest
    yield from prose(
        f"Over all words of {report.vectors} the weights of SIF and word2vec correlate by r = "
        f"{report.correlation:.3f}. They are farthest apart at p(w) = {far.p:.1e}, with {far.sif:.2f} and "
        f"{far.word2vec:.2f}."
    )


def sweep(report: SweepReport) -> Iterator[str]:
    """SIF paper, figure 2: r over a, a column for each word vectors and source of p(w)."""
    series = report.series
    several = len(report.means) > 1
    names = [shown_source(source) + (f", {vectors}" if several else "") for vectors, source in series]
    rows = [
        [f"{points[0].a:g}", *(number(point.pearson) for point in points)]
        for points in zip(*series.values(), strict=True)
    ]
    rows.append(["plain mean", *(number(report.means[vectors]) for vectors, _ in series)])
    yield from table([f"a; {', '.join(report.groups)}", *names], rows)


def sweep_claims(report: SweepReport) -> Iterator[str]:
    """What the SIF paper reads from figure 2, and what is read from ours. A uniform p(w) is no p(w) in its sense."""
    low, high = report.published_best
    above, best, within = ["a wide range of a is above the plain mean"], [f"the best a is from {low:g} to {high:g}"], []
    for vectors, mean in report.means.items():
        real = [point for point in report.points if point.vectors == vectors and point.frequencies != UNIFORM]
        over = sum(point.pearson > mean for point in real)
        above.append(f"{over} of {len(real)} figures")
        there = [one.a for one in report.best if one.vectors == vectors and one.frequencies != UNIFORM]
        inside = sum(low <= a <= high for a in there)
        best.append(f"{inside} of {len(there)} sources: {', '.join(f'{a:g}' for a in there)}")
        compared = [point.pearson for point in real if point.a == COMPARED]
        within.append(f"within {max(compared) - min(compared):.1f}" if len(compared) > 1 else NONE)
    same = [f"at a = {COMPARED:g} the source of p(w) hardly matters", *within]
    yield from table(["claim", *(f"here, {name}" for name in report.means)], [above, best, same])


def components(reports: Sequence[ComponentsReport]) -> Iterator[str]:
    """SIF paper, section 4.1: the words nearest to each direction that is removed from SICK."""
    rows = []
    for report in reports:
        for removed in report.removed:
            for direction in removed.directions:
                nearest = ", ".join(word.word for word in direction.nearest[:_WORDS])
                first = f"{report.vectors}, {removed.method}" if direction.number == 1 else ""
                rows.append(
                    [first, f"{direction.number}", f"{direction.share:.1%}", f"{direction.strength:.0%}", nearest]
                )
    yield from table(["", "direction", "variance", "removed", "nearest words"], rows)


def papers_words(reports: Sequence[ComponentsReport]) -> Iterator[str]:
    """The places of the paper's ten words among all that are compared, by their nearness to SIF's first direction."""
    rows = []
    words: Sequence[str] = ()
    for report in reports:
        for places in (removed.papers_words for removed in report.removed if removed.papers_words):
            words = list(places)
            shown = [NONE if place is None else f"{place:,}" for place in places.values()]
            rows.append([f"{report.vectors}, of {report.words:,}", *shown])
    if rows:
        yield from table(["place of", *words], rows)


def confound(reports: Sequence[ConfoundReport]) -> Iterator[str]:
    """uSIF paper, sections 3.2 and 3.3: the paper's two dimensions, which need no word vectors, then real words."""
    first = reports[0]
    papers = {
        "log-linear": first.published["p(g) / p(h), log-linear"],
        "angular": first.published["p(g), angular"] / first.published["p(h), angular"],
    }
    rows = []
    for scenario in first.scenarios:
        paper = f"{papers[scenario.model]:g}" if scenario.stretch == 2 else NONE
        shown = (_ratio(scenario.formula), _ratio(scenario.search), paper)
        rows.append([f"{scenario.k:g}", f"{scenario.stretch:g}", scenario.model, *shown])
    yield from table(["k", "β", "model", "p(x y) ÷ p(z z)", "by search", "paper"], rows)
    rows = []
    for real in (report.real for report in reports):
        x, y, z = (word.word for word in real.words)
        for model, (plain, longer) in real.models.items():
            rows.append([real.vectors, f"{x} {y} against {z} {z}", model, _ratio(plain), _ratio(longer)])
    yield from table(["vectors", "words", "model", "ratio", f"x and y {first.real.stretch:g} times as long"], rows)


def _ratio(likelihoods: Likelihoods) -> str:
    ratio = likelihoods.ratio
    return f"{ratio:.4g}" if 1e-3 < ratio < 1e4 else f"e^{likelihoods.g - likelihoods.h:.1f}"
