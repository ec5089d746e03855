"""reStructuredText: docutils' tree to blocks.

The field list that a text begins with, or that follows its first title, is metadata (the headers of Python's PEPs are
one). Comments, targets, footnotes' labels and substitutions' definitions are left out; what docutils could not make
sense of (a malformed table, say) is kept as it stands.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from docutils import nodes

from semsearch.readers import text
from semsearch.readers.align import Aligner
from semsearch.readers.cells import joined
from semsearch.readers.document import Block, Document, line_starts
from semsearch.readers.rst_parser import parse

_LOG = logging.getLogger(__name__)
_ERROR = 3  # docutils' level from which the text in a message stands nowhere else
_UNSEEN = (
    nodes.colspec,
    nodes.comment,
    nodes.decoration,
    nodes.label,
    nodes.meta,
    nodes.pending,
    nodes.raw,
    nodes.substitution_definition,
)


def read(source: str, name: str) -> Document:
    """The blocks of a reStructuredText. Its title is the field "title", else the first section's, else its name."""
    try:
        tree = parse(source)
        metadata = _take_header(tree)
        pieces = list(_pieces(tree, 0, tree))
    except Exception as error:  # a fault in docutils, or its depth of recursion, must not cost the file
        _LOG.warning("%s: read as plain text, since docutils failed: %r", name, error)
        plain = text.read(source, name)
        return Document(source, plain.blocks, "rst", plain.title)
    titles = [value for key, value in metadata.items() if key.lower() == "title" and value]
    titles += [piece.text for piece in pieces if piece.level == 1]
    return Document(source, _placed(pieces, source), "rst", [*titles, PurePath(name).stem][0], metadata)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block before its place is known. docutils knows the line of all but a few; the first is 1, and 0 is none."""

    text: str
    line: int
    level: int = 0


def _placed(pieces: list[_Piece], source: str) -> list[Block]:
    """Each piece where it stands: between its own line and that of the next one on a later line."""
    starts = [*line_starts(source), len(source)]
    ends: list[int] = []
    line = next_line = len(starts)
    for piece in reversed(pieces):
        if 0 < piece.line < line:
            line, next_line = piece.line, line
        ends.append(starts[next_line - 1] if piece.line == line else len(source))
    aligner = Aligner(source)
    blocks: list[Block] = []
    reached = 0
    for piece, end in zip(pieces, reversed(ends), strict=True):
        low = starts[piece.line - 1] if 0 < piece.line < len(starts) else reached
        verbatim = source.find(piece.text, low, end)
        anchors = aligner.place(piece.text, low, end) if verbatim < 0 else ()
        block = Block(piece.text, anchors[0][1] if anchors else verbatim, piece.level, anchors=anchors)
        blocks.append(block)
        reached = block.source_offset(len(block.text))
    return blocks


def _take_header(tree: nodes.document) -> dict[str, str]:
    """The fields of the list before everything or right after the first title, which is taken from the tree."""
    element: nodes.Element = tree
    for _ in range(2):
        for child in element.children:
            if isinstance(child, nodes.field_list):
                element.remove(child)
                return dict(_field(tree, field) for field in child.children)
            if isinstance(child, nodes.section):
                element = child
                break
            if not isinstance(child, (nodes.title, nodes.Invisible, nodes.system_message)):
                return {}
    return {}


def _field(tree: nodes.document, field: nodes.Node) -> tuple[str, str]:
    name, body = field.children[0], field.children[1]
    return _text(name, tree), " ".join(_text(body, tree).split())


def _pieces(element: nodes.Element, level: int, tree: nodes.document) -> Iterator[_Piece]:
    """All headings and paragraphs under an element, in order; `level` is the depth of its section."""
    for child in element.children:
        if isinstance(child, _UNSEEN):
            continue
        if isinstance(child, nodes.system_message):
            if child["level"] >= _ERROR:
                for literal in child.findall(nodes.literal_block):
                    yield from _piece(literal.astext(), child.get("line", 0))
        elif isinstance(child, nodes.title) and isinstance(element, nodes.section):
            title = " ".join(_text(child, tree).split())
            yield from _piece(title, max((element.line or 0) - 1, 0), min(level, 6))  # docutils has the underline's
        elif isinstance(child, nodes.row):
            yield from _piece(joined(_text(cell, tree) for cell in child.children), _line(child))
        elif isinstance(child, nodes.field):
            yield from _piece(": ".join(filter(None, _field(tree, child))), _line(child))
        elif isinstance(child, (nodes.TextElement, nodes.line_block, nodes.option_group, nodes.image)):
            yield from _piece(_text(child, tree), _line(child))
        elif isinstance(child, nodes.Element):
            yield from _pieces(child, level + isinstance(child, nodes.section), tree)


def _piece(text: str, line: int, level: int = 0) -> Iterator[_Piece]:
    text = text.strip("\n").rstrip()
    if text and not text.isspace():
        yield _Piece(text, line, level)


def _text(node: nodes.Node, tree: nodes.document) -> str:
    """What a reader sees of a node."""
    if isinstance(node, nodes.Text):
        return str(node.astext())
    if isinstance(node, (nodes.system_message, *_UNSEEN)):
        return ""
    if isinstance(node, nodes.image):
        return str(node.get("alt", ""))
    if isinstance(node, nodes.substitution_reference):
        return _substituted(node, tree)
    between = "" if isinstance(node, nodes.TextElement) else "\n"
    text = between.join(filter(None, (_text(child, tree) for child in node.children)))
    return f"[{text}]" if text and isinstance(node, (nodes.footnote_reference, nodes.citation_reference)) else text


def _substituted(reference: nodes.substitution_reference, tree: nodes.document) -> str:
    """The text that a |substitution| stands for; one that is unknown, or made of others, stands for itself."""
    name = reference["refname"]
    definition = tree.substitution_defs.get(tree.substitution_names.get(name.lower(), name))
    if definition is None or any(True for _ in definition.findall(nodes.substitution_reference)):
        return str(reference.astext())
    return "".join(_text(child, tree) for child in definition.children)


def _line(node: nodes.Node) -> int:
    """The line of a node, or of the first thing in it that knows its own."""
    while node.line is None and node.children:
        node = node.children[0]
    return node.line or 0
