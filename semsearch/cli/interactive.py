"""The interactive search on a terminal: hits as you type, and the passage of the selected hit.

prompt_toolkit draws the screen and is imported only here; rich makes the texts, in the terminal's own colours. A thread
searches, and only the newest text counts. A text that is no query yet gives a message and no error.
"""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from prompt_toolkit.application import Application, get_app, run_in_terminal
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, merge_key_bindings
from prompt_toolkit.key_binding.bindings.auto_suggest import load_auto_suggest_bindings
from prompt_toolkit.layout import (
    BufferControl,
    Dimension,
    DynamicContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    UIContent,
    UIControl,
    VSplit,
    Window,
)
from prompt_toolkit.layout.processors import AppendAutoSuggestion
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from semsearch.cli.answer_formats import OBEYED, also_in, marks, path_of, position_of, stale_mark, trail
from semsearch.cli.asked_indexes import Asked
from semsearch.cli.open_hit import show_hit
from semsearch.cli.printing import count, one_line
from semsearch.cli.terminal import excerpt, heat, query_pattern, shorten
from semsearch.errors import SemsearchError
from semsearch.results.hits import Hit, Hits, heading_of
from semsearch.results.options import Mode, SearchOptions

_MODES: tuple[Mode, ...] = get_args(Mode)
_SCROLL = 3  # lines
_ESCAPE = 0.05  # seconds, after which Esc is Esc, and no longer the beginning of another key
_WIDE = 110  # columns, from which on hits and passage stand side by side
_LOW = 12  # lines, below which there is no passage
_LEAST_TRAIL = 8  # columns
_KEYS = "↑↓ select  Enter open  Shift-↑↓ scroll  Tab mode  Esc quit"  # for 60 columns
_SENTENCE, _WORD = "bold", "bold underline"
_CONSOLE = Console(
    file=io.StringIO(),
    force_terminal=True,
    color_system="standard",
    width=1000,
    highlight=False,
    emoji=False,
    markup=False,
)


@dataclass(frozen=True, slots=True)
class TypedAnswer:
    """The hits of a text in a mode, and a message: warnings, or why it cannot be searched."""

    text: str
    mode: Mode
    hits: Sequence[Hit] = ()
    message: str = ""


# -- Texts -------------------------------------------------------------------------------------------------------------


def row(hit: Hit, asked: re.Pattern[str] | None, *, best: float, width: int, is_chosen: bool) -> list[Text]:
    """The two lines of a hit in the list: its place, and its sentence. The chosen one is reversed, and has a mark."""
    line = Text(">" if is_chosen else " ")
    line.append(f"{hit.rank:>2} ", "dim").append(f"{hit.score:.3f} ", heat(hit.score, best))
    for mark in marks(hit):
        line.append(f"{mark} ", "cyan")
    position = position_of(hit)
    path, room = path_of(hit), max(width - line.cell_len - cell_len(position), _LEAST_TRAIL)
    while cell_len(path) > room:  # its end says more
        path = f"…{path[2:]}"
    line.append(path, "magenta").append(position, "green")
    headings, room = trail(hit), width - line.cell_len - 3
    if headings and room >= _LEAST_TRAIL:
        line.append(f" › {shorten(headings, room)}", "dim")
    sentence = Text(f"   {excerpt(one_line(hit.sentence), asked, max(width - 3, _LEAST_TRAIL))}")
    if asked is not None:
        sentence.highlight_regex(asked, _WORD)
    for text in (line, sentence):
        text.truncate(width, pad=True)
    if is_chosen:
        line.stylize("reverse")
    return [line, sentence]


def place_lines(hit: Hit, *, width: int) -> list[Text]:
    """The place of a hit: its path, the headings above it, near-duplicates, whether it has changed."""
    also = also_in(hit) and f"+ {also_in(hit)}"
    texts = [Text(path_of(hit), "bold magenta").append(position_of(hit), "bold green")]
    texts += [Text(text, "dim") for text in (" › ".join(trail(hit)), also) if text]
    texts += [Text(text, "yellow") for text in [stale_mark(hit)] if text]
    return [line for text in texts for line in _wrapped(text, width)]


def passage_lines(hit: Hit, asked: re.Pattern[str] | None, *, width: int) -> tuple[list[Text], int]:
    """The lines of a hit's passage, and the number of the one that its best sentence begins on."""
    passage = Text(OBEYED.sub(" ", hit.passage))
    begin = hit.passage.find(hit.sentence) if hit.sentence else -1
    if begin >= 0:
        end = begin + len(hit.sentence)
        passage.stylize(_SENTENCE, begin, end)
        for match in asked.finditer(passage.plain, begin, end) if asked is not None else ():
            passage.stylize(_WORD, *match.span())
    lines = [*_wrapped(passage, width)]
    marked = (number for number, line in enumerate(lines) if any(span.style == _SENTENCE for span in line.spans))
    return lines, next(marked, 0)


def _wrapped(text: Text, width: int) -> Iterator[Text]:
    for line in text.split("\n", allow_blank=True):
        line.expand_tabs(4)
        yield from line.wrap(_CONSOLE, max(width, 1)) or [Text()]


class _Lines(UIControl):
    """Lines of rich as prompt_toolkit shows them, drawn for a width and height."""

    def __init__(self, draw: Callable[[int, int], Sequence[Text]]) -> None:
        self._draw = draw

    def create_content(self, width: int, height: int) -> UIContent:
        """Draw what there is room for."""
        lines = self._draw(width, height)

        def fragments(number: int) -> StyleAndTextTuples:
            with _CONSOLE.capture() as captured:
                _CONSOLE.print(lines[number], end="", soft_wrap=True)
            return to_formatted_text(ANSI(captured.get()))

        return UIContent(fragments, len(lines), show_cursor=False)


# -- The program -------------------------------------------------------------------------------------------------------


class InteractiveSearch:
    """The interactive search, redrawn after each key and each answer; a context manager, which closes the index.

    `open_asked` opens the index at the first text. Questions whose hits are opened, and the last, are kept in the file
    `history`, and offered again.
    """

    def __init__(
        self, open_asked: Callable[[], Asked], options: SearchOptions, text: str = "", history: Path | None = None
    ) -> None:
        self._open_asked, self._options = open_asked, options
        self._asked: Asked | None = None
        self.mode: Mode = options.mode
        self.answer = TypedAnswer("", self.mode)
        self.message = ""  # the result of the last action: opened, or why not
        self.chosen = self._first = 0  # the selected hit, and the first that is shown
        self.scrolled = 0  # lines of the passage, from its best sentence on
        self._history = history
        if history is not None:
            with suppress(OSError):
                history.parent.mkdir(parents=True, exist_ok=True)
                history.touch(mode=0o600)
        self.typed = Buffer(
            document=Document(one_line(text)),
            multiline=False,
            history=FileHistory(str(history)) if history is not None and history.is_file() else InMemoryHistory(),
            auto_suggest=AutoSuggestFromHistory(),
            on_text_changed=lambda _: self._ask(),
        )
        self.app: Application[None] = Application(
            layout=self._layout(),
            key_bindings=merge_key_bindings([load_auto_suggest_bindings(), self._keys()]),
            full_screen=True,
        )
        self.app.ttimeoutlen = self.app.timeoutlen = _ESCAPE

    def __enter__(self) -> InteractiveSearch:
        return self

    def __exit__(self, *_: object) -> None:
        if self._asked is not None:
            self._asked.close()

    async def run(self) -> None:
        """Run until the user ends it."""
        self._loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as self._thread:
            self._ask()
            with suppress(EOFError):  # the terminal has gone
                await self.app.run_async(handle_sigint=False)

    @property
    def is_answered(self) -> bool:
        """Whether the answer belongs to the current text."""
        return (self.answer.text, self.answer.mode) == (self.typed.text, self.mode)

    @property
    def hit(self) -> Hit | None:
        """The selected hit; None if there are none."""
        return self.answer.hits[self.chosen] if self.answer.hits else None

    # -- Keys ----------------------------------------------------------------------------------------------------------

    def _keys(self) -> KeyBindings:
        bindings = KeyBindings()
        for names, action in (
            (("up", "c-p"), lambda: self._choose(-1)),
            (("down", "c-n"), lambda: self._choose(1)),
            (("pageup",), lambda: self._choose(-5)),
            (("pagedown",), lambda: self._choose(5)),
            (("s-up", "c-up"), lambda: self._scroll(-_SCROLL)),
            (("s-down", "c-down"), lambda: self._scroll(_SCROLL)),
            (("tab",), self._change_mode),
            (("enter",), self._open_chosen),
            (("c-r",), self.typed.history_backward),
            (("escape", "c-c"), self._end),
        ):
            for name in names:
                bindings.add(name)(lambda _, action=action: action())
        # what is pasted goes on the one line there is
        bindings.add("<bracketed-paste>")(lambda event: event.current_buffer.insert_text(one_line(event.data)))
        return bindings

    def _choose(self, steps: int) -> None:
        """Select the hit so many further down, or up, at most the first or last."""
        before, self.chosen = self.chosen, max(0, min(self.chosen + steps, len(self.answer.hits) - 1))
        if self.chosen != before:
            self.scrolled, self.message = 0, ""

    def _scroll(self, lines: int) -> None:
        self.scrolled += lines

    def _change_mode(self) -> None:
        self.mode = _MODES[(_MODES.index(self.mode) + 1) % len(_MODES)]
        self._ask()

    def _open_chosen(self) -> None:
        """Open the selected hit, if it answers the current text."""
        hit, asked = self.hit, self._asked
        if not (self.is_answered and hit is not None and asked is not None):
            return
        self._keep()

        def open_it() -> str:
            try:
                return show_hit(hit, asked)
            except SemsearchError as error:
                return str(error)

        async def in_terminal() -> None:
            self.message = await run_in_terminal(open_it)
            self.app.invalidate()

        self.app.create_background_task(in_terminal())

    def _keep(self) -> None:
        """Remember the question, if it has hits; once, if it is not changed."""
        if self.is_answered and self.answer.hits:
            with suppress(OSError):
                self.typed.append_to_history()

    def _end(self) -> None:
        self._keep()
        with suppress(Exception):  # what prompt_toolkit raises where it ends already: Esc was pressed twice
            self.app.exit()

    # -- The thread: only the newest text is searched for --------------------------------------------------------------

    def _ask(self) -> None:
        """Search for the current text in the thread; an exception ends the program where the screen is drawn."""
        text, mode = self.typed.text, self.mode
        self.message = ""

        def is_newest() -> bool:
            return (text, mode) == (self.typed.text, self.mode)

        def job() -> None:
            if is_newest():
                try:
                    answer = self.search(text, mode)
                except BaseException as error:
                    failure = error
                    self._in_loop(lambda: self.app.exit(exception=failure))
                else:
                    self._in_loop(lambda: take(answer))

        def take(answer: TypedAnswer) -> None:
            if is_newest():
                self.answer, self.chosen, self.scrolled = answer, 0, 0
                self.app.invalidate()

        self._thread.submit(job)

    def search(self, text: str, mode: Mode) -> TypedAnswer:
        """Search for a text. A blank text has no hits, but opens the index."""
        try:
            if self._asked is None:
                self._asked = self._open_asked()
            hits = self._asked.search(text, options=replace(self._options, mode=mode)) if text.strip() else Hits()
        except SemsearchError as error:
            return TypedAnswer(text, mode, message=str(error))
        verdict = heading_of(hits.verdict, hits.missing) if hits else ""
        return TypedAnswer(text, mode, hits, "; ".join(filter(None, [*hits.warnings, verdict])))

    def _in_loop(self, action: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the search has ended
            self._loop.call_soon_threadsafe(action)

    # -- The screen ----------------------------------------------------------------------------------------------------

    def _layout(self) -> Layout:
        """Lay out the screen, as wide and high as the terminal is at any time."""
        field = BufferControl(self.typed, [AppendAutoSuggestion("dim")])
        state = Window(FormattedTextControl(self._state), height=1, dont_extend_width=True)
        prompt = Window(FormattedTextControl([("bold", "> ")]), width=2, height=1)
        hits = Window(_Lines(self._hit_lines), height=Dimension(weight=9), width=Dimension(weight=9))
        passage = Window(_Lines(self._passage), height=Dimension(weight=11), width=Dimension(weight=11))
        beside = VSplit([hits, Window(char="│", width=1, style="dim"), Window(width=1), passage])
        below = HSplit([hits, Window(char="─", height=1, style="dim"), passage])

        def answer() -> VSplit | HSplit | Window:
            size = get_app().output.get_size()
            return beside if size.columns >= _WIDE else below if size.rows >= _LOW else hits

        foot = FormattedTextControl(self._foot)
        return Layout(
            HSplit(
                [
                    VSplit([prompt, Window(field, height=1), state]),
                    Window(char="─", height=1, style="dim"),
                    DynamicContainer(answer),
                    Window(foot, height=Dimension(min=1, max=3), wrap_lines=True, dont_extend_height=True),
                ]
            ),
            focused_element=field,
        )

    def _hit_lines(self, width: int, height: int) -> list[Text]:
        """The hits that there is room for, two lines each, with the selected one."""
        hits, asked, at_once = self.answer.hits, query_pattern(self.answer.text), max(1, height // 2)
        first = self._first = max(min(self._first, self.chosen), self.chosen - at_once + 1)
        best = max((hit.score for hit in hits), default=0.0)
        lines = list[Text]()
        for number, hit in enumerate(hits[first : first + at_once], start=first):
            lines += row(hit, asked, best=best, width=width, is_chosen=number == self.chosen)
        return lines

    def _passage(self, width: int, height: int) -> list[Text]:
        """The place of the selected hit, and its passage from where its best sentence can be seen, scrolled."""
        if self.hit is None:
            return []
        place = [*place_lines(self.hit, width=width), Text()][: height // 2]
        lines, best = passage_lines(self.hit, query_pattern(self.answer.text), width=width)
        room = height - len(place)
        usual = 0 if best < room * 2 // 3 else best - room // 3
        first = max(0, min(usual + self.scrolled, len(lines) - room))
        self.scrolled = first - usual
        return [*place, *lines[first : first + room]]

    def _state(self) -> StyleAndTextTuples:
        """The number of hits and the mode; dots while the newest text is searched."""
        number = f"{count(len(self.answer.hits), 'hit')} · " if self.answer.text.strip() else ""
        return [("dim", f"  {number if self.is_answered else '… · '}{self.mode}")]

    def _foot(self) -> StyleAndTextTuples:
        """The current message, or else the keys."""
        message = self.message or (self.answer.message if self.is_answered else "")
        return [("ansiyellow", one_line(message))] if message else [("dim", _KEYS)]
