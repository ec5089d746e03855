"""How long a text is, in words: what bounds a passage, and a context.

The words of Chinese, Japanese and Korean text are its characters. And ten characters are a word at the least: prose
in any language has fewer to a word, so only what is no prose (base64, minified code, a table of hashes) counts more
than its words, and a limit in words is one in characters too.
"""

from __future__ import annotations

import re
from bisect import bisect_right

CHARACTERS = 10  # to a word, at the most
_SOLITARY = re.compile("[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")


def count_words(text: str) -> int:
    """Never less for a longer beginning of the same text."""
    count = len(text.split())
    if not text.isascii():
        count += len(_SOLITARY.findall(text))
    return max(count, -(-len(text) // CHARACTERS))


def cut_to(text: str, most: int) -> str:
    """The text's first words, at most so many; cut between words, unless the last is half of what fits."""
    end = bisect_right(range(1, min(len(text), most * CHARACTERS) + 1), most, key=lambda n: count_words(text[:n]))
    if end < len(text) and not text[end].isspace():
        end = max((place for place in range(end // 2, end) if text[place].isspace()), default=end)
    return text[:end].rstrip()
