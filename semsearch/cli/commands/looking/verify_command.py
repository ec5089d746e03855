"""`semsearch verify`: check that an index is sound."""

from __future__ import annotations

import typer

from semsearch.cli.exit_status import PROBLEMS
from semsearch.cli.naming import INDEXES, open_index
from semsearch.cli.options import IndexesOption, IndexOption, VectorsOption
from semsearch.cli.startup import use_one_thread
from semsearch.errors import rebuild_command


def verify(index: IndexOption = None, indexes: IndexesOption = INDEXES, vectors: VectorsOption = None) -> None:
    """Check that an index is sound.

    Every row has its vector, every vector its row, and all files are as they were written.
    Rows are compared with their checksums; it says how many have none, in an index of an earlier version.
    Exit status: 0 when all is well, 1 with problems, a line each.
    """
    use_one_thread()
    with open_index(index, indexes, vectors) as opened:
        problems = opened.verify()
        without = opened.rows_without_checksums()
    for problem in problems:
        print(" ".join(problem.splitlines()))
    if problems:
        raise typer.Exit(PROBLEMS)
    print(f"{opened.path}: no problems")
    if without:
        cure = rebuild_command(opened.path)
        print(f"{without:,} rows of an earlier version have no checksum; they get one from: {cure}")
