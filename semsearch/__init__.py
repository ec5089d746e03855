"""semsearch: instant semantic search over your own documents.

    from semsearch import Index
    index = Index.create("indexes/notes")
    index.sync("notes/")
    for hit in index.search("how do I rotate the keys?"):
        print(hit.score, hit.path, hit.line, hit.sentence)

PUBLIC is the whole public API: what programs, third-party commands and measurements may import. All else is private and
may change at any time. A name is loaded when it is first used, so that a process pays only for what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for type checkers, in each namespace; a test compares them
    from semsearch.async_index import AsyncIndex as AsyncIndex
    from semsearch.embedding.embedder import SentenceEmbedder as SentenceEmbedder
    from semsearch.embedding.methods import Method as Method
    from semsearch.errors import (
        MissingExtra as MissingExtra,
        SemsearchError as SemsearchError,
        UsageError as UsageError,
    )
    from semsearch.index import Index as Index
    from semsearch.multi_index import MultiIndex as MultiIndex
    from semsearch.readers.document import Text as Text
    from semsearch.remote_index import RemoteIndex as RemoteIndex
    from semsearch.rerankers.load_reranker import load_reranker as load_reranker
    from semsearch.rerankers.reranker import Readings as Readings, Reranker as Reranker
    from semsearch.results.documents import DocumentInfo as DocumentInfo, DocumentText as DocumentText, Facets as Facets
    from semsearch.results.explanation import Explanation as Explanation
    from semsearch.results.hits import (
        Citation as Citation,
        Context as Context,
        DuplicatePassage as DuplicatePassage,
        Hit as Hit,
        Hits as Hits,
        location as location,
    )
    from semsearch.results.options import Mode as Mode, SearchOptions as SearchOptions
    from semsearch.results.reports import (
        MovedRoot as MovedRoot,
        Progress as Progress,
        SkippedFile as SkippedFile,
        Status as Status,
        SyncReport as SyncReport,
    )
    from semsearch.searchable import Searchable as Searchable
    from semsearch.settings import Settings as Settings
    from semsearch.word_vectors.loading import load_vectors as load_vectors
    from semsearch.word_vectors.table import VectorTable as VectorTable, WordVectors as WordVectors

    SeveralIndexes = MultiIndex

__version__ = "0.1.0"

PUBLIC: dict[str, dict[str, str]] = {  # by namespace: the defining module, and its public names
    "semsearch": {
        "async_index": "AsyncIndex",
        "embedding.embedder": "SentenceEmbedder",
        "embedding.methods": "Method",
        "errors": "MissingExtra SemsearchError UsageError",
        "index": "Index",
        "multi_index": "MultiIndex",
        "readers.document": "Text",
        "remote_index": "RemoteIndex",
        "rerankers.load_reranker": "load_reranker",
        "rerankers.reranker": "Readings Reranker",
        "results.documents": "DocumentInfo DocumentText Facets",
        "results.explanation": "Explanation",
        "results.hits": "Citation Context DuplicatePassage Hit Hits location",
        "results.options": "Mode SearchOptions",
        "results.reports": "MovedRoot Progress SkippedFile Status SyncReport",
        "searchable": "Searchable",
        "settings": "Settings",
        "word_vectors.loading": "load_vectors",
        "word_vectors.table": "VectorTable WordVectors",
    },
    "semsearch.evaluate": {
        "evaluate.cache": "cached digest_of program_digest versions",
        "evaluate.claims": "Held Ordering SIF_CLAIMS UNDECIDED USIF_CLAIMS counted verdict_of_test verdict_of_interval",
        "evaluate.experiment": "Experiment Progress lazily",
        "evaluate.answers": "AnswersReport evaluate_answers",
        "evaluate.golden": "GoldenReport evaluate_golden",
        "evaluate.inputs": (
            "FileLine MEANING as_number check_each_a check_positive check_scores check_several counts_in "
            "distinct_names files_of ids_of_words import_extra is_distilled marked numbered_lines parts_of"
        ),
        "evaluate.options": "Argument Option Repeated Switch",
        "evaluate.pair_bootstrap": "PairDraws Resampled",
        "evaluate.plots": "COLOURS MARKERS check_target new_figure png save style",
        "evaluate.published": "PublishedFigure YEAR_TASKS by_column published_figures read_figures",
        "evaluate.rankers": "open_passage_vectors open_peers",
        "evaluate.retrieval": "Figure RetrievalRow evaluate_retrieval",
        "evaluate.sentence_pairs": "ENDINGS Task read_pairs read_tasks task_files",
        "evaluate.sts": "evaluate_sts sentences_of",
        "evaluate.sts_cosines": "UNIFORM USIF_N VARIANTS WeighedWords cosines",
        "evaluate.sts_experiment": "STS claims_table fits_tables groups_table notes_on tasks_beside_published",
        "evaluate.sts_scores": (
            "FitDifference MeasuredCosines PER_TASK PairMeasures StsAverage StsReport StsScore pearson spearman"
        ),
        "evaluate.table": "Block NONE PictureOf Table bold directions number prose within",
        "evaluate.vector_scores": "VectorsReport evaluate_vectors",
        "results.codec": "Record called digits",
    },
    "semsearch.commands": {
        "cli.answer_formats": "one_line to_json",
        "cli.command_options": "IndexOption IndexesOption JsonOption TableOption",
        "cli.commands.experiment_command": "command_of",
        "cli.find_index": "open_index",
        "cli.messages": "PROBLEMS complain keep_warnings tell_warnings use_one_thread warn",
        "cli.progress": "progress",
        "cli.tables": "aligned count print_blocks size",
    },
    "semsearch.train": {
        "train.adam": "Adam",
        "train.cbos": "CbosSettings LONGEST Sentences parts_of start train_round",
        "train.corpus": "Skipped Stages check_settings each_file paragraphs_of",
    },
    "semsearch.embedding": {
        "embedding.components": "CommonComponents SentenceSums",
        "embedding.directions": "Direction FrequentWords",
        "embedding.methods": "METHODS find_method",
        "embedding.weighted_sums": "WeightedSums",
        "embedding.weights": "SIF_A sif_weights usif_a usif_weights",
        "settings": "PRIOR choose_frequencies",
        "word_vectors.word_frequencies": "MIN_FREQUENCY probabilities",
    },
    "semsearch.word_vectors": {
        "embedding.weighted_sums": "average",
        "word_vectors.loading": "WordVectorsLike open_vectors",
        "word_vectors.vector_formats": "identify",
    },
    "semsearch.text": {
        "text.passages": "each_passage",
        "text.ragged": "Ragged",
        "text.sentences": "sentence_spans",
        "text.tokens": "words",
        "word_vectors.word_frequencies": "read_counts shares",
    },
    "semsearch.readers": {
        "readers.document": "Block Document",
        "readers.read": "read_bytes",
        "readers.reader_process": "end_reader_processes",
        "readers.registry": "Format format_of register",
    },
    "semsearch.arrays": {
        "arrays.types": "Float32",
        "arrays.vectors": "row_lengths to_unit",
    },
    "semsearch.system": {
        "system.durable": "Write sync_folder write_durably",
    },
}
PUBLIC_MODULES = (  # all names without an underscore are public
    "semsearch.errors",
    "semsearch.evaluate.options",
)
_RENAMED = {"Place": "DuplicatePassage"}
_EARLIER = {"SeveralIndexes": "MultiIndex"}  # former names that still work


def public_names(namespace: str) -> dict[str, str]:
    """The public names of a namespace, each with the module that defines it."""
    return {name: f"semsearch.{home}" for home, names in PUBLIC[namespace].items() for name in names.split()}


def load_public(namespace: str, name: str) -> Any:
    """Load a public name of a namespace. Raises AttributeError for a name that is not public."""
    for home, names in PUBLIC[namespace].items():
        if name in names.split():
            return getattr(import_module(f"semsearch.{home}"), name)
    raise AttributeError(f"module {namespace!r} has no attribute {name!r}")


__all__ = sorted(public_names("semsearch"))


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        raise AttributeError(f"semsearch.{name} was renamed to semsearch.{_RENAMED[name]}")
    return load_public("semsearch", _EARLIER.get(name, name))
