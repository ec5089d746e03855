"""Commands of other distributions, by the entry points of the group `semsearch.commands`.

    [project.entry-points."semsearch.commands"]
    shout = "shouting.commands:shout"                  # semsearch shout
    "evaluate.shouting" = "shouting.commands:measure"  # semsearch evaluate shouting

What an entry point names is a function, as typer takes it, or a `typer.Typer` with commands of its own. It is loaded
when its command is named, or when a help text lists it; without that nothing here is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata
from importlib.metadata import EntryPoint
from typing import Any

from semsearch.cli.help_panels import command_from
from semsearch.cli.messages import warn
from semsearch.errors import UsageError

GROUP = "semsearch.commands"
IN_REPOSITORY = {  # by the group of commands, "" being semsearch itself: what distributions in the repository bring
    "": {"publish": "scale", "bench": "research"},
    "evaluate": dict.fromkeys(
        (
            *("retrieval", "sts", "data", "report", "released", "weights", "sweep", "components", "removal"),
            *("confound", "assumptions", "supervised", "classify", "cbos"),
        ),
        "research",
    ),
    "vectors": dict.fromkeys(
        ("evaluate", "count", "texts", "distill", "align", "translations", "train", "pieces", "language"), "research"
    ),
}


def installed_points() -> Iterable[EntryPoint]:
    """The entry points of all installed distributions that name a command."""
    return metadata.entry_points(group=GROUP)


def announced(group: str) -> dict[str, EntryPoint]:
    """The commands that distributions announce for a group, by their names. Of two with one name the first counts."""
    found: dict[str, EntryPoint] = {}
    for point in sorted(installed_points(), key=lambda point: (point.name, point.value)):
        before, _, name = point.name.rpartition(".")
        if before == group:
            found.setdefault(name, point)
    return found


def find(group: str, name: str) -> Any | None:
    """The command of a name in a group; None if no distribution has it.

    Raises UsageError for one that cannot be loaded, and for one of another distribution of the repository.
    """
    if (point := announced(group).get(name)) is not None:
        return _load(point, name)
    if (folder := IN_REPOSITORY.get(group, {}).get(name)) is not None:
        raise UsageError(
            f"{' '.join(filter(None, ('semsearch', group, name)))} is part of semsearch-{folder}; install it with: "
            f"pip install . ./{folder} (in a clone of the repository)"
        )
    return None


def listed(group: str, taken: Iterable[str]) -> dict[str, Any]:
    """The loadable commands of a group, by name. Warns of those that cannot be loaded or whose name is `taken`."""
    found: dict[str, Any] = {}
    names = set(taken)
    for name, point in announced(group).items():
        if name in names:
            warn(f"{_origin(point)} announces {_shown(point)}, which is built in; it is ignored")
            continue
        try:
            found[name] = _load(point, name)
        except UsageError as error:
            warn(str(error))
    return found


def _load(point: EntryPoint, name: str) -> Any:
    """Load what an entry point names as a command. Raises UsageError if that fails, or it is neither."""
    try:
        made = point.load()
        return command_from(made, name, short_help=getattr(made, "short_help", None))
    except Exception as error:  # another's program may raise anything when it is imported
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise UsageError(
            f"{_shown(point)} of {_origin(point)} cannot be loaded ({reason}); update or uninstall that package"
        ) from error


def _shown(point: EntryPoint) -> str:
    return f"the command {point.name.replace('.', ' ')}"


def _origin(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
