"""Passages that list sources or contents: bibliographies, tables of contents with dots, indexes of books. Pure.

Such a passage has the words of many subjects, and says nothing about them. It is recognised by its form alone, in any
language: by years and by what stands in references (pages, initials, proceedings, addresses), of which prose that cites
has few outside of its citations; or by lines that end in page numbers.

Chosen on the reference lists of five papers (docs/research/measurements.md, "Lists of sources").
"""

from __future__ import annotations

import re

_FEW = 3  # years, or lines with page numbers
_FAR = 40  # words for each year
_SPARSE = 40  # words for each mark
_SHARE = 0.7  # marks for each year
_CHAPTER = 15  # words of a line of a table of contents
_MOST_LINES = 0.5  # share of the lines that end in page numbers
_LINE = 60  # characters of the text before the page numbers of a book's index

_YEAR = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
_CITED = re.compile(r"\([^()]{0,200}?(?:et al|&| and )[^()]{0,200}?\d{4}[^()]{0,40}\)|\bet al\W{0,3}\(?\d{4}")
_MARK = re.compile(
    r"\b(?:pp?\.\s?\d|S\.\s\d|Proc(?:eedings|\.)|arXiv|[Dd][Oo][Ii]\b|[Vv]ol(?:ume|\.)|Press\b|Journal\b|Conference\b"
    r"|In:? (?:Proc|Adv|International|Conf|[A-Z]{3,})|Trans(?:actions|\.)|preprint|[Ee]ds?\.|ISBN)"
    r"|\d\(\d+(?:[-–]\d+)?\)|[:,]\s?(?!\d{4}-\d\d-)\d+\s?[-–]{1,2}\s?\d+|https?://"
    r"|[,;&]\s(?:[A-Z]\.\s?){1,3}[,;(]|\b[A-Z]\.\s?[A-Z]"
)
_ADDRESS = re.compile(r"https?://\S+")
_LEADERS = re.compile(r"(?<!\.)(?<!\.\s)(?:\.\s?){4,}+(?:\d+|[ivxl]+)\b")
_PAGES = re.compile(rf"^\D{{1,{_LINE}}},\s\d+(?:\s?[-–]\s?\d+)?(?:,\s\d+(?:\s?[-–]\s?\d+)?)*$", re.MULTILINE)
_ASKS = re.compile(
    r"\b(?:(?:19|20)\d\d|et al|references?|bibliograph\w*|literature|cite[ds]?|citations?|contents|sources?|doi|isbn)\b"
    r"|literatur|bibliogra[fp]|библиограф|литератур|文献|参考",
    re.IGNORECASE,
)


def is_listing(text: str) -> bool:
    """Return whether a passage's text lists sources, or chapters or terms with their pages."""
    words = text.count(" ") + text.count("\n") + 1
    if text.count("19") + text.count("20") >= _FEW:  # cheaper than looking for years
        years = len(_YEAR.findall(_ADDRESS.sub(" ", _CITED.sub(" ", text))))
        if years >= _FEW and words <= _FAR * years:
            marks = len(_MARK.findall(text))
            if marks >= _SHARE * years and words <= _SPARSE * marks:
                return True
    if "...." in text or ". . . ." in text:
        leaders = len(_LEADERS.findall(text))
        return leaders >= _FEW and words <= _CHAPTER * leaders
    lines = text.count("\n") + 1
    if lines < _FEW or not text[: text.index("\n")].rstrip()[-1:].isdigit():
        return False
    return len(_PAGES.findall(text)) > max(_FEW - 1, _MOST_LINES * lines)


def asks_for_sources(query: str) -> bool:
    """Return whether a query asks for sources or contents themselves: by a year, or by a word for them."""
    return _ASKS.search(query) is not None
