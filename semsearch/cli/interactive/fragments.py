"""Texts of rich as prompt_toolkit writes them, in the terminal's own sixteen colours only: its theme counts."""

from __future__ import annotations

from functools import lru_cache

from prompt_toolkit.formatted_text import StyleAndTextTuples
from rich.color import Color
from rich.style import Style
from rich.text import Text

from semsearch.cli.interactive.drawing import CONSOLE

_COLOURS = ("ansiblack", "ansired", "ansigreen", "ansiyellow", "ansiblue", "ansimagenta", "ansicyan", "ansigray")
_ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse")


def fragments(text: Text) -> StyleAndTextTuples:
    """The pieces of a line, each with its style."""
    return [(_written(segment.style), segment.text) for segment in text.render(CONSOLE)]


@lru_cache(maxsize=256)
def _written(style: Style | None) -> str:
    if style is None:
        return ""
    parts = [name for name in _ATTRIBUTES if getattr(style, name)]
    return " ".join([*parts, *_colour("", style.color), *_colour("bg:", style.bgcolor)])


def _colour(prefix: str, colour: Color | None) -> list[str]:
    number = None if colour is None else colour.number
    return [] if number is None or number >= len(_COLOURS) else [prefix + _COLOURS[number]]
