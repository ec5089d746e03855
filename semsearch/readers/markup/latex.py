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

from semsearch.readers.align import Aligner, blanked
from semsearch.readers.document import Block, Document, title_of

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
)
_TARGET = re.compile(r"\\href\s*\{[^{}]*\}")
_MATH = re.compile(r"\$([^$]+)\$|\\\((.{1,2000}?)\\\)", re.DOTALL)
_ACCENT = re.compile(r"\\(?:(['`^\"~=.])\s*|([cvHuk])(?=\s|\{)\s*)(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))")
_SIGNS = "\u0301\u0300\u0302\u0308\u0303\u0304\u0307\u0327\u030c\u030b\u0306\u0328"
_ACCENTS = dict(zip("'`^\"~=.cvHuk", _SIGNS, strict=True))
_LETTERS = {
    "ss": "ß", "ae": "æ", "oe": "œ", "AE": "Æ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł",
    "ldots": "…", "dots": "…", "LaTeX": "LaTeX", "TeX": "TeX", "S": "§", "textbackslash": "\\", "i": "i", "quad": " ",
}  # fmt: skip
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?(?:\[[^\]\r\n]{0,500}\])?(?:\{\}|[ \t]+|(?=\W|\Z))")
_MARKS = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("~", " "), ("\\,", " "), ("\\ ", " "), ("\\-", ""))
_ESCAPED = re.compile(r"\\([%&$#_{}])")
_SPACES = re.compile(r"[ \t]{2,}")
_LINE_END = re.compile(r"[ \t]*(?:\r\n?|\n)\s*")
_BEFORE_MARK = re.compile(r"(?<!\s)\s+(?=[.,;:!?)])")


@dataclass(frozen=True, slots=True)
class _TexPiece:
    """A paragraph, heading or listing, as offsets in the source."""

    start: int
    end: int
    level: int = 0
    verbatim: bool = False


def read(source: str, name: str) -> Document:
    r"""Read a LaTeX text. Its title is what \title says, else its first heading, else its name."""
    plain = blanked(_COMMENT, source)
    head = {key: clean(plain[span[0] : span[1]]) for key in ("title", "author") if (span := _argument(plain, key))}
    begin, end = plain.find("\\begin{document}"), plain.find("\\end{document}")
    low = begin + len("\\begin{document}") if begin >= 0 else 0
    high = end if end >= 0 else len(plain)
    apart = list(_apart(plain, low, high))
    text = blanked(_HIDDEN, _without(apart, plain))
    notes = [_TexPiece(inner, stop - 1) for _, inner, stop in apart]
    blocks = list(_blocks(source, plain, text, _pieces(text, low, high), notes))
    title = title_of(name, head.get("title", ""), next((block.text for block in blocks if block.level), ""))
    metadata = {key: " ".join(value.split()) for key, value in head.items() if value.strip()}
    return Document(source, blocks, "latex", title, metadata)


def _blocks(source: str, plain: str, text: str, pieces: Iterator[_TexPiece], notes: list[_TexPiece]) -> Iterator[Block]:
    """Yield the blocks of pieces, each followed by the notes in it; `text` is the source without notes."""
    main, side = Aligner(text), Aligner(plain)
    for piece in pieces:
        if piece.verbatim:
            code = source[piece.start : piece.end].strip("\r\n").rstrip()
            if code.strip():
                yield Block(code, source.index(code, piece.start))
        else:
            yield from _block(clean(text[piece.start : piece.end]), source, main, piece)
        while notes and notes[0].start < piece.end:
            note = notes.pop(0)
            yield from _block(clean(plain[note.start : note.end]), source, side, note)
    for note in notes:
        yield from _block(clean(plain[note.start : note.end]), source, side, note)


def _block(text: str, source: str, aligner: Aligner, piece: _TexPiece) -> Iterator[Block]:
    if piece.level:
        text = " ".join(text.split())
    if any(character.isalnum() for character in text):
        start = source.find(text, piece.start, piece.end)
        anchors = aligner.locate(text, piece.start, piece.end) if start < 0 else ()
        yield Block(text, anchors[0][1] if anchors else start, piece.level, anchors=anchors)


def _pieces(text: str, low: int, high: int) -> Iterator[_TexPiece]:
    start = low
    while start < high:
        match = _BOUNDARY.search(text, start, high)
        yield _TexPiece(start, match.start() if match else high)
        if match is None:
            return
        start = match.end()
        if match["section"]:
            end = _closing(text, start, high)
            yield _TexPiece(start + 1, end, _LEVELS[match["section"]])
            start = end + 1
        elif match["verbatim"]:
            opened = re.compile(_CODE).match(text, match.start())
            closing = text.rfind("\\end", match.start(), match.end())
            yield _TexPiece(opened.end() if opened else start, closing if closing > 0 else match.end(), verbatim=True)


def _apart(text: str, low: int, high: int) -> Iterator[tuple[int, int, int]]:
    """Yield the offsets of each footnote and caption: its beginning, the beginning of its text, and its end."""
    while match := _APART.search(text, low, high):
        low = _closing(text, match.end(), high) + 1
        yield match.start(), match.end() + 1, low


def _without(parts: list[tuple[int, int, int]], text: str) -> str:
    """The text with spaces in place of what stands apart."""
    kept, end = [], 0
    for start, _, stop in parts:
        kept += [text[end:start], " " * (stop - start)]
        end = stop
    return "".join([*kept, text[end:]])


def _argument(text: str, command: str) -> tuple[int, int] | None:
    match = re.search(rf"\\{command}\s*(?:\[[^\]]{{0,2000}}\])?(?=\{{)", text)
    return (match.end() + 1, _closing(text, match.end(), len(text))) if match else None


def _closing(text: str, opening: int, high: int) -> int:
    """The offset of the brace that closes the one at `opening`; the end of the text, if none does."""
    depth = 0
    for brace in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, opening, high):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if depth == 0 and brace[0] == "}":
            return brace.start()
    return high


def clean(text: str) -> str:
    """The visible text of a paragraph."""
    parts = []
    end = 0
    for match in _MATH.finditer(text):
        parts += [_clean_words(text[end : match.start()]), (match[1] or match[2]).strip()]
        end = match.end()
    joined = "".join([*parts, _clean_words(text[end:])])
    return _BEFORE_MARK.sub("", _LINE_END.sub("\n", _SPACES.sub(" ", joined))).strip()


def _clean_words(text: str) -> str:
    text = _TARGET.sub("", _GONE.sub("", text))
    text = _ACCENT.sub(_accented, text)
    text = _COMMAND.sub(lambda match: _LETTERS.get(match[1], ""), text.replace("\\\\", "\n"))
    for mark, shown in _MARKS:
        text = text.replace(mark, shown)
    held = _ESCAPED.sub(lambda match: {"{": "\x02", "}": "\x03"}.get(match[1], match[1]), text)
    return held.replace("{", "").replace("}", "").replace("\x02", "{").replace("\x03", "}")


def _accented(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", (match[3] or match[4]) + _ACCENTS[match[1] or match[2]])
