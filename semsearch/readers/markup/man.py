"""Manual pages, in roff with the macros man or mdoc: headings, paragraphs, each option with its text, examples.

The title is the page's own line on what it is about: `ls - list directory contents`. An option and what it does are
one block, `-a, --all: do not ignore entries`, and so are the cells of a row of a table. Left out are fonts, spacing,
comments, conditions and definitions, and what SEE ALSO is if it only names other pages.
"""

from __future__ import annotations

import re

from semsearch.readers.document import Block, Document, each_line_span, title_of
from semsearch.readers.placed_text import PlacedText

_CONTROL = re.compile(r"[.'][ \t]*([^\s\\]*)[ \t]*(.*)")
_ESCAPE = re.compile(  # a comment; fonts, registers, sizes, motions; named characters and strings; all others
    r"""\\(?:".*|[fFgkmMnY](?:\[[^\]]{0,40}\]|\(..|.)|s[-+]?\d{1,2}|[bDhlLovwZ]'[^']{0,80}'|\*?(?:\((..)|\[([^\]]{0,40})\])|\*.|(.)|\Z)"""
)
_PLAIN = {" ": " ", "~": " ", "0": " ", "e": "\\", "\\": "\\", "t": "\t"} | {mark: mark for mark in "-.'`_"}
_NAMED = {
    "aq": "'", "Aq": "'", "dq": '"', "lq": "“", 'L"': "“", "rq": "”", 'R"': "”", "oq": "‘", "cq": "’", "bu": "•",
    "em": "—", "en": "–", "hy": "-", "mi": "-", "rs": "\\", "ha": "^", "ti": "~", "ga": "`", "co": "©", "->": "→",
    "<=": "≤", ">=": "≥", "at": "@", "sh": "#", "la": "<", "ra": ">", "lB": "[", "rB": "]", "ul": "_", "C+": "C++",
}  # fmt: skip
_REFERENCES = re.compile(r"(?:[\w.+:@-]+ ?\(\d\w*\)[,.]?\s*(?:and\s+)?)+")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|(\S+)')
_BULLETS = frozenset("• * o - – —".split())
_JOINED = frozenset("BR BI IR IB RB RI".split())
_SHOWN = frozenset("B I R SM SB UR MT SY".split())
_ENDS = frozenset("PP P LP HP RE sp br Pp Lp Sp YS Bl El D1 Dl".split())
_VERBATIM, _FILLED = frozenset("nf EX Vb Bd".split()), frozenset("fi EE Ve Ed".split())

# of mdoc, whose macros may stand as words of a line
_ENCLOSED = {
    "Op": "[]",
    "Bq": "[]",
    "Pq": "()",
    "Dq": "“”",
    "Sq": "‘’",
    "Ql": "‘’",
    "Qq": '""',
    "Aq": "<>",
    "Brq": "{}",
}
_OPENED = {"Oo": "[", "Bo": "[", "Po": "(", "Do": "“", "So": "‘", "Ao": "<", "Bro": "{"}
_CLOSED = {"Oc": "]", "Bc": "]", "Pc": ")", "Dc": "”", "Sc": "’", "Ac": ">", "Brc": "}"}
_WORDS = frozenset(
    "Ad An Ap Ar Cd Cm Dv Em Er Ev Fa Fl Fn Ft Ic In Li Lk Mt Nd Nm No Ns Pa Pf St Sx Sy Ux Va Vt Xc Xo Xr".split()
)
_MDOC = frozenset({*_ENCLOSED, *_OPENED, *_CLOSED, *_WORDS})
_STOPS = frozenset(". , : ; ? ! ) ]".split())


def read(source: str, name: str) -> Document:
    """Read a manual page. Its title is the text of its section NAME, else the file's name."""
    page = _Page(source)
    skipped_to, depth = "", 0  # the line that ends a definition; brackets of a condition that are open
    for start, stop in each_line_span(source):
        line = source[start:stop].rstrip("\r\n")
        control = _CONTROL.match(line)
        if skipped_to or depth:
            depth += line.count("\\{") - line.count("\\}") if depth else 0
            skipped_to = "" if line.startswith(skipped_to) else skipped_to
        elif control is None:
            page.add_line(line, start)
        elif control[1] in ("de", "am", "ig"):
            skipped_to = ".."
        elif control[1] in ("if", "ie", "el"):
            depth = max(0, line.count("\\{") - line.count("\\}"))
        elif control[1]:
            page.obey(control[1], _arguments(control[2]), start)
    page.end()
    return Document(source, page.blocks, "man", title_of(name, page.title), {})


def _arguments(rest: str) -> list[str]:
    rest = re.sub(r'\\".*', "", rest)
    return [match[2] or match[1].replace('""', '"') for match in _ARGUMENT.finditer(rest)]


def _shown(escape: re.Match[str]) -> str:
    """The text of an escape."""
    name = escape[1] or escape[2]
    if name and re.fullmatch(r"u[0-9A-F]{4,5}", name):
        return chr(int(name[1:], 16))
    return _NAMED.get(name, "") if name else _PLAIN.get(escape[3] or "", "")


class _Page:
    """One page, line by line."""

    def __init__(self, source: str) -> None:
        self.blocks: list[Block] = []
        self.title = ""
        self._source = source
        self._paragraph = PlacedText()
        self._is_verbatim = False
        self._level = 0  # of the heading that the next line is
        self._without_text = list[Block]()  # a heading below which nothing was kept so far
        self._is_tag = self._after_tag = False  # the next line is an option; the paragraph is one so far
        self._command = ""  # that mdoc's .Nm without a name stands for
        self._is_table = self._is_format = False  # in a table; in what says how it looks
        self._is_cell = False  # in a cell of several lines
        self._has_cell = False  # the next line begins another cell of its row
        self._tab = "\t"  # between cells

    def add_line(self, line: str, start: int) -> None:
        """Take a line of text."""
        if self._is_table:
            self._take_cells(line, start)
            return
        is_indented = line[:1] in (" ", "\t") and not self._is_verbatim
        if is_indented and line.strip() and self._paragraph.text.startswith("-"):
            self._after_tag = self._may_be_tag()
        if is_indented or not line.strip():
            self._end_line()
        self._take(line, start)

    def obey(self, macro: str, words: list[str], start: int) -> None:
        """Take a line that begins with a macro."""
        if macro in ("SH", "Sh", "SS", "Ss"):
            self.end()
            self._is_verbatim, self._level = False, 1 if macro[1].lower() == "h" else 2
            self._add(" ".join(words), start)
        elif macro in ("TP", "TQ"):
            self.end()
            self._is_tag = True
        elif macro in ("IP", "It"):
            self.end()
            tag = " ".join(words[:1]) if macro == "IP" else self._spoken(words)
            if _ESCAPE.sub(_shown, tag).strip() not in _BULLETS:
                self._is_tag = True
                self._add(tag, start)
            self._is_tag = False
        elif macro == "RS":  # what is indented below an option is what it does
            self._after_tag = self._may_be_tag()
            if not self._after_tag:
                self.end()
        elif macro in _VERBATIM or macro in _FILLED:
            self.end()
            self._is_verbatim = macro in _VERBATIM
        elif macro in _JOINED or macro in _SHOWN:
            self._add(("" if macro in _JOINED else " ").join(words), start)
        elif macro in _MDOC:
            self._add(self._spoken([macro, *words]), start)
        elif macro in ("TS", "T&"):
            self.end()
            self._is_table = self._is_format = True
            self._tab = "\t" if macro == "TS" else self._tab
        elif macro == "TE":
            self.end()
            self._is_table = self._is_format = self._is_cell = self._has_cell = False
        elif macro in _ENDS and not self._is_cell:
            self._end_line()
            if macro in ("D1", "Dl"):
                self._add(self._spoken(words), start)
                self.end()
        elif macro == "OP":
            self._add(f"[{' '.join(words)}]", start)

    def _add(self, text: str, start: int) -> None:
        """Take what a macro shows, as far as the source has room for it."""
        self._take(text[: len(self._source) - start], start)

    def _take(self, line: str, start: int) -> None:
        text = line if self._is_verbatim else line.strip()
        escapes = [(match.span(), _shown(match)) for match in _ESCAPE.finditer(text)] if "\\" in text else []
        is_empty = not text if not escapes else not _ESCAPE.sub(_shown, text).strip()
        if is_empty and not (self._is_verbatim and self._paragraph):
            return
        if self._paragraph:
            is_told = self._after_tag and self._paragraph.text[-1] not in ".:;?!"
            gap = " | " if self._has_cell else ": " if is_told else "\n" if self._is_verbatim else " "
            self._paragraph.add_unplaced(gap)
            self._after_tag = self._has_cell = False
        last, start = 0, start + line.find(text)
        for (first, end), shown in [*escapes, ((len(text), len(text)), "")]:
            self._paragraph.add(text[last:first], start + last)
            self._paragraph.add(shown, start + first)
            last = end
        self._after_tag = self._after_tag or self._is_tag
        self._is_tag = False
        if self._level:
            self.end()

    def _take_cells(self, line: str, start: int) -> None:
        """Take a line of a table: of its format, which ends with a dot; a row, with tabs between cells; of a cell."""
        self._is_format = self._is_format and "\\" not in line  # where it was forgotten
        if self._is_format:
            options = re.search(r"\btab ?\((.)\)", line)
            self._tab = options[1] if options else self._tab
            self._is_format = not line.rstrip().endswith(".")
        elif self._is_cell and not line.startswith("T}"):
            self._take(line, start)
        else:
            for match in re.finditer(f"[^{re.escape(self._tab)}]+", line):
                self._has_cell = bool(self._paragraph)
                if match[0] in ("T{", "T}"):
                    self._is_cell = match[0] == "T{"
                elif match[0].strip("_=-"):
                    self._take(match[0], start + match.start())
            if not self._is_cell:
                self.end()
                self._has_cell = False

    def _may_be_tag(self) -> bool:
        """Whether the paragraph is short, and no sentence, so that what is indented below it is what it does."""
        return 0 < len(self._paragraph.text) < 100 and self._paragraph.text[-1] not in ".:;?!"

    def _end_line(self) -> None:
        """End a paragraph, but not between an option and what it does."""
        if not self._after_tag and not self._is_tag and not self._is_verbatim:
            self.end()

    def end(self) -> None:
        """End a heading, paragraph or example, if anything is in it."""
        text = self._paragraph.text.rstrip()
        if text:
            self._paragraph = self._paragraph.cut(0, len(text))
            section = self.blocks[-1].text.upper() if self.blocks and self.blocks[-1].level == 1 else ""
            if section == "NAME" and not self.title:
                self.title = " ".join(text.split())
            if section == "SEE ALSO" and not self._level and _REFERENCES.fullmatch(text):
                self._without_text = [self.blocks.pop()]
            else:
                self.blocks += [] if self._level else self._without_text
                self.blocks.append(self._paragraph.block(self._source, self._level))
                self._without_text = []
            self._level = 0
        self._paragraph, self._is_tag, self._after_tag = PlacedText(), False, False

    def _spoken(self, words: list[str]) -> str:
        """A line of mdoc as it is shown: `Op Fl l Ar file` is "[-l file]"."""
        text, closing, prefix, tail = "", "", "", ""
        while words and words[-1] in _STOPS:
            tail = words[-1] + tail
            words = words[:-1]
        is_glued, argument = True, 0  # no space before the next word; its number after the macro
        for word, following in zip(words, [*words, "Ns"][1:], strict=True):
            shown, is_alone = "", following in _MDOC or following in _STOPS
            if word in _ENCLOSED or word in _OPENED:
                shown, closing = _ENCLOSED.get(word, _OPENED.get(word, ""))[0], _ENCLOSED.get(word, " ")[1:] + closing
            elif word in _CLOSED or word in _STOPS or word == "Ap":
                shown, is_glued = _CLOSED.get(word, "'" if word == "Ap" else word), True
            elif word in _WORDS:
                prefix, argument = {"Fl": "-", "Nd": "- ", "Xr": "Xr"}.get(word, ""), 0
                shown = (
                    {"Nm": self._command, "Fl": "-", "Ar": "file ...", "Ux": "UNIX"}.get(word, "") if is_alone else ""
                )
                is_glued = is_glued or word == "Ns"
            else:
                is_section = prefix == "Xr" and argument == 1
                shown = f"({word})" if is_section else f"{prefix if prefix != 'Xr' and word != '|' else ''}{word}"
                is_glued, argument = is_glued or is_section, argument + 1
                if words[0] == "Nm":
                    self._command = self._command or word
                prefix = "" if prefix == "- " else prefix
            if shown:
                text += shown if is_glued else f" {shown}"
                is_glued = word in _ENCLOSED or word in _OPENED or word == "Ap" or shown in ("(", "[")
        return text + closing + tail
