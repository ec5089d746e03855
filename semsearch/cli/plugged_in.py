"""Commands of other distributions, by the entry points of the group `semsearch.commands`.

    [project.entry-points."semsearch.commands"]
    shout = "shouting.commands:shout"                  # semsearch shout
    "evaluate.shouting" = "shouting.commands:measure"  # semsearch evaluate shouting

An entry point names a function, as typer takes it, or a `typer.Typer` with commands of its own. It is loaded when its
command is called, or when a help text lists it.
"""

from __future__ import annotations

from inspect import getdoc
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from semsearch.cli.printing import warn
from semsearch.errors import UsageError, install_command

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "semsearch.commands"
_OF_RESEARCH = ("bench", "evaluate", "vectors")  # a command, and groups to which it brings commands


class ExtensibleGroup(TyperGroup):
    """A group of commands: semsearch's own, which cannot be replaced, then those of other distributions."""

    def announced(self, ctx: Any) -> dict[str, EntryPoint]:
        """The commands of this group that distributions announce, with a warning for those that are built in."""
        points = announced(_path(ctx))
        for name in [name for name in points if name in self.commands]:
            point = points.pop(name)
            warn(f"{origin_of(point)} announces {_shown(point)}, which is built in; it is ignored")
        return points

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands. Those that cannot be loaded are left out, with a warning."""
        names = super().list_commands(ctx)
        for name, point in self.announced(ctx).items():
            try:
                loaded(point, name)
                names.append(name)
            except UsageError as error:
                warn(str(error))
        return names

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name. Raises UsageError for one that cannot be loaded, or is not installed."""
        if (command := super().get_command(ctx, cmd_name)) is not None or ctx.resilient_parsing:
            return command
        if (point := announced(_path(ctx)).get(cmd_name)) is not None:
            return loaded(point, cmd_name)
        group = _path(ctx)
        folder = "scale" if cmd_name == "publish" else "research" if (group or cmd_name) in _OF_RESEARCH else ""
        if not folder:
            return None
        name = " ".join([*filter(None, [group.replace(".", " ")]), cmd_name])
        raise UsageError(
            f"semsearch {name} is no command, or part of semsearch-{folder}; in a checkout of semsearch, run: "
            f"{install_command(distribution=f'./{folder}')}"
        )


def group(help: str) -> typer.Typer:
    """A group of commands that other distributions can extend."""
    return typer.Typer(add_completion=False, cls=ExtensibleGroup, no_args_is_help=True, help=help)


def command_of(target: Any, name: str) -> Any:
    """The command of a function, as typer takes it, or of a `typer.Typer` with commands of its own."""
    if not isinstance(target, typer.Typer):
        app = typer.Typer(add_completion=False)
        app.command(name, help=paragraphs(target), short_help=getattr(target, "short_help", None))(target)
        target = app
    command: Any = get_command(target)
    command.name = name
    return command


def paragraphs(function: Any) -> str:
    """The docstring of a command, each paragraph on one line, as typer's help wants it."""
    return "\n\n".join(" ".join(part.split()) for part in (getdoc(function) or "").split("\n\n"))


def announced(group: str) -> dict[str, EntryPoint]:
    """The commands that distributions announce for a group, "" being semsearch itself. Of two of one name the first."""
    from importlib import metadata  # heavy, and semsearch's own commands need none of it

    points: dict[str, EntryPoint] = {}
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        parent, _, name = point.name.rpartition(".")
        if parent == group:
            points.setdefault(name, point)
    return points


def loaded(point: EntryPoint, name: str) -> Any:
    """The command that an entry point names. Raises UsageError if it cannot be loaded."""
    try:
        return command_of(point.load(), name)
    except Exception as error:  # another's program may raise anything when it is imported
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise UsageError(
            f"{_shown(point)} of {origin_of(point)} cannot be loaded ({reason}); update or uninstall that package"
        ) from error


def _path(ctx: Any) -> str:
    """The group of a context as entry points name it: "" for semsearch, "evaluate" for one of its groups."""
    names = []
    while ctx.parent is not None:
        names.append(ctx.info_name)
        ctx = ctx.parent
    return ".".join(reversed(names))


def _shown(point: EntryPoint) -> str:
    return f"the command {point.name.replace('.', ' ')}"


def origin_of(point: EntryPoint) -> str:
    """The distribution that announces a command."""
    return point.dist.name if point.dist is not None else point.value
