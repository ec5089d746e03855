"""`semsearch refit`: fit an index to the text that it holds today."""

from __future__ import annotations

import time

from semsearch.cli.messages import keep_warnings
from semsearch.cli.naming import INDEXES, open_index
from semsearch.cli.options import ClusterOption, IndexesOption, IndexOption, QuietOption, VectorsOption
from semsearch.cli.output.progress import sync_progress


def refit(
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    vectors: VectorsOption = None,
    cluster: ClusterOption = None,
    quiet: QuietOption = False,
) -> None:
    """Fit an index to the text that it holds today.

    Worth its time when `semsearch status` shows that the index has drifted.
    """
    keep_warnings()
    started = time.perf_counter()
    with open_index(index, indexes, vectors) as opened:
        drift = opened.status(stale=False).drift
        with sync_progress(quiet=quiet) as report:
            opened.refit(cluster=cluster, progress=report)
        sentences = opened.status(drift=False, stale=False).sentences
        if not quiet:
            before = "" if drift is None else f" (it had drifted by {drift:.1f}°)"
            print(f"{opened.path}: fitted to {sentences:,} sentences in {time.perf_counter() - started:.2f} s{before}")
