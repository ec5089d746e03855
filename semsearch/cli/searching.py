"""`semsearch query`: ask an index."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Literal

import typer

from semsearch.cli.formats import BATCH_FORMATS, FORMATS, Answer
from semsearch.cli.messages import tell_warnings, warn
from semsearch.cli.naming import INDEXES, IndexesOption, IndexOption, VectorsOption, open_index, shown
from semsearch.cli.startup import use_one_thread
from semsearch.errors import UsageError
from semsearch.hits import Mode, Searchable

Format = Literal["table", "plain", "paths", "csv", "vimgrep", "json", "jsonl"]
NONE_FOUND = 1
_AT_ONCE = 500  # queries of a batch that are answered together

app = typer.Typer(rich_markup_mode=None)


@dataclass(frozen=True, slots=True)
class Options:
    """How each query is to be answered."""

    k: int
    mode: Mode
    min_score: float | None
    filters: tuple[str, ...]
    context: int

    def answers(self, index: Searchable, queries: list[str]) -> Iterator[Answer]:
        """An answer to each query."""
        found = index.search_many(
            queries,
            self.k,
            mode=self.mode,
            min_score=self.min_score,
            filters=self.filters,
            context=self.context,
        )
        return (Answer(query, self.mode, hits) for query, hits in zip(queries, found, strict=True))


@app.command()
def query(
    text: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...", help="The question; with - questions are read from standard input, one a line."
        ),
    ],
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many hits at most.")] = 10,
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    mode: Annotated[
        Mode, typer.Option("--mode", "-m", help="By meaning (dense), by words (lexical), or both.")
    ] = "hybrid",
    min_score: Annotated[float | None, typer.Option(metavar="X", help="Leave out hits below this score.")] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            "-f",
            metavar="FILTER",
            help="Only documents that match: a glob on the path ('guide/*.md') or a condition ('author=Ada', "
            "'year>=2020', 'title~Rust*'). Repeated: all must hold.",
        ),
    ] = None,
    context: Annotated[
        int, typer.Option("--context", "-C", metavar="N", help="Show N sentences before and after as well.")
    ] = 0,
    format_: Annotated[
        Format | None,
        typer.Option("--format", "-o", help="By default a table on a terminal, plain in a pipe.", show_choices=True),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="As --format json.")] = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="As --format jsonl: one hit a line.")] = False,
    vectors: VectorsOption = None,
) -> None:
    """Ask an index a question.

    Shows the passages that answer best, each with its best sentence.

    Exit status: 0 with hits, 1 without, 2 on an error.
    """
    batch = text == ["-"]
    wanted = _format(format_, json=json, jsonl=jsonl)
    if not batch:
        use_one_thread()
    tell_warnings()
    options = Options(k, mode, min_score, tuple(filters or ()), context)
    found = 0
    with open_index(index, indexes, vectors) as opened:

        def counted(answers: Iterable[Answer]) -> Iterator[Answer]:
            nonlocal found
            for answer in answers:
                found += len(answer.hits)
                yield answer

        answers = counted(_batch(opened, options) if batch else options.answers(opened, [_clean(" ".join(text))]))
        if wanted == "table":
            from semsearch.cli.output import print_answers  # start-up time: it imports rich

            print_answers(answers, batch=batch)
        else:
            for line in (BATCH_FORMATS if batch else FORMATS)[wanted](answers):
                print(line)
        if not found and not opened.status(drift=False, stale=False).documents:
            warn(f"the index {opened.path} is empty; run: semsearch index PATH --name {shown(opened.path)}")
    if not found:
        raise typer.Exit(NONE_FOUND)


def _format(named: Format | None, *, json: bool, jsonl: bool) -> Format:
    asked: list[Format] = [named] if named else []
    asked += ["json"] if json else []
    asked += ["jsonl"] if jsonl else []
    if len(set(asked)) > 1:
        raise UsageError(f"an answer has one format, not {' and '.join(asked)}; choose one")
    return asked[0] if asked else "table" if sys.stdout.isatty() else "plain"


def _batch(index: Searchable, options: Options) -> Iterator[Answer]:
    """Answers to the lines of standard input that are not blank. One without words has no hits, and stops nothing."""
    from semsearch.tokens import words  # start-up time: it imports numpy

    for queries in _from_stdin():
        askable = [query for query in queries if words(query)]
        answers = options.answers(index, askable) if askable else iter([])
        for query in queries:
            if words(query):
                yield next(answers)
            else:
                warn(f"the query {query!r} has no words")
                yield Answer(query, options.mode, [])


def _from_stdin() -> Iterator[list[str]]:
    """Queries, many at once; from a terminal one at a time, so that it answers like a conversation."""
    lines = (_clean(line) for line in sys.stdin if line.strip())
    at_once = 1 if sys.stdin.isatty() else _AT_ONCE
    batch = list(islice(lines, at_once))
    if not batch:
        raise UsageError("there was no query on standard input; give one a line")
    while batch:
        yield batch
        batch = list(islice(lines, at_once))


def _clean(text: str) -> str:
    """A query as Unicode: bytes of the command line that are no characters become question marks."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip("\ufeff \t\r\n")
