"""Make a block of a record: a line "name: value" for each of its fields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from semsearch.readers.align import Anchors
from semsearch.readers.cells import stands_alone
from semsearch.readers.document import Block


@dataclass(frozen=True, slots=True)
class RecordField:
    """A value of a record with its name, if it has one, and its anchors in the source."""

    name: str
    text: str
    anchors: Anchors  # at least one, the first for offset 0
    value: Any = None  # of JSON: a number, true or false; None: its text


def block_of(fields: Iterable[RecordField], place: str) -> Block | None:
    """Make the block of a record, without its empty fields; None if all are empty.

    A name is cited at the offset of its value: most files have it once, above all records, or in every one.
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
    text = "\n".join(lines)
    part = place if stands_alone(text) else None
    return Block(text, anchors[0][1], anchors=tuple(anchors), place=place, part=part)
