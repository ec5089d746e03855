"""Inline markup of reStructuredText in its usual spellings, with exact positions; docutils reads the rest.

Taken are ``literals``, *emphasis*, **strong**, `references <x>`_, :roles:`text`, notes [1]_ and names_, each between
ASCII characters that may be next to it. If anything else in a paragraph could be markup, docutils reads all of it.
"""

from __future__ import annotations

import re

from docutils.parsers.rst import states

from semsearch.readers.markup.placed_text import PlacedText
from semsearch.readers.rst_parser import role_text

_SPECIAL = re.compile(r"[*`|\\]|_(?!\w)")  # without these there is no markup in a paragraph
_NAME = states.Inliner.simplename
_MARKUP = re.compile(
    r"(?<![^\s'\"(\[{<\-/:])"
    r"(?:``(?=\S)(?P<literal>.*?\S)``"
    r"|\*\*(?=\S)(?P<strong>[^*]+)(?<=\S)\*\*"
    r"|\*(?=\S)(?P<emphasis>[^*]+)(?<=\S)\*"
    rf"|(?::(?P<role>{_NAME}):)?`(?=\S)(?P<quoted>[^`]+)(?<=\S)`(?P<reference>__?)?"
    rf"|(?P<note>\[(?:\d+|{_NAME})\])_"
    rf"|(?P<name>{_NAME})__?)"
    r"(?![^\s'\")\]}>\-/:.,;!?])",
    re.DOTALL,
)
_TARGET = re.compile(r"([^<>]+?)[ \n]+<[^<>]+>")
_QUOTED = {"''", '""', "()", "[]", "{}", "<>"}  # around a mark, they make it text


def visible_inline(raw: PlacedText) -> PlacedText | None:
    """The visible text of a paragraph; None if docutils has to read it."""
    text = raw.text
    if not _SPECIAL.search(text):
        return raw
    if "\\" in text:
        return None
    shown, last = PlacedText(), 0
    for found in _MARKUP.finditer(text):
        if _SPECIAL.search(text, last, found.start()):
            return None
        shown.add_all(raw.cut(last, found.start()))
        if not _take(found, raw, shown):
            return None
        last = found.end()
    if _SPECIAL.search(text, last):
        return None
    shown.add_all(raw.cut(last, len(text)))
    return shown


def _take(found: re.Match[str], raw: PlacedText, shown: PlacedText) -> bool:
    """Add the visible text of a match and return True; return False if it may not be markup after all."""
    kind = "quoted" if found["quoted"] else str(found.lastgroup)
    start, end = found.span(kind)
    text, mark = found.string, found.start()
    if kind not in ("note", "name") and mark and text[mark - 1] + text[start] in _QUOTED:
        return False
    if kind == "quoted":
        return _take_quoted(found, raw, shown)
    shown.add_all(raw.cut(start, end))
    return True


def _take_quoted(found: re.Match[str], raw: PlacedText, shown: PlacedText) -> bool:
    text, role, start = found["quoted"], found["role"], found.start("quoted")
    following = found.string[found.end() : found.end() + 2]
    if (role and found["reference"]) or (following[:1] == ":" and following[1:].strip()):
        return False  # an error; perhaps a role after the text
    if found["reference"]:
        titled = _TARGET.fullmatch(text)
        if not titled and ("<" in text or ">" in text):
            return False
        said = titled[1] if titled else text
    else:
        said = role_text((role or "").lower(), text)
        before, _, said = (
            said.rpartition(" ") if role in ("pep", "rfc") and not text.startswith(said) else ("", "", said)
        )
        if before:
            shown.add(f"{before} ", raw.source_offset(found.start("role")))
    at = text.rfind(said) if text[0] == "~" else text.find(said)
    if at < 0:
        return False
    shown.add_all(raw.cut(start + at, start + at + len(said)))
    return True
