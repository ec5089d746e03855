"""`semsearch ask`: a language model answers from the passages that a query finds, and every sentence is checked."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Annotated, Any

import typer
from typer import Argument, Option

from semsearch.chat import (
    OLLAMA,
    AnswerSentence,
    ChatModels,
    ModelAnswer,
    answer_sentences,
    prompt,
    request_body,
)
from semsearch.cli import options
from semsearch.cli.configuration import configuration_of
from semsearch.cli.printing import NONE_FOUND, clean, count, one_line, print_stderr, print_warnings, to_json, warn
from semsearch.cli.searched_indexes import no_passages_message, open_searched, warn_if_empty, warn_if_stale
from semsearch.errors import ServerError
from semsearch.results.hits import FLOOR, Context

in_model = partial(Option, rich_help_panel="Model")


@options.with_options("search", options.SearchArguments, without=("duplicates",))
def ask(
    text: Annotated[list[str], Argument(metavar="TEXT...", help="The question.")],
    *,
    max_words: options.MaxWordsOption = 800,
    json: options.JsonOption = False,
    show_prompt: Annotated[
        bool, Option("--show-prompt", help="Print what would be sent to the model, and ask nothing.")
    ] = False,
    model: Annotated[
        str | None, in_model(metavar="NAME", help="The model; default: model.name, or the server's only one.")
    ] = None,
    url: Annotated[
        str | None, in_model(metavar="URL", help="Its server; default: model.url, or http://127.0.0.1:11434/v1.")
    ] = None,
    search: options.SearchArguments,
) -> None:
    """Answer a question by a language model, with a citation for every sentence.

    The passages of your documents that `semsearch context` would print go to a server that speaks the OpenAI protocol:
    Ollama on this machine, or the one that --url or your own configuration names. If nothing answers the question, no
    model is asked.

    Exit status: 0 with an answer, 1 if the documents have none, 2 on an error.
    """
    print_warnings()
    question = clean(" ".join(text))
    with open_searched(search) as opened:
        passages = opened.context(
            question, max_words=max_words, options=search.options(floor=0.0 if search.show_all else FLOOR)
        )
        models, configured = _models(url)
        chosen = model or configured
        if not passages.text:
            answer = _answer(question, search, None, (), passages)
            nearest = "; --all asks the model about the nearest passages" if passages.weak else ""
            absent = f"{no_passages_message(question, passages)}{nearest}"
            warn_if_empty(opened)
        elif show_prompt:
            _show(models, request_body(chosen or "", prompt(question, passages)), json=json)
            return
        else:
            chosen = chosen or models.only_name()
            kept = _sentences(models, chosen, question, passages)
            answer = _answer(question, search, chosen, tuple(kept if json else _printed(kept)), passages)
            number = count(len(passages.citations), "passage")
            absent = f"{one_line(chosen)} finds no answer in the {number} that it was given"
        if json:
            print(to_json(answer.to_dict()))
        if not answer.answered:
            print_stderr(f"not in your documents: {absent}")
            raise typer.Exit(NONE_FOUND)
        if not json:
            _print_sources(answer.sentences, passages)
        _warn_of_citations(answer.sentences)
        warn_if_stale(passages.citations, opened)


def _sentences(models: ChatModels, model: str, question: str, passages: Context) -> Iterator[AnswerSentence]:
    """The sentences that a model answers, as they come; none if it denies that there is an answer."""
    if sys.stderr.isatty():  # a model may take a while
        print_stderr(f"asking {one_line(model)} at {models.url}, with {passages.words:,} words from your documents")
    answer_pieces = models.answer(request_body(model, prompt(question, passages)))
    sentences = answer_sentences(answer_pieces, [cited.number for cited in passages.citations])
    first = next(sentences, None)
    if first is None:
        raise ServerError(f"the model {one_line(model)} at {models.url} gave an empty answer; try another --model")
    return iter(()) if first.denies else chain([first], sentences)


def _answer(
    question: str,
    search: options.SearchArguments,
    model: str | None,
    sentences: tuple[AnswerSentence, ...],
    passages: Context,
) -> ModelAnswer:
    """The model's answer; it counts as answered with a citation, or if no sentence denies that there is an answer."""
    answered = any(part.citations for part in sentences) or not any(part.denies for part in sentences)
    return ModelAnswer(
        *(question, search.mode, model, answered and bool(sentences)),
        "".join(part.before + part.text for part in sentences).strip(),
        sentences,
        passages.citations,
        weak=None if passages.text else passages.weak,
        verdict=passages.verdict,
        missing=passages.missing,
        warnings=passages.warnings,
    )


def _models(url: str | None) -> tuple[ChatModels, str | None]:
    """The models at the address that is given or configured, and the configured name.

    Name and key belong to the configured address. Another one, of the command line, or of a variable above a file with
    the key, does not get the key.
    """
    configuration = configuration_of()
    settings, sources = configuration.of("model"), configuration.sources
    configured, key = settings.get("url"), settings.pop("key", None)
    used = url or configured or OLLAMA
    of_file = "semsearch.toml" in sources.get("model.key", "") and "semsearch.toml" not in sources.get("model.url", "")
    if key and (used != configured or of_file):
        warn(f"the key from {sources['model.key']} is not sent to {one_line(used)}, for which it was not configured")
        key = None
    limits = {name: settings[name] for name in ("plain_http", "seconds") if settings.get(name) is not None}
    return ChatModels(used, key=key, **limits), settings.get("name") if used == (configured or OLLAMA) else None


def _show(models: ChatModels, body: dict[str, Any], *, json: bool) -> None:
    """Print what would be sent: the body of the request, or its messages as text."""
    if json:
        print(to_json(body))
        return
    print(f"POST {models.url}/chat/completions ({body['model'] or 'the only model of the server'})")
    for message in body["messages"]:
        print(f"\n--- {message['role']} ---\n{message['content']}")


def _printed(sentences: Iterable[AnswerSentence]) -> Iterator[AnswerSentence]:
    """Print sentences as they come."""
    ending = ""
    try:
        for sentence in sentences:
            mark = " [uncited]" if sentence.uncited else ""
            print(f"{sentence.before if ending else ''}{sentence.text}{mark}", end="", flush=True)
            ending = "\n"
            yield sentence
    finally:
        print(end=ending, flush=True)


def _print_sources(parts: Sequence[AnswerSentence], passages: Context) -> None:
    """Print the cited passages, numbered as `semsearch context` numbers them; all, if none is cited."""
    cited = {number for part in parts for number in part.citations}
    print("\nSources:\n")
    for citation in passages.citations:
        if citation.number in cited or not cited:
            print(f"- [{citation.number}] {one_line(citation.source)}")


def _warn_of_citations(parts: Sequence[AnswerSentence]) -> None:
    """Warn of sentences without a citation, and of citations of nothing."""
    uncited = sum(part.uncited for part in parts)
    invented = dict.fromkeys(number for part in parts for number in part.invented)
    if uncited:
        warn(f"{count(uncited, 'sentence')} of the answer without a citation ([uncited])")
    if invented:
        warn(f"the model cites what it was not given: {', '.join(f'[{number}?]' for number in invented)}")
