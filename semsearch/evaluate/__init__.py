"""Measuring what semsearch finds: retrieval on test collections, similarity on sentence pairs, one's own questions.

    from semsearch.evaluate import evaluate_retrieval, evaluate_sts
    for row in evaluate_retrieval(["scifact", "cisi"]):
        print(row.collection, row.mode, row.figures["ndcg@10"].value)

And what an experiment of one's own is made of: Experiment, Option, Table, new_figure. Names are loaded when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.evaluate.arguments import (
        check_each_a as check_each_a,
    )
    from semsearch.evaluate.arguments import (
        check_positive as check_positive,
    )
    from semsearch.evaluate.arguments import (
        check_several as check_several,
    )
    from semsearch.evaluate.arguments import (
        distinct_names as distinct_names,
    )
    from semsearch.evaluate.arguments import (
        ids_of_words as ids_of_words,
    )
    from semsearch.evaluate.cache import (
        cached as cached,
    )
    from semsearch.evaluate.cache import (
        digest_of as digest_of,
    )
    from semsearch.evaluate.cache import (
        program_digest as program_digest,
    )
    from semsearch.evaluate.cache import (
        versions as versions,
    )
    from semsearch.evaluate.data_folder import counts_in as counts_in
    from semsearch.evaluate.data_folder import files_of as files_of
    from semsearch.evaluate.data_folder import parts_of as parts_of
    from semsearch.evaluate.distilled_vectors import MEANING as MEANING
    from semsearch.evaluate.distilled_vectors import is_distilled as is_distilled
    from semsearch.evaluate.distilled_vectors import marked as marked
    from semsearch.evaluate.experiment import Experiment as Experiment
    from semsearch.evaluate.experiment import Progress as Progress
    from semsearch.evaluate.experiment import lazily as lazily
    from semsearch.evaluate.experiments.sts_experiment import STS as STS
    from semsearch.evaluate.golden.golden_report import GoldenReport as GoldenReport
    from semsearch.evaluate.golden.golden_run import evaluate_golden as evaluate_golden
    from semsearch.evaluate.lines import (
        FileLine as FileLine,
    )
    from semsearch.evaluate.lines import (
        as_number as as_number,
    )
    from semsearch.evaluate.lines import (
        check_scores as check_scores,
    )
    from semsearch.evaluate.lines import (
        numbered_lines as numbered_lines,
    )
    from semsearch.evaluate.optional import import_extra as import_extra
    from semsearch.evaluate.options import (
        Argument as Argument,
    )
    from semsearch.evaluate.options import (
        Option as Option,
    )
    from semsearch.evaluate.options import (
        Repeated as Repeated,
    )
    from semsearch.evaluate.options import (
        Switch as Switch,
    )
    from semsearch.evaluate.passage_vectors import open_passage_vectors as open_passage_vectors
    from semsearch.evaluate.plots import (
        COLOURS as COLOURS,
    )
    from semsearch.evaluate.plots import (
        MARKERS as MARKERS,
    )
    from semsearch.evaluate.plots import (
        check_target as check_target,
    )
    from semsearch.evaluate.plots import (
        new_figure as new_figure,
    )
    from semsearch.evaluate.plots import (
        png as png,
    )
    from semsearch.evaluate.plots import (
        save as save,
    )
    from semsearch.evaluate.plots import (
        style as style,
    )
    from semsearch.evaluate.published import (
        YEAR_TASKS as YEAR_TASKS,
    )
    from semsearch.evaluate.published import (
        PublishedFigure as PublishedFigure,
    )
    from semsearch.evaluate.published import (
        by_column as by_column,
    )
    from semsearch.evaluate.published import (
        published_figures as published_figures,
    )
    from semsearch.evaluate.published import (
        read_figures as read_figures,
    )
    from semsearch.evaluate.retrieval.bootstrap import Figure as Figure
    from semsearch.evaluate.retrieval.comparison import RetrievalRow as RetrievalRow
    from semsearch.evaluate.retrieval.modes_and_peers import evaluate_retrieval as evaluate_retrieval
    from semsearch.evaluate.retrieval.peer_rankers import open_peers as open_peers
    from semsearch.evaluate.similarity.correlation import pearson as pearson
    from semsearch.evaluate.similarity.correlation import spearman as spearman
    from semsearch.evaluate.similarity.cosines import (
        UNIFORM as UNIFORM,
    )
    from semsearch.evaluate.similarity.cosines import (
        USIF_N as USIF_N,
    )
    from semsearch.evaluate.similarity.cosines import (
        WeighedWords as WeighedWords,
    )
    from semsearch.evaluate.similarity.cosines import (
        cosines as cosines,
    )
    from semsearch.evaluate.similarity.measured_cosines import (
        MeasuredCosines as MeasuredCosines,
    )
    from semsearch.evaluate.similarity.measured_cosines import (
        PairMeasures as PairMeasures,
    )
    from semsearch.evaluate.similarity.orderings import (
        SIF_CLAIMS as SIF_CLAIMS,
    )
    from semsearch.evaluate.similarity.orderings import (
        USIF_CLAIMS as USIF_CLAIMS,
    )
    from semsearch.evaluate.similarity.orderings import (
        Ordering as Ordering,
    )
    from semsearch.evaluate.similarity.pair_bootstrap import PairDraws as PairDraws
    from semsearch.evaluate.similarity.pair_bootstrap import Resampled as Resampled
    from semsearch.evaluate.similarity.pair_shapes import ENDINGS as ENDINGS
    from semsearch.evaluate.similarity.pair_shapes import read_pairs as read_pairs
    from semsearch.evaluate.similarity.sentence_pairs import (
        Task as Task,
    )
    from semsearch.evaluate.similarity.sentence_pairs import (
        read_tasks as read_tasks,
    )
    from semsearch.evaluate.similarity.sentence_pairs import (
        task_files as task_files,
    )
    from semsearch.evaluate.similarity.sts import evaluate_sts as evaluate_sts
    from semsearch.evaluate.similarity.sts import sentences_of as sentences_of
    from semsearch.evaluate.similarity.sts_report import (
        PER_TASK as PER_TASK,
    )
    from semsearch.evaluate.similarity.sts_report import (
        FitDifference as FitDifference,
    )
    from semsearch.evaluate.similarity.sts_report import (
        StsAverage as StsAverage,
    )
    from semsearch.evaluate.similarity.sts_report import (
        StsReport as StsReport,
    )
    from semsearch.evaluate.similarity.sts_report import (
        StsScore as StsScore,
    )
    from semsearch.evaluate.similarity.sts_tables import (
        above as above,
    )
    from semsearch.evaluate.similarity.sts_tables import (
        fitted as fitted,
    )
    from semsearch.evaluate.similarity.sts_tables import (
        groups as groups,
    )
    from semsearch.evaluate.similarity.sts_tables import (
        said as said,
    )
    from semsearch.evaluate.similarity.sts_tables import (
        tasks_beside as tasks_beside,
    )
    from semsearch.evaluate.similarity.variants import VARIANTS as VARIANTS
    from semsearch.evaluate.table import (
        NONE as NONE,
    )
    from semsearch.evaluate.table import (
        Block as Block,
    )
    from semsearch.evaluate.table import (
        PictureOf as PictureOf,
    )
    from semsearch.evaluate.table import (
        Table as Table,
    )
    from semsearch.evaluate.table import (
        bold as bold,
    )
    from semsearch.evaluate.table import (
        directions as directions,
    )
    from semsearch.evaluate.table import (
        number as number,
    )
    from semsearch.evaluate.table import (
        prose as prose,
    )
    from semsearch.evaluate.table import (
        within as within,
    )
    from semsearch.evaluate.vector_scores import VectorsReport as VectorsReport
    from semsearch.evaluate.vector_scores import evaluate_vectors as evaluate_vectors
    from semsearch.evaluate.verdicts import (
        UNDECIDED as UNDECIDED,
    )
    from semsearch.evaluate.verdicts import (
        Held as Held,
    )
    from semsearch.evaluate.verdicts import (
        counted as counted,
    )
    from semsearch.evaluate.verdicts import (
        said_by as said_by,
    )
    from semsearch.evaluate.verdicts import (
        said_by_interval as said_by_interval,
    )
    from semsearch.results.codec import Record as Record
    from semsearch.results.codec import called as called
    from semsearch.results.codec import digits as digits

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
