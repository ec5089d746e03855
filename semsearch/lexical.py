"""A question as an FTS5 expression, and a text as FTS5 shall see it.

Every word of the question is quoted and joined by OR, so that nothing a user types is FTS5 syntax and no word must
occur; bm25 ranks. Where a question holds something written together (utf-8, read_bytes, 3.11), that also counts as a
phrase. Words are cut as everywhere else (semsearch.tokens), so that scripts without spaces are found too.
"""

from __future__ import annotations

from semsearch.tokens import normalise, words

_FUNCTION_WORDS = """
    a about an and any are as at be been but by can could d did do does doesn don for from had has have he her his
    how i if in into is isn it its ll m may me my no not of on or our re s she should so some t than that the their
    them then there these they this those to too us ve was we were what when where which who whom whose why will
    with would you your
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


def searchable(text: str) -> str:
    """The text to give to FTS5: as it is, or with our word boundaries where the alphabet is not enough."""
    return text if text.isascii() else normalise(text)


def terms(query: str) -> list[str]:
    """The words and phrases to look for, each once; function words only where there is nothing else."""
    chunks = [words(chunk) for chunk in query.split()]
    content = [chunk for chunk in chunks if any(word not in STOP_WORDS for word in chunk)]
    single = [word for chunk in content for word in chunk if word not in STOP_WORDS]
    together = [" ".join(chunk) for chunk in content if len(chunk) > 1 and not set(chunk) & STOP_WORDS]
    everything = [word for chunk in chunks for word in chunk]
    return list(dict.fromkeys(single + together)) or list(dict.fromkeys(everything))


def expression(query: str) -> str:
    """The FTS5 expression of a question; empty where it has no words."""
    return " OR ".join(f'"{term}"' for term in terms(query))


def shared_words(query: str, sentence: str) -> int:
    """How many different words of the question a sentence has: what a lexical hit quotes."""
    asked = {word for term in terms(query) for word in term.split()}
    return len(asked & set(words(sentence)))
