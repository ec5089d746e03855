"""The text of a file that has none: what a binary file's reader finds, written down block after block.

That text is the document's source, so that its lines can be counted, and every block is a piece of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from semsearch.readers.document import Block


class Builder:
    """Collects blocks. `source` is their text, with an empty line between them."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._length = 0

    def add(self, text: str, *, level: int = 0, page: int | None = None, place: str | None = None) -> None:
        """One block, if there is anything in it."""
        text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
        text = text if text[:1] != " " else text.lstrip()
        if text and not text.isspace():
            self.blocks.append(Block(text, self._length, level, page, place=place))
            self._parts += [text, "\n\n"]
            self._length += len(text) + 2

    def add_all(self, blocks: Iterable[Block], *, place: str | None = None) -> None:
        """The blocks of a part, which was read by another reader."""
        for block in blocks:
            self.add(block.text, level=block.level, page=block.page, place=place or block.place)

    @property
    def source(self) -> str:
        return "".join(self._parts)
