"""docutils' tree of a reStructuredText to pieces: what a reader sees of each heading and paragraph, and its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from docutils import nodes

from semsearch.readers.cells import joined
from semsearch.readers.markup.placed_text import PlacedText

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
_MOST_SUBSTITUTED = 2_000_000  # characters of a document, and
_LEFT = "semsearch-left"  # how many of them are left, an attribute of its tree


@dataclass(frozen=True, slots=True)
class RstPiece:
    """A block before it is located. docutils knows the line of most, counted from 1; 0 if it does not."""

    text: str
    line: int
    level: int = 0
    placed: PlacedText | None = None  # the text, where its offsets are known


def take_header(tree: nodes.document) -> dict[str, str]:
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


def tree_pieces(tree: nodes.document) -> Iterator[RstPiece]:
    """All headings and paragraphs, in order."""
    return _pieces(tree, 0, tree)


def seen_text(node: nodes.Node, tree: nodes.document) -> str:
    """The visible text of a node."""
    if isinstance(node, nodes.Text):
        return str(node.astext())
    if isinstance(node, (nodes.system_message, *_UNSEEN)):
        return ""
    if isinstance(node, nodes.image):
        return str(node.get("alt", ""))
    if isinstance(node, nodes.substitution_reference):
        return _substituted(node, tree)
    between = "" if isinstance(node, nodes.TextElement) else "\n"
    text = between.join(filter(None, (seen_text(child, tree) for child in node.children)))
    return f"[{text}]" if text and isinstance(node, (nodes.footnote_reference, nodes.citation_reference)) else text


def piece(text: str, line: int, level: int = 0) -> Iterator[RstPiece]:
    """The piece of a text, if there is anything in it."""
    text = text.strip("\n").rstrip()
    if text and not text.isspace():
        yield RstPiece(text, line, level)


def _field(tree: nodes.document, field: nodes.Node) -> tuple[str, str]:
    name, body = field.children[0], field.children[1]
    return seen_text(name, tree), " ".join(seen_text(body, tree).split())


def _pieces(element: nodes.Element, level: int, tree: nodes.document) -> Iterator[RstPiece]:
    """Walk the pieces under an element; `level` is the depth of its section."""
    for child in element.children:
        if isinstance(child, _UNSEEN):
            continue
        if isinstance(child, nodes.system_message):
            if child["level"] >= _ERROR:
                for literal in child.findall(nodes.literal_block):
                    yield from piece(literal.astext(), child.get("line", 0))
        elif isinstance(child, nodes.title) and isinstance(element, nodes.section):
            title = " ".join(seen_text(child, tree).split())
            yield from piece(title, max((element.line or 0) - 1, 0), min(level, 6))  # docutils has the underline's
        elif isinstance(child, nodes.row):
            yield from piece(joined(seen_text(cell, tree) for cell in child.children), _line(child))
        elif isinstance(child, nodes.field):
            yield from piece(": ".join(filter(None, _field(tree, child))), _line(child))
        elif isinstance(child, (nodes.TextElement, nodes.line_block, nodes.option_group, nodes.image)):
            yield from piece(seen_text(child, tree), _line(child))
        elif isinstance(child, nodes.Element):
            yield from _pieces(child, level + isinstance(child, nodes.section), tree)


def _substituted(reference: nodes.substitution_reference, tree: nodes.document) -> str:
    """The text that a |substitution| stands for; one that is unknown, or made of others, stands for itself.

    So does one that is long, and all of them once they have stood for very much text: three characters name each again.
    """
    name = reference["refname"]
    definition = tree.substitution_defs.get(tree.substitution_names.get(name.lower(), name))
    left = tree.get(_LEFT, _MOST_SUBSTITUTED)
    if (
        definition is None
        or len(definition.rawsource) > min(left, _LONGEST_SUBSTITUTION)
        or any(True for _ in definition.findall(nodes.substitution_reference))
    ):
        return str(reference.astext())
    text = "".join(seen_text(child, tree) for child in definition.children)
    tree[_LEFT] = left - len(text)
    return text


def _line(node: nodes.Node) -> int:
    """The line of a node, or of the first thing in it that knows its own."""
    while node.line is None and node.children:
        node = node.children[0]
    return node.line or 0
