"""The options that several commands have, each declared once, and what the shell completes for them.

The chosen reranker. The model for a second look, as --rerank and the configuration name it.

Completion. What the shell completes: names of indexes, and filters with the folders, keys and values that an index
has.

Whatever goes wrong, nothing is completed and nothing said: the shell would print it into the line that one is
typing.

Options. The options that several commands have, each declared once. An experiment declares its own options.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from semsearch.cli.configured_defaults import configuration_of
from semsearch.cli.find_index import folders_of_indexes, index_folders, open_index
from semsearch.errors import SemsearchError, UsageError
from semsearch.results.options import Mode, Syntax

if TYPE_CHECKING:
    from semsearch.rerankers.reranker import ModelReranker
    from semsearch.results.documents import Facets

# -- The chosen reranker -----------------------------------------------------------------------------------------------

NONE = "none"  # the value that turns a configured model off


def is_wanted(model: str | None) -> bool:
    """Whether a model is to read."""
    return bool(model) and model != NONE


def chosen_reranker(model: str | None, seconds: float | None) -> ModelReranker | None:
    """Open the model that is chosen; None if none is. Raises MissingExtra, ModelError, UsageError."""
    if model is None or not is_wanted(model):
        return None
    from semsearch.rerankers.load_reranker import load_reranker  # start-up time, and an optional dependency

    return load_reranker(model) if seconds is None else load_reranker(model, seconds=seconds)


def refuse_for_server(model: str | None) -> None:
    """Raise UsageError for a model that is named on the command line where a server is asked, which has its own.

    One that is configured for the indexes here is not used then.
    """
    configured = configuration_of()
    is_configured = configured is not None and configured.of("").get("rerank") == model
    if is_wanted(model) and not is_configured:
        raise UsageError("--rerank is for an index here; a server has a model of its own: semsearch serve --rerank")


# -- Completion --------------------------------------------------------------------------------------------------------

_VALUES = 50  # of each key


def complete_index(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of the indexes there are."""
    try:
        return _beginning(incomplete, _names(_indexes(ctx)))
    except (SemsearchError, OSError):
        return []


def complete_filter(ctx: typer.Context, incomplete: str) -> list[str]:
    """The filters that select something in the index: by folder, by format, by each value of each key."""
    named: Any = ctx.params.get("index")
    try:
        with open_index([named] if isinstance(named, str) else named, _indexes(ctx)) as index:
            return _beginning(incomplete, _filters(index.facets(values=_VALUES), whole="=" in incomplete))
    except (SemsearchError, OSError):
        return []


def _filters(found: Facets, *, whole: bool) -> Iterator[str]:
    """Filters by folder and format, and the keys of the metadata; their values where a key is being given one."""
    for facet in (found.folders, found.formats):
        yield from (value.filter for value in facet.values)
    for each in found.metadata:
        if whole:
            yield from (value.filter for value in each.values)
        else:
            yield f"{each.key}="


def _beginning(incomplete: str, texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text.startswith(incomplete)))


def _names(indexes: Path | None) -> Iterator[str]:
    return (index.name for folder in folders_of_indexes(indexes) for index in index_folders(folder))


def _indexes(ctx: typer.Context) -> Path | None:
    return Path(given) if (given := ctx.params.get("indexes")) else None


# -- Options -----------------------------------------------------------------------------------------------------------

Format = Literal["table", "plain", "paths", "null", "csv", "vimgrep", "json", "jsonl"]
Show = Literal["sentence", "passage"]
Dtype = Literal["float32", "float16", "int8"]

# which index
IndexOption = Annotated[
    list[str] | None,
    typer.Option(
        "--index",
        "--name",
        "-i",
        metavar="NAME|PATH|URI",
        help="Which index; by default the only one there is.",
        autocompletion=complete_index,
    ),
]
IndexesOption = Annotated[
    Path | None,
    typer.Option(
        "--indexes",
        metavar="DIR",
        envvar="SEMSEARCH_INDEXES",
        help="Where indexes live; by default in ./indexes, or such a folder above, or your own.",
    ),
]
VectorsOption = Annotated[
    str | None,
    typer.Option("--vectors", metavar="NAME|PATH", help="Word vectors; by default those the index was built with."),
]

AskedIndexOption = Annotated[
    list[str] | None,
    typer.Option(
        "--index",
        "--name",
        "-i",
        metavar="NAME|PATH|URI",
        help="Which index; by default the only one there is. Repeated: all are searched as one.",
        autocompletion=complete_index,
    ),
]

# how a search is made
KOption = Annotated[int, typer.Option("-k", metavar="N", help="How many hits at most.")]
ModeOption = Annotated[Mode, typer.Option("--mode", "-m", help="By meaning (dense), by words (lexical), or both.")]
MinScoreOption = Annotated[
    float | None, typer.Option("--min-score", metavar="X", help="Leave out hits below this score.")
]
FiltersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        "-f",
        metavar="FILTER",
        help="Only documents that match: a glob on the path ('guide/*.md') or a condition ('author=Ada', "
        "'year>=2020', 'title~Rust*'), a|b for one or the other, !a for what it leaves out. Repeated: all must hold.",
        autocompletion=complete_filter,
    ),
]
ContextOption = Annotated[
    int, typer.Option("--context", "-C", metavar="N", help="Show N sentences before and after as well.")
]
ServerOption = Annotated[
    str | None, typer.Option("--server", metavar="URL", help="Ask an index that semsearch serve serves there.")
]
RefreshOption = Annotated[bool, typer.Option("--refresh", help="Bring the index up to date first.")]
DuplicatesOption = Annotated[
    bool, typer.Option("--duplicates", help="Show passages that say the same one by one, not as one hit.")
]
SyntaxOption = Annotated[
    Syntax,
    typer.Option(
        "--syntax",
        help='Whether "quoted phrases" must stand in a passage and -words must not (full), or all is text (plain).',
    ),
]
PerDocumentOption = Annotated[
    int | None, typer.Option("--per-document", metavar="N", help="How many hits of one document at most.")
]
BoostsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--boost",
        metavar="BOOST",
        help="Add points to the scores of documents that pass a filter ('guide/^0.1'), or are recent "
        "('recent:30d^0.1'). May be repeated.",
    ),
]
RerankOption = Annotated[
    str | None,
    typer.Option(
        "--rerank",
        metavar="MODEL",
        help="Read the first fifty passages again by a model: a name or folder of sentence-transformers, or an ONNX "
        "file. none: by no model, whatever is configured.",
    ),
]
RerankSecondsOption = Annotated[
    float | None,
    typer.Option("--rerank-seconds", metavar="N", help="The time that a model has for a question; by default 10."),
]
AllOption = Annotated[
    bool, typer.Option("--all", help="Show the end too, of which it is unlikely that it answers (below 3 %).")
]

# how an answer is shown
FormatOption = Annotated[
    Format | None,
    typer.Option("--format", "-o", help="By default a table on a terminal, plain in a pipe.", show_choices=True),
]
ShowOption = Annotated[
    Show,
    typer.Option(
        "--show", help="Of each hit, the sentence that answers best, or its whole passage.", show_choices=True
    ),
]
JsonFormatOption = Annotated[bool, typer.Option("--json", help="As --format json.")]
JsonlOption = Annotated[bool, typer.Option("--jsonl", help="As --format jsonl: one hit a line.")]
GroupOption = Annotated[
    Literal["none", "document"],
    typer.Option("--group", help="With --json: the hits one by one, or those of each document together."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="As JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")]

# how files are read
MaxFileSizeOption = Annotated[float, typer.Option(metavar="MB", min=0, help="Larger files are skipped, and reported.")]
ProcessesOption = Annotated[
    int, typer.Option(metavar="N", min=0, help="Processes that read files; by default as many as are useful.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="URL",
        help="Read, fit and embed on the workers of a Dask scheduler: tcp://scheduler:8786.",
    ),
]

# word vectors, and what they are made of
TableArgument = Annotated[str, typer.Argument(metavar="NAME|PATH", help="Shipped vectors, a folder, or a file.")]
TableOption = Annotated[
    str, typer.Option("--vectors", metavar="NAME|PATH", help="Shipped vectors, a folder, or a file.")
]
NewFolderOption = Annotated[Path, typer.Option(metavar="DIR", help="A new folder.")]
TextsArgument = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Files and folders; also .txt.xz and .txt.gz.")
]
ExcludeOption = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", help="Leave out what shares 13 words with these files or folders. May be repeated."),
]
DtypeOption = Annotated[Dtype, typer.Option(help="How numbers are stored.", show_choices=True)]
SeedOption = Annotated[int, typer.Option(metavar="N", min=0, help="Of all that is drawn by chance.")]


def bytes_of(megabytes: float) -> int:
    """The limit that --max-file-size says, in bytes. Raises UsageError."""
    size = megabytes * 1_000_000
    if not 0 <= size < float("inf"):
        raise UsageError(f"--max-file-size must be a number of megabytes, not {megabytes}; 100 is usual")
    return int(size)
