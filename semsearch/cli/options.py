"""The options that several commands have, each declared once. What an experiment asks for is declared with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from semsearch.results.hits import Mode

Format = Literal["table", "plain", "paths", "csv", "vimgrep", "json", "jsonl"]
Dtype = Literal["float32", "float16", "int8"]

# which index
IndexOption = Annotated[
    list[str] | None,
    typer.Option("--index", "--name", "-i", metavar="NAME|PATH", help="Which index; by default the only one there is."),
]
IndexesOption = Annotated[
    Path, typer.Option("--indexes", metavar="DIR", envvar="SEMSEARCH_INDEXES", help="Where indexes live.")
]
VectorsOption = Annotated[
    str | None,
    typer.Option("--vectors", metavar="NAME|PATH", help="Word vectors; by default those the index was built with."),
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
        "'year>=2020', 'title~Rust*'). Repeated: all must hold.",
    ),
]
ContextOption = Annotated[
    int, typer.Option("--context", "-C", metavar="N", help="Show N sentences before and after as well.")
]
DuplicatesOption = Annotated[
    bool, typer.Option("--duplicates", help="Show passages that say the same one by one, not as one hit.")
]

# how an answer is shown
FormatOption = Annotated[
    Format | None,
    typer.Option("--format", "-o", help="By default a table on a terminal, plain in a pipe.", show_choices=True),
]
JsonFormatOption = Annotated[bool, typer.Option("--json", help="As --format json.")]
JsonlOption = Annotated[bool, typer.Option("--jsonl", help="As --format jsonl: one hit a line.")]
JsonOption = Annotated[bool, typer.Option("--json", help="As JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")]

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
