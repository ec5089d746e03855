"""`semsearch history`: the questions that were asked at a terminal: list them, ask them again, save, delete."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from semsearch.cli.answer_formats import one_line, to_json
from semsearch.cli.command_options import JsonOption
from semsearch.cli.configured_defaults import configuration_of, defaults_of
from semsearch.cli.extensible_group import ExtensibleGroup
from semsearch.cli.history import (
    OPTIONS,
    History,
    Question,
    change_history,
    given_options,
    history_file,
    is_on,
    named,
    question_of,
    read_history,
    save,
)
from semsearch.cli.messages import complain, warn
from semsearch.cli.tables import aligned, count
from semsearch.errors import SemsearchError, UsageError

app = typer.Typer(cls=ExtensibleGroup, rich_markup_mode=None)
_OF_QUERY = {"allow_interspersed_args": False, "allow_extra_args": True}  # what follows is for `query` to parse


def complete_question(incomplete: str) -> list[str]:
    """The names of saved questions."""
    try:
        return [name for name in read_history().saved if name.startswith(incomplete)]
    except (SemsearchError, OSError):
        return []


OneArgument = Annotated[
    str, typer.Argument(metavar="N|NAME", help="As history lists them.", autocompletion=complete_question)
]


@app.callback(invoke_without_command=True)
def history(
    called: typer.Context,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, help="How many to list.")] = 20,
    json: JsonOption = False,
) -> None:
    """List the questions that you have asked at a terminal, newest first, and the saved ones; or ask one again.

    The newest thousand are kept in a file that only you can read. What programs ask is not kept. To keep none, set
    history.enabled = false in your own configuration, or SEMSEARCH_HISTORY_ENABLED=false.
    """
    if called.invoked_subcommand is not None:
        return
    found = _read()
    if json:
        asked = enumerate(found.asked[:k], start=1)
        numbered = [*((None, each) for each in found.saved.values()), *asked]
        print(to_json([{"number": number, **asdict(each)} for number, each in numbered]))
        return
    rows = [(name, each, "") for name, each in found.saved.items()]
    rows += [(str(number), each, str(each.hits)) for number, each in enumerate(found.asked[:k], start=1)]
    for line in aligned([_row(*each) for each in rows], left=(1, 3)) if rows else ():
        print(line)
    if not is_on():
        complain("questions are not kept now: history.enabled is false in your configuration")
    elif not rows:
        complain(f"the history is empty; questions that you ask at a terminal are kept in {history_file()}")


@app.command("run", context_settings=_OF_QUERY)
def run(called: typer.Context, which: OneArgument) -> None:
    """Ask a question again, with its options, in the current folder. Options of query may follow: --json."""
    found = _read().find(which)
    query, made = _query(called, [*called.args, *found.arguments])
    stored = set(given_options(_query(called, found.arguments)[1])) - {"text"}
    if not stored <= set(OPTIONS):  # the file is edited: a question opens no editor and writes no file
        raise UsageError(f"{history_file()} has a question with an option that no question has; delete it: {which}")
    with made:
        query.invoke(made)


@app.command("save", context_settings=_OF_QUERY)
def save_(
    called: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is saved as.")],
    question: Annotated[
        list[str] | None,
        typer.Argument(metavar="[N|TEXT...]", help="Its number, or a question with options of query; default: 1."),
    ] = None,
) -> None:
    """Save a question under a name, to ask it again with: semsearch history run NAME."""
    words = question or ["1"]
    if len(words) == 1 and words[0].isdecimal():
        found = _read().find(words[0])
    else:
        made = _query(called, words)[1]
        if wrong := set(given_options(made)) - {*OPTIONS, "text"}:
            names = ", ".join(each.opts[0] for each in made.command.params if each.name in wrong)
            raise UsageError(f"a question is saved without {names}; give that when you run it")
        found = question_of(made, " ".join(made.params["text"]))
    save(named(found, name))
    complain(f"saved: semsearch history run {name}")


@app.command("delete")
def delete(
    which: Annotated[
        list[str],
        typer.Argument(metavar="N|NAME...", help="As history lists them.", autocompletion=complete_question),
    ],
) -> None:
    """Delete questions, by number or name."""

    def rest(found: History) -> Sequence[Question]:
        gone = [found.find(word) for word in which]
        return [
            each for each in found.questions if not any(each.name == one.name and each.is_same(one) for one in gone)
        ]

    change_history(rest)


@app.command("clear")
def clear() -> None:
    """Delete all questions but the saved ones."""
    change_history(lambda found: list(found.saved.values()))
    if saved := read_history().saved:
        complain(f"{count(len(saved), 'saved question')} left; to delete: semsearch history delete {' '.join(saved)}")


def _read() -> History:
    found = read_history()
    if found.damaged:
        warn(f"skipped {count(found.damaged, 'damaged line')} of {history_file()}")
    return found


def _query(called: Any, arguments: list[str]) -> tuple[Any, Any]:
    """The command `query`, and its context with these arguments, the configuration and the program above it."""
    program = called.find_root()
    query = program.command.get_command(program, "query")
    configured = configuration_of()
    defaults = defaults_of("query", configured) if configured is not None else None
    return query, query.make_context("query", arguments, parent=program, default_map=defaults)


def _row(name: str, each: Question, hits: str) -> tuple[str, ...]:
    when = datetime.fromisoformat(each.at).astimezone().strftime("%Y-%m-%d %H:%M")
    asked = " ".join([each.query, shlex.join(each.options)]).rstrip()
    return name, when, hits, one_line(f"{asked}  → {each.first}" if each.first else asked)
