"""What the shell completes: names of indexes, and filters with the folders, keys and values that an index has.

Whatever goes wrong, nothing is completed and nothing said: the shell would print it into the line that one is typing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from semsearch.cli.index_folders import folders_of_indexes, index_folders
from semsearch.cli.naming import open_index
from semsearch.errors import SemsearchError

if TYPE_CHECKING:
    from semsearch.results.contents.facets import Facets

_VALUES = 50  # of each key


def complete_index(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of the indexes there are."""
    try:
        return _beginning(incomplete, _names(_indexes(ctx)))
    except (SemsearchError, OSError):
        return []


def complete_filter(ctx: typer.Context, incomplete: str) -> list[str]:
    """The filters that select something in the index: by folder, by format, by each value of each key."""
    named: Any = ctx.params.get("index")
    try:
        with open_index([named] if isinstance(named, str) else named, _indexes(ctx)) as index:
            return _beginning(incomplete, _filters(index.facets(values=_VALUES), whole="=" in incomplete))
    except (SemsearchError, OSError):
        return []


def _filters(found: Facets, *, whole: bool) -> Iterator[str]:
    """Filters by folder and format, and the keys of the metadata; their values where a key is being given one."""
    for facet in (found.folders, found.formats):
        yield from (value.filter for value in facet.values)
    for each in found.metadata:
        if whole:
            yield from (value.filter for value in each.values)
        else:
            yield f"{each.key}="


def _beginning(incomplete: str, texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text.startswith(incomplete)))


def _names(indexes: Path | None) -> Iterator[str]:
    return (index.name for folder in folders_of_indexes(indexes) for index in index_folders(folder))


def _indexes(ctx: typer.Context) -> Path | None:
    return Path(given) if (given := ctx.params.get("indexes")) else None
