"""`semsearch query`: search an index."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from semsearch.cli.answer_formats import EXPLAINING, Answer, path_and_position
from semsearch.cli.answering import (
    bring_up_to_date,
    choose_format,
    names_of,
    open_asked,
    show,
    tell_if_empty,
    tell_if_stale,
    wants_whole,
)
from semsearch.cli.command_options import (
    AllOption,
    AskedIndexOption,
    BoostsOption,
    ContextOption,
    DuplicatesOption,
    FiltersOption,
    FormatOption,
    GroupOption,
    IndexesOption,
    JsonFormatOption,
    JsonlOption,
    KOption,
    MinScoreOption,
    ModeOption,
    PerDocumentOption,
    RefreshOption,
    RerankOption,
    RerankSecondsOption,
    ServerOption,
    ShowOption,
    SyntaxOption,
    VectorsOption,
    is_wanted,
)
from semsearch.cli.declared import GOLDEN, Call, CommandArgument as Argument, CommandOption as Option
from semsearch.cli.find_index import INDEXES
from semsearch.cli.messages import NONE_FOUND, complain, tell_warnings, use_one_thread, warn
from semsearch.errors import UsageError, quoted
from semsearch.results.hits import FLOOR, NEAREST, Hits, above_threshold
from semsearch.results.options import SearchOptions, Syntax

if TYPE_CHECKING:
    from semsearch.cli.answering import Asked
    from semsearch.searchable import Searchable

_AT_ONCE = 500  # queries of a batch that are answered together


@dataclass(frozen=True, slots=True)
class QueryChoices:
    """The options by which each query is answered."""

    search: SearchOptions
    explain: bool
    whole: bool
    is_grouped: bool
    indexes: Sequence[str]  # that are searched as one
    floor: float  # of relevance

    def answers(self, index: Searchable, queries: list[str]) -> Iterator[Answer]:
        """Answer each query."""
        found = index.search_many(queries, options=self.search)
        return (self._answer(query, hits) for query, hits in zip(queries, found, strict=True))

    def _answer(self, query: str, every: Hits) -> Answer:
        hits = above_threshold(every, self.floor)
        nearest = every[: 0 if hits else NEAREST]
        return Answer(
            query,
            self.search.mode,
            hits,
            explanations=[hit.explain() for hit in hits or nearest] if self.explain else (),
            whole=self.whole,
            indexes=self.indexes,
            is_grouped=self.is_grouped,
            weak=len(every) - len(hits),
            nearest=nearest,
            answered=every.answered,
        )


def query(
    called: Call,
    text: Annotated[
        list[str],
        Argument(metavar="TEXT...", help="The query; - reads queries from standard input, one per line."),
    ],
    k: KOption = 10,
    index: AskedIndexOption = None,
    mode: ModeOption = "hybrid",
    filters: FiltersOption = None,
    context: ContextOption = 0,
    shown: ShowOption = "sentence",
    open_: Annotated[
        int | None,
        Option("--open", metavar="N", min=1, help="Open hit N in $EDITOR, viewer or pager."),
    ] = None,
    explain: Annotated[bool, Option("--explain", help="Explain each score, word by word.")] = False,
    refresh: RefreshOption = False,
    format_: FormatOption = None,
    json: JsonFormatOption = False,
    every: AllOption = False,
    min_score: MinScoreOption = None,
    per_document: PerDocumentOption = None,
    duplicates: DuplicatesOption = False,
    boosts: BoostsOption = None,
    syntax: SyntaxOption = "full",
    rerank: RerankOption = None,
    rerank_seconds: RerankSecondsOption = None,
    indexes: IndexesOption = INDEXES,
    server: ServerOption = None,
    vectors: VectorsOption = None,
    jsonl: JsonlOption = False,
    group: GroupOption = "none",
    mark: Annotated[
        int | None,
        Option("--mark", metavar="N", min=1, help="Record hit N as an answer in --golden.", rich_help_panel=GOLDEN),
    ] = None,
    golden: Annotated[
        Path | None,
        Option("--golden", metavar="FILE", help="Questions and answers for evaluate golden.", rich_help_panel=GOLDEN),
    ] = None,
) -> None:
    """Search an index.

    Prints the best passages, each with its best sentence. "A phrase" in quotes (within the quotes of the shell) must
    occur in them, and -word must not. Hits at the end that are unlikely to answer are left out (see --all); if
    nothing answers, the nearest three are shown as such.

    Exit status: 0 with hits (with --all also where nothing answers), 1 if nothing answers, 2 on an error.
    """
    batch = text == ["-"]
    wanted = choose_format(format_, json=json, jsonl=jsonl)
    if explain and wanted not in EXPLAINING:
        raise UsageError(f"--explain does not work with the format {wanted}; choose {', '.join(EXPLAINING)}")
    whole = wants_whole(shown, wanted, context=context)
    if group == "document" and wanted != "json":
        raise UsageError("--group document works with --json only")
    if open_ is not None and (batch or explain or whole or wanted not in ("table", "plain")):
        raise UsageError("--open prints no hits; leave out --format, --show and --explain, and give one query")
    if (mark is None) != (golden is None) or (mark is not None and (batch or open_ is not None)):
        raise UsageError("--mark N and --golden FILE go together, with one query and without --open")
    search = SearchOptions(
        max(k, open_ or 0, mark or 0) if k > 0 else k,
        mode,
        min_score,
        filters or (),
        context,
        duplicates,
        syntax=syntax,
        per_document=per_document,
        boosts=boosts or (),
    )
    if not batch and not is_wanted(rerank):  # a model profits from all threads
        use_one_thread()
    tell_warnings()
    with open_asked(
        index, indexes, server=server, vectors=vectors, rerank=rerank, rerank_seconds=rerank_seconds
    ) as opened:
        if refresh:
            bring_up_to_date(opened)
        options = QueryChoices(search, explain, whole, group == "document", names_of(opened), 0.0 if every else FLOOR)
        asked = None if batch else next(options.answers(opened, [_clean(" ".join(text))]))
        answers = _batch(opened, options) if asked is None else iter([asked])
        if mark is not None and golden is not None:
            answers = _marking(answers, mark, golden)
        found = show(answers, wanted, opened, batch=batch) if open_ is None else _open(next(answers), open_, opened)
        if not found:
            tell_if_empty(opened)
    if asked is not None and sys.stdout.isatty():  # a person's
        from semsearch.cli.history import question_of, remember  # start-up time: after the answer

        first = path_and_position(asked.hits[0]) if asked.hits else ""
        remember(question_of(called, asked.query, hits=found, first=first))
    if not found:
        raise SystemExit(NONE_FOUND)


def _marking(answers: Iterator[Answer], number: int, golden: Path) -> Iterator[Answer]:
    """Yield answers, and record hit `number` (from 1) of each as an answer to its question."""
    from semsearch.evaluate.golden import (
        ExpectedAnswer,  # start-up time: rarely used
        append_answer,
    )

    for answer in answers:
        yield answer
        if number > len(answer.hits):
            raise UsageError(f"there is no hit {number}, only {len(answer.hits)}; nothing was recorded")
        marked = ExpectedAnswer.of(answer.hits[number - 1])
        append_answer(golden, answer.query, marked)
        complain(f"recorded in {golden}: {marked.written}")


def _open(answer: Answer, number: int, opened: Asked) -> int:
    """Open hit `number` (from 1); returns the number of hits."""
    from semsearch.cli.open_hit import open_hit  # start-up time: rarely used

    if not answer.hits:
        complain(answer.without_hits)
    elif number > len(answer.hits):
        raise UsageError(f"there is no hit {number}, only {len(answer.hits)}")
    else:
        hit = answer.hits[number - 1]
        tell_if_stale({(hit.index or "", hit.path)} if hit.stale else set(), opened)
        if said := open_hit(hit, opened):
            complain(said)
    return len(answer.hits)


def _batch(index: Searchable, options: QueryChoices) -> Iterator[Answer]:
    """Answer the non-blank lines of standard input. A line that is no valid query gets a warning and no hits."""
    for queries in _from_stdin():
        problems = [_problem(query, options.search.syntax) for query in queries]
        askable = [query for query, problem in zip(queries, problems, strict=True) if not problem]
        answers = options.answers(index, askable) if askable else iter([])
        for query, problem in zip(queries, problems, strict=True):
            if problem:
                warn(problem)
            yield Answer(query, options.search.mode, []) if problem else next(answers)


def _problem(query: str, syntax: Syntax) -> str:
    """Why a query is invalid; empty if it is valid."""
    from semsearch.search.query import parse_queries  # start-up time: it imports numpy
    from semsearch.text.tokens import words  # likewise

    if not words(query):
        return f"the query {quoted(query)} has no words"
    try:
        parse_queries([query], syntax)
    except UsageError as error:
        return str(error)
    return ""


def _from_stdin() -> Iterator[list[str]]:
    """Yield queries from standard input, many at once; from a terminal one by one, as in a conversation."""
    lines = (_clean(line) for line in sys.stdin if line.strip())
    at_once = 1 if sys.stdin.isatty() else _AT_ONCE
    batch = list(islice(lines, at_once))
    if not batch:
        raise UsageError("standard input has no query; write one per line")
    while batch:
        yield batch
        batch = list(islice(lines, at_once))


def _clean(text: str) -> str:
    """Make a query valid Unicode: undecodable bytes of the command line become question marks."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip("\ufeff \t\r\n")
