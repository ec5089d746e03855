"""The length of a text in words, and the headings above it.

The length in words bounds passages and contexts. The words of Chinese, Japanese and Korean text are its characters. Ten
characters count as one word at least: prose in any language has fewer per word, so only what is not prose (base64,
minified code, a table of hashes) counts for more than its words, and a limit in words is also one in characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import takewhile


def heading_text(title: str, headings: Sequence[str]) -> str:
    """The text that is embedded with a passage's sentences: the title and each heading above it, once, a line each."""
    return "\n".join(dict.fromkeys(text for text in (title, *headings) if text))


def new_headings(before: Sequence[str], headings: Sequence[str]) -> Sequence[str]:
    """The headings of a passage that the passage before does not have."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, headings, strict=False)))
    return headings[same:]


CHARACTERS = 10  # of a word, at most
# compiled when it is first needed, which takes 2 ms
_SOLITARY = "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"


def count_words(text: str) -> int:
    """Count the words of a text. A longer beginning of the same text never counts less."""
    count = len(text.split())
    if not text.isascii():
        count += len(re.findall(_SOLITARY, text))
    return max(count, -(-len(text) // CHARACTERS))


def cut_to(text: str, most: int) -> str:
    """The beginning of a text, of at most `most` words. It is cut between words, unless the last word is half of it."""
    end = bisect_right(range(1, min(len(text), most * CHARACTERS) + 1), most, key=lambda n: count_words(text[:n]))
    if end < len(text) and not text[end].isspace():
        end = max((index for index in range(end // 2, end) if text[index].isspace()), default=end)
    return text[:end].rstrip()
