"""Markdown read another way, slowly: markdown-it-py's tokens to clean text. What the fast reader must agree with.

It knows the lines of a block, not where in them its words stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from semsearch.readers.document import joined_cells


@dataclass(frozen=True)
class TokenBlock:
    """Clean text, its level as a heading, and the lines that it may stand in, from 0 on."""

    text: str
    level: int
    lines: range


def reference_blocks(source: str) -> list[TokenBlock]:
    """The blocks of a text without front matter, images, HTML or what site generators leave."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(source)
    return [block for block in _blocks(tokens) if block.text]


def _blocks(tokens: list[Token]) -> Iterator[TokenBlock]:
    level = 0
    row: list[str] | None = None
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            level = int(token.tag[1:]) if token.nesting > 0 else 0
        elif token.type == "tr_open":
            row, lines = [], range(*(token.map or (0, 0)))
        elif token.type == "tr_close":
            yield TokenBlock(joined_cells(row or []), 0, lines)
            row = None
        elif token.type == "inline" and row is not None:
            row.append(_seen(token))
        elif token.type == "inline":
            text = " ".join(_seen(token).split()) if level else _seen(token).strip()
            yield TokenBlock(text, level, range(*(token.map or (0, 0))))
        elif token.type in ("fence", "code_block"):
            yield TokenBlock(token.content.strip("\n").rstrip(), 0, range(*(token.map or (0, 0))))


def _seen(inline: Token) -> str:
    return "".join(
        "\n" if child.type in ("softbreak", "hardbreak") else child.content for child in inline.children or ()
    )
