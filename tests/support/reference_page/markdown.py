"""Texts of the code as Markdown."""

from __future__ import annotations

import re
from inspect import cleandoc

_MARKUP = re.compile(r"([\\*<|])")
_IN_A_LINE = re.compile(r"(?<=\S)\n(?=\S)")


def prose(text: str) -> str:
    """Escape a text for Markdown: only backticks keep their meaning, which is code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:  # one of them is alone
        return _MARKUP.sub(r"\\\1", text).replace("`", r"\`")
    return "".join(code(piece) if number % 2 else _MARKUP.sub(r"\\\1", piece) for number, piece in enumerate(pieces))


def code(text: str) -> str:
    """Mark a text as code, also inside a table."""
    return "`" + text.replace("|", r"\|") + "`"


def unwrapped(text: str) -> str:
    """Put each paragraph of a docstring on one line."""
    return _IN_A_LINE.sub(" ", cleandoc(text))
