"""`semsearch vectors evaluate`: measure word vectors by similarity of sentences, retrieval by meaning, known words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.errors import UsageError
from semsearch_research.evaluate.experiment import Experiment
from semsearch_research.evaluate.options import Option, Repeated, Switch
from semsearch_research.evaluate.published import systems
from semsearch_research.evaluate.retrieval_experiment import with_interval
from semsearch_research.evaluate.sts_experiment import groups_table
from semsearch_research.evaluate.table import Block, Table

if TYPE_CHECKING:
    from semsearch_research.evaluate.vector_scores import VectorsReport


def run(name: str, *, record: bool = False, **options: Any) -> VectorsReport:
    """Run `evaluate_vectors`; with `record` write its scores to the vectors' card."""
    from semsearch.word_vectors.loading import open_vectors
    from semsearch_research.evaluate.vector_scores import evaluate_vectors, record_scores  # start-up time

    opened = open_vectors(name)
    report = evaluate_vectors(opened, **options)
    if record:
        record_scores(opened, report)
    return report


def tables(report: VectorsReport) -> Iterator[Block]:
    """The blocks of the experiment: the vectors; similarity; retrieval; each with the share of known words."""
    from semsearch_research.evaluate.sts_scores import PER_TASK, StsReport  # start-up time: it imports numpy

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


def _check(given: Mapping[str, Any]) -> None:
    if not given["sts"] and not given["retrieval"]:
        raise UsageError("there is nothing to measure on; give --sts PATH, --retrieval FOLDER, or both")


VECTORS_EXPERIMENT = Experiment(
    name="evaluate",
    summary="Similarity by SIF and uSIF, retrieval by meaning alone, known words.",
    help="Measure word vectors: similarity by SIF and uSIF, retrieval by meaning alone, and how many words they know.",
    options=(
        Option("name", str, "NAME|PATH", "Shipped vectors, a folder, or a file.", argument=True),
        Repeated("sts", Path, "PATH", "Sentence pairs, as evaluate sts reads."),
        Repeated("retrieval", Path, "FOLDER", "Collections, as evaluate retrieval reads."),
        Switch("record", help="Write the scores to the vectors' card."),
    ),
    run=run,
    tables=tables,
    check=_check,
)
