"""The interactive search as a program: keys change the state, threads search and read, and each answer is drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.auto_suggest import Suggestion
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, merge_key_bindings
from prompt_toolkit.key_binding.bindings.auto_suggest import load_auto_suggest_bindings

from semsearch.cli.interactive.screen import HitLines, screen
from semsearch.cli.interactive.session import InteractiveSession, TypedAnswer, TypedQuery, TypedSearch, surroundings_of
from semsearch.cli.open_hit import show_hit
from semsearch.cli.printing import one_line
from semsearch.errors import SemsearchError
from semsearch.results.hits import Hit
from semsearch.results.options import Mode

_SCROLL = 3  # lines
_MOST_QUESTIONS = 1000  # that are offered
_ESCAPE = 0.05  # seconds, after which Esc is Esc, and no longer the beginning of another key


class Questions:
    """The questions of interactive searches, in a file that only the user can read."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def newest(self) -> list[str]:
        """The questions, the newest first, each once; none if the file cannot be read."""
        try:
            texts = FileHistory(str(self._file)).load_history_strings()
            return [*islice(dict.fromkeys(map(one_line, texts)), _MOST_QUESTIONS)]
        except (OSError, ValueError):
            return []

    def keep(self, text: str) -> None:
        """Add a question, if the file can be written."""
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.touch(mode=0o600)
            FileHistory(str(self._file)).store_string(one_line(text))


class InteractiveSearch:
    """The interactive search, redrawn after each key and each answer.

    The text is completed from the `questions` asked before, among which it keeps each of which a hit is opened, and the
    last one.
    """

    def __init__(
        self,
        search: TypedSearch,
        text: str,
        questions: Questions | None = None,
    ) -> None:
        self.session = InteractiveSession(TypedQuery(text, search.options.mode))
        self._search = search
        self._questions = questions
        self._earlier = [] if questions is None else questions.newest()
        self._remembered: TypedQuery | None = None
        self._typed = Buffer(document=Document(text), multiline=False, on_text_changed=lambda _: self._change())
        self._hits = HitLines(self.session)
        self.app: Application[None] = Application(
            layout=screen(self.session, self._typed, self._hits),
            key_bindings=merge_key_bindings([load_auto_suggest_bindings(), self._keys()]),
            full_screen=True,
        )
        self.app.ttimeoutlen = self.app.timeoutlen = _ESCAPE

    def _keys(self) -> KeyBindings:
        bindings = KeyBindings()
        for names, action in (
            (("up", "c-p"), lambda: self._choose(-1)),
            (("down", "c-n"), lambda: self._choose(1)),
            (("pageup",), lambda: self._choose(-self._hits.at_once)),
            (("pagedown",), lambda: self._choose(self._hits.at_once)),
            (("s-up", "c-up"), lambda: self._scroll(-_SCROLL)),
            (("s-down", "c-down"), lambda: self._scroll(_SCROLL)),
            (("tab",), lambda: self._ask(self.session.next_mode())),
            (("enter",), self._open_chosen),
            (("c-r",), self._recall),
            (("escape", "c-c"), self._end),
        ):
            for name in names:
                bindings.add(name)(lambda _, action=action: action())
        # what is pasted goes on the one line there is
        bindings.add("<bracketed-paste>")(lambda event: event.current_buffer.insert_text(one_line(event.data)))
        return bindings

    async def run(self) -> None:
        """Run until the user ends it."""
        self._loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as self._searching, ThreadPoolExecutor(1) as self._looking:
            self._ask(self.session.query.mode)
            with suppress(EOFError):  # the terminal has gone
                await self.app.run_async(handle_sigint=False)

    # -- Keys ----------------------------------------------------------------------------------------------------------

    def _choose(self, steps: int) -> None:
        """Select the hit so many further down, or up."""
        if self.session.choose(steps):
            self._look()

    def _scroll(self, lines: int) -> None:
        self.session.scrolled += lines

    def _open_chosen(self) -> None:
        """Open the selected hit, if it answers the current text."""
        if self.session.is_answered and self.session.hit is not None:
            self._keep()
            self.app.create_background_task(self._open(self.session.hit))

    async def _open(self, hit: Hit) -> None:
        def open_it() -> str:
            try:
                return show_hit(hit, self._search.asked)
            except SemsearchError as error:
                return str(error)

        self.session.message = await run_in_terminal(open_it)
        self.app.invalidate()

    def _recall(self) -> None:
        """Put the question asked before the current text in its place; the newest in place of any other text."""
        if self._earlier:
            text = self._typed.text
            older = self._earlier.index(text) + 1 if text in self._earlier else 0
            self._typed.document = Document(self._earlier[older % len(self._earlier)])

    def _end(self) -> None:
        self._keep()
        with suppress(Exception):  # what prompt_toolkit raises where it ends already: Esc was pressed twice
            self.app.exit()

    def _keep(self) -> None:
        """Remember the question, if it is answered; once, if it is not changed."""
        query = self.session.query
        if self.session.is_answered and not query.is_blank and query != self._remembered:
            self._remembered = query
            if self._questions is not None:
                self._questions.keep(query.text)

    def _change(self) -> None:
        """Search for the changed text, and offer the rest of the newest question that begins with it."""
        text = self._typed.text
        rest = [query[len(text) :] for query in self._earlier if text.strip() and query.startswith(text)]
        self._typed.suggestion = Suggestion(rest[0]) if rest and rest[0] else None
        self._ask(self.session.query.mode)

    # -- Threads: only the newest request is worked on -----------------------------------------------------------------

    def _ask(self, mode: Mode) -> None:
        query = self.session.ask(self._typed.text, mode)

        def take(answer: TypedAnswer) -> None:
            self.session.take_answer(answer)
            self._look()

        self._searching.submit(
            self._work, lambda: query is self.session.query, partial(self._search.answer, query), take
        )

    def _look(self) -> None:
        hit = self.session.hit
        if hit is not None:
            self._looking.submit(
                self._work,
                lambda: hit is self.session.hit,
                lambda: surroundings_of(hit, self._search.asked),
                self.session.take_surroundings,
            )

    def _work(self, is_newest: Callable[[], bool], work: Callable[[], Any], take: Callable[[Any], None]) -> None:
        """Work in this thread and pass the result to the thread that draws. An exception ends the program there."""
        if not is_newest():
            return
        try:
            result = work()
        except BaseException as error:
            self._in_loop(partial(self.app.exit, exception=error))
            return

        def deliver() -> None:
            take(result)
            self.app.invalidate()

        self._in_loop(deliver)

    def _in_loop(self, action: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the search has ended
            self._loop.call_soon_threadsafe(action)
