"""`semsearch import`: make an index of files that have a document a row."""

from __future__ import annotations

from typing import Annotated

import typer

from semsearch.cli.index_choices import IndexChoices
from semsearch.cli.index_target import IndexTarget
from semsearch.cli.messages import keep_warnings
from semsearch.cli.naming import INDEXES, folder_of, folder_to_make
from semsearch.cli.options import ClusterOption, IndexesOption, QuietOption, VectorsOption
from semsearch.cli.output.progress import sync_progress
from semsearch.storage.opening import is_index


def import_(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="JSON Lines, .csv, .parquet or .npz; - is the standard input."),
    ],
    name: Annotated[
        str, typer.Option("--name", "--index", "-i", metavar="NAME|PATH", help="The index to add them to.")
    ],
    indexes: IndexesOption = INDEXES,
    id_key: Annotated[str, typer.Option(metavar="KEY", help="What holds a document's id.")] = "id",
    text_key: Annotated[str, typer.Option(metavar="KEY", help="What holds its text.")] = "text",
    vectors: VectorsOption = None,
    cluster: ClusterOption = None,
    quiet: QuietOption = False,
) -> None:
    """Add the documents of files that have one a row; the index is made if there is none.

    What semsearch export wrote is taken as it was divided, and finds the same. Of other rows, all that is not id, text,
    title or format is metadata. A document whose id is known replaces the earlier one.
    """
    keep_warnings()
    folder = folder_of(name, indexes) or folder_to_make(name, ".", indexes)
    target = IndexTarget(folder, is_new=not is_index(folder))
    with target.opened(IndexChoices(vectors=vectors), rebuild=False) as opened:
        with sync_progress(quiet=quiet) as report:
            done = opened.load(*files, id_key=id_key, text_key=text_key, cluster=cluster, progress=report)
        if not quiet:
            print(
                f"{opened.path}: {done.added:,} added, {done.changed:,} changed, {done.unchanged:,} unchanged; "
                f"{done.sentences:,} sentences in {done.seconds:.2f} s"
            )
