"""The interactive search as a program: keys change the state, a thread searches, and each answer is drawn.

Only the newest request is worked on: an older one that has not begun is dropped.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.auto_suggest import Suggestion
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.key_binding.bindings.auto_suggest import load_auto_suggest_bindings

from semsearch.cli.answer_formats import one_line
from semsearch.cli.interactive.screen import HitLines, screen
from semsearch.cli.interactive.session import InteractiveSession, TypedAnswer, TypedQuery, TypedSearch, surroundings_of
from semsearch.cli.open_hit import open_hit
from semsearch.errors import SemsearchError
from semsearch.results.hits import Hit
from semsearch.results.options import Mode

# -- Only the newest request -------------------------------------------------------------------------------------------

Request = TypeVar("Request")
_SECONDS = 1.0  # to wait at the end for the request in progress


class NewestOnly(Generic[Request]):
    """A thread that works on the newest request. Requests that arrive while it works replace each other."""

    def __init__(self, work: Callable[[Request], None]) -> None:
        self._work = work
        self._changed = threading.Condition()
        self._waiting: list[Request] = []  # none, or one
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def ask(self, request: Request) -> None:
        """Queue a request, in place of one that waits."""
        with self._changed:
            self._waiting = [request]
            self._changed.notify()

    def close(self) -> None:
        """End the thread: drop what waits, and wait briefly for the request in progress."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(_SECONDS)

    def _run(self) -> None:
        while (request := self._next()) is not None:
            self._work(request[0])

    def _next(self) -> list[Request] | None:
        """Wait for a request; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            request, self._waiting = self._waiting, []
            return None if self._is_closed else request


# -- Keys --------------------------------------------------------------------------------------------------------------

_SCROLL = 3  # lines


class KeyTarget(Protocol):
    """What the keys control."""

    def choose(self, steps: int) -> None:
        """Select the hit so many further down, or up."""

    def choose_page(self, pages: int) -> None:
        """Select the hit a screen further down, or up."""

    def scroll(self, lines: int) -> None:
        """Scroll the preview down, or up."""

    def change_mode(self) -> None:
        """Search in the next mode."""

    def open_chosen(self) -> None:
        """Open the selected hit."""

    def recall(self) -> None:
        """Put the question asked before the current text in its place."""

    def end(self) -> None:
        """End the search."""


def keys(target: KeyTarget) -> KeyBindings:
    """Bind the keys."""
    bindings = KeyBindings()
    for names, action in (
        (("up", "c-p"), lambda: target.choose(-1)),
        (("down", "c-n"), lambda: target.choose(1)),
        (("pageup",), lambda: target.choose_page(-1)),
        (("pagedown",), lambda: target.choose_page(1)),
        (("s-up", "c-up"), lambda: target.scroll(-_SCROLL)),
        (("s-down", "c-down"), lambda: target.scroll(_SCROLL)),
        (("tab",), target.change_mode),
        (("enter",), target.open_chosen),
        (("c-r",), target.recall),
        (("escape", "c-c"), target.end),
    ):
        for name in names:
            bindings.add(name)(lambda _, action=action: action())
    bindings.add("<bracketed-paste>")(_paste)
    return bindings


def _paste(event: KeyPressEvent) -> None:
    """Put what is pasted on the one line there is."""
    event.current_buffer.insert_text(one_line(event.data))


# -- The application ---------------------------------------------------------------------------------------------------

_ESCAPE = 0.05  # seconds, after which Esc is Esc, and no longer the beginning of another key


class InteractiveSearch:
    """The interactive search, redrawn after each key and each answer.

    `earlier` are questions asked before, the newest first, from which the text is completed; `remember` is given each
    answer of which a hit is opened, and the last one.
    """

    def __init__(
        self,
        search: TypedSearch,
        text: str,
        earlier: Sequence[str] = (),
        remember: Callable[[TypedAnswer], None] = lambda _: None,
    ) -> None:
        self.session = InteractiveSession(TypedQuery(text, search.options.mode))
        self._search = search
        self._earlier = [*dict.fromkeys(map(one_line, earlier))]
        self._remember = remember
        self._remembered: TypedQuery | None = None
        self._typed = Buffer(document=Document(text), multiline=False, on_text_changed=lambda _: self._change())
        self._hits = HitLines(self.session)
        self.app: Application[None] = Application(
            layout=screen(self.session, self._typed, self._hits),
            key_bindings=merge_key_bindings([load_auto_suggest_bindings(), keys(self)]),
            full_screen=True,
        )
        self.app.ttimeoutlen = self.app.timeoutlen = _ESCAPE

    async def run(self) -> None:
        """Run until the user ends it."""
        self._loop = asyncio.get_running_loop()
        with (
            closing(NewestOnly(self._answer)) as self._searching,
            closing(NewestOnly(self._look_around)) as self._looking,
        ):
            self._ask(self.session.query.mode)
            with suppress(EOFError):  # the terminal has gone
                await self.app.run_async(handle_sigint=False)

    def choose(self, steps: int) -> None:
        """Select the hit so many further down, or up."""
        if self.session.choose(steps):
            self._look()

    def choose_page(self, pages: int) -> None:
        """Select the hit a screen further down, or up."""
        self.choose(pages * self._hits.at_once)

    def scroll(self, lines: int) -> None:
        """Scroll the preview down, or up."""
        self.session.scrolled += lines

    def change_mode(self) -> None:
        """Search in the next mode."""
        self._ask(self.session.next_mode())

    def open_chosen(self) -> None:
        """Open the selected hit, if it answers the current text."""
        if self.session.is_answered and self.session.hit is not None:
            self._keep()
            self.app.create_background_task(self._open(self.session.hit))

    def recall(self) -> None:
        """Put the question asked before the current text in its place; the newest in place of any other text."""
        if self._earlier:
            text = self._typed.text
            older = self._earlier.index(text) + 1 if text in self._earlier else 0
            self._typed.document = Document(self._earlier[older % len(self._earlier)])

    def end(self) -> None:
        """End the search."""
        self._keep()
        with suppress(Exception):  # what prompt_toolkit raises where it ends already: Esc was pressed twice
            self.app.exit()

    async def _open(self, hit: Hit) -> None:
        def open_it() -> str:
            try:
                return open_hit(hit, self._search.opened)
            except SemsearchError as error:
                return str(error)

        self.session.said = await run_in_terminal(open_it)
        self.app.invalidate()

    def _keep(self) -> None:
        """Remember the question, if it is answered; once, if it is not changed."""
        query = self.session.query
        if self.session.is_answered and not query.is_blank and query != self._remembered:
            self._remembered = query
            self._remember(self.session.answer)

    def _change(self) -> None:
        """Search for the changed text, and offer the rest of the newest question that begins with it."""
        text = self._typed.text
        rest = next((each[len(text) :] for each in self._earlier if each.startswith(text)), "") if text.strip() else ""
        self._typed.suggestion = Suggestion(rest) if rest else None
        self._ask(self.session.query.mode)

    def _ask(self, mode: Mode) -> None:
        self._searching.ask(self.session.ask(self._typed.text, mode))

    def _look(self) -> None:
        if self.session.hit is not None:
            self._looking.ask(self.session.hit)

    def _answer(self, query: TypedQuery) -> None:
        """Answer a query, in the search thread."""
        self._deliver(lambda: self._search.answer(query), self.session.take_answer, then=self._look)

    def _look_around(self, hit: Hit) -> None:
        """Read the passages around a hit, in their thread."""
        self._deliver(lambda: surroundings_of(hit, self._search.opened), self.session.take_surroundings)

    def _deliver(
        self, work: Callable[[], Any], take: Callable[[Any], None], then: Callable[[], None] | None = None
    ) -> None:
        """Work in this thread and pass the result to the thread that draws. An exception ends the program there."""
        try:
            result = work()
        except BaseException as error:
            self._in_loop(partial(self.app.exit, exception=error))
            return

        def taken() -> None:
            take(result)
            if then is not None:
                then()
            self.app.invalidate()

        self._in_loop(taken)

    def _in_loop(self, action: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the search has ended
            self._loop.call_soon_threadsafe(action)
