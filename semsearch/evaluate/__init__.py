"""Measure what semsearch finds: retrieval on test collections, similarity on sentence pairs, your own questions.

    from semsearch.evaluate import evaluate_retrieval, evaluate_sts
    for row in evaluate_retrieval(["scifact", "cisi"]):
        print(row.collection, row.mode, row.figures["ndcg@10"].value)

An experiment of your own is made of Experiment, Option, Table and new_figure. Names are loaded when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.evaluate.answers import AnswersReport as AnswersReport, evaluate_answers as evaluate_answers
    from semsearch.evaluate.cache import (
        cached as cached,
        digest_of as digest_of,
        program_digest as program_digest,
        versions as versions,
    )
    from semsearch.evaluate.claims import (
        SIF_CLAIMS as SIF_CLAIMS,
        UNDECIDED as UNDECIDED,
        USIF_CLAIMS as USIF_CLAIMS,
        Held as Held,
        Ordering as Ordering,
        counted as counted,
        verdict_of_interval as verdict_of_interval,
        verdict_of_test as verdict_of_test,
    )
    from semsearch.evaluate.experiment import Experiment as Experiment, Progress as Progress, lazily as lazily
    from semsearch.evaluate.golden import GoldenReport as GoldenReport, evaluate_golden as evaluate_golden
    from semsearch.evaluate.inputs import (
        MEANING as MEANING,
        FileLine as FileLine,
        as_number as as_number,
        check_each_a as check_each_a,
        check_positive as check_positive,
        check_scores as check_scores,
        check_several as check_several,
        counts_in as counts_in,
        distinct_names as distinct_names,
        files_of as files_of,
        ids_of_words as ids_of_words,
        import_extra as import_extra,
        is_distilled as is_distilled,
        marked as marked,
        numbered_lines as numbered_lines,
        parts_of as parts_of,
    )
    from semsearch.evaluate.options import (
        Argument as Argument,
        Option as Option,
        Repeated as Repeated,
        Switch as Switch,
    )
    from semsearch.evaluate.pair_bootstrap import PairDraws as PairDraws, Resampled as Resampled
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
    from semsearch.evaluate.rankers import open_passage_vectors as open_passage_vectors, open_peers as open_peers
    from semsearch.evaluate.retrieval import (
        Figure as Figure,
        RetrievalRow as RetrievalRow,
        evaluate_retrieval as evaluate_retrieval,
    )
    from semsearch.evaluate.sentence_pairs import (
        ENDINGS as ENDINGS,
        Task as Task,
        read_pairs as read_pairs,
        read_tasks as read_tasks,
        task_files as task_files,
    )
    from semsearch.evaluate.sts import evaluate_sts as evaluate_sts, sentences_of as sentences_of
    from semsearch.evaluate.sts_cosines import (
        UNIFORM as UNIFORM,
        USIF_N as USIF_N,
        VARIANTS as VARIANTS,
        WeighedWords as WeighedWords,
        cosines as cosines,
    )
    from semsearch.evaluate.sts_experiment import (
        STS as STS,
        claims_table as claims_table,
        fits_tables as fits_tables,
        groups_table as groups_table,
        notes_on as notes_on,
        tasks_beside_published as tasks_beside_published,
    )
    from semsearch.evaluate.sts_scores import (
        PER_TASK as PER_TASK,
        FitDifference as FitDifference,
        MeasuredCosines as MeasuredCosines,
        PairMeasures as PairMeasures,
        StsAverage as StsAverage,
        StsReport as StsReport,
        StsScore as StsScore,
        pearson as pearson,
        spearman as spearman,
    )
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
    from semsearch.results.codec import Record as Record, called as called, digits as digits

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
