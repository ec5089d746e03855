"""Similarity in the papers' report: how `semsearch evaluate sts` is run for it, and its sections in two chapters."""

from __future__ import annotations

from collections.abc import Iterator

from semsearch_research.evaluate.claims import SIF_CLAIMS, USIF_CLAIMS
from semsearch_research.evaluate.inputs import marked
from semsearch_research.evaluate.published import by_column, published_figures
from semsearch_research.evaluate.sts_scores import StsReport
from semsearch_research.evaluate.table import Block, PictureOf, Table, number
from semsearch_research.experiments.sts_experiment import (
    claims_table,
    fits_tables,
    groups_table,
    notes_on,
    tasks_beside_published,
)
from semsearch_research.papers_report import PapersReport
from semsearch_research.section import Section

_SIF = by_column("sif", "table 1", "table 5", "table 6")
_USIF = dict(sorted(by_column("usif", "table 1", "table 2").items(), key=lambda item: not item[0].endswith("UP")))


def usif_a(papers: PapersReport) -> Table:
    """The table of uSIF's a, which follows from p(w) and n: with the paper's counts it can be checked."""
    published = {figure.row: figure.value for figure in published_figures("usif", "section 4.2")}
    rows = [["paper", f"{published['a']:g}"]]
    if papers.counted is not None:
        rows.append([f"counts in {papers.counts[0]}", f"{papers.counted.usif_a:.5g}"])
    if papers.weights is not None:
        rows.append([f"p(w) of {papers.weights.vectors}", f"{papers.weights.usif_a:.5g}"])
    return Table(["uSIF's a, n = 11, from", "a"], rows)


def improvements(report: StsReport) -> Table:
    """The table of SIF's parts over the plain mean, in per cent of its r: in appendix A.1, roughly, and here."""
    printed = {figure.row: figure.value for figure in published_figures("sif", "appendix A.1")}
    found = {(one.better, one.vectors): one.improvement for one in report.orderings if one.worse == "mean"}
    names = list(dict.fromkeys(vectors for _, vectors in found))
    rows = []
    for method, part in (("w", "W"), ("r", "R"), ("sif", "WR")):
        theirs = [f"{printed[f'{name}+{part}']:+.0f}" for name in ("GloVe", "PSL")]
        rows.append([method, *theirs, *(number(found.get((method, name)), "+.0f") for name in names)])
    heads = ["paper, GloVe", "paper, PSL", *(f"here, {marked(name, report.taught)}" for name in names)]
    return Table(["improves the plain mean by %", *heads], rows)


def _similarity(report: StsReport, _: PapersReport) -> Iterator[Block]:
    yield groups_table(report, ("mean", "tfidf", "w", "r", "sif"), _SIF, printed=("STS13", "Twitter15"))
    yield notes_on(report)
    yield claims_table(report, SIF_CLAIMS, percent=False)
    yield improvements(report)
    yield PictureOf("sts", "Pearson's r by group and method, the papers' figures as crosses")
    yield tasks_beside_published(report, ("mean", "tfidf", "sif"), _SIF)
    yield tasks_beside_published(report, ("w", "r"), _SIF)


def _parts(report: StsReport, _: PapersReport) -> Iterator[Block]:
    parts = (f"{method}{part}" for method in ("sif+", "usif-") for part in "upn")
    yield groups_table(report, ("sif", *parts, "usif"), {})
    yield claims_table(report, USIF_CLAIMS)


SIMILARITY = Section(
    of="sts",
    title="Similarity of sentences (tables 1, 5 and 6)",
    command="sts sts/ --ablation",
    vectors="all",
    says="a = 1e-3, one component of each task's own sentences; the mean of a group's tasks. A published mean of a "
    "year that was not run whole is that of the same tasks, and stands as it is printed in a column of its own. In "
    "bold: ours.",
    blocks=_similarity,
    note="similarity",
)
FITTED = Section(
    of="fitted",
    title="Fitted once",
    command="sts sts/ --method sif --method usif --fit-on task --fit-on corpus",
    vectors="all",
    says="The papers fit on the sentences that are tested, task by task. An index fits once, on all that it holds.",
    blocks=lambda report, _: fits_tables(report),
    note="fitted",
)
ON_COUNTS = Section(
    of="on_counts",
    title="With the papers' own counts",
    command=lambda papers: f"sts sts/ --method sif --method usif --frequencies {papers.counts[0]}",
    vectors="all",
    says="The same with p(w) from a file of word counts, in place of that of the word vectors.",
    blocks=lambda report, _: [groups_table(report, ("sif", "usif"), {})],
    note="counts",
)
USIF = Section(
    of="sts",
    title="Similarity of sentences (tables 1 and 2)",
    command="sts sts/ --method usif --method sif",
    also=lambda papers: "weights" + "".join(f" --frequencies {name}" for name in papers.counts[:1]),
    vectors="all",
    blocks=lambda report, papers: [
        groups_table(report, ("usif", "sif"), _USIF, apart=True, printed=("STS13",)),
        notes_on(report),
        usif_a(papers),
    ],
    note="usif",
)
PARTS = Section(
    of="sts",
    title="Its parts (section 4.3)",
    command="sts sts/ --ablation",
    vectors="all",
    says="u: weights, p: piecewise removal, n: normalisation. sif+u has that part in place of SIF's way; usif-u, "
    "which is not in the paper, has SIF's way in place of that part. The paper's counts are of groups, not of tasks.",
    blocks=_parts,
    note="parts",
)
