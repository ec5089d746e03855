"""JSON Lines: a record a line, and of a record what it says, as lines "name: value".

Names within names are joined with a dot; what is empty or null is left out. A line that is no JSON is taken as it
stands, since a log may well have some.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePath

from semsearch.errors import SourceError
from semsearch.readers.document import Block, Document, line_starts
from semsearch.readers.records.located_json import Located, Value, parse
from semsearch.readers.records.rows import Field, block_of


def read(source: str, name: str) -> Document:
    """A block for each record. Its title is the file's name."""
    starts = [*line_starts(source), len(source)]
    blocks: list[Block] = []
    for number, (start, end) in enumerate(pairwise(starts), start=1):
        line = source[start:end].strip()
        if line and (block := _block(line, source.index(line, start), f"record {number}", name)):
            blocks.append(block)
    return Document(source, blocks, "jsonl", PurePath(name).stem)


def _block(line: str, start: int, place: str, name: str) -> Block | None:
    try:
        value = parse(line, name, base=start)
    except SourceError:
        return Block(line, start, place=place)
    return block_of(_fields(value, ""), place)


def _fields(value: Value, name: str) -> Iterator[Field]:
    if isinstance(value, Located):
        yield Field(name, value.text, value.anchors())
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item, name)
    else:
        for key, item in value.items():
            yield from _fields(item, f"{name}.{key}" if name else key)
