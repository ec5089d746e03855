"""What the interactive search shows, as texts of rich: two lines for a hit, and the chosen one in its context."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from semsearch.cli.interactive.surroundings import Surroundings
from semsearch.cli.output.formats import also_in, index_mark, one_line, path_of, position_of, stale_mark, trail
from semsearch.cli.output.paths import folded
from semsearch.cli.output.terminal import excerpt, heat, shorten
from semsearch.cli.output.whole_passages import OBEYED
from semsearch.results.contents.passages import PlacedPassage
from semsearch.results.hits import Hit

CONSOLE = Console(file=io.StringIO(), width=200, highlight=False, emoji=False, markup=False)  # for rich to measure by
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
    if hit.index:
        line.append(f"{index_mark(hit)} ", "cyan")
    position = position_of(hit)
    line.append(_end_of(path_of(hit), width - line.cell_len - cell_len(position)), "magenta").append(position, "green")
    headings, room = trail(hit), width - line.cell_len - 3
    if headings and room >= _LEAST_TRAIL:
        line.append(f" › {shorten(headings, room)}", "dim")
    below = Text(" " * _INDENT).append_text(_sentence_of(hit, asked, width - _INDENT))
    for each in (line, below):
        each.truncate(width, pad=True)
    if is_chosen:
        line.stylize("reverse")
    return [line, below]


def _sentence_of(hit: Hit, asked: re.Pattern[str] | None, room: int) -> Text:
    sentence = Text(excerpt(one_line(hit.sentence), asked, max(room, _LEAST_TRAIL)))
    if asked is not None:
        sentence.highlight_regex(asked, _WORD)
    return sentence


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
    before = list(_passages(around.before, (), width))
    if around.before:
        before += _heading(hit.headings, around.before[-1].headings, width)
    passage = list(_wrapped(_passage(hit, asked), width))
    best = next((number for number, line in enumerate(passage) if _has_sentence(line)), 0)
    after = _passages(around.after, hit.headings, width)
    return Preview([*_place(hit, width), Text()], [*before, *passage, Text(), *after], len(before) + best)


def _place(hit: Hit, width: int) -> Iterator[Text]:
    position = position_of(hit)
    room = max(width - cell_len(position), 1)
    *parts, last = folded(path_of(hit), room, room)
    yield from (Text(part, "bold magenta") for part in parts)
    yield Text(last, "bold magenta").append(position, "bold green")
    if headings := trail(hit):
        yield from _wrapped(Text(" › ".join(headings), "dim"), width)
    if also := also_in(hit):
        yield from _wrapped(Text(f"+ {also}", "dim"), width)
    if stale := stale_mark(hit):
        yield from _wrapped(Text(f"! {stale}", "yellow"), width)


def _passages(passages: Iterable[PlacedPassage], above: tuple[str, ...], width: int) -> Iterator[Text]:
    """The lines of neighbouring passages; a heading where it is another than that of the passage above."""
    for each in passages:
        yield from _heading(each.headings, above, width)
        yield from _wrapped(Text(_safe(each.text), "dim"), width)
        yield Text()
        above = each.headings


def _heading(headings: tuple[str, ...], above: tuple[str, ...], width: int) -> Iterator[Text]:
    if headings and headings != above:
        yield from _wrapped(Text(one_line(headings[-1]), "dim italic"), width)
        yield Text()


def _passage(hit: Hit, asked: re.Pattern[str] | None) -> Text:
    """A hit's passage, with its best sentence and the query's words in it set off."""
    text = Text(_safe(hit.passage))
    begin = hit.passage.find(hit.sentence) if hit.sentence else -1
    if begin >= 0:
        end = begin + len(hit.sentence)
        text.stylize(_SENTENCE, begin, end)
        for found in asked.finditer(text.plain, begin, end) if asked is not None else ():
            text.stylize(_WORD, *found.span())
    return text


def _has_sentence(line: Text) -> bool:
    return any(span.style == _SENTENCE for span in line.spans)


def _safe(text: str) -> str:
    """A text of the same length without characters that a terminal would obey."""
    return OBEYED.sub(" ", text)


def _wrapped(text: Text, width: int) -> Iterator[Text]:
    for line in text.split("\n", allow_blank=True):
        line.expand_tabs(4)
        yield from line.wrap(CONSOLE, max(width, 1)) or [Text()]
