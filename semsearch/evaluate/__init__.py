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
        check_positive as check_positive,
        check_several as check_several,
        distinct_names as distinct_names,
        ids_of_words as ids_of_words,
    )
    from semsearch.evaluate.cache import (
        cached as cached,
        digest_of as digest_of,
        program_digest as program_digest,
        versions as versions,
    )
    from semsearch.evaluate.data_folder import counts_in as counts_in, files_of as files_of, parts_of as parts_of
    from semsearch.evaluate.distilled_vectors import MEANING as MEANING, is_distilled as is_distilled, marked as marked
    from semsearch.evaluate.experiment import Experiment as Experiment, Progress as Progress, lazily as lazily
    from semsearch.evaluate.experiments.sts_experiment import STS as STS
    from semsearch.evaluate.golden.golden_report import GoldenReport as GoldenReport
    from semsearch.evaluate.golden.golden_run import evaluate_golden as evaluate_golden
    from semsearch.evaluate.lines import (
        FileLine as FileLine,
        as_number as as_number,
        check_scores as check_scores,
        numbered_lines as numbered_lines,
    )
    from semsearch.evaluate.optional import import_extra as import_extra
    from semsearch.evaluate.options import (
        Argument as Argument,
        Option as Option,
        Repeated as Repeated,
        Switch as Switch,
    )
    from semsearch.evaluate.passage_vectors import open_passage_vectors as open_passage_vectors
    from semsearch.evaluate.plots import (
        COLOURS as COLOURS,
        MARKERS as MARKERS,
        check_target as check_target,
        new_figure as new_figure,
        png as png,
        save as save,
        style as style,
    )
    from semsearch.evaluate.published import (
        YEAR_TASKS as YEAR_TASKS,
        PublishedFigure as PublishedFigure,
        by_column as by_column,
        published_figures as published_figures,
        read_figures as read_figures,
    )
    from semsearch.evaluate.retrieval.bootstrap import Figure as Figure
    from semsearch.evaluate.retrieval.comparison import RetrievalRow as RetrievalRow
    from semsearch.evaluate.retrieval.modes_and_peers import evaluate_retrieval as evaluate_retrieval
    from semsearch.evaluate.retrieval.peer_rankers import open_peers as open_peers
    from semsearch.evaluate.similarity.correlation import pearson as pearson, spearman as spearman
    from semsearch.evaluate.similarity.cosines import (
        UNIFORM as UNIFORM,
        USIF_N as USIF_N,
        WeighedWords as WeighedWords,
        cosines as cosines,
    )
    from semsearch.evaluate.similarity.measured_cosines import (
        MeasuredCosines as MeasuredCosines,
        PairMeasures as PairMeasures,
    )
    from semsearch.evaluate.similarity.orderings import (
        SIF_CLAIMS as SIF_CLAIMS,
        USIF_CLAIMS as USIF_CLAIMS,
        Ordering as Ordering,
    )
    from semsearch.evaluate.similarity.pair_bootstrap import PairDraws as PairDraws, Resampled as Resampled
    from semsearch.evaluate.similarity.pair_shapes import ENDINGS as ENDINGS, read_pairs as read_pairs
    from semsearch.evaluate.similarity.sentence_pairs import (
        Task as Task,
        read_tasks as read_tasks,
        task_files as task_files,
    )
    from semsearch.evaluate.similarity.sts import evaluate_sts as evaluate_sts, sentences_of as sentences_of
    from semsearch.evaluate.similarity.sts_report import (
        PER_TASK as PER_TASK,
        FitDifference as FitDifference,
        StsAverage as StsAverage,
        StsReport as StsReport,
        StsScore as StsScore,
    )
    from semsearch.evaluate.similarity.sts_tables import (
        above as above,
        fitted as fitted,
        groups as groups,
        said as said,
        tasks_beside as tasks_beside,
    )
    from semsearch.evaluate.similarity.variants import VARIANTS as VARIANTS
    from semsearch.evaluate.table import (
        NONE as NONE,
        Block as Block,
        PictureOf as PictureOf,
        Table as Table,
        bold as bold,
        directions as directions,
        number as number,
        prose as prose,
        within as within,
    )
    from semsearch.evaluate.vector_scores import VectorsReport as VectorsReport, evaluate_vectors as evaluate_vectors
    from semsearch.evaluate.verdicts import (
        UNDECIDED as UNDECIDED,
        Held as Held,
        counted as counted,
        said_by as said_by,
        said_by_interval as said_by_interval,
    )
    from semsearch.results.codec import Record as Record, called as called, digits as digits

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
