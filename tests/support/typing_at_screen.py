"""Type at the interactive search and read its screen, without a terminal. It waits for what is to be seen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.base import PipeInput
from prompt_toolkit.output import DummyOutput

from semsearch.cli.interactive import InteractiveSearch
from semsearch.index import Index
from semsearch.results.options import SearchOptions

_HANGS = 60  # seconds, after which a test that waits has failed
UP, DOWN, PAGE_UP, PAGE_DOWN, READ_ON, ESCAPE, ENTER, TAB, CTRL_C, CTRL_U, CTRL_R, RIGHT = (
    "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~", "\x1b[1;2B", "\x1b", "\r", "\t", "\x03", "\x15", "\x12", "\x1b[C",
)  # fmt: skip


class _Screen(DummyOutput):
    def __init__(self, columns: int, rows: int) -> None:
        self.size = Size(rows, columns)

    def get_size(self) -> Size:
        return self.size


@dataclass
class Typist:
    """Someone at the keys, who sees the screen."""

    search: InteractiveSearch
    pipe: PipeInput
    output: _Screen
    _drawn: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def lines(self) -> list[str]:
        """The screen, line by line."""
        screen = self.search.app.renderer.last_rendered_screen
        if screen is None:
            return []
        columns = range(self.output.size.columns)
        return [
            "".join(screen.data_buffer[row][column].char for column in columns).rstrip()
            for row in range(self.output.size.rows)
        ]

    @property
    def chosen(self) -> str:
        """The line of the chosen hit."""
        return next((line for line in self.lines[1:] if line.startswith(">")), "")

    def type(self, *keys: str) -> None:
        """Press keys."""
        self.pipe.send_text("".join(keys))

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self.output.size = Size(rows, columns)
        self.search.app.invalidate()

    async def see(self, *texts: str) -> None:
        """Wait until all of the texts are on the screen."""
        await self.wait(lambda: all(any(text in line for line in self.lines) for text in texts))

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds of what is drawn."""
        while not condition():
            self._drawn.clear()
            try:
                await asyncio.wait_for(self._drawn.wait(), _HANGS)
            except TimeoutError:
                raise AssertionError("\n".join(["what was waited for did not come; there was", *self.lines])) from None


def at_screen(
    index: Path,
    script: Callable[[Typist], Awaitable[None]],
    *,
    columns: int = 80,
    rows: int = 24,
    text: str = "",
    options: SearchOptions = SearchOptions(),  # noqa: B008  # frozen
    history: Path | None = None,
) -> None:
    """Search an index interactively, as a script types. It has to end the search."""

    async def main() -> None:
        with InteractiveSearch(lambda: Index.open(index), options, text, history) as search:
            typist = Typist(search, pipe, output)
            search.app.after_render += lambda _: typist._drawn.set()
            running = asyncio.create_task(search.run())
            typing = asyncio.create_task(script(typist))
            await asyncio.wait((running, typing), return_when=asyncio.FIRST_EXCEPTION, timeout=2 * _HANGS)
        for task in (running, typing):
            if task.done():
                task.result()
        assert running.done(), "the search was not ended"

    output = _Screen(columns, rows)
    with (
        create_pipe_input() as pipe,
        create_app_session(input=pipe, output=output),
    ):
        asyncio.run(main())
