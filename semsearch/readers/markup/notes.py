"""What the notes of Obsidian and Logseq have beyond Markdown, as it is shown: links, embedded notes, tags, references.

[[target|shown]] is what is shown, [[target#part]] "target > part"; a picture that is embedded is nothing. Tags are
metadata: one among the words of a sentence keeps its word, those before and after a text are left out. Comments (%%),
marks of highlighting and the names of blocks (^name) are left out, and the date that a daily note's name begins with is
metadata.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from semsearch.readers.document import Block
from semsearch.readers.placed_text import PlacedText

_LINK = re.compile(r"(!?)\[\[(?!\s)([^\[\]|\n]{1,300})(?:\|([^\[\]\n]{0,300}))?\]\]")
_TARGET = re.compile(r"([^#^]*)(?:#(?!\^)([^#^]+))?")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif|mp[34]|wav|webm|ogg|mov)$", re.IGNORECASE)
_TAG = re.compile(r"(?<![^\s(])#((?=[\w/-]*[^\W\d])[\w/-]{1,100})")
_TAGS_AROUND = re.compile(  # lines of tags, tags before and after a line's text, and between sentences
    r"^(?:#T\s*){1,50}$|^(?:#T[^\S\n]+){1,50}|(?<!\s)(?:[^\S\n]+#T){1,50}[^\S\n]*$|(?<=[.!?])(?:[^\S\n]+#T){1,50}(?=\s)".replace(
        "#T", _TAG.pattern
    ),
    re.MULTILINE,
)
_MARKS = re.compile(
    r"%%.{0,2000}?%%|==(?=\S)|(?<=\S)==|[^\S\n]\^[A-Za-z0-9-]{1,60}[^\S\n]*$|^\^[A-Za-z0-9-]{1,60}$",
    re.MULTILINE | re.DOTALL,
)
_HASH = re.compile(r"(?<![^\s(])#(?=[\w/-]*[^\W\d])")
_PROPERTY = re.compile(  # of Logseq, which programs write
    r"^[^\S\n]*(?:id|collapsed|background-color|heading|created-at|updated-at|ls-type|(?:hl|card)-[\w-]+|logseq\.[\w.-]+)"
    r"::[^\n]*(?:\n|\Z)|^#\+(?:BEGIN|END)_\w+[^\n]*(?:\n|\Z)",
    re.MULTILINE,
)
_PAGE_PROPERTY = re.compile(r"^(?:[-*] )?(alias|aliases|tags|title|date):: *([^\n]{1,500})$", re.MULTILINE)
_SIGNS = "#=%^[]:{}<>+"  # what has a meaning in notes, but not in code between backticks
_TAKEN = str.maketrans(_SIGNS, "".join(chr(0xFDD0 + number) for number in range(len(_SIGNS))))  # by no text
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
    if "#" in plain and (found := _TAG.findall(plain)):
        tags.update(dict.fromkeys(found))
        text = text.replaced(_TAGS_AROUND).replaced(_HASH)
        plain = text.text
    if "%%" in plain or "==" in plain or "^" in plain:
        text = text.replaced(_MARKS)
    if "::" in plain or "#+" in plain:
        text = text.replaced(_PROPERTY)
    if _IS_TAKEN.search(text.text):
        text = text.translated(_GIVEN)
    return text.stripped()


def _without_links(text: PlacedText) -> PlacedText:
    made, last = PlacedText(), 0
    for found in _LINK.finditer(text.text):
        made.add_all(text.cut(last, found.start()))
        last = found.end()
        is_embedded, shown = bool(found[1]), found[3]
        if is_embedded and _PICTURE.search(found[2]):
            continue
        if shown and not (is_embedded and shown.replace("x", "").isdecimal()):
            made.add_all(text.cut(*found.span(3)))
        elif target := _TARGET.match(found[2]):
            at = found.start(2)
            made.add_all(text.cut(at, at + target.end(1)))
            if target[2]:
                if target[1]:
                    made.add_unplaced(" > ")
                made.add_all(text.cut(at + target.start(2), at + target.end(2)))
    if not last:
        return text
    made.add_all(text.cut(last, len(text.text)))
    return made


def note_metadata(source: str, name: str, metadata: Mapping[str, Any], tags: Mapping[str, None]) -> Mapping[str, Any]:
    """The metadata of a note: its own, its tags, and the date that its name begins with."""
    found = dict(metadata)
    if "::" in source[:1000]:
        for key, value in _PAGE_PROPERTY.findall(source[:1000]):
            values = [each.strip().strip("#").strip("[]") for each in value.split(",")]
            found.setdefault(key, values if key in ("alias", "aliases", "tags") else value.strip())
    if tags:
        own = found.get("tags") or []
        own = re.split(r"[,\s]+", own) if isinstance(own, str) else own
        found["tags"] = [*dict.fromkeys([*own, *tags])] if isinstance(own, list) else own
    if "date" not in found and (day := _DAY.match(PurePath(name).name)):
        found["date"] = "-".join(day.groups())
    return found if len(found) > len(metadata) or tags else metadata


def alias_block(source: str, metadata: Mapping[str, Any], end: int) -> Block | None:
    """A block of the other names of a note, which front matter gives before `end`; None if it gives none."""
    names = metadata.get("aliases") or metadata.get("alias") or ()
    text = PlacedText()
    for name in [names] if isinstance(names, str) else names if isinstance(names, list) else ():
        at = source.find(name, 0, end) if isinstance(name, str) and name.strip() else -1
        if at >= 0:
            if text:
                text.add_unplaced(", ")
            text.add(name, at)
    return text.block(source) if text else None
