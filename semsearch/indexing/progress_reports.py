"""The progress of a write: to the caller's function, or as a bar on a terminal or in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from semsearch.results.reports import Progress

Report = Callable[["Progress"], None]
Reporting = Report | bool | None  # True: a bar on the terminal or in the notebook

_NAMES = {"reading": "reading files", "recognizing": "recognizing text"}


@contextmanager
def reporting(progress: Reporting) -> Iterator[Report | None]:
    """What a writer calls with its progress, while the block runs."""
    if not isinstance(progress, bool) or not progress:
        yield progress or None
        return
    from tqdm.auto import tqdm  # a tenth of a second, which only a bar needs

    with tqdm(disable=None, leave=False) as bar:  # nothing where nobody looks

        def draw(step: Progress) -> None:
            of_files = step.phase in _NAMES
            bar.set_description(_NAMES.get(step.phase, step.phase), refresh=False)
            bar.set_postfix_str(f"{step.sentences:,} sentences" if step.phase == "reading" else "", refresh=False)
            bar.total = (step.total_files if of_files else step.total_sentences) or None
            bar.update((step.files if of_files else step.sentences) - bar.n)

        yield draw
