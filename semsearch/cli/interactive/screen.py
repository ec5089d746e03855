"""The screen of the interactive search: the typed line, the hits, the chosen one in its context, the keys."""

from __future__ import annotations

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
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
from rich.text import Text

from semsearch.cli.interactive.drawing import Preview, preview, row
from semsearch.cli.interactive.fragments import fragments
from semsearch.cli.interactive.session import InteractiveSession
from semsearch.cli.interactive.surroundings import Surroundings
from semsearch.cli.output.formats import one_line
from semsearch.cli.output.terminal import query_pattern

_WIDE = 110  # columns, from which on hits and preview stand side by side
_LOW = 12  # lines, below which there is no preview under the hits
_KEYS = "↑↓ choose   Enter open   Shift-↑↓ read   Tab mode   Esc end"


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
        self._drawn: tuple[Surroundings, int, Preview] | None = None

    def create_content(self, width: int, height: int) -> UIContent:
        """Draw the part of the preview that there is room for."""
        around = self._session.surroundings
        if around is None:
            return _content([])
        drawn = self._draw(around, width)
        place = drawn.place[: height // 2]
        room = height - len(place)
        usual = _begin(drawn, room)
        first = max(0, min(usual + self._session.scrolled, len(drawn.lines) - room))
        self._session.scrolled = first - usual
        return _content([*place, *drawn.lines[first : first + room]])

    def _draw(self, around: Surroundings, width: int) -> Preview:
        if self._drawn is None or self._drawn[0] is not around or self._drawn[1] != width:
            pattern = query_pattern(self._session.answer.query.text)
            self._drawn = around, width, preview(around, pattern, width=width)
        return self._drawn[2]


def _begin(drawn: Preview, room: int) -> int:
    """The line that a preview begins with: the first, or one a third of the room above the best sentence."""
    if drawn.best < room * 2 // 3:
        return 0
    above = range(drawn.best - room // 3, drawn.best)
    return next((number for number in above if drawn.lines[number].plain.strip()), drawn.best)


def _content(lines: list[Text]) -> UIContent:
    return UIContent(lambda number: fragments(lines[number]), len(lines), show_cursor=False)


def screen(session: InteractiveSession, typed: Buffer, hits: HitLines) -> Layout:
    """Lay out the screen, as wide and high as the terminal is at any time."""
    line = VSplit(
        [
            Window(FormattedTextControl([("bold", "> ")]), width=2, height=1),
            Window(field := BufferControl(typed), height=1),
            Window(FormattedTextControl(lambda: _state(session)), height=1, dont_extend_width=True),
        ]
    )
    found = Window(hits, height=Dimension(weight=9), width=Dimension(weight=9))
    read = Window(PreviewLines(session), height=Dimension(weight=11), width=Dimension(weight=11))
    across = Window(char="─", height=1, style="dim")
    beside = VSplit([found, Window(char="│", width=1, style="dim"), Window(width=1), read])
    below = HSplit([found, Window(char="─", height=1, style="dim"), read])

    def answer() -> VSplit | HSplit | Window:
        size = get_app().output.get_size()
        if size.columns >= _WIDE:
            return beside
        return below if size.rows >= _LOW else found

    foot = Window(
        FormattedTextControl(lambda: _foot(session)),
        height=Dimension(min=1, max=3),
        wrap_lines=True,
        dont_extend_height=True,
    )
    return Layout(HSplit([line, across, DynamicContainer(answer), foot]), focused_element=field)


def _state(session: InteractiveSession) -> StyleAndTextTuples:
    """How many hits there are, and the mode; dots while the newest text is searched."""
    count = len(session.answer.hits)
    found = "" if session.answer.query.is_blank else f"{count} hit{'' if count == 1 else 's'} · "
    return [("dim", f"  {found if session.is_answered else '… · '}{session.query.mode}")]


def _foot(session: InteractiveSession) -> StyleAndTextTuples:
    """What there is to say, or else what the keys do."""
    said = session.said or (session.answer.said if session.is_answered else "")
    return [("ansiyellow", one_line(said))] if said else [("dim", _KEYS)]
