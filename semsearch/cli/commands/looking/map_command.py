"""`semsearch map`: make the map of an index, which the page of `semsearch serve` shows."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from semsearch.cli.messages import keep_warnings
from semsearch.cli.naming import INDEXES, open_index
from semsearch.cli.options import IndexesOption, IndexOption, QuietOption, VectorsOption
from semsearch.cli.output.formats import to_json
from semsearch.cli.output.progress import progress
from semsearch.cli.output.tables import count


def map_(
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    vectors: VectorsOption = None,
    anew: Annotated[bool, typer.Option("--anew", help="Arrange all passages again, new and old.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the regions of the map and their words as JSON.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Make the map of an index: its passages as points, near to each other where they are about the same.

    semsearch serve shows it, and makes it as well; this makes it beforehand, in a minute or two for 100,000 passages.
    After a write, new passages are put beside those that they are like. It is kept in the index's folder, and can be
    deleted there.
    """
    keep_warnings()
    started = time.perf_counter()
    with open_index(index, indexes, vectors) as opened:
        with progress() as show:
            made = opened.map(
                anew=anew, progress=None if show is None or quiet else lambda now: show(now.phase, now.done, now.total)
            )
        if json:
            fields = {"index": str(opened.path), "generation": made.generation, "passages": len(made)}
            print(to_json({**fields, "regions": [region.to_dict() for region in made.regions]}))
        elif not quiet:
            seconds = time.perf_counter() - started
            print(
                f"{opened.path}: a map of {count(len(made), 'passage')}, in {seconds:.1f} s; semsearch serve shows it"
            )
