"""`semsearch history`: the questions that were asked at a terminal: list them, ask them again, save, delete."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import typer

from semsearch.cli import history as questions
from semsearch.cli.history import History, Question, history_file, is_on, read_history
from semsearch.cli.options import JsonOption
from semsearch.cli.plugged_in import ExtensibleGroup
from semsearch.cli.printing import aligned, complain, count, one_line, to_json, warn
from semsearch.errors import SemsearchError

history_group = typer.Typer(cls=ExtensibleGroup, add_completion=False)


def complete_question(incomplete: str) -> list[str]:
    """The names of saved questions."""
    try:
        return [name for name in read_history().saved if name.startswith(incomplete)]
    except (SemsearchError, OSError):
        return []


@history_group.callback(invoke_without_command=True)
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
    kept = _read()
    asked = [*enumerate(kept.asked[:k], start=1)]
    if json:
        numbered = [*((None, question) for question in kept.saved.values()), *asked]
        print(to_json([{"number": number, **asdict(question)} for number, question in numbered]))
        return
    rows = [_row(name, question, "") for name, question in kept.saved.items()]
    rows += [_row(str(number), question, str(question.hits)) for number, question in asked]
    for line in aligned(rows, left=(1, 3)) if rows else ():
        print(line)
    if not is_on():
        complain("questions are not kept now: history.enabled is false in your configuration")
    elif not rows:
        complain(f"the history is empty; questions that you ask at a terminal are kept in {history_file()}")


@history_group.command(context_settings={"allow_interspersed_args": False, "allow_extra_args": True})
def run(
    called: typer.Context,
    which: Annotated[
        str, typer.Argument(metavar="N|NAME", help="As history lists them.", autocompletion=complete_question)
    ],
) -> None:
    """Ask a question again, with its options, in the current folder. Options of query may follow: --json."""
    program = called.find_root()
    program.command.main(["query", *called.args, *_read().find(which).arguments], prog_name=program.info_name)


@history_group.command()
def save(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is saved as.")],
    number: Annotated[int, typer.Argument(metavar="[N]", help="Its number; default: 1, the newest.", min=1)] = 1,
) -> None:
    """Save a question under a name, to ask it again with: semsearch history run NAME."""
    questions.save(_read().find(str(number)), name)
    complain(f"saved: semsearch history run {name}")


@history_group.command()
def delete(
    which: Annotated[
        list[str],
        typer.Argument(metavar="N|NAME...", help="As history lists them.", autocompletion=complete_question),
    ],
) -> None:
    """Delete questions, by number or name."""
    questions.delete(which)


@history_group.command()
def clear() -> None:
    """Delete all questions but the saved ones."""
    questions.clear()
    if saved := read_history().saved:
        complain(f"{count(len(saved), 'saved question')} left; to delete: semsearch history delete {' '.join(saved)}")


def _read() -> History:
    kept = read_history()
    if kept.damaged:
        warn(f"skipped {count(kept.damaged, 'damaged line')} of {history_file()}")
    return kept


def _row(name: str, question: Question, hits: str) -> tuple[str, ...]:
    when = datetime.fromisoformat(question.at).astimezone().strftime("%Y-%m-%d %H:%M")
    asked = " ".join([question.query, shlex.join(question.options)]).rstrip()
    return name, when, hits, one_line(f"{asked}  → {question.first}" if question.first else asked)
