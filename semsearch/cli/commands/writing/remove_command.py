"""`semsearch remove`: forget documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semsearch.cli.messages import keep_warnings, warn
from semsearch.cli.naming import INDEXES, open_index
from semsearch.cli.options import IndexesOption, IndexOption, VectorsOption
from semsearch.cli.output.sync_summary import covers
from semsearch.errors import SemsearchError, UsageError
from semsearch.system.uris import local_path, uri_scheme


def remove(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders, or the ids of added texts.")],
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    vectors: VectorsOption = None,
) -> None:
    """Forget documents, but leave the files alone."""
    keep_warnings()
    paths = [local_path(path) for path in paths]
    with open_index(index, indexes, vectors) as opened:
        count = opened.remove(*paths)
        if not count:
            raise UsageError(f"the index {opened.path} has no document at {', '.join(paths)}; nothing was removed")
        print(f"{opened.path}: {count:,} removed")
        try:
            roots = opened.roots
        except SemsearchError:  # they are removed, and only a warning is lost
            return
        for path in paths:
            if uri_scheme(path) and any(covers(root, path) for root in roots):
                warn(f"if {path} is still there, it comes back with the next sync unless .semsearchignore names it")
            elif Path(path).exists() and any(covers(root, path) for root in roots):
                warn(f"{path} is still there, and comes back with the next sync unless .semsearchignore names it")
