"""`semsearch vectors evaluate`: measure word vectors by similarity of sentences, retrieval by meaning, known words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from semsearch.errors import UsageError
from semsearch_research.command_line import JsonOption, chosen, measuring, show
from semsearch_research.evaluate.published import systems
from semsearch_research.evaluate.sts_scores import PER_TASK, StsReport
from semsearch_research.evaluate.table import Block, Table
from semsearch_research.evaluate.vector_scores import VectorsReport, evaluate_vectors
from semsearch_research.experiments.retrieval_experiment import with_interval
from semsearch_research.experiments.sts_experiment import groups_table
from semsearch_research.word_tables.conversion import open_vectors


def tables(report: VectorsReport) -> Iterator[Block]:
    """The blocks of the experiment: the vectors; similarity; retrieval; each with the share of known words."""

    yield f"{report.vectors}: {report.words:,} words, {report.dimension} dimensions ({report.digest[:8]})"
    if report.sts:
        yield groups_table(StsReport(report.vectors, PER_TASK, (), report.sts), ("sif", "usif"), systems())
        yield f"{report.coverage['sts']:.1%} of the words are known"
    if report.retrieval:
        rows = []
        for row in report.retrieval:
            known = report.coverage.get(row.collection)
            shown = (*with_interval(row.figures["ndcg@10"]), f"{row.figures['recall@100'].value:.3f}")
            rows.append([row.collection, *shown, "" if known is None else f"{known:.1%}"])
        yield Table(["dense", "nDCG@10", "95 %", "R@100", "known words"], rows)


def evaluate(
    name: Annotated[str, typer.Argument(metavar="NAME|PATH", help="Shipped vectors, a folder, or a file.")],
    sts: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="Sentence pairs, as evaluate sts reads. Repeatable.")
    ] = None,
    retrieval: Annotated[
        list[Path] | None, typer.Option(metavar="FOLDER", help="Collections, as evaluate retrieval reads. Repeatable.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure word vectors: similarity by SIF and uSIF, retrieval by meaning alone, and how many words they know."""
    if not sts and not retrieval:
        raise UsageError("there is nothing to measure on; give --sts PATH, --retrieval FOLDER, or both")
    opened = open_vectors(name)
    with measuring() as progress:
        report = evaluate_vectors(opened, progress=progress, **chosen(sts=sts, retrieval=retrieval))
    show(report, tables(report), json=json)
