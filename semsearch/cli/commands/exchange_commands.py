"""`semsearch import` and `export`: exchange documents with programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from semsearch.cli import options
from semsearch.cli.find_index import folder_of, folder_to_make, open_index
from semsearch.cli.index_files import IndexTarget, opened_target
from semsearch.cli.printing import count, keep_warnings
from semsearch.storage.database import is_index


def import_(
    files: Annotated[list[str], Argument(metavar="FILE...", help="JSON Lines; - is standard input.")],
    *,
    name: Annotated[str, Option("--name", "--index", "-i", metavar="NAME|PATH", help="The index to add to.")],
    indexes: options.IndexesOption = None,
    id_key: Annotated[str, Option(metavar="KEY", help="Key of a document's id.")] = "id",
    text_key: Annotated[str, Option(metavar="KEY", help="Key of its text.")] = "text",
    vectors: options.VectorsOption = None,
    quiet: options.QuietOption = False,
) -> None:
    """Add documents from files with one document per row.

    Creates the index if it does not exist. Rows written by semsearch export keep their passages and give the same
    answers. In other rows, all keys but id, text, title and format are metadata. A document replaces an earlier one of
    the same id.
    """
    keep_warnings()
    folder = folder_of(name, indexes) or folder_to_make(name, ["."], indexes)
    target = IndexTarget(folder, is_new=not is_index(folder))
    with opened_target(target, options.SettingsArguments(vectors=vectors), rebuild=False) as opened:
        done = opened.load(*files, id_key=id_key, text_key=text_key, progress=not quiet)
        if not quiet:
            print(
                f"{opened.path}: {done.added:,} added, {done.changed:,} changed, {done.unchanged:,} unchanged; "
                f"{count(done.sentences, 'sentence')} in {done.seconds:.2f} s"
            )


# -- export ------------------------------------------------------------------------------------------------------------

Unit = Literal["documents", "passages", "sentences"]


def export(
    output: Annotated[
        Path, Argument(metavar="[FILE]", help="The file to write; default: standard output.", allow_dash=True)
    ] = Path("-"),
    *,
    index: options.IndexOption = None,
    indexes: options.IndexesOption = None,
    unit: Annotated[Unit, Option("--of", help="What a row holds.", show_choices=True)] = "documents",
    vectors: Annotated[bool, Option("--vectors", help="Include vectors.")] = False,
    filters: options.FiltersOption = None,
) -> None:
    """Export documents, passages or sentences as JSON Lines, optionally with vectors.

    Documents include their text and passages: semsearch import makes an index with the same answers from them.
    """
    to_stdout = str(output) == "-"
    with open_index(index, indexes) as opened:
        target = sys.stdout.buffer if to_stdout else output
        done = opened.export(target, unit=unit, vectors=vectors, filters=filters or ())
    if not to_stdout:
        print(f"{output}: {count(done, unit[:-1])}")
