"""The headings above a passage, as they are embedded and indexed with it."""

from __future__ import annotations

from collections.abc import Sequence


def heading_text(title: str, headings: Sequence[str]) -> str:
    """The text that is embedded with a passage's sentences: the title and each heading above it, once, a line each."""
    return "\n".join(dict.fromkeys(text for text in (title, *headings) if text))
