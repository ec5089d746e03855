"""HTML as it is found on real sites: lxml's tree to blocks.

Left out are parts that are not the page's text: scripts, styles, navigation, form controls, hidden elements, drawings,
and the ¶ links of headings. A table's row is a block, unless the table is there for the layout. White space is
collapsed, except in <pre>.

lxml gives no offsets. But the source without its tags has the same words in the same order as the tree, so the aligner
locates every text, one after the other; those that are left out too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from lxml import etree

from semsearch.errors import SourceError
from semsearch.readers.align import Aligner, words_of
from semsearch.readers.document import Block, Document, joined_cells, title_of

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


_LEFT_OUT = _names(
    "head script style template nav noscript svg canvas iframe object embed audio video map select datalist button "
    "input textarea"
)
_BLANKED = _LEFT_OUT - _names("head nav embed input")  # for the aligner too: they may stand inside a paragraph
_BLOCKS = _names(
    "html body main article section div p ul ol li dl dt dd table caption thead tbody tfoot tr td th pre blockquote "
    "figure figcaption header footer aside address hr form fieldset legend details summary dialog center nav noscript "
    "template h1 h2 h3 h4 h5 h6"
)
_RICH = _names("table ul ol dl pre blockquote section article h1 h2 h3 h4 h5 h6")  # in a cell: it is for the layout
_PERMALINKS = _names("¶ # § 🔗 \uf0c1")
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<raw>script|style|title|textarea)\b.*?(?:</(?P=raw)\s*>|\Z)"
    r"|<(?P<close>/?)(?P<name>[A-Za-z][\w:-]*)(?![\w:-])(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>"
    r"|<[!?](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>",
    re.DOTALL | re.IGNORECASE,
)
_RUN = re.compile(r"(?:[^\W_]|&(?:#\w+|\w+);?)+")
_SPACE = re.compile(r"[ \t\r\n\f\xa0]+")
_SPACES = re.compile(r" {2,}")
_AROUND_BREAK = re.compile(r" *\n *")
_NEXT_CELL = "\x1f"
_UNSEEN = re.compile("[\xad\u200b\ufeff]")  # soft hyphens and the like stand in the middle of words


def read(source: str, name: str) -> Document:
    """Read a page. Its title is the <title>, else the first <h1>, else the file's name.

    Raises SourceError if elements are nested more than 2,000 deep.
    """
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        tree: Any = etree.fromstring(source.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:  # nothing in it
        tree = None
    if tree is None:
        return Document(source, [], "html", title_of(name))
    for error in parser.error_log:
        if error.type_name == "ERR_RESOURCE_LIMIT":  # everything after it is missing
            raise SourceError(f"{name} cannot be read as HTML: {error.message.partition(',')[0]}")
    blocks = list(_Page(source).blocks(tree))
    titles = ["".join(title.itertext()) for title in tree.iter("title") if title.getparent().tag != "svg"][:1]
    return Document(source, blocks, "html", title_of(name, *titles, blocks=blocks), _metadata(tree))


def _metadata(tree: Any) -> dict[str, Any]:
    """Description and author as text, keywords as a list."""
    metadata: dict[str, Any] = {}
    for meta in tree.iter("meta"):
        name, content = (meta.get("name") or "").lower(), " ".join((meta.get("content") or "").split())
        if content and name in ("description", "author"):
            metadata.setdefault(name, content)
        elif content and name == "keywords":
            metadata.setdefault(name, [word.strip() for word in content.split(",") if word.strip()])
    return metadata


def _visible(source: str) -> str:
    """The source with spaces in place of tags and comments, and of elements that are left out wherever they stand."""
    parts: list[str] = []
    end = 0
    inside: list[str] = []  # names of the elements to blank that we are in
    for match in _TAG.finditer(source):
        text = source[end : match.start()]
        parts.append(" " * len(text) if inside else text)
        parts.append(" " * len(match[0]))
        end = match.end()
        name = (match["name"] or "").lower()
        if name in _BLANKED and not match["close"] and not match[0].endswith("/>"):
            inside.append(name)
        elif inside and name == inside[-1]:
            inside.pop()
    return "".join(parts) + source[end:]


def _words(visible: str) -> Iterator[tuple[str, int]]:
    """The words of a source without its tags, entities resolved."""
    for match in _RUN.finditer(visible):
        if "&" not in match[0]:
            yield match[0], match.start()
            continue
        after = 0
        for word, _ in words_of(_UNSEEN.sub("", unescape(match[0]))):
            after = max(after, match[0].find(word, after))
            yield word, match.start() + after


class _Page:
    """One page, on the way through its tree."""

    def __init__(self, source: str) -> None:
        visible = _visible(source)
        self._aligner = Aligner(visible, _words(visible))
        self._parts: list[str] = []
        self._hidden: list[Any] = []  # elements left out that we are in, outermost first
        self._row: Any = None  # the table row that we are in
        self._verbatim = 0  # how many <pre> we are in

    def blocks(self, tree: Any) -> Iterator[Block]:
        for event, element in etree.iterwalk(tree, events=("start", "end")):
            tag = element.tag
            if event == "start":
                if tag in _BLOCKS:
                    yield from self._boundary()
                self._enter(element, tag)
                self._text(element.text)
            else:
                if tag in _BLOCKS:
                    if element is self._row:
                        self._row = None
                    yield from self._boundary(_HEADINGS.get(tag, 0))
                self._leave(tag)
                self._text(element.tail)
        yield from self._boundary()

    def _enter(self, element: Any, tag: str) -> None:
        if self._hidden or _is_left_out(element, tag):
            self._hidden.append(element)
        elif tag == "pre":
            self._verbatim += 1
        elif tag == "br":
            self._parts.append("\n")
        elif tag == "img" and element.get("alt"):
            self._parts.append(_SPACE.sub(" ", element.get("alt")))
        elif tag == "tr" and self._row is None and _is_plain_row(element):
            self._row = element
        elif tag in ("td", "th") and self._row is not None and element.getprevious() is not None:
            self._parts.append(_NEXT_CELL)

    def _leave(self, tag: str) -> None:
        if self._hidden:
            self._hidden.pop()
        elif tag == "pre":
            self._verbatim -= 1

    def _text(self, text: str | None) -> None:
        if not text:
            return
        hidden = self._hidden
        if hidden and (hidden[0].tag not in _BLOCKS or any(element.tag in _BLANKED for element in hidden)):
            return
        self._parts.append(text if self._verbatim else _SPACE.sub(" ", text))

    def _boundary(self, level: int = 0) -> Iterator[Block]:
        """End a block, if anything is in it; inside a table's row, only separate words."""
        if self._row is not None:
            self._parts.append(" ")
            return
        text = _UNSEEN.sub("", "".join(self._parts))
        self._parts.clear()
        if _NEXT_CELL in text:
            text = joined_cells(text.split(_NEXT_CELL))
        text = text.strip("\r\n").rstrip() if self._verbatim else _collapsed(text)
        if not text.strip():
            return
        anchors = self._aligner.locate(text)
        if not self._hidden:
            yield Block(text, anchors[0][1], level, anchors=anchors)


def _collapsed(text: str) -> str:
    return _AROUND_BREAK.sub("\n", _SPACES.sub(" ", text)).strip()


def _is_left_out(element: Any, tag: str) -> bool:
    if tag in _LEFT_OUT or element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    if tag == "a":
        return (element.text or "").strip() in _PERMALINKS and len(element) == 0
    if element.get("role") in ("navigation", "search", "menu", "menubar"):
        return True
    return "display:none" in (element.get("style") or "").replace(" ", "").lower()


def _is_plain_row(row: Any) -> bool:
    """Return whether a row's cells are values, rather than parts of the page's layout."""
    cells = sum(1 for cell in row if cell.tag in ("td", "th"))
    paragraphs = 0
    for element in row.iterdescendants():
        paragraphs += element.tag == "p"
        if element.tag in _RICH or paragraphs > cells:
            return False
    return cells > 1
