"""`semsearch publish`: snapshots of an index for readers on any number of machines."""

from __future__ import annotations

from time import sleep
from typing import Annotated

import typer

from semsearch.cli.find_index import find_index, single_name
from semsearch.cli.options import IndexesOption, IndexOption, QuietOption
from semsearch.commands import count, print_stderr, size, to_json
from semsearch.errors import SemsearchError, UsageError
from semsearch_scale.snapshots.publisher import PublishReport, publish as publish_index


def publish(
    place: Annotated[str | None, typer.Argument(metavar="PLACE", help="A folder or URI: s3://bucket/docs.")] = None,
    index: IndexOption = None,
    indexes: IndexesOption = None,
    every: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=1, help="Go on, and publish what was written meanwhile.")
    ] = None,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Replace another index or copy at that place.")
    ] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Send all blocks again, e.g. after damage.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Publish a snapshot of an index to a shared store, for readers on any number of machines.

    Only changes are sent. Readers name the place, semsearch query --index PLACE, and follow newer snapshots by
    themselves. URIs need the extra remote-files, s3:// also the package s3fs.
    """
    folder = find_index(single_name(index), indexes)
    if place is None:
        raise UsageError("name the place to publish to, as in: semsearch publish s3://bucket/docs")
    _show(publish_index(folder, place, take_over=take_over, whole=whole), json=json, quiet=quiet)
    while every is not None:
        sleep(every)
        try:
            done = publish_index(folder, place)
        except SemsearchError as error:  # such as a store that cannot be reached for a while
            print_stderr(str(error))
            continue
        if done.is_new:
            _show(done, json=json, quiet=quiet)


def _show(done: PublishReport, *, json: bool, quiet: bool) -> None:
    if json:
        print(to_json(done.to_dict()))
    elif not quiet and done.is_new:
        print(
            f"published generation {done.generation} to {done.place}: sent {done.sent_blocks:,} of "
            f"{count(done.blocks, 'block')}, {size(done.sent_bytes)} of {size(done.bytes)}, in {done.seconds:.2f} s"
        )
    elif not quiet:
        print(f"generation {done.generation} is already published at {done.place}")
