"""`semsearch status`, `verify` and `trust`: the contents, settings, integrity and permissions of an index."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from semsearch import trust as permissions
from semsearch.cli import options
from semsearch.cli.find_index import find_index, local_indexes, locate_index, single_name
from semsearch.cli.printing import (
    PROBLEMS,
    aligned,
    ask_on_terminal,
    count,
    one_line,
    print_stderr,
    print_warnings,
    relative_path,
    say,
    size,
    to_json,
)
from semsearch.errors import UsageError, index_command
from semsearch.index import Index
from semsearch.results.reports import Status, endings_in_words
from semsearch.storage.database import IndexDatabase, check
from semsearch.storage.published import open_published
from semsearch.text.languages import name_of
from semsearch.word_vectors.language_table import shipped_languages

# -- status ------------------------------------------------------------------------------------------------------------


@options.with_options("chosen", options.IndexArguments)
def status(
    name: options.IndexArgument = None,
    *,
    problems: Annotated[
        bool, Option("--problems", help="List files that were not read fully, with the reason.")
    ] = False,
    verbose: Annotated[bool, Option("--verbose", "-v", help="Also all that --json has.")] = False,
    json: options.JsonOption = False,
    chosen: options.IndexArguments,
) -> None:
    """Show what an index holds, whether it is up to date, and what could not be read.

    Without a name: all indexes of this folder, one after the other. --json then prints a list of several.
    """
    objects = list[dict[str, Any]]()
    for number, place in enumerate(_places(name, chosen)):
        with Index.open(place, vectors=chosen.vectors) as opened:
            record, lines = _problems(opened) if problems else _status(opened.status(), verbose=verbose)
        objects.append(record)
        if not json:
            say(*[""][:number], *lines)
    if json:
        print(to_json(objects if len(objects) > 1 else objects[0]))


def _places(name: str | None, chosen: options.IndexArguments) -> Sequence[Path | str]:
    """The index that is named, or else all of this folder."""
    names = [*filter(None, [name]), *(chosen.index or ())]
    if names:
        return [locate_index(single_name(names), chosen.indexes)]
    return local_indexes(chosen.indexes) or [find_index(None, chosen.indexes)]


def _problems(index: Index) -> tuple[dict[str, Any], list[str]]:
    """The files that were not read fully, as JSON and as lines."""
    unread, of_reason = index.problems(), dict[str, list[str]]()
    for problem in unread:
        of_reason.setdefault(f"{problem.kind}: {problem.reason}", []).append(relative_path(problem.path))
    lines = list[str]()
    for reason, paths in of_reason.items():
        lines += [f"{paths[0]}: {reason}"] if len(paths) == 1 else [f"{reason}:", *(f"  {path}" for path in paths)]
    return {"problems": [problem.to_dict() for problem in unread]}, lines or ["all files were read"]


def _status(state: Status, *, verbose: bool) -> tuple[dict[str, Any], list[str]]:
    """The state of an index, as JSON and as lines."""
    record, facts = state.to_dict(), _facts(state)
    if verbose:
        facts |= {name: one_line(to_json(record[name], indent=None)) for name in record if name not in facts}
    return record, aligned([(name, fact) for name, fact in facts.items() if fact], left=(0, 1))


def _facts(state: Status) -> dict[str, str]:
    """What people ask of an index: what is in it, how large it is, whether it is fresh, what was not read."""
    unread = [f"not read: {endings_in_words(state.not_read)}"] if state.not_read else []
    unread += [f"partly read: {count(state.partly_read, 'file')}"] if state.partly_read else []
    return {
        "index": state.path,
        "of": ", ".join(map(relative_path, state.roots)) or "texts added by programs",
        "about": one_line(state.description),
        "files": f"{state.documents:,}",
        "languages": _spoken(state),
        "size": size(state.size_bytes),
        "fresh": _freshness(state),
        "problems": f"{'; '.join(unread)} (semsearch status --problems lists them)" if unread else "none",
        "not allowed": f"to {'; to '.join(state.not_allowed)}; see: semsearch trust" if state.not_allowed else "",
    }


def _freshness(state: Status) -> str:
    """Whether a sync would change anything, and which command makes it."""
    command = index_command("index", "--name", Path(state.path))
    if not state.documents and state.roots:
        return f"no: its first indexing was interrupted; to continue, run: {command}"
    stale = f"no: {count(state.stale, 'file')} changed; run: {command}" if state.stale else ""
    advice = "more than doubled since its fit; run: semsearch refit" if state.has_outgrown_its_fit else ""
    return "; ".join(filter(None, [*state.warnings, stale, advice])) or ("yes" if state.stale is not None else "")


def _spoken(state: Status) -> str:
    """The languages of the documents, with counts."""
    if not state.languages:
        return "all treated as English; semsearch index --rebuild detects them" if state.documents else "none"
    parts = [f"{name_of(code)} {number:,}" for code, number in state.languages.items()]
    unused = [code for code, share in state.known_words.items() if share is None and code in shipped_languages()]
    advice = f"; for {', '.join(map(name_of, unused))} by meaning run: semsearch refit" if unused else ""
    return ", ".join(parts) + advice


# -- trust -------------------------------------------------------------------------------------------------------------


def trust(
    index: options.IndexArgument = None,
    indexes: options.IndexesOption = None,
    yes: options.YesOption = False,
    off: Annotated[bool, Option("--off", help="Allow the index nothing any more.")] = False,
) -> None:
    """Show what an index names outside its folder, and allow it on this machine.

    An index may name folders to read, engines that keep its vectors, and files of word vectors. What you have put into
    it is allowed. An index from someone else, or from another machine, is only read until you have allowed the rest.
    """
    if yes and off:
        raise UsageError("--yes and --off exclude each other")
    place = locate_index(index, indexes)
    with closing(open_published(place) if isinstance(place, str) else IndexDatabase(place)) as database:
        if not isinstance(place, str):
            check(database)
        name = database.shown_name
        if off:
            permissions.forget(database)
            print_stderr(f"{name} may use nothing outside its folder any more")
            return
        with database.reading() as db:
            outside = permissions.external_references(database, db)
        new = permissions.not_allowed(database, outside)
        if not new:
            say(f"{name} names nothing outside its folder that you have not allowed")
            return
        say(f"{name} would:", *(f"  {wish}" for wish in new))
        if not yes and not ask_on_terminal("Allow this?"):
            command = permissions.trust_command(database, "--yes")
            raise UsageError(f"nothing was allowed; to allow it, run: {command}")
        print_warnings()
        permissions.record(database, outside & permissions.allowed(database) | {*new})


# -- verify ------------------------------------------------------------------------------------------------------------


@options.with_options("chosen", options.IndexArguments)
def verify(name: options.IndexArgument = None, *, chosen: options.IndexArguments) -> None:
    """Check the integrity of an index.

    Checks that rows and vectors match, that all files are as written, and the checksum of each row. Without a name: all
    indexes of this folder. Exit status: 0 without problems; 1 with problems, which are printed one per line.
    """
    is_well = True
    for place in _places(name, chosen):
        with Index.open(place, vectors=chosen.vectors) as opened:
            problems = opened.verify()
        for problem in problems:
            say(" ".join(problem.splitlines()))
        if not problems:
            say(f"{opened.path}: no problems")
        is_well &= not problems
    if not is_well:
        raise typer.Exit(PROBLEMS)
