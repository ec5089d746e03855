"""`semsearch import`, `export`, `merge` and `publish`: exchange documents and indexes with others.

import. `semsearch import`: make an index of files that have a document a row.

export. `semsearch export`: write what an index holds for other programs.

merge. `semsearch merge`: make one index of several.

publish. `semsearch publish`: let any number of machines read an index from a shared place.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from semsearch.cli.answer_formats import to_json
from semsearch.cli.command_options import (
    ClusterOption,
    FiltersOption,
    IndexesOption,
    IndexOption,
    QuietOption,
    VectorsOption,
    complete_index,
)
from semsearch.cli.find_index import INDEXES, find_index, folder_of, folder_to_make, open_index
from semsearch.cli.index_choices import IndexChoices
from semsearch.cli.index_target import IndexTarget
from semsearch.cli.messages import complain, keep_warnings, use_one_thread
from semsearch.cli.progress import sync_progress
from semsearch.cli.tables import count, size
from semsearch.errors import UsageError
from semsearch.storage.database import is_index

# -- import ------------------------------------------------------------------------------------------------------------


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


# -- export ------------------------------------------------------------------------------------------------------------

ExportFormat = Literal["jsonl", "csv", "parquet", "npz"]
Unit = Literal["documents", "passages", "sentences"]


def export(
    output: Annotated[
        Path,
        typer.Argument(metavar="[FILE]", help="The file to write; by default the standard output.", allow_dash=True),
    ] = Path("-"),
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    unit: Annotated[Unit, typer.Option("--of", help="What a row is.", show_choices=True)] = "documents",
    format_: Annotated[
        ExportFormat | None,
        typer.Option("--format", "-o", help="By default what FILE ends in, or jsonl.", show_choices=True),
    ] = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="Each row has its vector as well.")] = False,
    filters: FiltersOption = None,
) -> None:
    """Write documents, passages or sentences to a file, with their vectors on demand.

    Documents have their text and their passages: semsearch import makes an index of them that finds the same.
    """
    to_stdout = str(output) == "-"
    if to_stdout and format_ in ("parquet", "npz") and sys.stdout.isatty():
        raise UsageError(f"{format_} is not for a terminal; give a file to write")
    with open_index(index, indexes) as opened:
        target = sys.stdout.buffer if to_stdout else output
        done = opened.export(target, unit=unit, format=format_, vectors=vectors, filters=filters or ())
    if not to_stdout:
        print(f"{output}: {count(done, unit[:-1])}")


# -- merge -------------------------------------------------------------------------------------------------------------


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


# -- publish -----------------------------------------------------------------------------------------------------------


def publish(
    place: Annotated[
        str | None,
        typer.Argument(metavar="[PLACE]", help="A folder or URI, such as s3://bucket/docs. Without: that of before."),
    ] = None,
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    off: Annotated[bool, typer.Option("--off", help="Publish no more. What is published stays.")] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Replace another index there, or another copy of this one.")
    ] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Send all again, as after damage there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Report as JSON.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Publish an index to a place from which any number of machines read it.

    From then on each write is published as well. Readers name the place: semsearch query --index PLACE. They move to
    what is published by themselves. URIs need the extra remote-files, and s3:// the package s3fs; postgres:// the extra
    postgres.
    """
    use_one_thread()
    if off and (place or take_over or whole):
        raise UsageError("--off takes no place and no other option")
    with open_index(index, indexes) as opened:
        if off:
            before = opened.unpublish()
            complain(f"{opened.path} is published no more" if before else f"{opened.path} was not published")
            return
        done = opened.publish(place, take_over=take_over, whole=whole)
    if json:
        print(to_json(done.to_dict()))
    elif not quiet and done.is_new:
        print(
            f"generation {done.generation} is published at {done.place}: {done.sent_blocks:,} of "
            f"{count(done.blocks, 'block')}, {size(done.sent_bytes)} of {size(done.bytes)}, in {done.seconds:.2f} s"
        )
    elif not quiet:
        print(f"generation {done.generation} was published at {done.place} before")
