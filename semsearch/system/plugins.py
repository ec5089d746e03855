"""Plug-ins of other distributions, by entry points: a group is a role, the entry's name the one that plays it.

    [project.entry-points."semsearch.vector_stores"]
    lance = "semsearch_scale.stores.lance_store:ENGINE"   # for the URIs lance:...

The groups are `semsearch.vector_stores` (dense/engines.py), `semsearch.snapshots` (storage/published.py),
`semsearch.sources` (sources/root_files.py), `semsearch.executors` (semsearch/writable.py),
`semsearch.commands` (cli/plugged_in.py) and `semsearch.readers` (readers/registry.py). Nothing is imported before it is
asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch.errors import UsageError, install_command

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

SCALE = f"in a checkout of semsearch, run: {install_command(distribution='./scale')}"


def names(group: str) -> list[str]:
    """The names in a group, sorted."""
    return sorted(_entry_points(group).names)


def load(group: str, *names: str) -> Any | None:
    """Import what a group has under the first of some names that it has; None if it has none of them.

    Raises UsageError for one that cannot be imported.
    """
    points = _entry_points(group)
    for point in (point for name in names for point in points if point.name == name):
        try:
            return point.load()
        except Exception as error:  # another's program may raise anything when it is imported
            origin = point.dist.name if point.dist is not None else point.value
            raise UsageError(
                f"{point.name!r} of {group} cannot be loaded from {origin} ({type(error).__name__}: {error}); "
                "update or uninstall that package"
            ) from error
    return None


def _entry_points(group: str) -> EntryPoints:
    from importlib.metadata import entry_points  # heavy, and most searches look up nothing

    return entry_points(group=group)
