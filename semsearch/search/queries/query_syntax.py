"""What a query says besides its words: phrases that a passage must have, and words that it must not have.

    "key rotation"      these words, one after the other: in double quotes, straight or curly ones
    -draft  -"old key"  not this word, not this phrase

A hyphen leaves out only what follows it at once, behind a blank or at the beginning: a word that begins with a letter
and has two letters or more. So -5, -x, --rerank, e-mail, state-of-the-art and "- item" are text, and in a query of
several lines so is what begins one: it is an item of a list. A quote opens behind a blank or at the beginning; one that
is not closed, or has no word in it, is text, as in 5" disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from semsearch.errors import UsageError
from semsearch.text.tokens import words

_QUOTED = r'"([^"]*)"|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»'
_MOST = 500  # phrases and words to leave out: each is looked up in the index
_PARTS = re.compile(rf"(?<!\S)(-?)(?:{_QUOTED})|(?<!\S)-([^\W\d_]\S*)")


@dataclass(frozen=True, slots=True)
class QuerySyntax:
    """A query taken apart: the text that is compared, and the phrases, of one word or more, that decide."""

    text: str
    must: tuple[str, ...] = ()  # phrases that a passage must have
    must_not: tuple[str, ...] = ()

    @property
    def decides(self) -> bool:
        """Return whether there is a phrase that passages must have, or must not have."""
        return bool(self.must or self.must_not)


def taken_apart(query: str) -> QuerySyntax:
    """Take a query apart. Raises UsageError for one that says only what to leave out."""
    must, must_not, text, done = list[str](), list[str](), list[str](), 0
    for match, phrase, is_excluded in _phrases(query):
        (must_not if is_excluded else must).append(phrase)
        text += [query[done : match.start()], "" if is_excluded else phrase]
        done = match.end()
        if len(must) + len(must_not) > _MOST:
            raise UsageError(f"the query has more than {_MOST} phrases and words to leave out; give it as plain text")
    if not must and not must_not:
        return QuerySyntax(query)
    whole = "".join([*text, query[done:]]).strip()
    if not words(whole):
        raise UsageError(f"the query {query!r} says only what to leave out; say also what to look for")
    return QuerySyntax(whole, tuple(must), tuple(must_not))


def _phrases(query: str) -> Iterator[tuple[re.Match[str], str, bool]]:
    """The parts of a query that are phrases or words to leave out, and whether they are left out."""
    for match in _PARTS.finditer(query):
        minus, *quoted, word = match.groups()
        phrase = word or next((each for each in quoted if each is not None), "")
        is_excluded = bool(minus or word)
        if words(phrase) and not (is_excluded and _is_text(query, match.start(), word)):
            yield match, phrase, is_excluded


def _is_text(query: str, start: int, word: str | None) -> bool:
    """Return whether what a hyphen stands before is not left out: one letter, as of an option; an item of a list."""
    if word is not None and len(found := words(word)) == 1 and len(found[0]) == 1 and found[0].isascii():
        return True
    return "\n" in query and query[:start].rpartition("\n")[2].strip() == ""
