"""`semsearch list`: all indexes."""

from __future__ import annotations

from dataclasses import asdict

from semsearch.cli.formats import to_json
from semsearch.cli.messages import complain
from semsearch.cli.naming import INDEXES, from_here, none_in
from semsearch.cli.options import IndexesOption, JsonOption
from semsearch.cli.startup import use_one_thread
from semsearch.cli.tables import aligned, size


def list_(indexes: IndexesOption = INDEXES, json: JsonOption = False) -> None:
    """List all indexes.

    To be rid of one, delete its folder.
    """
    use_one_thread()
    from semsearch.maintenance.listing import list_indexes  # start-up time: it imports numpy

    found = list_indexes(indexes)
    if json:
        print(to_json([asdict(item) for item in found]))
    elif not found:
        complain(none_in(indexes))
    else:
        rows = [("index", "documents", "sentences", "size", "of")]
        for item in found:
            roots = item.problem or ", ".join(map(from_here, item.roots))
            rows.append((item.name, f"{item.documents:,}", f"{item.sentences:,}", size(item.size_bytes), roots))
        for line in aligned(rows, left=(0, 4)):
            print(line)
