"""`semsearch indexes`: all indexes that can be named from here, wherever they live."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.cli.index_folders import folders_of_indexes, index_folders
from semsearch.cli.messages import complain
from semsearch.cli.naming import INDEXES, from_here, none_in, shown
from semsearch.cli.options import IndexesOption, JsonOption
from semsearch.cli.output.formats import plain_path, to_json
from semsearch.cli.output.tables import aligned, size
from semsearch.cli.startup import use_one_thread

if TYPE_CHECKING:
    from semsearch.maintenance.listing import IndexSummary

_MINUTE = len("2025-01-31T12:30")


def indexes(indexes: IndexesOption = INDEXES, json: JsonOption = False) -> None:
    """List all indexes that can be named from here, and where they are.

    Those of this folder come first, then those of the folders above, then your own. Of two with one name the first is
    meant; the other is named by its path.
    """
    use_one_thread()
    from semsearch.maintenance.listing import list_indexes  # start-up time: it imports numpy

    folders = {os.path.realpath(folder): folder for folder in reversed([*folders_of_indexes(indexes)])}
    found = {folder: list_indexes(folder) for folder in reversed(folders.values()) if index_folders(folder)}
    if json:
        print(to_json([asdict(each) for summaries in found.values() for each in summaries]))
    elif not any(found.values()):
        complain(none_in(indexes))
    else:
        for line in aligned([*_rows(found.items())], left=(0, 4, 5, 6)):
            print(line)


def _rows(found: Iterable[tuple[Path, list[IndexSummary]]]) -> Iterator[tuple[str, ...]]:
    yield "index", "documents", "sentences", "size", "updated", "in", "of"
    for folder, summaries in found:
        for each in summaries:
            roots = each.problem or ", ".join(from_here(root) for root in each.roots)
            when = each.updated[:_MINUTE].replace("T", " ")
            counts = f"{each.documents:,}", f"{each.sentences:,}", size(each.size_bytes)
            yield each.name, *counts, when, plain_path(shown(folder)), plain_path(roots)
