"""Print answers on a terminal, with colours and links.

Only a terminal gets colours, and none if NO_COLOR is set. The closer a score is to the best one, the warmer its colour.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import zip_longest
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.style import Style
from rich.text import Text

from semsearch.cli.answer_formats import (
    Answer,
    breadcrumb,
    code_lines,
    explanation_lines,
    marks,
    near_duplicates,
    path_of,
    position_of,
    score_of,
    sentence_line,
    stale_mark,
)
from semsearch.cli.printing import one_line
from semsearch.results.hits import LINELESS, Hit
from semsearch.system.locations import uri_scheme
from semsearch.text.terms import content_words

WIDEST = 110  # columns of text: longer lines are hard to read
_LINES = 6  # of a long sentence
_CODE_LINES = 4  # of code, and blocks of a sentence that has several
_INDENT = 4
_LINKLESS = ("dumb", "linux")  # terminals that would show a link's address, or nothing
_SENTENCE_ENDS = (*".!?…:;,。！？।", '."', ".)", "?)", "!)")
_ENDINGS = re.compile(r"(?<=\w{4})(?:ing|ed|es|e)$|(?<=\w{2}[^\Ws])s$")


def print_answer(answer: Answer) -> None:
    """Print a block for each hit: rank, score, path:line › headings; the sentence with the query's words in bold."""
    console = Console(highlight=False, emoji=False, markup=False)
    width = min(console.width, WIDEST)
    if not answer.hits:
        Console(file=sys.stderr, highlight=False).print(Text(answer.no_hits_message, "dim"))
        return
    pattern = query_pattern(answer.corrected_query) if answer.marks_words else None
    if answer.mode == "exact":
        pattern = re.compile(r"\s+".join(map(re.escape, answer.query.split()))) if answer.query else None
    if answer.heading:
        console.print(Text(answer.heading, "yellow"))
    best = max(hit.score for hit in answer.hits)
    for hit, explanation in zip_longest(answer.hits, answer.explanations):
        score = (score_of(hit, answer.hits.verdict), heat(hit.score, best) if answer.hits.answered else "dim")
        console.print(heading(hit, score, width=console.width), soft_wrap=True)
        _print_below(console, quotation(hit, pattern, room=_LINES * (width - _INDENT)), width)
        if also := near_duplicates(hit):
            _print_below(console, Text(f"+ {also}", "dim"), width)
        if stale := stale_mark(hit):
            _print_below(console, Text(f"! {stale}", "yellow"), width)
        for line in explanation_lines(explanation) if explanation is not None else ():
            _print_below(console, Text(line, "dim"), width)
        console.print()
    if answer.weak:
        console.print(Text(answer.left_out(answer.weak), "dim"))


def _print_below(console: Console, text: Text, width: int) -> None:
    """Print a text below the heading of a hit, indented."""
    for line in text.wrap(console, width - _INDENT):
        line.pad_left(_INDENT)
        console.print(line, soft_wrap=True)


def heading(hit: Hit, score: tuple[str, str], *, width: int) -> Text:
    """The heading of a hit, with its score and the style of that: ` 1  0.813  docs/keys.md:42 › Keys › Rotation`.

    A path is never cut; a breadcrumb may be, and stands on the next line where there is no room.
    """
    line = Text.assemble((f"{hit.rank:>2}", "dim"), "  ", score, "  ")
    for mark in marks(hit):
        line.append(f"{mark} ", "cyan")
    is_file = hit.root and not uri_scheme(hit.root)
    linked = Style(link=link(hit)) if is_file and os.environ.get("TERM") not in _LINKLESS else Style.null()
    line.append(path_of(hit), Style(color="magenta") + linked)
    line.append(position_of(hit), Style(color="green") + linked)
    headings = breadcrumb(hit)
    beside = width - line.cell_len - 3
    if headings and cell_len(headings[-1]) + (4 if headings[1:] else 0) <= beside:
        line.append(f" › {shorten(headings, beside)}", "dim")
    elif headings:
        line.append(f"\n{'':{_INDENT}}{shorten(headings, width - _INDENT)}", "dim")
    return line


def shorten(headings: list[str], room: int) -> str:
    """Shorten a breadcrumb to the room there is, from its beginning: its end says more."""
    for first in range(len(headings)):
        text = " › ".join(["…", *headings[first:]] if first else headings)
        if cell_len(text) <= room:
            return text
    return set_cell_size(headings[-1], room - 1).rstrip() + "…"


def heat(score: float, best: float) -> str:
    """The colour of a score, by its share of the best one."""
    share = score / best if best > 0 else 0.0
    return "bold red" if share > 0.9 else "yellow" if share > 0.6 else "cyan" if share > 0.3 else "blue"


def quotation(hit: Hit, pattern: re.Pattern[str] | None, *, room: int) -> Text:
    """A hit's sentence between its neighbours, which are dim.

    A very long sentence is cut around the query's words; a date or number that surely answers is underlined. Rows of a
    table and other blocks stand on lines of their own. Of code, and of many blocks, it shows the few with most of these
    words.
    """
    blocks = hit.sentence.split("\n\n")
    in_blocks = (code_lines(block) or [sentence_line(block, hit.format)] for block in blocks)
    lines = code_lines(hit.sentence) or [line for lines in in_blocks for line in lines]
    is_apart = len(lines) > 1
    sentence = Text(_best_lines(lines, pattern, room) if is_apart else excerpt("".join(lines), pattern, room))
    if pattern is not None:
        sentence.highlight_regex(pattern, "bold")
    if hit.answer_span is not None:
        answer = re.escape(one_line(hit.sentence[slice(*hit.answer_span)]))
        sentence.highlight_regex(rf"(?<!\w){answer}(?!\w)", "bold underline")
    before, after = (
        [Text(sentence_line(text, hit.format), "dim") for text in texts] for texts in (hit.before, hit.after)
    )
    shown = Text()
    for text in (*before, sentence, *after):  # rows of a table and items of a list do not run together
        between = "" if not shown.plain else "\n" if is_apart or not shown.plain.endswith(_SENTENCE_ENDS) else " "
        shown = Text.assemble(shown, between, text)
    return shown


def _best_lines(lines: list[str], pattern: re.Pattern[str] | None, room: int) -> str:
    """The `_CODE_LINES` lines one after another in which most words of the query are."""
    words = [len(pattern.findall(line)) if pattern is not None else 0 for line in lines]
    first = max(range(max(1, len(lines) - _CODE_LINES + 1)), key=lambda at: (sum(words[at : at + _CODE_LINES]), -at))
    last = first + _CODE_LINES
    best = [excerpt(line, pattern, room // min(len(lines), _CODE_LINES)) for line in lines[first:last]]
    return "\n".join([*["…"][: bool(first)], *best, *["…"][: last < len(lines)]])


def excerpt(text: str, pattern: re.Pattern[str] | None, room: int) -> str:
    """A text, or as much of it around the first word of the query as there is room for."""
    if len(text) <= room:
        return text
    match = pattern.search(text) if pattern is not None else None
    first = min(max(0, (match.start() if match else 0) - room // 3), len(text) - room)
    cut = text[first : first + room - 2]
    if first:
        cut = "…" + cut[cut.find(" ") + 1 :]
    return cut if first + room - 2 >= len(text) else cut[: cut.rfind(" ")] + "…"


def query_pattern(query: str) -> re.Pattern[str] | None:
    """A pattern for the words of a query and their forms: rotate, rotates, rotating; None if it has no such words."""
    words = content_words(query)
    patterns = [_related(word) for word in sorted(words, key=len, reverse=True)]
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def _related(word: str) -> str:
    if not word.isascii():
        return re.escape(word)
    stem = _ENDINGS.sub("", word)
    return rf"(?<![^\W_]){stem}{'[a-z]{0,4}' if len(stem) > 3 else 's?'}(?![^\W_])"


def link(hit: Hit) -> str:
    """The address of a hit's file, with a fragment for the line, which some terminals pass to the editor.

    For a PDF the fragment is the page, at which browsers open it.
    """
    fragment = "" if hit.format in LINELESS else f"#{hit.line}"
    if hit.format == "pdf" and hit.page is not None:
        fragment = f"#page={hit.page}"
    return Path(hit.path).absolute().as_uri() + fragment
