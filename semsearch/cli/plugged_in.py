"""Commands of other distributions, by the entry points of the group `semsearch.commands`.

    [project.entry-points."semsearch.commands"]
    shout = "shouting.commands:shout"                  # semsearch shout
    "evaluate.shouting" = "shouting.commands:measure"  # semsearch evaluate shouting

An entry point names a function, as typer takes it, or a `typer.Typer` with commands of its own. It is loaded when its
command is called; help lists it with the first paragraph of its docstring. Commands of semsearch cannot be replaced.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from semsearch.errors import UsageError, install_command
from semsearch.system import plugins

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "semsearch.commands"
PLUGIN_COMMANDS = {  # of our other distributions: a command, or a group with some, and the distribution's folder
    "publish": "scale",
    **dict.fromkeys(("bench", "evaluate", "vectors"), "research"),
}


class LazyCommand(TyperCommand):
    """A command that is loaded when it is called; a help text that lists it needs only its line."""

    def __init__(self, name: str, line: str, load: Callable[[], Any]) -> None:
        super().__init__(name, help=line)
        self._load = load

    def loaded(self) -> Any:
        """The command itself. Raises UsageError if it cannot be loaded."""
        return command_of(self._load(), str(self.name))

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Begin the call of the command, which is loaded now."""
        return self.loaded().make_context(info_name, args, parent, **extra)


class ExtensibleGroup(TyperGroup):
    """A group of commands: semsearch's own, then those of other distributions."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        return [*dict.fromkeys((*self.commands, *plugin_commands(_path(ctx))))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name; nothing of another distribution is imported yet."""
        if cmd_name in self.commands or (point := plugin_commands(_path(ctx)).get(cmd_name)) is None:
            return super().get_command(ctx, cmd_name)
        return LazyCommand(cmd_name, _line_of(point), partial(plugins.load, GROUP, point.name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called. Raises UsageError for one of a distribution that is not installed."""
        group = _path(ctx)
        folder = PLUGIN_COMMANDS.get(group or args[0])
        if folder is None or ctx.resilient_parsing or self.get_command(ctx, args[0]):
            return super().resolve_command(ctx, args)
        command = " ".join([*filter(None, [group.replace(".", " ")]), args[0]])
        raise UsageError(
            f"semsearch {command} is no command, or part of semsearch-{folder}; in a checkout of semsearch, run: "
            f"{install_command(distribution=f'./{folder}')}"
        )


def group(help: str) -> typer.Typer:
    """A group of commands that other distributions can extend."""
    app = typer.Typer(add_completion=False, cls=ExtensibleGroup, no_args_is_help=True, help=help)
    app.callback()(lambda: None)  # without it, a group of one command would be that command
    return app


def command_of(target: Any, name: str) -> Any:
    """The command of a function, as typer takes it, or of a `typer.Typer` with commands of its own."""
    if not isinstance(target, typer.Typer):
        if not callable(target):
            raise UsageError(f"the command {name} cannot be loaded: {target!r} is no function and no typer.Typer")
        app = typer.Typer(add_completion=False)
        app.command(name, help=paragraphs(target), short_help=getattr(target, "short_help", None))(target)
        target = app
    command: Any = get_command(target)
    command.name = name
    return command


def paragraphs(function: Any) -> str:
    """The docstring of a command, each paragraph on one line, as typer's help wants it."""
    return "\n\n".join(" ".join(part.split()) for part in (getdoc(function) or "").split("\n\n"))


def plugin_commands(group: str) -> dict[str, EntryPoint]:
    """The commands that other distributions add to a group ("": semsearch itself). Of two of one name the first."""
    from importlib import metadata  # heavy, and semsearch's own commands need none of it

    points: dict[str, EntryPoint] = {}
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        of_group, _, name = point.name.rpartition(".")
        if of_group == group:
            points.setdefault(name, point)
    return points


def _path(ctx: Any) -> str:
    """The group of a context as entry points name it: "" for semsearch, "evaluate" for one of its groups."""
    names = []
    while ctx.parent is not None:
        names.append(ctx.info_name)
        ctx = ctx.parent
    return ".".join(reversed(names))


def _line_of(point: EntryPoint) -> str:
    """What a command does, by its docstring, for which its module is not imported; else whose it is."""
    with suppress(Exception):  # another's program may be anything; what is wrong with it is said when it is called
        spec = find_spec(point.module)
        body = ast.parse(Path(spec.origin).read_bytes()).body if spec and spec.origin else []
        functions = (node for node in body if isinstance(node, ast.FunctionDef) and node.name == point.attr)
        if docstring := next(map(ast.get_docstring, functions), None):
            return " ".join(docstring.partition("\n\n")[0].split())
    return f"Of {point.dist.name if point.dist is not None else point.value}."
