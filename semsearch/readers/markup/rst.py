"""reStructuredText by docutils' tree: headings, paragraphs, list items, rows of tables, code, each with its place.

The field list that a text begins with, or that follows its first title, is metadata (the headers of Python's PEPs are
one). Comments, targets, labels of footnotes and definitions of substitutions are left out; what docutils cannot parse
(a malformed table, say) is kept as it stands. docutils knows the line of most elements; the aligner finds their text
from there.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docutils import nodes

from semsearch.readers import text
from semsearch.readers.align import Aligner, Anchors
from semsearch.readers.document import Block, Document, joined_cells, line_starts, title_of
from semsearch.readers.markup.rst_parser import parse

_LOG = logging.getLogger(__name__)
_BLANK = re.compile(r"\n[ \t]*\n")
_MARK = re.compile(r"(?<!\S)[|*`]+(?=\S)|[:_]`(?=\S)")  # that may begin inline markup
_MOST_STEPS = 200_000_000  # some seconds
_SHORT = 10_000  # characters: a paragraph of fewer takes no long time
_NO_ANCHORS: Anchors = ()


@dataclass(frozen=True, slots=True)
class RstPiece:
    """A block before it is located; its line is counted from 1, and 0 where docutils does not know it."""

    text: str
    line: int
    level: int = 0


def read(source: str, name: str) -> Document:
    """Read a reStructuredText. Its title is the field "title", else the first section's, else its name."""
    try:
        if _is_endless(source):
            raise ValueError("a paragraph has more marks than can be paired")
        tree = parse(source)
        metadata = _take_header(tree)
        pieces = list(_pieces(tree, 0, tree))
    except Exception as error:  # a fault in docutils, or its depth of recursion, must not cost the file
        _LOG.warning("%s: read as plain text, since docutils failed: %r", name, error)
        plain = text.read(source, name)
        return Document(source, plain.blocks, "rst", plain.title)
    titles = [value for key, value in metadata.items() if key.lower() == "title" and value]
    blocks = _located(pieces, source)
    return Document(source, blocks, "rst", title_of(name, *titles, blocks=blocks), metadata)


def _is_endless(source: str) -> bool:
    """Return whether looking for the end of each mark in the rest of its paragraph would take longer than one waits."""
    return any(
        len(paragraph) * len(_MARK.findall(paragraph)) > _MOST_STEPS
        for paragraph in _BLANK.split(source)
        if len(paragraph) > _SHORT
    )


# -- Places ------------------------------------------------------------------------------------------------------------


def _located(pieces: Sequence[RstPiece], source: str) -> list[Block]:
    """The blocks of pieces: each lies between its own line and that of the next piece on a later line."""
    starts = [*line_starts(source), len(source)]
    aligner = Aligner(source)
    blocks: list[Block] = []
    reached = 0
    for piece, end in zip(pieces, _ends(pieces, starts), strict=True):
        low = starts[piece.line - 1] if 0 < piece.line < len(starts) else reached
        start, anchors = source.find(piece.text, low, end), _NO_ANCHORS
        if start < 0:
            anchors = _by_line(piece.text, source, low, end) or aligner.locate(piece.text, low, end)
            start = anchors[0][1]
        blocks.append(Block(piece.text, start, piece.level, anchors=anchors))
        reached = blocks[-1].source_offset(len(piece.text))
    return blocks


def _ends(pieces: Sequence[RstPiece], starts: Sequence[int]) -> list[int]:
    """The offset before which each piece ends."""
    ends: list[int] = []
    line = next_line = len(starts)
    for piece in reversed(pieces):
        if 0 < piece.line < line:
            line, next_line = piece.line, line
        ends.append(starts[next_line - 1] if piece.line == line else starts[-1])
    return ends[::-1]


def _by_line(text: str, source: str, low: int, high: int) -> Anchors:
    """Anchors of a text that is in the source but for the indentation of its lines; else none."""
    anchors: list[tuple[int, int]] = []
    offset, at = 0, low
    for line in text.split("\n"):
        start = source.find(line, at, high)
        if start < 0 or (anchors and not source[at:start].isspace()):
            return ()
        if line and (not anchors or start - anchors[-1][1] != offset - anchors[-1][0]):
            anchors.append((offset, start))
        offset, at = offset + len(line) + 1, start + len(line)
    return tuple(anchors)


# -- The tree ----------------------------------------------------------------------------------------------------------

_ERROR = 3  # docutils' level from which the text in a message is nowhere else
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
_LONGEST_SUBSTITUTION = 2_000  # characters of its definition


def _take_header(tree: nodes.document) -> dict[str, str]:
    """Remove the field list before everything or right after the first title from the tree, and return its fields."""
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


def _pieces(element: nodes.Element, level: int, tree: nodes.document) -> Iterator[RstPiece]:
    """Walk the pieces under an element; `level` is the depth of its section."""
    for child in element.children:
        if isinstance(child, _UNSEEN):
            continue
        if isinstance(child, nodes.system_message):
            if child["level"] >= _ERROR:
                for literal in child.findall(nodes.literal_block):
                    yield from _piece(literal.astext(), child.get("line", 0))
        elif isinstance(child, nodes.title) and isinstance(element, nodes.section):
            title = " ".join(_seen_text(child, tree).split())
            yield from _piece(title, max((element.line or 0) - 1, 0), min(level, 6))  # docutils has the underline's
        elif isinstance(child, nodes.row):
            yield from _piece(joined_cells(_seen_text(cell, tree) for cell in child.children), _line(child))
        elif isinstance(child, nodes.field):
            yield from _piece(": ".join(filter(None, _field(tree, child))), _line(child))
        elif isinstance(child, (nodes.TextElement, nodes.line_block, nodes.option_group, nodes.image)):
            yield from _piece(_seen_text(child, tree), _line(child))
        elif isinstance(child, nodes.Element):
            yield from _pieces(child, level + isinstance(child, nodes.section), tree)


def _piece(text: str, line: int, level: int = 0) -> Iterator[RstPiece]:
    """The piece of a text, if there is anything in it."""
    text = text.strip("\n").rstrip()
    if text and not text.isspace():
        yield RstPiece(text, line, level)


def _field(tree: nodes.document, field: nodes.Node) -> tuple[str, str]:
    name, body = field.children[0], field.children[1]
    return _seen_text(name, tree), " ".join(_seen_text(body, tree).split())


def _seen_text(node: nodes.Node, tree: nodes.document) -> str:
    """The text of a node that a reader of the page sees."""
    if isinstance(node, nodes.Text):
        return str(node.astext())
    if isinstance(node, (nodes.system_message, *_UNSEEN)):
        return ""
    if isinstance(node, nodes.image):
        return str(node.get("alt", ""))
    if isinstance(node, nodes.substitution_reference):
        return _substituted(node, tree)
    between = "" if isinstance(node, nodes.TextElement) else "\n"
    text = between.join(filter(None, (_seen_text(child, tree) for child in node.children)))
    return f"[{text}]" if text and isinstance(node, (nodes.footnote_reference, nodes.citation_reference)) else text


def _substituted(reference: nodes.substitution_reference, tree: nodes.document) -> str:
    """The text that a |substitution| stands for; one that is unknown, long, or made of others, stands for itself."""
    name = reference["refname"]
    definition = tree.substitution_defs.get(tree.substitution_names.get(name.lower(), name))
    if (
        definition is None
        or len(definition.rawsource) > _LONGEST_SUBSTITUTION
        or any(True for _ in definition.findall(nodes.substitution_reference))
    ):
        return str(reference.astext())
    return "".join(_seen_text(child, tree) for child in definition.children)


def _line(node: nodes.Node) -> int:
    """The line of a node, or of the first thing in it that knows its own."""
    while node.line is None and node.children:
        node = node.children[0]
    return node.line or 0
