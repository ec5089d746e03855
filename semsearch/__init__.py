"""semsearch: instant semantic search over your own documents.

    from semsearch import Index
    index = Index.create("indexes/notes")
    index.sync("notes/")
    for hit in index.search("how do I rotate the keys?"):
        print(hit.score, hit.path, hit.line, hit.sentence)

PUBLIC is the whole public API: what a program, a command of one's own or a measurement may import. All else is private,
and may change at any time. A name is loaded when it is first used, so that a process pays only for what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for whoever checks types; so it is in each namespace, and a test compares
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
    from semsearch.rerankers.loading import load_reranker as load_reranker
    from semsearch.results.contents.documents import DocumentInfo as DocumentInfo, DocumentText as DocumentText
    from semsearch.results.contents.facets import Facets as Facets
    from semsearch.results.context import Citation as Citation, Context as Context
    from semsearch.results.explanation import Explanation as Explanation
    from semsearch.results.hit_list import Hits as Hits
    from semsearch.results.hits import DuplicatePassage as DuplicatePassage, Hit as Hit, Mode as Mode
    from semsearch.results.location import location as location
    from semsearch.results.options import SearchOptions as SearchOptions
    from semsearch.results.reranker import Readings as Readings, Reranker as Reranker
    from semsearch.results.state.reports import (
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

PUBLIC: dict[str, dict[str, str]] = {  # by namespace: the module of semsearch that defines names, and these
    "semsearch": {
        "async_index": "AsyncIndex",
        "embedding.embedder": "SentenceEmbedder",
        "embedding.methods": "Method",
        "errors": "MissingExtra SemsearchError UsageError",
        "index": "Index",
        "readers.document": "Text",
        "remote_index": "RemoteIndex",
        "rerankers.loading": "load_reranker",
        "results.contents.documents": "DocumentInfo DocumentText",
        "results.contents.facets": "Facets",
        "results.context": "Citation Context",
        "results.explanation": "Explanation",
        "results.hit_list": "Hits",
        "results.hits": "DuplicatePassage Hit Mode",
        "results.location": "location",
        "results.options": "SearchOptions",
        "results.reranker": "Readings Reranker",
        "searchable": "Searchable",
        "results.state.reports": "MovedRoot Progress SkippedFile Status SyncReport",
        "settings": "Settings",
        "multi_index": "MultiIndex",
        "word_vectors.loading": "load_vectors",
        "word_vectors.table": "VectorTable WordVectors",
    },
    "semsearch.evaluate": {
        "evaluate.arguments": "check_each_a check_positive check_several distinct_names ids_of_words",
        "evaluate.cache": "cached digest_of program_digest versions",
        "evaluate.data_folder": "counts_in files_of parts_of",
        "evaluate.distilled_vectors": "MEANING is_distilled marked",
        "evaluate.experiment": "Experiment Progress lazily",
        "evaluate.experiments.sts_experiment": "STS",
        "evaluate.golden.golden_report": "GoldenReport",
        "evaluate.golden.golden_run": "evaluate_golden",
        "evaluate.lines": "FileLine as_number check_scores numbered_lines",
        "evaluate.optional": "import_extra",
        "evaluate.options": "Argument Option Repeated Switch",
        "evaluate.passage_vectors": "open_passage_vectors",
        "evaluate.plots": "COLOURS MARKERS check_target new_figure png save style",
        "evaluate.published": "YEAR_TASKS PublishedFigure by_column published_figures read_figures",
        "evaluate.retrieval.bootstrap": "Figure",
        "evaluate.retrieval.comparison": "RetrievalRow",
        "evaluate.retrieval.modes_and_peers": "evaluate_retrieval",
        "evaluate.retrieval.peer_rankers": "open_peers",
        "evaluate.similarity.correlation": "pearson spearman",
        "evaluate.similarity.cosines": "UNIFORM USIF_N WeighedWords cosines",
        "evaluate.similarity.measured_cosines": "MeasuredCosines PairMeasures",
        "evaluate.similarity.orderings": "SIF_CLAIMS USIF_CLAIMS Ordering",
        "evaluate.similarity.pair_bootstrap": "PairDraws Resampled",
        "evaluate.similarity.pair_shapes": "ENDINGS read_pairs",
        "evaluate.similarity.sentence_pairs": "Task read_tasks task_files",
        "evaluate.similarity.sts": "evaluate_sts sentences_of",
        "evaluate.similarity.sts_report": "PER_TASK FitDifference StsAverage StsReport StsScore",
        "evaluate.similarity.sts_tables": "above fitted groups said tasks_beside",
        "evaluate.similarity.variants": "VARIANTS",
        "evaluate.table": "NONE Block PictureOf Table bold directions number prose within",
        "evaluate.vector_scores": "VectorsReport evaluate_vectors",
        "evaluate.verdicts": "UNDECIDED Held counted said_by said_by_interval",
        "results.codec": "Record called digits",
    },
    "semsearch.commands": {
        "cli.evaluate.experiment_command": "command_of",
        "cli.exit_status": "PROBLEMS",
        "cli.messages": "complain keep_warnings tell_warnings warn",
        "cli.naming": "open_index",
        "cli.options": "IndexOption IndexesOption JsonOption TableOption",
        "cli.output.formats": "one_line to_json",
        "cli.output.progress": "progress",
        "cli.output.tables": "aligned count print_blocks size",
        "cli.startup": "use_one_thread",
    },
    "semsearch.train": {
        "train.adam": "Adam",
        "train.cbos": "CbosSettings start train_round",
        "train.corpus": "Skipped Stages check_settings paragraphs_of",
        "train.counts": "each_file",
        "train.neighbourhood": "LONGEST Sentences parts_of",
    },
    "semsearch.embedding": {
        "embedding.components": "CommonComponents SentenceSums",
        "embedding.directions": "Direction FrequentWords",
        "embedding.frequencies": "MIN_FREQUENCY probabilities",
        "embedding.methods": "METHODS find_method",
        "embedding.weighted_sums": "WeightedSums",
        "embedding.weights": "SIF_A sif_weights usif_a usif_weights",
        "settings": "PRIOR choose_frequencies",
    },
    "semsearch.word_vectors": {
        "word_vectors.averages": "average",
        "word_vectors.formats": "identify",
        "word_vectors.loading": "WordVectorsLike open_vectors",
    },
    "semsearch.text": {
        "text.passages": "each_passage",
        "text.ragged": "Ragged",
        "text.sentences": "sentence_spans",
        "text.tokens": "words",
        "text.word_counts": "read_counts shares",
    },
    "semsearch.readers": {
        "readers.document": "Block Document",
        "readers.read": "read_bytes",
        "readers.registry": "Format format_of",
    },
    "semsearch.arrays": {
        "arrays.unit": "row_lengths to_unit",
    },
    "semsearch.system": {
        "system.durable": "Write sync_folder write_durably",
    },
}
PUBLIC_MODULES = (  # whose names are all public, but for those with an underscore
    "semsearch.errors",
    "semsearch.evaluate.options",
    "semsearch.adapters.haystack",
    "semsearch.adapters.langchain",
    "semsearch.adapters.llamaindex",
    "semsearch.adapters.mteb",
)
_RENAMED = {"Place": "DuplicatePassage"}
_EARLIER = {"SeveralIndexes": "MultiIndex"}  # names that still work


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
        raise AttributeError(f"semsearch.{name} is now called semsearch.{_RENAMED[name]}")
    return load_public("semsearch", _EARLIER.get(name, name))
