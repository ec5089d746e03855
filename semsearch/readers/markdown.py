"""Markdown: CommonMark, tables and strikethrough by markdown-it-py, front matter as metadata.

Of the markup only what a reader sees stays: link texts without their targets, the alternative texts of images, code.
Leftovers of site generators are dropped too: mdBook's {{#include}}, `> [!NOTE]` marks, ::: fences, {#ids} and [^notes].
HTML inside Markdown keeps its text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import PurePath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from semsearch.errors import SourceError
from semsearch.readers.align import Aligner, blanked
from semsearch.readers.cells import joined
from semsearch.readers.document import Block, Document, line_starts
from semsearch.readers.front_matter import front_matter

_DEEPEST = 200  # levels of lists and quotes; the parser leaves out without a word what is deeper
_INCLUDE = re.compile(r"^[ \t]*(?://|#)?[ \t]*\{\{#.*?\}\}[ \t]*\n?", re.MULTILINE)
_LEFTOVER = re.compile(r"\[![A-Za-z]+\]|\[\^[^\]\s]+\]:?|^[ \t]*:{3,}.*?(?::{3,}|$)", re.MULTILINE)
_HEADING_ID = re.compile(r"\s*\{[#.:][^{}]*\}\s*$")
_HTML = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|</?[A-Za-z](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>",
    re.DOTALL | re.IGNORECASE,
)
_TARGET = re.compile(  # of a link: (target "title") or [label], after the ] of its text
    r"(?<=\])(?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)|\[[^\]\n]*\])"
)
_SPACE = re.compile(r"[ \t]+")


def read(source: str, name: str) -> Document:
    """The blocks of a Markdown text. Its title is the front matter's, else the first level-1 heading, else its name."""
    matter = front_matter(source)
    reading = _Reading(source, matter.end)
    if reading.depth >= _DEEPEST - 2:
        raise SourceError(f"{name} cannot be read as Markdown: its lists or quotes are nested {reading.depth} deep")
    blocks = list(reading.blocks())
    if unread := source[matter.start : matter.stop].strip():
        blocks.insert(0, Block(unread, source.index(unread, matter.start)))
    title = str(matter.metadata.get("title") or "").strip() or next(
        (block.text for block in blocks if block.level == 1), PurePath(name).stem
    )
    return Document(source, blocks, "markdown", title, matter.metadata)


class _Parser(MarkdownIt):
    """Without the spelling out of links, which nobody sees here, and which takes a twentieth of the time."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802  # as the parser names it
        return url


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return _Parser("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])


class _Reading:
    """One text on its way through the parser's tokens."""

    def __init__(self, source: str, start: int) -> None:
        self._source = source
        self._tokens = _parser().parse(source[start:])
        self._lines = [start + line for line in line_starts(source[start:])] + [len(source)]
        self._aligner: Aligner | None = None
        self.depth = max((token.level for token in self._tokens), default=0)

    def blocks(self) -> Iterator[Block]:
        place, tokens = 0, self._tokens
        level = 0
        while place < len(tokens):
            token = tokens[place]
            if token.type == "heading_open":
                level = int(token.tag[1:])
            elif token.type == "heading_close":
                level = 0
            elif token.type == "inline":
                yield from self._block(_heading(_clean(token)) if level else _clean(token), token.map, level)
            elif token.type == "tr_open":
                row = tokens[place : _closing(tokens, place)]
                yield from self._block(joined(_clean(cell) for cell in row if cell.type == "inline"), token.map)
                place += len(row)
            elif token.type in ("fence", "code_block"):
                yield from self._block(_INCLUDE.sub("", token.content).strip("\n").rstrip(), token.map)
            elif token.type == "html_block":
                yield from self._block(_clean_html(token.content), token.map)
            place += 1

    def _block(self, text: str, lines: list[int] | None, level: int = 0) -> Iterator[Block]:
        if not text.strip():
            return
        first, last = lines or (0, len(self._lines) - 1)
        start, end = self._lines[first], self._lines[min(last, len(self._lines) - 1)]
        verbatim = self._source.find(text, start, end)
        if verbatim >= 0:
            yield Block(text, verbatim, level)
            return
        if self._aligner is None:
            self._aligner = Aligner(blanked(_TARGET, self._source))
        anchors = self._aligner.place(text, start, end)
        yield Block(text, anchors[0][1], level, anchors=anchors)


def _closing(tokens: Sequence[Token], place: int) -> int:
    return next(end for end in range(place, len(tokens)) if tokens[end].type == "tr_close")


def _clean(inline: Token) -> str:
    """What a reader sees of a paragraph, heading or cell."""
    text = "".join(map(_visible, inline.children or ()))
    if "[" in text or ":::" in text:
        text = _LEFTOVER.sub("", text)
    return text.strip()


def _visible(token: Token) -> str:
    if token.type in ("text", "code_inline", "text_special", "image"):
        return token.content
    if token.type == "softbreak" or token.type == "hardbreak":
        return "\n"
    if token.type == "html_inline":
        return "\n" if token.content.lower().startswith("<br") else ""
    return ""


def _heading(text: str) -> str:
    return " ".join(_HEADING_ID.sub("", text).split())


def _clean_html(content: str) -> str:
    lines = (_SPACE.sub(" ", line).strip() for line in html.unescape(_HTML.sub("", content)).splitlines())
    return "\n".join(filter(None, lines))
