"""The syntax of queries: phrases that passages must have, and words that they must not have.

    "key rotation"      these words, one after the other: in double quotes, straight or curly ones
    -draft  -"old key"  not this word, not this phrase

A hyphen leaves out only what follows it directly, behind a blank or at the beginning: a word that begins with a letter
and has two letters or more. So -5, -x, --rerank, e-mail, state-of-the-art and "- item" are text, and in a query of
several lines so is what begins one: it is an item of a list. A quote opens behind a blank or at the beginning; one that
is not closed, or has no word in it, is text, as in 5" disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from semsearch.errors import UsageError, quoted
from semsearch.results.options import Syntax
from semsearch.text.tokens import words

_MAY_HAVE_SYNTAX = re.compile(r'(?:^|\s)-?["“„«]|(?:^|\s)-\w')  # cheaper than parsing each query
_QUOTED = r'"([^"]*)"|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»'
_MOST = 500  # phrases and words to leave out: each is looked up in the index
_PARTS = re.compile(rf"(?<!\S)(-?)(?:{_QUOTED})|(?<!\S)-([^\W\d_]\S*)")


@dataclass(frozen=True, slots=True)
class QuerySyntax:
    """A parsed query: the text that is compared, and the phrases, of one word or more, that decide."""

    text: str
    must: tuple[str, ...] = ()  # phrases that a passage must have
    must_not: tuple[str, ...] = ()
    has_other_words: bool = False  # beside the phrases


def parse_query(query: str, syntax: Syntax) -> QuerySyntax:
    """Parse a query; with the syntax "plain" all of it is text. Raises UsageError for one that only excludes words."""
    if syntax != "full" or not _MAY_HAVE_SYNTAX.search(query):
        return QuerySyntax(query)
    must, must_not, text, other, done = list[str](), list[str](), "", "", 0
    for match, phrase, is_excluded in _phrases(query):
        between = query[done : match.start()]
        (must_not if is_excluded else must).append(phrase)
        text += between + ("" if is_excluded else phrase)
        other += between
        done = match.end()
    if not must and not must_not:
        return QuerySyntax(query)
    if len(must) + len(must_not) > _MOST:
        raise UsageError(f"the query has more than {_MOST} phrases and excluded words; give it as plain text")
    text = (text + query[done:]).strip()
    if not words(text):
        raise UsageError(f"the query {quoted(query)} only excludes words; add words to search for")
    return QuerySyntax(text, tuple(must), tuple(must_not), has_other_words=bool(words(other + query[done:])))


def _phrases(query: str) -> Iterator[tuple[re.Match[str], str, bool]]:
    """The parts of a query that are phrases or words to leave out, and whether they are left out."""
    for match in _PARTS.finditer(query):
        minus, *in_quotes, word = match.groups()
        phrase = word or next((text for text in in_quotes if text is not None), "")
        is_excluded = bool(minus or word)
        if words(phrase) and not (is_excluded and _is_text(query, match.start(), word)):
            yield match, phrase, is_excluded


def _is_text(query: str, start: int, word: str | None) -> bool:
    """Return whether what a hyphen stands before is not left out: one letter, as of an option; an item of a list."""
    if word is not None and len(parts := words(word)) == 1 and len(parts[0]) == 1 and parts[0].isascii():
        return True
    return "\n" in query and query[:start].rpartition("\n")[2].strip() == ""
