"""`semsearch query`: ask an index."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

import typer

from semsearch.cli.answering import NONE_FOUND, choose_format, show, tell_if_empty
from semsearch.cli.formats import EXPLAINING, Answer
from semsearch.cli.messages import tell_warnings, warn
from semsearch.cli.naming import INDEXES, open_index
from semsearch.cli.options import (
    ContextOption,
    DuplicatesOption,
    FiltersOption,
    FormatOption,
    IndexesOption,
    IndexOption,
    JsonFormatOption,
    JsonlOption,
    KOption,
    MinScoreOption,
    ModeOption,
    VectorsOption,
)
from semsearch.cli.startup import use_one_thread
from semsearch.errors import UsageError
from semsearch.results.hits import Hit, Mode
from semsearch.results.searchable import Searchable

_AT_ONCE = 500  # queries of a batch that are answered together


@dataclass(frozen=True, slots=True)
class Options:
    """How each query is to be answered."""

    k: int
    mode: Mode
    min_score: float | None
    filters: tuple[str, ...]
    context: int
    duplicates: bool
    explain: bool

    def answers(self, index: Searchable, queries: list[str]) -> Iterator[Answer]:
        """An answer to each query."""
        found = index.search_many(
            queries,
            self.k,
            mode=self.mode,
            min_score=self.min_score,
            filters=self.filters,
            context=self.context,
            duplicates=self.duplicates,
        )
        return (self._answer(query, hits) for query, hits in zip(queries, found, strict=True))

    def _answer(self, query: str, hits: list[Hit]) -> Answer:
        return Answer(query, self.mode, hits, explanations=[hit.explain() for hit in hits] if self.explain else ())


def query(
    text: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...", help="The question; with - questions are read from standard input, one a line."
        ),
    ],
    k: KOption = 10,
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    mode: ModeOption = "hybrid",
    min_score: MinScoreOption = None,
    filters: FiltersOption = None,
    context: ContextOption = 0,
    duplicates: DuplicatesOption = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each hit's score is made of, word by word.")
    ] = False,
    format_: FormatOption = None,
    json: JsonFormatOption = False,
    jsonl: JsonlOption = False,
    vectors: VectorsOption = None,
) -> None:
    """Ask an index a question.

    Shows the passages that answer best, each with its best sentence.

    Exit status: 0 with hits, 1 without, 2 on an error.
    """
    batch = text == ["-"]
    wanted = choose_format(format_, json=json, jsonl=jsonl)
    if explain and wanted not in EXPLAINING:
        raise UsageError(f"{wanted} has no room for explanations; choose one of {', '.join(EXPLAINING)}")
    if not batch:
        use_one_thread()
    tell_warnings()
    options = Options(k, mode, min_score, tuple(filters or ()), context, duplicates, explain)
    with open_index(index, indexes, vectors) as opened:
        found = show(
            _batch(opened, options) if batch else options.answers(opened, [_clean(" ".join(text))]),
            wanted,
            batch=batch,
        )
        if not found:
            tell_if_empty(opened)
    if not found:
        raise typer.Exit(NONE_FOUND)


def _batch(index: Searchable, options: Options) -> Iterator[Answer]:
    """Answers to the lines of standard input that are not blank. One without words has no hits, and stops nothing."""
    from semsearch.text.tokens import words  # start-up time: it imports numpy

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
