"""Options and arguments as commands declare them: typer makes them when it parses a command line, and a plain one is
read without it.

Importing typer, and having it make a command of a signature with 28 parameters, takes a sixth of the time of a cold
query, and a tenth of what a server takes until its first answer. What is asked plainly (known options with valid
values, and words) means here what it means to typer, which a test holds; help, mistakes and all that is seldom are left
to typer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

INDEX, RANKING, OUTPUT, GOLDEN = "Index", "Ranking", "Output", "Golden answers"  # panels of commands that search
EMBEDDING, VECTOR_SEARCH, COLUMNS, FILES = "Embedding", "Vector search", "Tables and records", "Files and speed"
ACCESS, MODEL = "Access", "Model"

RERANK = "--rerank"  # may stand without a value, which neither typer nor this module reads


class CommandArgument:
    """An argument, with the settings that `typer.Argument` takes."""

    def __init__(self, *names: str, **settings: Any) -> None:
        self.names, self.settings = names, settings


class CommandOption(CommandArgument):
    """An option, with the names and settings that `typer.Option` takes."""


class Call:
    """How a command was called without typer; a `typer.Context` tells the same of the others."""

    def __init__(self, given: Mapping[str, Any], flags: Mapping[str, str]) -> None:
        self.given = given  # on the command line, by parameter
        self.flags = flags  # the first name of each parameter's option


# -- By typer ----------------------------------------------------------------------------------------------------------


def for_typer(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, once typer finds in its annotations what is declared there."""
    hints = get_type_hints(function, include_extras=True)
    function.__annotations__ = {name: _for_typer(hint) for name, hint in hints.items()}
    return function


def _for_typer(hint: Any) -> Any:
    import typer  # start-up time: a plain query does without

    match getattr(hint, "__metadata__", ()):
        case (CommandArgument() as declared,):
            made = typer.Option if isinstance(declared, CommandOption) else typer.Argument
            return Annotated[hint, made(*declared.names, **declared.settings)]
    return typer.Context if hint is Call else hint


# -- Plainly -----------------------------------------------------------------------------------------------------------

SYNONYMS = {  # words that people try, with the command that they mean; the help does not list them
    "search": "query",
    "find": "query",
    "add": "index",
    "sync": "index",
    "update": "index",
    "ls": "list",
    "indexes": "list",
    "rm": "remove",
    "mv": "rename",
}


def function_of(command: str) -> str:
    """The name of a command's function."""
    return f"{command}_" if command in ("list", "map", "import") else command


_BEFORE = ("-i", "--index", "--name", "--indexes")  # options that may also stand before the command


def in_order(args: list[str]) -> list[str]:
    """The arguments, the command first and by its own name."""
    moved: list[str] = []
    while len(args) > 1 and args[0].split("=")[0] in _BEFORE:
        taken = 1 if "=" in args[0] else 2
        moved, args = moved + args[:taken], args[taken:]
    if not args or args[0].startswith("-"):
        return moved + args
    command, *rest = args
    if command == "help":
        return [*rest[:1], "--help"]
    return [SYNONYMS.get(command, command), *moved, *rest]


_READ: Mapping[Any, Callable[[Any], Any]] = {int: int, float: float, str: str, Path: Path}


def plainly(
    function: Callable[..., Any], words: Sequence[str], variables: Mapping[str, str]
) -> Callable[[Mapping[str, Any]], Any] | None:
    """What calls a command's function as words, options and environment variables ask, given configured defaults; None
    if typer is to parse them.

    The parameter `called` gets a `Call` if there is one, the one that is declared as a `CommandArgument` the words.
    """
    hints = get_type_hints(function, include_extras=True)
    declared = {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}
    kinds = {name: _kind(hints[name].__origin__) for name in declared}
    named = {flag: name for name, each in declared.items() for flag in each.names}
    given, from_variables, text, left = dict[str, Any](), dict[str, Any](), list[str](), iter(words)
    try:
        for word in left:
            if word == "--":
                text += left
            elif word == "-" or not word.startswith("-"):
                text.append(word)
            else:
                flag, has_value, value = (
                    word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
                )
                name = named[flag]
                if flag == RERANK or (has_value and kinds[name] is bool):
                    return None
                _take(given, name, kinds[name], value if has_value or kinds[name] is bool else next(left))
        for name, each in declared.items():
            if name not in given and (value := variables.get(each.settings.get("envvar", ""), "")):
                _take(from_variables, name, kinds[name], value)
        arguments = [name for name, each in declared.items() if not isinstance(each, CommandOption)]
        for name, value in given.items():
            bounds = declared[name].settings
            if not bounds.get("min", value) <= value <= bounds.get("max", value):
                return None
    except (LookupError, ValueError, StopIteration):  # a mistake, or a kind of value that only typer reads
        return None
    match arguments, text:
        case ([], []):
            words_of: dict[str, Any] = {}
        case ([name], [_, *_]) if get_origin(kinds[name]) is list:
            words_of = {name: text}
        case ([name], [word]):
            words_of = {name: word}
        case ([name], []) if NoneType in get_args(hints[name].__origin__):
            words_of = {}
        case _:
            return None
    called = Call(given, {name: each.names[0] for name, each in declared.items() if each.names})
    own = {"called": called} if "called" in hints else {}

    def call(defaults: Mapping[str, Any]) -> Any:
        usual = {
            name: kinds[name](value) if kinds[name] in _READ else value
            for name, value in defaults.items()
            if name in kinds
        }
        return function(**own, **{**usual, **from_variables, **given, **words_of})

    return call


def _kind(declared: Any) -> Any:
    """The type of a parameter's value, if it has one."""
    several = [each for each in get_args(declared) if each is not NoneType]
    return several[0] if NoneType in get_args(declared) else declared


def _take(given: dict[str, Any], name: str, kind: Any, text: str) -> None:
    """Put the value that a text means among those that are given. Raises LookupError, ValueError."""
    if get_origin(kind) is list:
        given[name] = [*given.get(name, ()), _READ[get_args(kind)[0]](text)]
    elif get_origin(kind) is Literal:
        given[name] = get_args(kind)[get_args(kind).index(text)]
    else:
        given[name] = kind is bool or _READ[kind](text)
