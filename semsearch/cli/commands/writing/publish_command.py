"""`semsearch publish`: let any number of machines read an index from a shared place."""

from __future__ import annotations

from typing import Annotated

import typer

from semsearch.cli.messages import complain
from semsearch.cli.naming import INDEXES, open_index
from semsearch.cli.options import IndexesOption, IndexOption, QuietOption
from semsearch.cli.output.formats import to_json
from semsearch.cli.output.tables import count, size
from semsearch.cli.startup import use_one_thread
from semsearch.errors import UsageError


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
