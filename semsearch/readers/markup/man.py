"""Manual pages: the source of troff with the macros of man(7) or mdoc(7), as in /usr/share/man.

Headings, paragraphs and tagged paragraphs (an option and what it does are one block) are kept, each word at its place
in the source. Requests that lay out the page, definitions of macros and what depends on conditions are left out. A page
that only names another (".so man1/ls.1") is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath

from semsearch.readers.document import Block, Document, line_starts
from semsearch.readers.placed_text import PlacedText

_ESCAPE = re.compile(
    r"\\(?:"
    r"(?P<comment>\"|#)"
    r"|f(?:\(..|\[[^\]\n]{0,40}\]|.)"
    r"|s(?:\[[^\]\n]{0,20}\]|'[^'\n]{0,20}'|\([+-]?\d\d|[+-]?\(\d\d|[+-]?\d{1,2})"
    r"|[hvwlLDoZXNbxRBAS](?P<sign>['\"/^|])(?:(?!(?P=sign))[^\n]){0,300}(?P=sign)"
    r"|[mMFkYVgnO](?:\(..|\[[^\]\n]{0,40}\]|[+-]?.)"
    r"|\*(?:\((?P<string2>..)|\[(?P<strings>[^\]\n]{0,40})\]|(?P<string1>.))"
    r"|\((?P<two>..)|\[(?P<named>[^\]\n]{0,40})\]"
    r"|(?P<one>.|\Z))"
)
_ONE = {
    "-": "-",
    "e": "\\",
    "\\": "\\",
    " ": " ",
    "~": " ",
    "0": " ",
    "t": "\t",
    "'": "´",
    "`": "`",
    ".": ".",
    "_": "_",
}
_SPECIAL = {
    "bu": "•", "em": "—", "en": "–", "hy": "-", "mi": "-", "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "aq": "'",
    "dq": '"',
    "co": "©", "rg": "®", "tm": "™", "rs": "\\", "ga": "`", "ha": "^", "ti": "~", "at": "@", "sh": "#", "Do": "$",
    "la": "⟨", "ra": "⟩", "<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "<-": "←", "mu": "×", "+-": "±", "de": "°",
    "ss": "ß", ":a": "ä", ":o": "ö", ":u": "ü", ":A": "Ä", ":O": "Ö", ":U": "Ü", "'e": "é", "`e": "è", "^e": "ê",
    "'a": "á", "`a": "à", "^a": "â", "'o": "ó", "^o": "ô", "'u": "ú", "`u": "ù", "'i": "í", "^i": "î", ",c": "ç",
    "~n": "ñ", "oa": "å", "/o": "ø", "ae": "æ", "or": "|", "ba": "|", "bv": "|", "pl": "+", "eq": "=",
    "lB": "[", "rB": "]",
    "lC": "{", "rC": "}", "Fo": "«", "Fc": "»", "12": "½", "sc": "§", "pc": "·", "dg": "†", "sq": "□", "OK": "✓",
}  # fmt: skip
_STRINGS = {
    'L"': '"',
    'R"': '"',
    "--": "-",
    "C+": "C++",
    "lq": "“",
    "rq": "”",
    "R": "®",
    "Tm": "™",
    "Lt": "<",
    "Gt": ">",
}
_UNICODE = re.compile(r"u([0-9A-F]{4,6})")
_LINE = re.compile(r"[.'][ \t]*([^\s\\\"]{1,20}|\\\\?[\"}])?[ \t]*")
_ARGUMENT = re.compile(r'"((?:[^"\n]|"")*)"?|((?:\\.|[^\s\\])+)')
_FONTS = frozenset("B I SM SB R CW".split())
_ALTERNATING = frozenset("BR IR RB RI BI IB".split())
_PARAGRAPHS = frozenset("PP P LP sp RS RE Pp Lp HP El Ed TE EX EE DS DE Bl Bd UN SY YS".split())
_VERBATIM = {"nf": "fi", "EX": "EE", "Vb": "Ve", "DS": "DE"}
_HEADINGS = {"SH": 1, "Sh": 1, "SS": 2, "Ss": 2}
_TAGGED = frozenset("TP TQ".split())
_CLOSING = frozenset(".,;:)]?!")
_AROUND = {  # of mdoc: what stands before and after the words of a macro
    "Op": "[]", "Oo": "[]", "Pq": "()", "Po": "()", "Bq": "[]", "Dq": "“”", "Do": "“”", "Sq": "‘’", "So": "‘’",
    "Qq": '""', "Ql": "‘’", "Brq": "{}", "Aq": "<>",
}  # fmt: skip
_MDOC_WORDS = frozenset(
    "Fl Ar Nm Nd Cm Pa Ev Er Em Sy Li Ic Va Vt Fa Fn Ft Fd Xr Cd Dv No Ns Ad An Lk Mt Tn St Bx Ux At Ms Ap Rv In "
    "Lb Fx Nx Ox Dl D1 Px Xo Xc Oc Pc Dc Sc Oo Po Do So".split()
).union(_AROUND)
_SYSTEMS = {
    "Bx": "BSD",
    "Ux": "UNIX",
    "Fx": "FreeBSD",
    "Nx": "NetBSD",
    "Ox": "OpenBSD",
    "At": "AT&T UNIX",
    "Px": "POSIX",
}


def read(source: str, name: str) -> Document:
    """Read a manual page. Its title is its name with the section and what it says it is: "ls(1): list files"."""
    reading = _ManReading(source)
    starts = [*line_starts(source), len(source)]
    for start, end in pairwise(starts):
        reading.take(start, start + len(source[start:end].rstrip("\r\n")))
    reading.end()
    own = reading.name or PurePath(name).name.partition(".")[0]
    title = f"{own}({reading.section})" if reading.section else own
    about = next((block.text for block in reading.blocks if not block.level), "")
    about = re.split(r" [-–—] ", " ".join(about.split()), maxsplit=1)[-1] if reading.is_named else ""
    return Document(source, reading.blocks, "man", f"{title}: {about}" if about else title, reading.metadata)


@dataclass(slots=True)
class _ManReading:
    """The state of reading one page."""

    source: str
    blocks: list[Block] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    name: str = ""
    section: str = ""
    is_named: bool = False  # its first section says what it is
    text: PlacedText = field(default_factory=PlacedText)
    verbatim: str = ""  # the request that ends it
    skipped: str = ""  # likewise, of a definition
    depth: int = 0  # of conditions
    wants: str = ""  # what the next line is: "tag", or a heading's level
    glued: bool = False  # the next line goes on in the same word
    table: str = ""  # the part of a table that we are in: "format" or "rows"

    def take(self, start: int, end: int) -> None:
        """Read a line."""
        line = self.source[start:end]
        if self.skipped:
            if line.strip(" \t") == self.skipped:
                self.skipped = ""
        elif self.depth:
            self.depth += line.count("\\{") - line.count("\\}")
        elif line[:1] in (".", "'"):
            self._request(line, start)
        elif self.table == "format":
            self.table = "rows" if line.rstrip().endswith(".") else "format"
        elif not line.strip():
            self._break() if self.verbatim else self.end()
        elif self.table:
            self._row(line, start)
        else:
            if line[0] in " \t" and not self.verbatim:
                self.end()
            self._line([(start, end)])

    def end(self) -> None:
        """End the paragraph."""
        text, self.text = self.text.stripped(), PlacedText()
        if text.text:
            self.blocks.append(text.block(self.source))
        self.glued = False

    def _request(self, line: str, start: int) -> None:
        found = _LINE.match(line)
        macro = (found and found[1]) or ""
        at = found.end() if found else 1
        if macro in ("de", "de1", "am", "ig"):
            self.skipped = f".{line[at:].split()[1]}" if len(line[at:].split()) > 1 else ".."
        elif macro in ("if", "ie", "el", "while"):
            self.depth = max(0, line.count("\\{") - line.count("\\}"))
        elif macro in _HEADINGS:
            self.end()
            self.verbatim = self.table = ""
            arguments = self._arguments(start + at, start + len(line))
            self.wants = str(_HEADINGS[macro])
            if arguments:
                self._line(arguments)
        elif self.verbatim and macro == self.verbatim:
            self.end()
            self.verbatim = ""
        elif macro in _VERBATIM or (macro == "Bd" and ("-literal" in line or "-unfilled" in line)):
            self.end()
            self.verbatim = _VERBATIM.get(macro, "Ed")
        elif macro in _PARAGRAPHS:
            self.end()
            self.table = ""
        elif macro == "br":
            self._break()
        elif macro == "TS":
            self.end()
            self.table = "format"
        elif macro in ("TH", "Dt"):
            arguments = self._arguments(start + at, start + len(line))
            self.name, self.section, *_ = *(self._clean(*span).text for span in arguments[:2]), "", ""
            self.name = self.name.lower() if self.name.isupper() else self.name
            if self.section:
                self.metadata["section"] = self.section
        elif macro in _TAGGED:
            self.end()
            self.wants = "tag"
        elif macro == "IP":
            self.end()
            if (arguments := self._arguments(start + at, start + len(line))) and not self._is_mark(*arguments[0]):
                self._line(arguments[:1])
        elif macro == "It":
            self.end()
            if line[at:].strip():
                self._mdoc("No", start + at, start + len(line))
        elif macro in _FONTS or macro in _ALTERNATING or macro in ("OP", "MR"):
            if arguments := self._arguments(start + at, start + len(line)):
                self._line(arguments, between="" if macro in _ALTERNATING else " ", is_macro=True)
        elif macro in _MDOC_WORDS:
            self._mdoc(macro, start + at, start + len(line))

    def _line(self, spans: list[tuple[int, int]], *, between: str = " ", is_macro: bool = False) -> None:
        """Add a line of text: the parts of the source at some spans."""
        line = PlacedText()
        for start, end in spans:
            cleaned = self._clean(start, end)
            if line and cleaned:
                line.add_unplaced(between) if between else None
            line.add_all(cleaned)
        glue, self.glued = self.glued, self.source[: spans[-1][1]].endswith("\\c")
        self._add(line, glue=glue, is_macro=is_macro)

    def _add(self, line: PlacedText, *, glue: bool = False, is_macro: bool = False) -> None:
        if not line:
            return
        if self.wants.isdigit():
            heading = line.on_one_line()
            if heading.text:
                level, self.wants = int(self.wants), ""
                self.is_named = self.is_named or not self.blocks
                self.blocks.append(heading.block(self.source, level))
            return
        if self.text and not glue and not self.text.text.endswith("\n"):
            self.text.add_unplaced(" " if is_macro and not self.verbatim else "\n")
        self.text.add_all(line)
        self.wants = ""

    def _break(self) -> None:
        if self.text and not self.text.text.endswith("\n"):
            self.text.add_unplaced("\n" if not self.verbatim else "")

    def _row(self, line: str, start: int) -> None:
        """A line of a table: its cells are divided by tabs; a longer cell stands between T{ and T}."""
        cells = [
            (start + found.start(), start + found.end())
            for found in re.finditer(r"[^\t]+", line)
            if found[0].strip() not in ("T{", "T}", "_", "=", ".T&", "")
        ]
        if cells:
            self._line(cells, between=" | ")
        if "T{" not in line[-3:]:
            self.end()

    def _arguments(self, start: int, end: int) -> list[tuple[int, int]]:
        found = []
        for argument in _ARGUMENT.finditer(self.source, start, end):
            if argument[0].startswith('\\"'):
                break
            found.append(argument.span(1 if argument[1] is not None else 2))
        return [span for span in found if span[0] < span[1]]

    def _is_mark(self, start: int, end: int) -> bool:
        """Whether the tag of a paragraph is the mark of a list."""
        return self._clean(start, end).text.strip() in ("•", "*", "-", "–", "o", "·", "")

    def _clean(self, start: int, end: int) -> PlacedText:
        """The text of a span, without escape sequences."""
        text, last = PlacedText(), start
        for found in _ESCAPE.finditer(self.source, start, end):
            if found.start() > last:
                text.add(self.source[last : found.start()], last)
            last = found.end()
            if found["comment"]:
                return text
            if shown := _shown(found):
                text.add(shown, found.start())
        if last < end:
            text.add(self.source[last:end], last)
        return text

    def _mdoc(self, macro: str, start: int, end: int) -> None:
        """Add a line of mdoc: macros among its words change the words after them."""
        line, closers, tight, is_flag = PlacedText(), "", True, False
        for word, (first, last) in [(macro, (start, start)), *self._words(start, end)]:
            if word in _MDOC_WORDS:
                is_flag = word == "Fl"
                if word in _AROUND and not word.endswith("o"):
                    self._word(line, _AROUND[word][0], first, tight)
                    closers, tight = _AROUND[word][1] + closers, True
                elif word == "Ns":
                    tight = True
                elif word in _SYSTEMS or (word == "Nm" and not self.source[last:end].strip()):
                    self._word(line, _SYSTEMS.get(word, self.name), first, tight)
                    tight = False
                continue
            if word in _CLOSING:
                line.add(word, first)
                continue
            if line.text[-1:].isalnum() and word.isdigit() and "Xr" in self.source[start - 5 : first]:
                line.add(f"({word})", first)
                continue
            if is_flag:
                self._word(line, "-", first, tight)
                tight = True
            self._word(line, word, first, tight)
            tight = False
        if closers:
            line.add_unplaced(closers)
        if macro == "Nm" and line and not self.name:
            self.name = line.text
        if macro == "Nd":
            dashed = PlacedText()
            dashed.add("- ", start)
            dashed.add_all(line)
            line = dashed
        self._add(line, is_macro=True)

    def _words(self, start: int, end: int) -> Iterator[tuple[str, tuple[int, int]]]:
        for span in self._arguments(start, end):
            yield self._clean(*span).text, span

    @staticmethod
    def _word(line: PlacedText, word: str, start: int, tight: bool) -> None:
        if line and not tight:
            line.add_unplaced(" ")
        if word:
            line.add(word, start)


def _shown(found: re.Match[str]) -> str:
    """What an escape sequence shows."""
    if one := found["one"]:
        return _ONE.get(one, "")
    string = found["string2"] or found["strings"] or found["string1"]
    if string:
        return _STRINGS.get(string, "")
    named = found["two"] or found["named"] or ""
    if code := _UNICODE.fullmatch(named):
        number = int(code[1], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else ""
    return _SPECIAL.get(named, "")
