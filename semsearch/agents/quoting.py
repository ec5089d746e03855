"""Text of documents as it may be shown to a model, and on the terminal it runs in.

Control characters, which steer terminals, and characters that nobody sees but a model reads (Unicode's tags, which
mirror ASCII) or that turn the order of a line round, are taken out or replaced. All else stays: what a text says is
never changed, and instructions in it are for the model to refuse, as the server's own instructions tell it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # but not tab and line end
_HIDDEN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e0fff]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SHOWN_CONTROL = "\ufffd"


def harmless(text: str) -> str:
    """A text without characters that steer or hide."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub(_SHOWN_CONTROL, _HIDDEN.sub("", _LINE_ENDS.sub("\n", text)))


def harmless_values(value: Any) -> Any:
    """A plain value, all texts of which are harmless."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, Mapping):
        return {key: harmless_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [harmless_values(item) for item in value]
    return value
