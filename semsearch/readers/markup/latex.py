r"""LaTeX: sections, paragraphs, items, captions and footnotes, without the commands between the words.

Left out are comments, the preamble but for title and author, pictures, displayed formulas, references and citations; a
formula within a sentence is kept as it is written. Commands that are not known here give their arguments. No file is
included and no macro expanded. Footnotes and captions follow the paragraph that they stand in.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from semsearch.readers.document import Block, Document, title_of
from semsearch.readers.placed_text import PlacedText

_LEVELS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
}
_COMMENT = re.compile(r"(?<!\\)%[^\r\n]*")
_HIDDEN = re.compile(
    r"\\begin\s*\{(?P<name>(?:equation|align|gather|multline|eqnarray|displaymath|math|tikzpicture|picture|comment|"
    r"filecontents|thebibliography)\*?)\}.*?(?:\\end\s*\{(?P=name)\}|\Z)"
    r"|\\\[.*?(?:\\\]|\Z)|\$\$.*?(?:\$\$|\Z)",
    re.DOTALL,
)
_CODE = r"\\begin\s*\{(?P<code>(?:verbatim|Verbatim|lstlisting|minted)\*?)\}(?:\[[^\]]*\]|\{[^}]*\})*[ \t]*"
_BOUNDARY = re.compile(
    rf"(?P<verbatim>{_CODE}.*?(?:\\end\s*\{{(?P=code)\}}|\Z))"
    r"|\\(?P<section>" + "|".join(_LEVELS) + r")\*?\s*(?:\[[^\]]{0,2000}\])?\s*(?=\{)"
    r"|\\(?:begin|end)\s*\{[^{}]{0,200}\}(?:\s?\[[^\]]{0,2000}\]|\s?\{[^{}]*\})*"
    r"|\\item\b|\\par\b|\\maketitle\b|(?:\r\n|\n|\r(?!\n))[ \t]*(?:\r\n|\n|\r(?!\n))|\\\\(?=\s*[\r\n])",
    re.DOTALL,
)
_APART = re.compile(r"\\(?:caption|footnote|footnotetext)\s*(?:\[[^\]]{0,2000}\])?(?=\{)")
_GONE = re.compile(
    r"\\(?:label|ref|eqref|pageref|autoref|cref|Cref|[Cc]ite\w*|nocite|bibliography\w*|includegraphics|input|include|"
    r"index|vspace|hspace|usepackage|newcommand|renewcommand|setlength|pagestyle|thispagestyle|setcounter|"
    r"addtocounter|addcontentsline|hypersetup|documentclass|fontsize)\*?(?:\s?\[[^\]]{0,2000}\])*(?:\s?\{[^{}]*\})*"
    r"|\\href\s*\{[^{}]*\}"
)
_MATH = re.compile(r"\$([^$]+)\$|\\\((.{1,2000}?)\\\)", re.DOTALL)
_ACCENT = re.compile(r"\\(?:(['`^\"~=.])\s*|([cvHuk])(?=\s|\{)\s*)(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))")
_SIGNS = "\u0301\u0300\u0302\u0308\u0303\u0304\u0307\u0327\u030c\u030b\u0306\u0328"
_ACCENTS = dict(zip("'`^\"~=.cvHuk", _SIGNS, strict=True))
_LETTERS = {
    "ss": "ß", "ae": "æ", "oe": "œ", "AE": "Æ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł",
    "ldots": "…", "dots": "…", "LaTeX": "LaTeX", "TeX": "TeX", "S": "§", "textbackslash": "\\", "i": "i", "quad": " ",
}  # fmt: skip
_COMMAND = re.compile(r"\\(?:\\|([A-Za-z]+)\*?(?:\[[^\]\r\n]{0,500}\])?(?:\{\}|[ \t]+|(?=\W|\Z)))")
_MARKS = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " ", "\\,": " ", "\\ ": " ", "\\-": "", "{": "", "}": ""}
_MARK = re.compile(r"\\[%&$#_{}]|" + "|".join(map(re.escape, _MARKS)))
_SPACES = re.compile(r"[ \t]{2,}")
_LINE_END = re.compile(r"[ \t]*(?:\r\n?|\n)\s*")
_BEFORE_MARK = re.compile(r"(?<!\s)\s+(?=[.,;:!?)])")


@dataclass(frozen=True, slots=True)
class _TexPiece:
    """A paragraph, heading, note or listing: it is text[start:end], and the source's from there on."""

    start: int
    end: int
    text: str
    level: int = 0
    is_verbatim: bool = False


def read(source: str, name: str) -> Document:
    r"""Read a LaTeX text. Its title is what \title says, else its first heading, else its name."""
    plain = _blanked(_COMMENT, source)
    head = {key: " ".join(_argument(plain, key).split()) for key in ("title", "author")}
    begin, end = plain.find("\\begin{document}"), plain.find("\\end{document}")
    low = begin + len("\\begin{document}") if begin >= 0 else 0
    high = end if end >= 0 else len(plain)
    main, notes = _notes_apart(plain, low, high)
    pieces = [*_pieces(_blanked(_HIDDEN, main), low, high), *notes]
    pieces.sort(key=lambda piece: piece.start)  # a note follows the paragraph that it stands in
    blocks = [block for piece in pieces if (block := _block(piece, source))]
    title = title_of(name, head["title"], next((block.text for block in blocks if block.level), ""))
    return Document(source, blocks, "latex", title, {key: value for key, value in head.items() if value})


def _blanked(pattern: re.Pattern[str], source: str) -> str:
    """Replace all matches of a pattern by as many spaces, so that offsets hold."""
    return pattern.sub(lambda match: " " * len(match[0]), source)


def _block(piece: _TexPiece, source: str) -> Block | None:
    text = PlacedText()
    if piece.is_verbatim:
        code = source[piece.start : piece.end].strip("\r\n").rstrip()
        text.add(code, source.find(code, piece.start))
        return text.block(source) if code.strip() else None
    text.add(piece.text[piece.start : piece.end], piece.start)
    text = clean(text)
    if not any(map(str.isalnum, text.text)):
        return None
    return text.on_one_line().block(source, piece.level) if piece.level else text.block(source)


def _pieces(text: str, low: int, high: int) -> Iterator[_TexPiece]:
    start = low
    while start < high:
        match = _BOUNDARY.search(text, start, high)
        yield _TexPiece(start, match.start() if match else high, text)
        if match is None:
            return
        start = match.end()
        if match["section"]:
            end = _closing(text, start, high)
            yield _TexPiece(start + 1, end, text, _LEVELS[match["section"]])
            start = end + 1
        elif match["verbatim"]:
            opened = re.compile(_CODE).match(text, match.start())
            closing = text.rfind("\\end", match.start(), match.end())
            end = closing if closing > 0 else match.end()
            yield _TexPiece(opened.end() if opened else start, end, text, is_verbatim=True)


def _notes_apart(text: str, low: int, high: int) -> tuple[str, list[_TexPiece]]:
    """The text with spaces in place of footnotes and captions, and these."""
    main, notes, end = list[str](), list[_TexPiece](), 0
    while match := _APART.search(text, low, high):
        low = _closing(text, match.end(), high) + 1
        notes.append(_TexPiece(match.end() + 1, low - 1, text))
        main += [text[end : match.start()], " " * (low - match.start())]
        end = low
    return "".join([*main, text[end:]]), notes


def _argument(text: str, command: str) -> str:
    r"""What a text has as the argument of \command; "" if nothing."""
    match = re.search(rf"\\{command}\s*(?:\[[^\]]{{0,2000}}\])?(?=\{{)", text)
    argument = PlacedText()
    if match:
        argument.add(text[match.end() + 1 : _closing(text, match.end(), len(text))], match.end() + 1)
    return clean(argument).text


def _closing(text: str, opening: int, high: int) -> int:
    """The offset of the brace that closes the one at `opening`; the end of the text, if none does."""
    depth = 0
    for brace in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, opening, high):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if depth == 0 and brace[0] == "}":
            return brace.start()
    return high


def clean(text: PlacedText) -> PlacedText:
    """The visible text of a paragraph."""
    shown, end = PlacedText(), 0
    for match in _MATH.finditer(text.text):
        shown.add_all(_clean_words(text.cut(end, match.start())))
        shown.add_all(text.cut(*match.span(1 if match[1] else 2)).stripped())
        end = match.end()
    shown.add_all(_clean_words(text.cut(end, len(text.text))))
    return shown.replaced(_SPACES, " ").replaced(_LINE_END, "\n").replaced(_BEFORE_MARK).stripped()


def _clean_words(text: PlacedText) -> PlacedText:
    text = text.replaced(_GONE).replaced(_ACCENT, _accented)
    text = text.replaced(_COMMAND, lambda match: _LETTERS.get(match[1], "") if match[1] else "\n")
    return text.replaced(_MARK, lambda match: _MARKS.get(match[0], match[0][1:]))


def _accented(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", (match[3] or match[4]) + _ACCENTS[match[1] or match[2]])
