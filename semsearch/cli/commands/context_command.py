"""`semsearch context`: what to hand a language model along with a question."""

from __future__ import annotations

from typing import Annotated

import typer

from semsearch.cli.answering import NONE_FOUND, tell_if_empty
from semsearch.cli.formats import context_text, to_json
from semsearch.cli.messages import complain, tell_warnings
from semsearch.cli.naming import INDEXES, open_index
from semsearch.cli.options import FiltersOption, IndexesOption, IndexOption, ModeOption, VectorsOption
from semsearch.cli.startup import use_one_thread


def context(
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", help="The question.")],
    max_words: Annotated[
        int, typer.Option("--max-words", "-w", metavar="N", help="The most words in all, sources included.")
    ] = 800,
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    mode: ModeOption = "hybrid",
    filters: FiltersOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="As an object with query, mode, text, words and citations.")
    ] = False,
    vectors: VectorsOption = None,
) -> None:
    """Gather what a language model needs to answer a question.

    Writes the best passages as Markdown, numbered, and what the numbers stand for: path, lines, heading.

    Exit status: 0 with passages, 1 without, 2 on an error.
    """
    use_one_thread()
    tell_warnings()
    query = " ".join(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
    with open_index(index, indexes, vectors) as opened:
        made = opened.context(query, max_words=max_words, mode=mode, filters=filters or ())
        if json:
            print(to_json({"query": query, "mode": mode, **made.to_dict()}))
        elif made.text:
            print(context_text(made))
        if not made.text:
            complain(f"nothing was found for {query!r}")
            tell_if_empty(opened)
    if not made.text:
        raise typer.Exit(NONE_FOUND)
