r"""Rich Text Format (.rtf): paragraphs, headings, rows of tables, footnotes; title, author and keywords.

A file is groups { } of control words (\par, \b0, \'e4) and text. Groups that hold no text of the document (fonts,
styles, pictures, fields' instructions) are left out, and so is hidden and deleted text. Bytes are in the code page of
their font, other characters are given by number (\u8364). Places are paragraphs, rows of tables and footnotes, by
their number.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers.document import Builder, Document, joined_cells

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|[\r\n]+|([^\\{}\r\n]+)|\\", re.DOTALL
)
_LEFT_OUT = frozenset(
    "fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf ftnsep "
    "ftnsepc ftncn aftnsep aftnsepc listtable listoverridetable revtbl rsidtbl themedata colorschememapping datastore "
    "latentstyles xmlnstbl fldinst nonshppict bkmkstart bkmkend generator mmathPr filetbl operator category company "
    "manager doccomm hlinkbase xe tc private template userprops upr pgptbl listtext pntext atnid atnauthor "
    "atnref atrfstart atrfend annotationref formfield sp".split()
)
_KEPT = frozenset("shptxt shpinst shp fldrslt shppict footnote annotation bodydoc".split())  # although \* may precede
_ABOUT = {"title": "title", "author": "author", "subject": "subject", "keywords": "keywords"}
_SHOWN = {
    "tab": "\t", "line": "\n", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•",
    "endash": "–",
    "emdash": "—", "emspace": " ", "enspace": " ", "qmspace": " ", "~": "\xa0", "_": "-", "{": "{", "}": "}",
    "\\": "\\",
    "\n": "\n", "\r": "\n", "softline": "\n",
}  # fmt: skip
_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254", 163: "cp1258",
    177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp437",
}  # fmt: skip
_HEADING = re.compile(r"(?:heading|Überschrift|titre|título|titolo|kop) ?(\d)", re.IGNORECASE)
_DEEPEST = 10_000  # groups within groups


@dataclass(frozen=True, slots=True)
class _RtfGroup:
    """What holds until the end of a group."""

    target: str = ""  # "" for the text; else what is collected: "info title", "style", "fonts", "note", "nothing"
    is_hidden: bool = False
    skip: int = 1  # characters that stand in for one that is given by number
    encoding: str = "cp1252"
    style: int = 0


def read(data: bytes, name: str) -> Document:
    """Read a text. Its title is its property, else its first heading of level 1, else its name."""
    if not data.lstrip()[:5].startswith(b"{\\rtf"):
        if not data.strip():
            return Document("", [], "rtf", PurePath(name).stem)
        raise SourceError(f"{name} cannot be read as .rtf: it does not begin with {{\\rtf")
    reading = _RtfReading(name)
    reading.take(data)
    blocks = reading.builder.blocks
    titles = [reading.about.get("title", ""), *(block.text for block in blocks if block.level == 1)]
    title = next(filter(None, titles), PurePath(name).stem)
    return Document(reading.builder.source, blocks, "rtf", title, reading.about)


@dataclass(slots=True)
class _RtfReading:
    """The state of reading one text."""

    name: str
    builder: Builder = field(default_factory=Builder)
    about: dict[str, Any] = field(default_factory=dict)
    group: _RtfGroup = field(default_factory=_RtfGroup)
    outer: list[_RtfGroup] = field(default_factory=list)
    encoding: str = "cp1252"
    encodings: dict[int, str] = field(default_factory=dict)  # of fonts
    levels: dict[int, int] = field(default_factory=dict)  # of the styles of headings
    raw: bytearray = field(default_factory=bytearray)  # bytes that are not decoded yet
    text: list[str] = field(default_factory=list)  # of the paragraph
    aside: list[str] = field(default_factory=list)  # of a note, a style or a property
    cells: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    level: int = 0  # of the paragraph as a heading
    in_table: bool = False
    font: int = 0
    to_skip: int = 0  # characters that stand in for one that was given by number
    is_optional: bool = False  # after \*
    is_first: bool = False  # right after {
    paragraphs: int = 0
    tables: int = 0
    rows: int = 0

    def take(self, data: bytes) -> None:
        """Read all tokens."""
        at = 0
        while found := _TOKEN.match(data, at):
            at = found.end()
            word, brace, plain = found[1], found[5], found[6]
            if plain is not None:
                self._bytes(plain)
            elif found[3] is not None:
                self._byte(int(found[3], 16))
            elif word is not None:
                argument = int(found[2]) if found[2] else None
                if word == b"bin":
                    at += max(0, argument or 0)
                else:
                    self._control(word.decode(), argument)
            elif brace == b"{":
                self._open()
            elif brace == b"}":
                self._close()
            elif found[4] is not None:
                self._symbol(found[4].decode("latin-1"))
        self._end_paragraph()
        self.builder.end_sections()
        for number, note in enumerate(self.notes, start=1):
            self.builder.add(note, place=f"footnote {number}", part="footnotes")

    def _open(self) -> None:
        self._decode()
        if len(self.outer) > _DEEPEST:
            raise SourceError(f"{self.name} is nested too deeply to be read as rtf")
        self.outer.append(self.group)
        self.is_first, self.is_optional = True, False

    def _close(self) -> None:
        self._decode()
        ended, self.group = self.group, self.outer.pop() if self.outer else _RtfGroup()
        self.to_skip, self.is_first = 0, False
        if ended.target and (ended.target != self.group.target or (ended.target == "style" and self.aside)):
            self._end_aside(ended)

    def _end_aside(self, ended: _RtfGroup) -> None:
        aside = " ".join("".join(self.aside).split())
        self.aside.clear()
        if ended.target == "note" and aside:
            self.notes.append(aside)
        elif ended.target.startswith("info ") and aside:
            self.about[ended.target[5:]] = aside
        elif ended.target == "style" and (heading := _HEADING.match(aside)):
            self.levels[ended.style] = min(max(int(heading[1]), 1), 6)

    def _control(self, word: str, argument: int | None) -> None:
        is_first, self.is_first = self.is_first, False
        if word != "u":
            self._decode()
        if is_first or self.is_optional:
            optional, self.is_optional = self.is_optional, False
            if self._enter(word, optional=optional):
                return
        if shown := _SHOWN.get(word):
            self._add(shown)
        elif word == "u" and argument is not None:
            self._decode()
            self._add(chr(argument % 65_536))
            self.to_skip = self.group.skip
        else:
            self._set(word, argument)

    def _enter(self, word: str, *, optional: bool) -> bool:
        """Tell what the group that begins with a control word is for; returns whether the word is dealt with."""
        target = self.group.target
        if word in _ABOUT and target == "nothing":
            target = f"info {_ABOUT[word]}"
        elif word == "fonttbl":
            target = "fonts"
        elif word == "stylesheet":
            target = "style"
        elif word in ("footnote", "annotation") and not target:
            target = "note"
        elif word in _KEPT:
            return True
        elif (word in _LEFT_OUT or optional) and not (target == "style" and word in ("cs", "ds", "ts")):
            target = "nothing"
        else:
            return False
        self.group = replace(self.group, target=target)
        return True

    def _set(self, word: str, argument: int | None) -> None:
        on = argument != 0
        match word:
            case "par" | "sect" | "page":
                self._end_paragraph() if not self.group.target else self._add(" ")
            case "cell" | "nestcell":
                self.cells.append("".join(self.text))
                self.text.clear()
            case "row" | "nestrow":
                self._end_row()
            case "intbl":
                self.in_table = True
            case "pard":
                self.level, self.in_table = 0, False
                self.group = replace(self.group, style=0)
            case "plain":
                self.group = replace(self.group, is_hidden=False, encoding=self.encoding)
            case "v" | "deleted":
                self.group = replace(self.group, is_hidden=on)
            case "uc":
                self.group = replace(self.group, skip=min(max(argument or 0, 0), 10))
            case "outlinelevel":
                self._outline(argument or 0)
            case "s":
                self.group = replace(self.group, style=argument or 0)
                if not self.group.target:
                    self.level = self.levels.get(argument or 0, 0)
            case "f":
                self.font = argument or 0
                self.group = replace(self.group, encoding=self.encodings.get(self.font, self.encoding))
            case "fcharset" if self.group.target == "fonts":
                self.encodings[self.font] = _CHARSETS.get(argument or 0, self.encoding)
            case "cpg" | "ansicpg":
                self._code_page(word, f"cp{argument}")
            case "mac":
                self._code_page(word, "mac_roman")

    def _outline(self, level: int) -> None:
        if self.group.target == "style":
            self.levels[self.group.style] = min(max(level + 1, 1), 6)
        elif not self.group.target and 0 <= level < 6:
            self.level = level + 1

    def _code_page(self, word: str, encoding: str) -> None:
        try:
            codecs.lookup(encoding)
        except LookupError:
            return
        if word == "cpg":
            self.encodings[self.font] = encoding
        else:
            self.encoding = encoding
            self.group = replace(self.group, encoding=encoding)

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self.is_optional = True
            return
        self.is_first = False
        self._decode()
        if symbol in _SHOWN:
            self._end_paragraph() if symbol in "\r\n" and not self.group.target else self._add(_SHOWN[symbol])

    def _bytes(self, data: bytes) -> None:
        self.is_first = self.is_first and data.isspace()
        if self.to_skip:
            skipped = min(self.to_skip, len(data))
            self.to_skip -= skipped
            data = data[skipped:]
        if self.group.target != "nothing":
            self.raw += data

    def _byte(self, value: int) -> None:
        self.is_first = False
        if self.to_skip:
            self.to_skip -= 1
        elif self.group.target != "nothing":
            self.raw.append(value)

    def _decode(self) -> None:
        self.to_skip = 0
        if self.raw:
            self._add(self.raw.decode(self.group.encoding, errors="replace"))
            self.raw.clear()

    def _add(self, text: str) -> None:
        if self.group.is_hidden or self.group.target == "nothing":
            return
        (self.aside if self.group.target else self.text).append(text)

    def _taken(self) -> str:
        self._decode()
        text = "".join(self.text)
        self.text.clear()
        if any("\ud800" <= character <= "\udfff" for character in text):  # halves of characters beyond 65,535
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", errors="replace")
        return text

    def _end_paragraph(self) -> None:
        if self.in_table and (self.cells or self.text):
            self.text.append(" ")  # of several in a cell
            return
        text = self._taken()
        self.rows = 0
        if text.strip() or not self.cells:
            self.paragraphs += 1
            self.builder.add(text, level=self.level, place=f"paragraph {self.paragraphs}")

    def _end_row(self) -> None:
        rest = self._taken()
        cells, self.cells = [*self.cells, rest], []
        self.tables += not self.rows
        self.rows += 1
        self.builder.add(joined_cells(cells), place=f"table {self.tables}, row {self.rows}")
        self.in_table = False
