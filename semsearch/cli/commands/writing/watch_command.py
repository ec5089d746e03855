"""`semsearch watch`: keep an index up to date as its files change."""

from __future__ import annotations

from typing import Annotated

import typer

from semsearch.cli.messages import complain, keep_warnings
from semsearch.cli.naming import INDEXES, from_here, open_index
from semsearch.cli.options import (
    IndexesOption,
    IndexOption,
    MaxFileSizeOption,
    ProcessesOption,
    QuietOption,
    VectorsOption,
    bytes_of,
)
from semsearch.cli.output.formats import to_json
from semsearch.cli.output.sync_summary import summary, tell
from semsearch.cli.startup import use_one_thread
from semsearch.system.uris import uri_scheme


def watch(
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    vectors: VectorsOption = None,
    max_file_size: MaxFileSizeOption = 100,
    processes: ProcessesOption = 0,
    json: Annotated[bool, typer.Option("--json", help="Report each sync as a line of JSON.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Keep an index up to date as its files change.

    Brings all of it up to date first, then whatever changes, within two seconds; a line for each time that something
    did. Ctrl-C ends it. Needs the extra watch: pip install 'semsearch[watch]'.
    """
    keep_warnings()
    use_one_thread()
    with open_index(index, indexes, vectors) as opened:
        reports = opened.watch(max_file_bytes=bytes_of(max_file_size), processes=processes)
        if not quiet:
            watched = [from_here(root) for root in opened.roots if not uri_scheme(root)]
            complain(f"watching {', '.join(watched)} for {opened.path}; Ctrl-C ends it")
        try:
            for done in reports:
                tell(done)
                if json:
                    print(to_json({"index": str(opened.path), **done.to_dict()}, indent=None), flush=True)
                elif not quiet:
                    print(summary(opened.path, done), flush=True)
        except KeyboardInterrupt:
            if not quiet:
                complain("no longer watching")
