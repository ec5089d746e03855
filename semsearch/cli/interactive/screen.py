"""The screen of the interactive search: the input line, the hits, the selected one in its context, the keys.

Texts are made with rich and converted for prompt_toolkit in the terminal's own sixteen colours: its theme counts.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
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

from semsearch.cli.answer_formats import (
    OBEYED,
    also_in,
    index_mark,
    language_mark,
    path_of,
    position_of,
    stale_mark,
    trail,
)
from semsearch.cli.interactive.session import InteractiveSession, Surroundings
from semsearch.cli.printing import count, one_line
from semsearch.cli.terminal import excerpt, heat, query_pattern, shorten
from semsearch.results.documents import PlacedPassage
from semsearch.results.hits import Hit

# -- Texts -------------------------------------------------------------------------------------------------------------

CONSOLE = Console(
    file=io.StringIO(),
    force_terminal=True,
    color_system="standard",
    width=1000,
    highlight=False,
    emoji=False,
    markup=False,
)
_SENTENCE = "bold"
_WORD = "bold underline"
_LEAST_TRAIL = 8  # columns
_INDENT = 3


@dataclass(frozen=True, slots=True)
class Preview:
    """A hit's place, its context line by line, and the number of the line where the best sentence begins, from 0."""

    place: list[Text]
    lines: list[Text]
    best: int


def row(hit: Hit, asked: re.Pattern[str] | None, *, best: float, width: int, is_chosen: bool) -> list[Text]:
    """The two lines of a hit in the list: its place, and its sentence. The chosen one is reversed, and has a mark."""
    line = Text(">" if is_chosen else " ")
    line.append(f"{hit.rank:>2} ", "dim").append(f"{hit.score:.3f} ", heat(hit.score, best))
    if hit.relevance is not None:
        line.append(f"{hit.relevance:>3.0%} ", "dim")
    for mark in filter(None, (index_mark(hit), language_mark(hit))):
        line.append(f"{mark} ", "cyan")
    position = position_of(hit)
    line.append(_end_of(path_of(hit), width - line.cell_len - cell_len(position)), "magenta").append(position, "green")
    headings, room = trail(hit), width - line.cell_len - 3
    if headings and room >= _LEAST_TRAIL:
        line.append(f" › {shorten(headings, room)}", "dim")
    sentence = Text(excerpt(one_line(hit.sentence), asked, max(width - _INDENT, _LEAST_TRAIL)))
    if asked is not None:
        sentence.highlight_regex(asked, _WORD)
    below = Text(" " * _INDENT).append_text(sentence)
    for text in (line, below):
        text.truncate(width, pad=True)
    if is_chosen:
        line.stylize("reverse")
    return [line, below]


def _end_of(path: str, room: int) -> str:
    """A path, or its end, which says more, where there is too little room."""
    if cell_len(path) <= room:
        return path
    while path and cell_len(path) > max(room, _LEAST_TRAIL) - 1:
        path = path[1:]
    return f"…{path}"


def preview(around: Surroundings, asked: re.Pattern[str] | None, *, width: int) -> Preview:
    """The place of a hit, and its passage between those before and after, which are dim."""
    hit = around.hit
    before = [*_passages(around.before, (), width)]
    if around.before:
        before += _heading(hit.headings, around.before[-1].headings, width)
    passage = [*_wrapped(_passage(hit, asked), width)]
    best = next(
        (number for number, line in enumerate(passage) if any(span.style == _SENTENCE for span in line.spans)), 0
    )
    after = _passages(around.after, hit.headings, width)
    return Preview([*_place(hit, width), Text()], [*before, *passage, Text(), *after], len(before) + best)


def _place(hit: Hit, width: int) -> Iterator[Text]:
    yield from _wrapped(Text(path_of(hit), "bold magenta").append(position_of(hit), "bold green"), width)
    notes = {"dim": [" › ".join(trail(hit)), also_in(hit) and f"+ {also_in(hit)}"], "yellow": [stale_mark(hit)]}
    for style, texts in notes.items():
        for text in filter(None, texts):
            yield from _wrapped(Text(text, style), width)


def _passages(passages: Iterable[PlacedPassage], above: tuple[str, ...], width: int) -> Iterator[Text]:
    """The lines of neighbouring passages; a heading where it is another than that of the passage above."""
    for passage in passages:
        yield from _heading(passage.headings, above, width)
        yield from _wrapped(Text(OBEYED.sub(" ", passage.text), "dim"), width)
        yield Text()
        above = passage.headings


def _heading(headings: tuple[str, ...], above: tuple[str, ...], width: int) -> Iterator[Text]:
    if headings and headings != above:
        yield from _wrapped(Text(one_line(headings[-1]), "dim italic"), width)
        yield Text()


def _passage(hit: Hit, asked: re.Pattern[str] | None) -> Text:
    """A hit's passage, with its best sentence and the query's words in it set off."""
    text = Text(OBEYED.sub(" ", hit.passage))
    begin = hit.passage.find(hit.sentence) if hit.sentence else -1
    if begin >= 0:
        end = begin + len(hit.sentence)
        text.stylize(_SENTENCE, begin, end)
        for match in asked.finditer(text.plain, begin, end) if asked is not None else ():
            text.stylize(_WORD, *match.span())
    return text


def _wrapped(text: Text, width: int) -> Iterator[Text]:
    for line in text.split("\n", allow_blank=True):
        line.expand_tabs(4)
        yield from line.wrap(CONSOLE, max(width, 1)) or [Text()]


def _content(lines: list[Text]) -> UIContent:
    """Lines of rich as prompt_toolkit shows them."""

    def fragments(number: int) -> StyleAndTextTuples:
        with CONSOLE.capture() as captured:
            CONSOLE.print(lines[number], end="", soft_wrap=True)
        return to_formatted_text(ANSI(captured.get()))

    return UIContent(fragments, len(lines), show_cursor=False)


# -- The screen --------------------------------------------------------------------------------------------------------

_WIDE = 110  # columns, from which on hits and preview stand side by side
_LOW = 12  # lines, below which there is no preview under the hits
_KEYS = "↑↓ select  Enter open  Shift-↑↓ scroll  Tab mode  Esc quit"  # for 60 columns


class HitLines(UIControl):
    """The list of hits, two lines each, around the chosen one."""

    def __init__(self, session: InteractiveSession) -> None:
        self.at_once = 1  # hits that there is room for
        self._session = session
        self._first = 0

    def create_content(self, width: int, height: int) -> UIContent:
        """Draw the hits that there is room for."""
        session = self._session
        hits, chosen = session.answer.hits, session.chosen
        self.at_once = max(1, height // 2)
        self._first = max(min(self._first, chosen), chosen - self.at_once + 1)
        asked = query_pattern(session.answer.query.text)
        best = max((hit.score for hit in hits), default=0.0)
        lines: list[Text] = []
        for number, hit in enumerate(hits[self._first : self._first + self.at_once], start=self._first):
            lines += row(hit, asked, best=best, width=width, is_chosen=number == chosen)
        return _content(lines)


class PreviewLines(UIControl):
    """The chosen hit's place, and below it its context, from where its sentence can be seen; scrolled to its ends."""

    def __init__(self, session: InteractiveSession) -> None:
        self._session = session

    def create_content(self, width: int, height: int) -> UIContent:
        """Draw the part of the preview that there is room for."""
        around = self._session.surroundings
        if around is None:
            return _content([])
        drawn = preview(around, query_pattern(self._session.answer.query.text), width=width)
        place = drawn.place[: height // 2]
        room = height - len(place)
        usual = _begin(drawn, room)
        first = max(0, min(usual + self._session.scrolled, len(drawn.lines) - room))
        self._session.scrolled = first - usual
        return _content([*place, *drawn.lines[first : first + room]])


def _begin(drawn: Preview, room: int) -> int:
    """The line that a preview begins with: the first, or one a third of the room above the best sentence."""
    if drawn.best < room * 2 // 3:
        return 0
    above = range(drawn.best - room // 3, drawn.best)
    return next((number for number in above if drawn.lines[number].plain.strip()), drawn.best)


def screen(session: InteractiveSession, typed: Buffer, hits: HitLines) -> Layout:
    """Lay out the screen, as wide and high as the terminal is at any time."""
    field = BufferControl(typed, [AppendAutoSuggestion("dim")])
    state = Window(FormattedTextControl(lambda: _state(session)), height=1, dont_extend_width=True)
    line = VSplit([Window(FormattedTextControl([("bold", "> ")]), width=2, height=1), Window(field, height=1), state])
    hit_list = Window(hits, height=Dimension(weight=9), width=Dimension(weight=9))
    context = Window(PreviewLines(session), height=Dimension(weight=11), width=Dimension(weight=11))
    beside = VSplit([hit_list, Window(char="│", width=1, style="dim"), Window(width=1), context])
    below = HSplit([hit_list, Window(char="─", height=1, style="dim"), context])

    def answer() -> VSplit | HSplit | Window:
        size = get_app().output.get_size()
        return beside if size.columns >= _WIDE else below if size.rows >= _LOW else hit_list

    foot = Window(
        FormattedTextControl(lambda: _foot(session)),
        height=Dimension(min=1, max=3),
        wrap_lines=True,
        dont_extend_height=True,
    )
    rule = Window(char="─", height=1, style="dim")
    return Layout(HSplit([line, rule, DynamicContainer(answer), foot]), focused_element=field)


def _state(session: InteractiveSession) -> StyleAndTextTuples:
    """The number of hits and the mode; dots while the newest text is searched."""
    number = "" if session.answer.query.is_blank else f"{count(len(session.answer.hits), 'hit')} · "
    return [("dim", f"  {number if session.is_answered else '… · '}{session.query.mode}")]


def _foot(session: InteractiveSession) -> StyleAndTextTuples:
    """The current message, or else the keys."""
    message = session.message or (session.answer.message if session.is_answered else "")
    return [("ansiyellow", one_line(message))] if message else [("dim", _KEYS)]
