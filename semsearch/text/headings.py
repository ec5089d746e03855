"""The headings above a passage, as they are embedded and indexed with it."""

from __future__ import annotations

from collections.abc import Sequence


def heading_text(title: str, headings: Sequence[str]) -> str:
    """What is embedded with a passage besides its sentences: each heading above it once, the title first."""
    return "\n".join(dict.fromkeys(text for text in (title, *headings) if text))
