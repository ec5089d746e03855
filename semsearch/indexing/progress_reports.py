"""The progress of a write: to the caller's function, or as a bar on a terminal or in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from semsearch.results.reports import Progress
from semsearch.system.progress_bar import Show, progress_bar

Report = Callable[["Progress"], None]
Reporting = Report | bool | None  # True: a bar on the terminal or in the notebook


@contextmanager
def reporting(progress: Reporting) -> Iterator[Report | None]:
    """What a writer calls with its progress, while the block runs."""
    if not isinstance(progress, bool):
        yield progress
        return
    with progress_bar(progress) as show:
        yield _drawn(show) if progress else None


def _drawn(show: Show) -> Report:
    def draw(progress: Progress) -> None:
        if progress.phase == "reading":
            show("reading files", progress.files, progress.total_files)
        elif progress.phase == "recognizing":
            show("recognizing text", progress.files, progress.total_files)
        else:
            show(progress.phase, progress.sentences, progress.total_sentences)

    return draw
