"""A record as a block: a line "name: value" for each of its fields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from semsearch.readers.align import Anchors
from semsearch.readers.document import Block


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a record, the name it has, if any, and where it stands in the source."""

    name: str
    text: str
    anchors: Anchors  # at least one, the first for offset 0


def block_of(fields: Iterable[Field], place: str) -> Block | None:
    """The block of a record, its fields that hold nothing left out; nothing if that is all of them.

    A name is cited where its value stands: in most files it stands once, above all records, or in every one.
    """
    lines: list[str] = []
    anchors: list[tuple[int, int]] = []
    length = 0
    for field in fields:
        if field.text.strip():
            name = f"{field.name}: " if field.name else ""
            if name:
                anchors.append((length, field.anchors[0][1]))
            length += len(name)
            anchors += [(length + offset, source) for offset, source in field.anchors]
            length += len(field.text) + 1
            lines.append(name + field.text)
    if not lines:
        return None
    return Block("\n".join(lines), anchors[0][1], anchors=tuple(anchors), place=place)
