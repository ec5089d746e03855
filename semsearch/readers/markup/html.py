"""HTML as it is found on real sites: turbohtml's tree, which is a browser's, to blocks.

Left out are parts that are not the page's text: scripts, styles, navigation, form controls, hidden elements, drawings,
and the ¶ links of headings. A table's row is a block, unless the table is there for the layout. White space is
collapsed, except in <pre>.

The tree does not say where its texts stand, but the tokens that it is made of do, and their text is the same. So each
text of the tree is looked for in that of the tokens, one after the other; those that are left out too.
"""

from __future__ import annotations

import re
from typing import Any

import turbohtml
from turbohtml import Element, Namespace, Text, TokenType

from semsearch.readers.document import Block, Document, line_starts, title_of
from semsearch.readers.placed_text import PlacedText, joined_row


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_LEFT_OUT = _names(
    "head script style template nav noscript svg canvas iframe object embed audio video map select datalist button "
    "input textarea"
)
_BLOCKS = _names(
    "html body main article section div p ul ol li dl dt dd table caption thead tbody tfoot tr td th pre blockquote "
    "figure figcaption header footer aside address hr form fieldset legend details summary dialog center nav noscript "
    "template h1 h2 h3 h4 h5 h6"
)
_RICH = _names("table ul ol dl pre blockquote section article h1 h2 h3 h4 h5 h6")  # in a cell: it is for the layout
_AROUND_LINKS, _KEYS = _names("p div td th"), _names("n p u")
_RELATIONS = _names("next prev previous up index contents start")
_PERMALINKS = _names("¶ # § 🔗 \uf0c1")
_SPACE = dict.fromkeys(map(ord, "\t\n\f\xa0"), " ")
_SPACES = re.compile(r" {2,}")
_AROUND_BREAK = re.compile(r"(?:(?<! ) +)?\n *")  # looked for where a run begins: a long one takes no longer
_OUTER_LINES = re.compile(r"\A\n+|(?<!\s)\s+\Z")
_UNSEEN = re.compile("[\xad\u200b\ufeff]")  # soft hyphens and the like stand in the middle of words


def read(source: str, name: str) -> Document:
    """Read a page. Its title is the <title>, else the first <h1>, else the file's name."""
    page = _Page(source)
    tree = turbohtml.parse(source)
    if tree.root is not None:
        page.take(tree.root)
    page.end_block()
    titles = [title.text for title in tree.find_all("title") if title.namespace == Namespace.HTML]
    return Document(source, page.blocks, "html", title_of(name, *titles[:1], blocks=page.blocks), _metadata(tree))


def _metadata(tree: turbohtml.Document) -> dict[str, Any]:
    """Description and author as text, keywords as a list."""
    metadata: dict[str, Any] = {}
    for meta in tree.find_all("meta"):
        name, content = _attribute(meta, "name").lower(), " ".join(_attribute(meta, "content").split())
        if content and name in ("description", "author"):
            metadata.setdefault(name, content)
        elif content and name == "keywords":
            metadata.setdefault(name, [word.strip() for word in content.split(",") if word.strip()])
    return metadata


def _attribute(element: Element, name: str) -> str:
    value = element.attrs.get(name)
    return value if isinstance(value, str) else " ".join(value or ())


class _Page:
    """One page, on the way through its tree."""

    def __init__(self, source: str) -> None:
        self.blocks: list[Block] = []
        self._source, self._starts = source, line_starts(source)
        self._all = PlacedText()  # the text of all tokens
        for token in turbohtml.tokenize(source, resolve_references=False, capture_attributes=False):
            if token.type is TokenType.CHARACTER_REFERENCE:  # perhaps of a line's end, &#10;
                self._all.add(token.data or "", self._offset(token.line, token.col))
            elif token.type is TokenType.TEXT:
                for number, line in enumerate((token.data or "").split("\n")):
                    if number:
                        self._all.add("\n", self._offset(token.line + number, 0) - 1)
                    self._all.add(line, self._offset(token.line + number, 0 if number else token.col))
        self._passed = 0  # of that text
        self._cells = [PlacedText()]  # of the row, or the only one
        self._is_in_row = self._is_left_out = self._is_verbatim = False

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def take(self, element: Element) -> None:
        """Take an element with all that is in it."""
        outside = self._is_in_row, self._is_left_out, self._is_verbatim
        is_block = element.tag in _BLOCKS
        if is_block:
            self.end_block()
        self._is_left_out = self._is_left_out or _is_left_out(element)
        self._is_verbatim = self._is_verbatim or element.tag == "pre"
        if element.tag == "br":
            self._add_mark("\n")
        elif element.tag == "img" and element.source_line is not None and not self._is_left_out:
            alternative = _attribute(element, "alt").replace("\n", " ")
            self._cells[-1].add(alternative, self._offset(element.source_line, element.source_col or 0))
        elif element.tag == "tr" and not self._is_in_row:
            self._is_in_row = _is_plain_row(element)
        elif element.tag in ("td", "th") and self._is_in_row:
            self._cells.append(PlacedText())
        for child in element.children:
            if isinstance(child, Element):
                self.take(child)
            elif isinstance(child, Text):
                self._add_text(child.data)
        self._is_in_row = outside[0]
        if is_block:
            self.end_block(_HEADINGS.get(element.tag, 0))
        _, self._is_left_out, self._is_verbatim = outside

    def _add_text(self, text: str) -> None:
        if text.isspace() and not self._cells[-1] and not self._is_verbatim:
            return
        start = self._all.text.find(text, self._passed)
        if start < 0:  # it stands elsewhere, as what is in a table, but in no cell
            start = self._all.text.find(text)
        elif not text.isspace():
            self._passed = start + len(text)
        if start >= 0 and not self._is_left_out:
            part = self._all.cut(start, start + len(text))
            self._cells[-1].add_all(part if self._is_verbatim else part.translated(_SPACE))

    def _add_mark(self, mark: str) -> None:
        if self._cells[-1]:
            self._cells[-1].add_unplaced(mark)

    def end_block(self, level: int = 0) -> None:
        """End a block, if anything is in it; inside a table's row, only separate words."""
        if self._is_in_row:
            self._add_mark(" ")
            return
        if not any(self._cells):
            self._cells = [PlacedText()]
            return
        cells, self._cells = [cell.replaced(_UNSEEN) for cell in self._cells], [PlacedText()]
        text = joined_row(cells) if len(cells) > 1 else cells[0]
        if self._is_verbatim:
            text = text.replaced(_OUTER_LINES)
        else:
            text = text.replaced(_AROUND_BREAK, "\n").replaced(_SPACES, " ").stripped()
        if text.text.strip():
            self.blocks.append(text.block(self._source, level))


def _is_left_out(element: Element) -> bool:
    if element.tag in _LEFT_OUT or (element.tag in _AROUND_LINKS and _leads_on(element)):
        return True
    if not element.attrs:
        return False
    if "hidden" in element.attrs or element.attrs.get("aria-hidden") == "true":
        return True
    if element.tag == "a" and element.text.strip() in _PERMALINKS and len(element.children) == 1:
        return True
    if _attribute(element, "role") in ("navigation", "search", "menu", "menubar"):
        return True
    return "display:none" in _attribute(element, "style").replace(" ", "").lower()


def _leads_on(element: Element) -> bool:
    """Whether a block is a manual's line of links to its next page, the one above and the index (Texinfo, DocBook)."""
    children = [child for child in element.children if isinstance(child, Element)]
    links = [child for child in children if child.tag == "a" and child.attrs]
    is_line = any(_attribute(link, "accesskey") in _KEYS or _attribute(link, "rel") in _RELATIONS for link in links)
    return is_line and not any(child.tag in _BLOCKS for child in children)


def _is_plain_row(row: Element) -> bool:
    """Whether a row's cells are values, rather than parts of the page's layout."""
    cells = sum(isinstance(cell, Element) and cell.tag in ("td", "th") for cell in row.children)
    names = [element.tag for element in row.descendants if isinstance(element, Element)]
    return cells > 1 and names.count("p") <= cells and _RICH.isdisjoint(names)
