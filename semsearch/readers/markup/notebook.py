"""Jupyter notebooks: the source of their cells, and the text of their output.

Markdown cells are read by the Markdown reader, code cells are a block of code each, raw cells are plain text. Of the
output of a cell, printed text, results and errors are read, up to some thousand characters each; pictures and HTML are
not. Lines are those of the .ipynb file itself, so that they are found again in an editor; the place is the number of
the cell.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers import text
from semsearch.readers.align import Anchors
from semsearch.readers.document import Block, Document, title_of
from semsearch.readers.json_lines import ValuePlaces, parsed
from semsearch.readers.markup import markdown

_LONGEST_OUTPUT = 10_000  # characters: more was printed by a loop
_ESCAPE = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")  # colours


def in_whole_source(block: Block, outer: Anchors, place: str | None = None) -> Block:
    """Convert a block whose offsets are in a part's text to offsets in the whole; `outer` are the part's anchors.

    Both mappings are piecewise: the result has a step wherever the block's mapping or the part's has one.
    """
    inner = block.anchors or ((0, block.start),)
    steps = [part for part, _ in outer]
    anchors: list[tuple[int, int]] = []
    for number, (clean, part) in enumerate(inner):
        end = inner[number + 1][0] if number + 1 < len(inner) else len(block.text)
        anchors.append((clean, source_offset(outer, part)))
        for step in range(bisect_right(steps, part), bisect_left(steps, part + end - clean)):
            anchors.append((clean + outer[step][0] - part, outer[step][1]))
    return replace(block, start=anchors[0][1], anchors=tuple(anchors), place=place or block.place)


def source_offset(anchors: Anchors, offset: int) -> int:
    """The offset in the source of an offset in the text."""
    text, source = anchors[max(0, bisect_right(anchors, (offset, 1 << 62)) - 1)]
    return source + offset - text


def read(source: str, name: str) -> Document:
    """Read a notebook. Its title is that of its metadata, else its first heading of level 1, else its name.

    Raises SourceError for a file that is not a notebook.
    """
    try:
        notebook = parsed(source) if source.strip() else {"cells": []}
    except json.JSONDecodeError as error:
        raise SourceError(f"{name} is not valid JSON: line {error.lineno} cannot be parsed") from None
    cells, places = _cells(notebook), ValuePlaces(source)
    if not isinstance(notebook, dict) or cells is None:
        raise SourceError(f"{name} is not a notebook: expected a JSON object with a list of cells")
    blocks = [block for number, cell in enumerate(cells, start=1) for block in _blocks(cell, number, places)]
    metadata = _metadata(notebook.get("metadata"))
    return Document(source, blocks, "notebook", title_of(name, metadata.get("title", ""), blocks=blocks), metadata)


def _cells(notebook: Any) -> list[Any] | None:
    """The cells of a notebook of today's version, or of version 3, which had worksheets; None if it has none."""
    if not isinstance(notebook, dict):
        return None
    if isinstance(notebook.get("worksheets"), list):
        return [cell for sheet in notebook["worksheets"] for cell in _cells(sheet) or ()]
    cells = notebook.get("cells")
    return cells if isinstance(cells, list) else None


def _blocks(cell: Any, number: int, places: ValuePlaces) -> Iterator[Block]:
    if not isinstance(cell, dict):
        return
    kind = _text(cell.get("cell_type"))
    start = places.at
    content, outer = _source(cell.get("source", cell.get("input")), places)
    if not content.strip():
        return
    if kind == "heading":  # of version 3
        level = int(_text(cell.get("level")) or 1)
        blocks: list[Block] = [Block(content.strip(), content.index(content.strip()), min(max(level, 1), 6))]
    elif kind == "markdown":
        blocks = [*markdown.read(content, "cell").blocks]
    elif kind == "raw":
        blocks = [*text.read(content, "cell").blocks]
    else:
        code = content.strip("\r\n").rstrip()
        blocks = [Block(code, content.index(code))]
    for block in blocks:
        yield in_whole_source(block, outer, f"cell {number}")
    end, places.at = places.at, start  # what a cell shows stands before or after its text
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if block_ := _output(output, places):
            yield in_whole_source(*block_, f"cell {number}, output")
    places.at = max(end, places.at)


def _output(output: Any, places: ValuePlaces) -> tuple[Block, Anchors] | None:
    """The text of an output as a block of that text, and its anchors in the file; None if it has none."""
    if not isinstance(output, dict):
        return None
    data = output.get("data", output)
    forms = [data.get(form) for form in ("text/markdown", "text/plain", "text")] if isinstance(data, dict) else []
    content, outer = next(
        (part for form in (*forms, output.get("evalue")) if (part := _source(form, places))[0].strip()), ("", ())
    )
    shown = _ESCAPE.sub(lambda match: " " * len(match[0]), content[:_LONGEST_OUTPUT]).rstrip()
    start = len(shown) - len(shown.lstrip("\n"))
    return (Block(shown[start:], start), outer) if shown.strip() else None


def _source(value: Any, places: ValuePlaces) -> tuple[str, Anchors]:
    """The text of a cell, which is a string or a list of lines, and its anchors in the file."""
    parts = [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, str)]
    anchors: list[tuple[int, int]] = []
    length = 0
    for part in parts:
        anchors += [(length + offset, source) for offset, source in places.anchors(part)]
        length += len(part)
    return "".join(parts), tuple(anchors)


def _metadata(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    metadata = {"title": _text(value.get("title"))}
    authors = value.get("authors")
    if isinstance(authors, list):
        names = [_text(author.get("name")) for author in authors if isinstance(author, dict)]
        metadata["author"] = ", ".join(filter(None, names))
    kernel = value.get("kernelspec")
    if isinstance(kernel, dict):
        metadata["language"] = _text(kernel.get("language"))
    return {key: text for key, text in metadata.items() if text}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
