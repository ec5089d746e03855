"""The options that several commands share, each declared once, and what the shell completes for them.

A `rich_help_panel` is the section of the help text that lists an option; the usual options have none. Completion fails
silently: the shell would print a message into the line that is being typed.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from typer import Argument, Option

import semsearch
from semsearch.cli.configuration import settings_from
from semsearch.cli.find_index import all_indexes, open_index
from semsearch.errors import SemsearchError, UsageError
from semsearch.results.options import Mode, SearchOptions, Syntax

if TYPE_CHECKING:
    from semsearch.index import Index
    from semsearch.rerankers import ModelReranker

# options of a panel of the help text; the usual ones have none
in_index = partial(Option, rich_help_panel="Index")
in_ranking = partial(Option, rich_help_panel="Ranking")
in_output = partial(Option, rich_help_panel="Output")
in_columns = partial(Option, rich_help_panel="Tables and records")
in_files = partial(Option, rich_help_panel="Files and speed")

# -- The reranker ------------------------------------------------------------------------------------------------------

NONE = "none"  # the value that turns a configured model off


def is_wanted(model: str | None) -> bool:
    """Whether a reranking model is chosen."""
    return bool(model) and model != NONE


def chosen_reranker(model: str | None, seconds: float | None) -> ModelReranker | None:
    """Open the chosen reranking model; None if none is chosen. Raises MissingExtra, ModelError, UsageError."""
    if model is None or not is_wanted(model):
        return None
    return semsearch.load_reranker(model, **({} if seconds is None else {"seconds": seconds}))


# -- Completion --------------------------------------------------------------------------------------------------------


def complete_index(ctx: Any, incomplete: str) -> list[str]:
    """The names of the indexes there are."""
    chosen = ctx.params.get("indexes")
    try:
        names = dict.fromkeys(index.name for index in all_indexes(Path(chosen) if chosen else None))
        return [name for name in names if name.startswith(incomplete)]
    except (SemsearchError, OSError):
        return []


# -- Options -----------------------------------------------------------------------------------------------------------

Format = Literal["table", "plain", "paths", "null", "vimgrep", "json", "jsonl"]


def index_option(help: str) -> Any:
    """The option that names indexes."""
    return Option("--index", "--name", "-i", metavar="INDEX", help=help, autocompletion=complete_index)


# which index
IndexOption = Annotated[
    list[str] | None, index_option("Name, path or URI; default: that of this folder, or the only one.")
]
IndexArgument = Annotated[
    str | None, Argument(metavar="[INDEX]", help="By name or path.", autocompletion=complete_index)
]
IndexesOption = Annotated[
    Path | None,
    in_index(
        "--indexes", metavar="DIR", envvar="SEMSEARCH_INDEXES", help="Look for and make indexes in this folder only."
    ),
]
VectorsOption = Annotated[
    str | None, in_index("--vectors", metavar="NAME|PATH", help="Word vectors; default: those of the index.")
]

# how a search is made
KOption = Annotated[int, Option("-k", metavar="N", help="Maximum number of hits.")]
FiltersOption = Annotated[
    list[str] | None,
    Option(
        "--filter",
        "-f",
        metavar="FILTER",
        help="Only documents whose path ('guide/*.md') or metadata ('author=Ada', 'year>=2020', 'title~Rust*') match. "
        "a|b: either; !a: not a. Repeat to require all.",
    ),
]
MaxWordsOption = Annotated[
    int, Option("--max-words", "-w", metavar="N", help="Maximum number of words of passages, sources included.")
]
RerankOption = Annotated[
    str | None,
    in_ranking(
        "--rerank",
        metavar="[MODEL]",
        help="Rerank the first fifty passages: sentence-transformers name or folder, or none. Without one, "
        "last, or before another option: all-MiniLM-L6-v2.",
    ),
]
RerankSecondsOption = Annotated[
    float | None, in_ranking("--rerank-seconds", metavar="N", help="Time limit of reranking per query; default: 10.")
]

JsonOption = Annotated[bool, Option("--json", help="Print JSON.")]
YesOption = Annotated[bool, Option("--yes", "-y", help="Do it without asking.")]
QuietOption = Annotated[bool, Option("--quiet", "-q", help="Print no progress and no summary.")]

# how files are read
MaxFileSizeOption = Annotated[float, in_files(metavar="MB", min=0, help="Skip larger files.")]
ProcessesOption = Annotated[int, in_files(metavar="N", min=0, help="Reader processes; 0: auto.")]
ClusterOption = Annotated[
    str | None,
    in_files("--cluster", metavar="URL", help="Read files on this Dask cluster: tcp://HOST:8786 (semsearch-scale)."),
]

# word vectors, and what they are made of
TableArgument = Annotated[str, Argument(metavar="[NAME|PATH]", help="Shipped vectors, or a folder.")]


# -- Options that go together ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexArguments:
    """The index that a command is about."""

    index: IndexOption = None
    indexes: IndexesOption = None
    vectors: VectorsOption = None

    def open(self, name: str | None = None) -> Index:
        """Open the index of a name or of the options, or else the only one there is."""
        return open_index([*filter(None, [name]), *(self.index or ())], self.indexes, self.vectors)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputArguments:
    """How an answer is shown."""

    context: Annotated[int, Option("--context", "-C", metavar="N", help="Show N sentences before and after.")] = 0
    format_: Annotated[
        Format | None,
        Option(
            "--format",
            "-o",
            metavar="FORMAT",
            help="table (default on a terminal), plain (in a pipe), paths, null, vimgrep, json or jsonl.",
        ),
    ] = None
    json: Annotated[bool, Option("--json", help="Same as --format json.")] = False
    jsonl: Annotated[bool, in_output("--jsonl", help="Same as --format jsonl: one hit per line.")] = False

    @property
    def format(self) -> Format:
        """The requested format; by default a table on a terminal, plain lines in a pipe. Raises UsageError."""
        requested: list[Format] = [self.format_] if self.format_ else []
        requested += ["json"] if self.json else []
        requested += ["jsonl"] if self.jsonl else []
        if len(set(requested)) > 1:
            raise UsageError(f"choose one output format, not {' and '.join(requested)}")
        return requested[0] if requested else "table" if sys.stdout.isatty() else "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchArguments:
    """The options by which commands choose indexes and rank their passages."""

    index: Annotated[
        list[str] | None, index_option("Name, path or URI; default: those of this folder, or the only one. Repeatable.")
    ] = None
    mode: Annotated[
        Mode,
        Option(
            "--mode",
            "-m",
            metavar="MODE",
            help="dense (by meaning), lexical (by words), hybrid (both), or exact (every occurrence).",
        ),
    ] = "hybrid"
    filters: FiltersOption = None
    regex: Annotated[
        list[str] | None, Option(metavar="REGEX", help="Only passages that match this regular expression. Repeatable.")
    ] = None
    refresh: Annotated[
        bool, Option("--refresh", help="Bring the index up to date first, or make one of this folder.")
    ] = False
    show_all: Annotated[bool, in_ranking("--all", help="Show all hits, also those that are unlikely to answer.")] = (
        False
    )
    min_score: Annotated[float | None, in_ranking(metavar="X", help="Drop hits with a lower score.")] = None
    per_document: Annotated[int | None, in_ranking(metavar="N", help="Maximum number of hits per document.")] = None
    duplicates: Annotated[bool, in_ranking("--duplicates", help="Show near-duplicates as hits of their own.")] = False
    boosts: Annotated[
        list[str] | None,
        in_ranking(
            "--boost",
            metavar="BOOST",
            help="Add to the scores of documents that match ('guide/^0.1') or are recent ('recent:30d^0.1'). "
            "Repeatable.",
        ),
    ] = None
    syntax: Annotated[Syntax, in_ranking(help='full: "phrases" are required, -words excluded; plain: all is text.')] = (
        "full"
    )
    rerank: RerankOption = None
    rerank_seconds: RerankSecondsOption = None
    indexes: IndexesOption = None
    server: Annotated[str | None, in_index(metavar="URL", help="Search an index of this semsearch serve instead.")] = (
        None
    )
    vectors: VectorsOption = None

    def options(self, *, k: int = 10, context: int = 0, floor: float = 0.0) -> SearchOptions:
        """The options of a search. Raises UsageError."""
        return SearchOptions(
            k=k,
            mode=self.mode,
            min_score=self.min_score,
            filters=self.filters or (),
            context=context,
            duplicates=self.duplicates,
            syntax=self.syntax,
            per_document=self.per_document,
            boosts=self.boosts or (),
            floor=floor,
            regex=self.regex or (),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsArguments:
    """The settings of an index."""

    vectors: VectorsOption = None
    store: Annotated[
        str | None, in_index("--store", metavar="URI", help="External store of its vectors; faiss: for none.")
    ] = None
    set_: Annotated[
        list[str] | None,
        in_index(
            "--set",
            metavar="KEY=VALUE",
            help="Another setting, e.g. method=usif; all: semsearch config. Repeatable.",
        ),
    ] = None

    def chosen(self) -> dict[str, Any]:
        """The chosen settings as arguments of `Index.create` and `Index.rebuild`. Raises UsageError."""
        options = {"vectors": self.vectors, "store": self.store}
        return {name: value for name, value in options.items() if value is not None} | settings_from(self.set_ or ())


@cache
def _type_hints(options: Any) -> dict[str, Any]:
    return get_type_hints(options, include_extras=True)


def with_options(
    parameter: str, options: Any, *, without: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the fields of a data class to a command's options, but for some; the command gets them as one parameter."""
    hints = _type_hints(options)
    defaults = {field.name: field.default for field in fields(options) if field.name not in without}

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        def run(**arguments: Any) -> None:
            chosen = {name: arguments.pop(name) for name in defaults}
            command(**arguments, **{parameter: options(**chosen)})

        signature = inspect.signature(command, eval_str=True)
        parameters = [other for other in signature.parameters.values() if other.name != parameter]
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
            for name, default in defaults.items()
        ]
        run.__doc__, run.__name__, run.__module__ = command.__doc__, command.__name__, command.__module__
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # typer reads both
        run.__annotations__ = {other.name: other.annotation for other in parameters}
        return run

    return decorated


def bytes_of(megabytes: float) -> int:
    """The limit that --max-file-size says, in bytes. Raises UsageError."""
    size = megabytes * 1_000_000
    if not 0 <= size < float("inf"):
        raise UsageError(f"--max-file-size must be a number of megabytes, not {megabytes}; 100 is usual")
    return int(size)
