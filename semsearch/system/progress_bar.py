"""A bar that shows progress through the stages of long work, on the terminal or in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar, where somebody looks; yields what takes a stage's name, what is done, and the total (0: unknown)."""
    from tqdm.auto import tqdm  # a tenth of a second, which only a bar needs

    with tqdm(disable=None, leave=False) as bar:
        begun = ""

        def show(stage: str, done: int, total: int) -> None:
            nonlocal begun
            is_new, begun = stage != begun, stage
            bar.set_description_str(stage, refresh=False)
            bar.total = total or None
            bar.update(done - bar.n)  # draws it every tenth of a second
            if is_new:
                bar.refresh()

        yield show
