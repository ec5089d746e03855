"""reStructuredText: docutils' tree to blocks.

The field list that a text begins with, or that follows its first title, is metadata (the headers of Python's PEPs are
one). Comments, targets, footnotes' labels and substitutions' definitions are left out; what docutils could not make
sense of (a malformed table, say) is kept as it stands.
"""

from __future__ import annotations

import logging
import re
from pathlib import PurePath

from semsearch.readers import text
from semsearch.readers.align import Aligner, Anchors
from semsearch.readers.document import Block, Document, line_starts
from semsearch.readers.markup.rst_lines import RstLines, Unusual
from semsearch.readers.markup.rst_tree import RstPiece, take_header, tree_pieces
from semsearch.readers.rst_parser import parse

_LOG = logging.getLogger(__name__)
_BLANK = re.compile(r"\n[ \t]*\n")
_MARK = re.compile(r"(?<!\S)[|*`]+(?=\S)|[:_]`(?=\S)")  # that may begin inline markup
_MOST_STEPS = 200_000_000  # some seconds
_SHORT = 10_000  # characters: a paragraph of fewer takes no long time


def read(source: str, name: str) -> Document:
    """Read a reStructuredText. Its title is the field "title", else the first section's, else its name."""
    try:
        pieces, metadata = _read(source)
    except Exception as error:  # a fault in docutils, or its depth of recursion, must not cost the file
        _LOG.warning("%s: read as plain text, since docutils failed: %r", name, error)
        plain = text.read(source, name)
        return Document(source, plain.blocks, "rst", plain.title)
    titles = [value for key, value in metadata.items() if key.lower() == "title" and value]
    titles += [piece.text for piece in pieces if piece.level == 1]
    return Document(source, _placed(pieces, source), "rst", [*titles, PurePath(name).stem][0], metadata)


def _read(source: str) -> tuple[list[RstPiece], dict[str, str]]:
    """By the lines, or else all of it by docutils."""
    if _is_endless(source):
        raise ValueError("a paragraph has more marks than can be paired")
    lines = RstLines(source)
    try:
        lines.read()
    except Unusual:
        tree = parse(source)
        metadata = take_header(tree)
        return list(tree_pieces(tree)), metadata
    return lines.pieces, lines.metadata


def _is_endless(source: str) -> bool:
    """Return whether looking for the end of each mark in the rest of its paragraph would take longer than one waits."""
    return any(
        len(paragraph) * len(_MARK.findall(paragraph)) > _MOST_STEPS
        for paragraph in _BLANK.split(source)
        if len(paragraph) > _SHORT
    )


def _placed(pieces: list[RstPiece], source: str) -> list[Block]:
    """Locate each piece, between its own line and that of the next piece on a later line."""
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
        if piece.placed is not None:
            blocks.append(piece.placed.block(source, piece.level))
            reached = blocks[-1].source_offset(len(piece.text))
            continue
        low = starts[piece.line - 1] if 0 < piece.line < len(starts) else reached
        verbatim = source.find(piece.text, low, end)
        anchors = _by_line(piece.text, source, low, end) or aligner.locate(piece.text, low, end) if verbatim < 0 else ()
        block = Block(piece.text, anchors[0][1] if anchors else verbatim, piece.level, anchors=anchors)
        blocks.append(block)
        reached = block.source_offset(len(block.text))
    return blocks


def _by_line(text: str, source: str, low: int, high: int) -> Anchors:
    """Anchors of a text that is in the source but for the indentation of its lines; else none."""
    anchors: list[tuple[int, int]] = []
    offset, at = 0, low
    for line in text.split("\n"):
        found = source.find(line, at, high)
        if found < 0 or (anchors and not source[at:found].isspace()):
            return ()
        if line and (not anchors or found - anchors[-1][1] != offset - anchors[-1][0]):
            anchors.append((offset, found))
        offset, at = offset + len(line) + 1, found + len(line)
    return tuple(anchors)
