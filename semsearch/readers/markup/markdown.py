"""Markdown: CommonMark, tables and strikethrough by pyromark, front matter as metadata.

A block is a heading, a paragraph, the text of a list's item, a row of a table, a code block or a block of HTML. Only
the visible text is kept: link texts without their targets, the alternative texts of images, code; HTML inside Markdown
keeps its text. Leftovers of site generators are dropped: mdBook's {{#include}}, `> [!NOTE]` marks, ::: fences, {#ids}
and [^notes]; boxes, tabs and definitions of MkDocs are read as lists, directives and roles of MyST as what they show.
pyromark's events have offsets in bytes, which are converted to characters.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyromark

from semsearch.readers.document import Block, Document, title_of
from semsearch.readers.metadata import front_matter
from semsearch.readers.placed_text import PlacedText, joined_row

if TYPE_CHECKING:
    from pyromark.event import Range


def characters_before(text: str, base: int = 0) -> Callable[[int], int]:
    """Make a function that converts an offset in a text's UTF-8 to the offset in characters, plus `base`.

    It takes four bytes of memory for each byte of a character after its first.
    """
    if text.isascii():
        return base.__add__
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    following = np.flatnonzero((data & 0xC0) == 0x80).astype(np.uint32).data
    return lambda offset: base + offset - bisect_left(following, offset)


# -- Cleaning ----------------------------------------------------------------------------------------------------------

_INCLUDE = re.compile(r"^[ \t]*(?://|#)?[ \t]*\{\{#.*?\}\}[ \t]*\n?", re.MULTILINE)
_LEFTOVER = re.compile(
    r"\[![A-Za-z]+\][-+]?|\[\^[^\]\s]{1,200}\]:?|^[ \t]*:{3,}.*?(?::{3,}|$)"
    r"|^[ \t]*/{3,}(?:[ \t]+[\w-]+(?:[ \t]*\||[ \t]*$))?",
    re.MULTILINE,
)
_CALLOUT_TITLE = re.compile(r"\[![A-Za-z]+\][-+]?[^\S\n]+\S[^\n]*\n")
_SHORTCODE = re.compile(
    r"\(\{\{[<%][^{}]{0,300}[>%]\}\}\)"  # the target of a link
    r"|\{\{[<%](?:(?!\btext=\")[^{}]){0,300}[>%]\}\}"
    r"|\{\{[<%](?:(?!\btext=\")[^{}]){0,300}\btext=\"(?=[^{}\"]{0,300}\"[^{}]{0,300}[>%]\}\})"  # around a text to show
    r"|\"[^{}\"]{0,300}(?:\"[^{}\"]{0,300}\"[^{}\"]{0,300}){0,9}[>%]\}\}"
    r"|^[ \t]*\{/?[%*!][^{}]{0,300}[%*!]/?\}[ \t]*$"
    r"|[ \t]?\{:[^{}\n]{0,300}\}",  # attributes
    re.MULTILINE,
)
_MODULE = re.compile(  # a paragraph of MDX that is JavaScript
    r"\A(?:import\s[^\n]{0,300}['\"][^'\"\n]{1,300}['\"];?\s*){1,100}\Z|\Aexport\s(?:const|default|function|let)\s.*\Z",
    re.DOTALL,
)
_HEADING_ID = re.compile(r"\s*\{\s*[#.:][^{}]*\}\s*$")
_HTML = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|</?[A-Za-z](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>",
    re.DOTALL | re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\w{1,9}|\w{1,40});?")
_SPACE = re.compile(r"[ \t\r]+")
_LINE_ENDS = re.compile(r"\s*\n\s*")


def clean_paragraph(text: PlacedText) -> PlacedText:
    """Remove the leftovers of site generators from a paragraph's or a cell's text."""
    plain = text.text
    if "[" in plain or ":::" in plain or "///" in plain:
        text = text.replaced(_LEFTOVER)
        plain = text.text
    if plain.startswith(("import ", "export ")):
        text = text.replaced(_MODULE)
        plain = text.text
    if "{" in plain and any(mark in plain for mark in ("{{", "{%", "{*", "{!", "{/*", "{:")):
        text = text.replaced(_SHORTCODE)
    return text.stripped()


def clean_heading(text: PlacedText, tags: dict[str, None]) -> PlacedText:
    """Put a heading's text on one line, without its { #id }, which is no tag. Its tags are added to `tags`."""
    if "{" in text.text:
        text = text.replaced(_HEADING_ID)
    return clean_paragraph(clean_note(text, tags)).on_one_line()


def clean_code(text: PlacedText) -> PlacedText:
    """Remove mdBook's includes, and empty lines at both ends, from code."""
    if "{{#" in text.text:
        text = text.replaced(_INCLUDE)
    body = text.text.rstrip()
    return text.cut(len(body) - len(body.lstrip("\n")), len(body))


def clean_html(text: PlacedText) -> PlacedText:
    """The text of a block of HTML, line by line."""
    visible = text.replaced(_HTML).replaced(_ENTITY, lambda match: html.unescape(match[0]))
    return visible.replaced(_SPACE, " ").replaced(_LINE_ENDS, "\n").stripped()


# -- Notes -------------------------------------------------------------------------------------------------------------
# What Obsidian adds is read as it is shown. [[target|shown]] is what is shown, [[target#part]] is "target >
# part"; a picture that is embedded is nothing. Tags are metadata: one among the words of a sentence keeps its word,
# those before and after a text are left out. Comments (%%), marks of highlighting and the names of blocks (^name) are
# left out, and the date that a daily note's name begins with is metadata.

_LINK = re.compile(r"(!?)\[\[(?!\s)([^\[\]|\n]{1,300})(?:\|([^\[\]\n]{0,300}))?\]\]")
_LINK_TARGET = re.compile(r"([^#^]*)(?:#(?!\^)([^#^]+))?")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif|mp[34]|wav|webm|ogg|mov)(?:#.*)?$", re.IGNORECASE)
_TAG = re.compile(r"(?<![^\s(])#((?=[\w/-]*[^\W\d])[\w/-]{1,100})")
_TAGS_AROUND = re.compile(  # lines of tags, tags before and after a line's text, and between sentences
    r"^(?:#T\s*){1,50}$|^(?:#T[^\S\n]+){1,50}|(?<!\s)(?:[^\S\n]+#T){1,50}[^\S\n]*$|(?<=[.!?])(?:[^\S\n]+#T){1,50}(?=\s)".replace(
        "#T", _TAG.pattern
    ),
    re.MULTILINE,
)
_NOTE_MARKS = re.compile(
    r"%%.{0,2000}?%%|==(?=\S)|(?<=\S)==|[^\S\n]\^[A-Za-z0-9-]{1,60}[^\S\n]*$|^\^[A-Za-z0-9-]{1,60}$",
    re.MULTILINE | re.DOTALL,
)
_HASH = re.compile(r"(?<![^\s(])#(?=[\w/-]*[^\W\d])")
_NOTE_SIGNS = "#=%^[]:{}<>+"  # what has a meaning in notes, but not in code between backticks
_TAKEN = str.maketrans(_NOTE_SIGNS, "".join(chr(0xFDD0 + number) for number in range(len(_NOTE_SIGNS))))  # by no text
_GIVEN = {taken: sign for sign, taken in _TAKEN.items()}
_IS_TAKEN = re.compile(r"[\ufdd0-\ufdef]")
_DAY = re.compile(r"(\d{4})[-_](\d\d)[-_](\d\d)(?!\d)")


def inline_code(text: str) -> str:
    """Code between backticks, in whose signs `clean_note` sees no tags, links and marks; it gives them back."""
    return text.translate(_TAKEN)


def clean_note(text: PlacedText, tags: dict[str, None]) -> PlacedText:
    """A paragraph as it is shown; its tags are added to `tags`, without their #."""
    plain = text.text
    if "[[" in plain:
        text = _without_links(text)
        plain = text.text
    if "#" in plain and (names := _TAG.findall(plain)):
        tags.update(dict.fromkeys(names))
        text = text.replaced(_TAGS_AROUND).replaced(_HASH)
        plain = text.text
    if "%%" in plain or "==" in plain or "^" in plain:
        text = text.replaced(_NOTE_MARKS)
        plain = text.text
    if not plain.isascii() and _IS_TAKEN.search(plain):
        text = text.translated(_GIVEN)
    return text.stripped()


def _without_links(text: PlacedText) -> PlacedText:
    shown_text, last = PlacedText(), 0
    for match in _LINK.finditer(text.text):
        shown_text.add_all(text.cut(last, match.start()))
        last = match.end()
        is_embedded, shown = bool(match[1]), match[3]
        if is_embedded and _PICTURE.search(match[2]):
            continue
        if shown and not (is_embedded and shown.replace("x", "").isdecimal()):
            shown_text.add_all(text.cut(*match.span(3)))
        elif target := _LINK_TARGET.match(match[2]):
            at = match.start(2)
            shown_text.add_all(text.cut(at, at + target.end(1)))
            if target[2]:
                if target[1]:
                    shown_text.add_unplaced(" > ")
                shown_text.add_all(text.cut(at + target.start(2), at + target.end(2)))
    if not last:
        return text
    shown_text.add_all(text.cut(last, len(text.text)))
    return shown_text


def note_metadata(name: str, metadata: Mapping[str, Any], tags: Mapping[str, None]) -> Mapping[str, Any]:
    """The metadata of a note: its own, its tags, and the date that its name begins with."""
    merged = dict(metadata)
    if tags:
        known_tags = merged.get("tags") or []
        known_tags = re.split(r"[,\s]+", known_tags) if isinstance(known_tags, str) else known_tags
        merged["tags"] = [*dict.fromkeys([*known_tags, *tags])] if isinstance(known_tags, list) else known_tags
    if "date" not in merged and (day := _DAY.match(PurePath(name).name)):
        merged["date"] = "-".join(day.groups())
    return merged if len(merged) > len(metadata) or tags else metadata


def alias_block(source: str, metadata: Mapping[str, Any], end: int) -> Block | None:
    """A block of the other names of a note, which front matter gives before `end`; None if it gives none.

    Addresses that lead to a page, which generators of websites keep there (`/old/page/`), are no names: "TCP/IP" is.
    """
    names = metadata.get("aliases") or metadata.get("alias") or ()
    text = PlacedText()
    for name in [names] if isinstance(names, str) else names if isinstance(names, list) else ():
        is_name = isinstance(name, str) and bool(name.strip()) and "/" not in (name[0], name[-1]) and "://" not in name
        at = source.find(name, 0, end) if is_name else -1
        if at >= 0:
            if text:
                text.add_unplaced(", ")
            text.add(name, at)
    return text.block(source) if text else None


# -- Events ------------------------------------------------------------------------------------------------------------

_OPTIONS = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_STRIKETHROUGH
_INLINE = frozenset(["Emphasis", "Strong", "Strikethrough", "Link", "Image"])
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONE_RETURN = re.compile(r"\r(?!\n)")
_HAS_BOXES = re.compile(r"^[ \t]*(?:!!! |\?\?\?|===|: |```+\{|\([\w.:-]+\)=)", re.MULTILINE)
_BOX = re.compile(  # code between fences, or a directive; a box or tab with what is indented below; definition; target
    r"^[ \t]*(?P<fence>`{3,}+|~{3,}+)(?:\{(?P<name>[\w:-]++)\}[ \t]*+(?P<words>[^\n]*+)|[^\n]*+)\n"
    r"(?:(?P<body>.*?)^[ \t]*(?P=fence)|.*)"
    r"|^(?P<indent>[ \t]*+)(?:(?:!!!|\?\?\?\+?)[ \t]++(?P<kind>[a-zA-Z][\w-]*+)(?:[ \t]++[a-z]++)*+"
    r"|===[!+]?(?=[ \t]*+\"))[ \t]*+(?:\"(?P<title>[^\"\n]*+)\")?[ \t]*+$(?=\s*?\n(?P=indent)(?: {4}|\t))"
    r"|^ {0,3}(?P<definition>:)(?=[ \t]+\S)"
    r"|^[ \t]*+(?P<target>\([\w.:-]++\)=)[ \t]*+$",
    re.MULTILINE | re.DOTALL,
)
_OPTIONS_OF_DIRECTIVE = re.compile(r"\A(?:[ \t]*:[\w-]+:[^\n]*\n)+")
_OF_PROSE = frozenset(  # directives of MyST whose content is Markdown
    "admonition attention caution danger dropdown error hint important note seealso tab tab-item tab-set tip todo "
    "versionadded versionchanged deprecated warning".split()
)
_NESTED = 3  # directives of MyST that are looked for within one another
_CHARACTER = re.compile(r"[^\n]")
_ROLE = re.compile(r"\{[a-zA-Z][\w:+.-]*\}\Z")  # of MyST, before its text between backticks


class MarkdownEvents:
    """Makes blocks of the parser's events for one source, from `start` on."""

    def __init__(self, source: str, start: int) -> None:
        self._source = source
        text = _parsable(source[start:])
        self._events: Iterator[tuple[Any, Range]] = pyromark.events_with_range(text, options=_OPTIONS)
        self._offset = characters_before(text, start)
        self._blocks: list[Block] = []
        self._text = PlacedText()  # of what we are in
        self._role: tuple[str, int] | None = None  # read last, which inline code may follow
        self._cells: list[PlacedText] = []
        self._html = PlacedText()
        self.tags: dict[str, None] = {}

    def blocks(self) -> list[Block]:
        """All blocks, in order."""
        for event, span in self._events:
            if self._role is not None:
                event = self._after_role(event)
            if not isinstance(event, dict):
                if event == "Rule":
                    self._end_paragraph()
                else:  # the end of a line, soft or hard
                    self._text.add("\n", self._offset(span["start"]))
                continue
            kind, value = event.popitem()
            if kind == "Text":
                start = self._offset(span["start"])
                if value[-1:] == "}" and (role := _ROLE.search(value)):
                    self._role = role[0], start + role.start()
                    value = value[: role.start()]
                self._text.add(value, start)
            elif kind == "Start":
                if _name(value) not in _INLINE:
                    self._end_paragraph()
            elif kind == "End":
                self._end(value)
            elif kind == "Code":
                self._add_code(value, span)
            elif kind == "Html":
                self._html.add(value, self._offset(span["start"]))
            elif kind == "InlineHtml" and value[:3].lower() == "<br":
                self._text.add("\n", self._offset(span["start"]))
        return self._blocks

    def _after_role(self, event: Any) -> Any:
        """The event after a role of MyST: code is its text, with or without a target; before others it is text."""
        assert self._role is not None
        role, self._role = self._role, None
        if isinstance(event, dict) and "Code" in event:
            return {"Code": event["Code"].partition(" <")[0]}
        self._text.add(*role)
        return event

    def _add_code(self, text: str, span: Range) -> None:
        """Add the code between backticks; what extends over the end of a line stands where it begins."""
        start = self._offset(span["start"])
        at = self._source.find(text, start, self._offset(span["end"]))
        self._text.add(inline_code(text), at if at >= 0 else start)

    def _end(self, tag: str | dict[str, Any]) -> None:
        name = _name(tag)
        if name in _INLINE:
            return
        if name == "Heading":
            level = int(tag["Heading"][1])  # type: ignore[index]  # "H1" to "H6"
            self._add(clean_heading(self._taken(), self.tags), level)
        elif name == "CodeBlock":
            self._add(clean_code(self._taken()))
        elif name == "HtmlBlock":
            self._add(clean_html(self._html))
            self._html = PlacedText()
        elif name == "TableCell":
            self._cells.append(clean_note(clean_paragraph(self._taken()), self.tags))
        elif name == "TableHead" or name == "TableRow":
            self._add(joined_row(self._cells))
            self._cells = []
        else:
            self._end_paragraph()

    def _taken(self) -> PlacedText:
        text, self._text = self._text, PlacedText()
        return text

    def _end_paragraph(self) -> None:
        if not self._text:
            return
        text = self._taken()
        if title := _CALLOUT_TITLE.match(text.text):
            self._add(clean_note(clean_paragraph(text.cut(0, title.end())), self.tags))
            text = text.cut(title.end(), len(text.text))
        self._add(clean_note(clean_paragraph(text), self.tags))

    def _add(self, text: PlacedText, level: int = 0) -> None:
        if text:
            self._blocks.append(text.block(self._source, level))


def _name(tag: str | dict[str, Any]) -> str:
    return tag if isinstance(tag, str) else next(iter(tag))


def _parsable(text: str) -> str:
    """Replace characters that UTF-8 cannot encode, and line ends that pyromark does not always see, one by one."""
    text = _LONE_RETURN.sub("\n", text) if "\r" in text else text
    for _ in range(_NESTED if _HAS_BOXES.search(text) else 0):
        before, text = text, _BOX.sub(_as_item, text)
        if text == before:
            break
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _as_item(match: re.Match[str]) -> str:
    """A box, tab or definition as an item of a list, in as many characters; a target of links as spaces."""
    if match["target"]:
        return " " * len(match[0])
    if match["fence"]:
        return _directive(match) if match["name"] and match["body"] is not None else match[0]
    if match["definition"]:
        return f"{match[0][:-1]}-"
    return f"{match['indent']}-   {match['title'] or (match['kind'] or '').capitalize()}".ljust(len(match[0]))


def _directive(match: re.Match[str]) -> str:
    """A directive of MyST in as many characters: its content if it is Markdown, nothing of a table of contents."""
    if match["name"] == "toctree":
        return _CHARACTER.sub(" ", match[0])
    if match["name"] not in _OF_PROSE:
        return match[0]
    body = _OPTIONS_OF_DIRECTIVE.sub(lambda options: _CHARACTER.sub(" ", options[0]), match["body"])
    words = "" if match["name"].startswith("tab") else match["words"]
    if words and match["name"].startswith(("version", "deprecated")):
        words = f"{match['name']} {words}"
    first = f"-   {words}" if words else ""
    opening = match.start("body") - match.start() - 1  # the length of its first line
    return f"{first.ljust(opening)}\n{body}{' ' * (match.end() - match.end('body'))}"


def read(source: str, name: str) -> Document:
    """Read a Markdown text. Its title is the front matter's, else the first level-1 heading, else its name."""
    matter = front_matter(source)
    events = MarkdownEvents(source, matter.end)
    blocks = events.blocks()
    metadata = note_metadata(name, matter.metadata, events.tags)
    if unread := source[matter.start : matter.stop].strip():
        blocks.insert(0, Block(unread, source.index(unread, matter.start)))
    if aliases := alias_block(source, metadata, matter.end):
        blocks.insert(0, aliases)
    title = title_of(name, str(metadata.get("title") or ""), blocks=blocks)
    return Document(source, blocks, "markdown", title, metadata)
