"""Build the source text of a document whose file has none: the blocks that a binary format's reader finds, in order.

That text is the document's source, so that its lines can be counted, and every block is a slice of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from semsearch.readers.document import Block, Spot

_NONE = 7  # below the deepest heading
_LONGEST_PLACE = 200  # characters: it is kept with every block, and a made-up name of a sheet may have a million


class Builder:
    """Collects the blocks of a document, and joins them to its source text."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._length = 0
        self._deepest = 0  # level of the heading that blocks stand under
        self._ending = _NONE  # level of the sections that end with the next block

    def add(
        self,
        text: str,
        *,
        level: int = 0,
        page: int | None = None,
        place: str | None = None,
        part: str | None = None,
        spots: Sequence[Spot] = (),
    ) -> None:
        """Add a block, if it is not empty. With `spots`, these locate its text, not `page` and `place`."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        start = len(text) - len(text.lstrip() if text.lstrip("\n")[:1] == " " else text.lstrip("\n"))
        if text := text[start:].rstrip():
            place, part = place and place[:_LONGEST_PLACE], part and part[:_LONGEST_PLACE]
            if spots:
                spots = _from(spots, start)
                page, place = spots[0].page, spots[0].place
            self._end_sections(level)
            self.blocks.append(Block(text, self._length, level, page, (), place, part, tuple(spots)))
            self._parts += [text, "\n\n"]
            self._length += len(text) + 2

    def end_sections(self, level: int = 1) -> None:
        """End all sections of this level and deeper ones: the next block is under none of their headings."""
        self._ending = min(level, self._ending)

    def _end_sections(self, level: int) -> None:
        """Before a block of a level: end what is to end, if that block would not end it anyway."""
        if (not level or level > self._ending) and self._ending <= self._deepest:
            self.blocks.append(Block("", self._length, self._ending))
            self._deepest = self._ending - 1
        self._deepest, self._ending = level or self._deepest, _NONE

    def add_all(self, blocks: Iterable[Block], *, place: str | None = None, part: str | None = None) -> None:
        """Add the blocks of a part that another reader has read."""
        for block in blocks:
            place_, part_ = place or block.place, part or block.part
            self.add(block.text, level=block.level, page=block.page, place=place_, part=part_)

    @property
    def source(self) -> str:
        """The text of all blocks, with an empty line between them."""
        return "".join(self._parts)


def _from(spots: Sequence[Spot], start: int) -> list[Spot]:
    """The spots of a text of which only text[start:] is left. Of several at one offset, the last counts."""
    at = {max(0, spot.offset - start): spot for spot in spots}
    return [spot._replace(offset=offset) for offset, spot in sorted(at.items())]
