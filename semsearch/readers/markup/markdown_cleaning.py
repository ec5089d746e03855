"""Clean the text of Markdown blocks of leftovers that the parser does not know."""

from __future__ import annotations

import html
import re

from semsearch.readers.markup.placed_text import PlacedText

_INCLUDE = re.compile(r"^[ \t]*(?://|#)?[ \t]*\{\{#.*?\}\}[ \t]*\n?", re.MULTILINE)
_LEFTOVER = re.compile(r"\[![A-Za-z]+\]|\[\^[^\]\s]+\]:?|^[ \t]*:{3,}.*?(?::{3,}|$)", re.MULTILINE)
_SHORTCODE = re.compile(
    r"\(\{\{[<%][^{}]{0,300}[>%]\}\}\)"  # the target of a link
    r"|\{\{[<%](?:(?!\btext=\")[^{}]){0,300}[>%]\}\}"
    r"|\{\{[<%](?:(?!\btext=\")[^{}]){0,300}\btext=\"(?=[^{}\"]{0,300}\"[^{}]{0,300}[>%]\}\})"  # around a text to show
    r"|\"[^{}\"]{0,300}(?:\"[^{}\"]{0,300}\"[^{}\"]{0,300}){0,9}[>%]\}\}"
    r"|^[ \t]*\{%[^{}]{0,300}%\}[ \t]*$",
    re.MULTILINE,
)
_HEADING_ID = re.compile(r"\s*\{[#.:][^{}]*\}\s*$")
_HTML = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|</?[A-Za-z](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>",
    re.DOTALL | re.IGNORECASE,
)
_SPACE = re.compile(r"[ \t]+")


def clean_paragraph(text: PlacedText) -> PlacedText:
    """Remove the leftovers of site generators from a paragraph's or a cell's text."""
    if "[" in text.text or ":::" in text.text:
        text = text.replaced(_LEFTOVER)
    if "{{<" in text.text or "{{%" in text.text or "{%" in text.text:
        text = text.replaced(_SHORTCODE)
    return text.stripped()


def clean_heading(text: PlacedText) -> PlacedText:
    """Put a heading's text on one line, without its {#id}."""
    text = clean_paragraph(text)
    if "{" in text.text:
        text = text.replaced(_HEADING_ID)
    return text.on_one_line()


def clean_code(text: PlacedText) -> PlacedText:
    """Remove mdBook's includes, and empty lines at both ends, from code."""
    if "{{#" in text.text:
        text = text.replaced(_INCLUDE)
    body = text.text.rstrip()
    return text.cut(len(body) - len(body.lstrip("\n")), len(body))


def clean_html(content: str) -> str:
    """The text of a block of HTML, line by line."""
    lines = (_SPACE.sub(" ", line).strip() for line in html.unescape(_HTML.sub("", content)).splitlines())
    return "\n".join(filter(None, lines))
