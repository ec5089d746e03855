"""Jupyter notebooks: the source of their cells, and the text of their output.

Markdown cells are read by the Markdown reader, code cells are a block of code each, raw cells are plain text. Of the
output of a cell, printed text, results and errors are read, up to some thousand characters each; pictures and HTML are
not. The place is the number of the cell, as Jupyter opens it; the lines of the JSON file are nobody's.
"""

from __future__ import annotations

import json
import re
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers import text
from semsearch.readers.document import Builder, Document, title_of
from semsearch.readers.markup import markdown

_LONGEST_OUTPUT = 10_000  # characters: more was printed by a loop
_ESCAPE = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")  # colours


def read(source: str, name: str) -> Document:
    """Read a notebook. Its title is its first heading of level 1, else its name.

    Raises SourceError for a file that is not a notebook.
    """
    try:
        notebook = json.loads(source, strict=False, parse_int=str) if source.strip() else {"cells": []}
    except json.JSONDecodeError as error:
        raise SourceError(f"{name} is not valid JSON: line {error.lineno} cannot be parsed") from None
    cells = _cells(notebook)
    if cells is None:
        raise SourceError(f"{name} is not a notebook: expected a JSON object with a list of cells")
    builder = Builder()
    for number, cell in enumerate(cells, start=1):
        if isinstance(cell, dict):
            _take_cell(cell, f"cell {number}", builder)
    return Document(builder.source, builder.blocks, "notebook", title_of(name, blocks=builder.blocks))


def _cells(notebook: Any) -> list[Any] | None:
    """The cells of a notebook; None if it has none."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    return cells if isinstance(cells, list) else None


def _take_cell(cell: dict[str, Any], place: str, builder: Builder) -> None:
    kind, content = cell.get("cell_type"), _joined(cell.get("source"))
    if kind == "markdown" or kind == "raw":
        builder.add_all((markdown if kind == "markdown" else text).read(content, "cell").blocks, place=place)
    else:
        builder.add(content, place=place)
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict):
            builder.add(_ESCAPE.sub("", _shown(output)), place=f"{place}, output")


def _shown(output: dict[str, Any]) -> str:
    """The text of an output: of several forms of a result the plainest."""
    data = output.get("data", output)
    forms = [data.get(form) for form in ("text/markdown", "text/plain", "text")] if isinstance(data, dict) else []
    texts = (_joined(form) for form in (*forms, output.get("evalue")))
    return next((text for text in texts if text.strip()), "")[:_LONGEST_OUTPUT]


def _joined(value: Any) -> str:
    """A text of a notebook, which is a string or a list of lines."""
    return "".join(part for part in (value if isinstance(value, list) else [value]) if isinstance(part, str))
