"""`semsearch compact`: merge the files of an index."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from semsearch.cli.messages import keep_warnings
from semsearch.cli.naming import INDEXES, open_index
from semsearch.cli.options import IndexesOption, IndexOption, VectorsOption
from semsearch.cli.output.tables import count
from semsearch.cli.startup import use_one_thread


def compact(
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    vectors: VectorsOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No summary.")] = False,
) -> None:
    """Bring the files of an index together, without what was removed.

    Nothing is embedded anew, and searches answer as before. A sync does as much of it as pays by itself.
    """
    keep_warnings()
    use_one_thread()
    started = time.perf_counter()
    with open_index(index, indexes, vectors) as opened:
        before = opened.status(drift=False, stale=False)
        done = opened.compact()
        after = opened.status(drift=False, stale=False)
    if quiet:
        return
    if not done:
        print(f"{opened.path}: as compact as it can be, with {count(after.segments, 'segment')}")
        return
    gone = f", without {count(before.removed, 'vector')} of removed documents" if before.removed else ""
    seconds = time.perf_counter() - started
    print(f"{opened.path}: {count(before.segments, 'segment')} became {after.segments:,}{gone}, in {seconds:.2f} s")
