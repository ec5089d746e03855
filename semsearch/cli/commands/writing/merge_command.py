"""`semsearch merge`: make one index of several."""

from __future__ import annotations

from typing import Annotated

import typer

from semsearch.cli.completion import complete_index
from semsearch.cli.messages import keep_warnings
from semsearch.cli.naming import INDEXES, find_index, folder_of, folder_to_make
from semsearch.cli.options import IndexesOption, QuietOption, VectorsOption
from semsearch.cli.output.progress import sync_progress
from semsearch.cli.output.tables import count


def merge(
    named: Annotated[
        list[str],
        typer.Argument(metavar="INDEX...", help="The indexes, by name or path.", autocompletion=complete_index),
    ],
    name: Annotated[str, typer.Option("--name", metavar="NAME|PATH", help="The index to make.")],
    indexes: IndexesOption = INDEXES,
    vectors: VectorsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Make one index of several, with one fit. The others stay as they are, and no file is read again.

    The new index has the folders of all of them, and the settings of the first.
    """
    keep_warnings()
    folders = [find_index(each, indexes) for each in named]
    folder = folder_of(name, indexes) or folder_to_make(name, ".", indexes)
    from semsearch.index import Index  # start-up time: an index that is missing is reported before

    with sync_progress(quiet=quiet) as report:
        merged = Index.merge(folder, *folders, vectors=vectors, progress=report)
    with merged:
        found = merged.status(drift=False, stale=False)
        if not quiet:
            print(f"{merged.path}: {count(found.documents, 'document')}, {count(found.sentences, 'sentence')}")
