"""Markdown: CommonMark, tables and strikethrough by pyromark, front matter as metadata.

Only the visible text is kept: link texts without their targets, the alternative texts of images, code.
Leftovers of site generators are dropped too: mdBook's {{#include}}, `> [!NOTE]` marks, ::: fences, {#ids} and [^notes].
HTML inside Markdown keeps its text.
"""

from __future__ import annotations

from pathlib import PurePath

from semsearch.readers.document import Block, Document
from semsearch.readers.front_matter import front_matter
from semsearch.readers.markup.markdown_events import MarkdownEvents


def read(source: str, name: str) -> Document:
    """Read a Markdown text. Its title is the front matter's, else the first level-1 heading, else its name."""
    matter = front_matter(source)
    blocks = MarkdownEvents(source, matter.end).blocks()
    if unread := source[matter.start : matter.stop].strip():
        blocks.insert(0, Block(unread, source.index(unread, matter.start)))
    title = str(matter.metadata.get("title") or "").strip() or next(
        (block.text for block in blocks if block.level == 1), PurePath(name).stem
    )
    return Document(source, blocks, "markdown", title, matter.metadata)
