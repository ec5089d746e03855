"""Excerpts of documents: the headings above them, their length in words, and sentences that cannot stand alone.

The length in words bounds passages and contexts. The words of Chinese, Japanese and Korean text are its characters. Ten
characters count as one word at least: prose in any language has fewer per word, so only what is not prose (base64,
minified code, a table of hashes) counts for more than its words, and a limit in words is also one in characters.

A passage that begins with "It" or "However" has lost what it speaks of; a list has lost its point without the line that
ends in a colon. A sentence that refers back is known by its first words, in English: a pronoun, a demonstrative, or a
connective.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence


def heading_text(title: str, headings: Sequence[str]) -> str:
    """The text that is embedded with a passage's sentences: the title and each heading above it, once, a line each."""
    return "\n".join(dict.fromkeys(text for text in (title, *headings) if text))


# -- Length ------------------------------------------------------------------------------------------------------------

CHARACTERS = 10  # of a word, at most
_SOLITARY = re.compile("[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")


def count_words(text: str) -> int:
    """Count the words of a text. A longer beginning of the same text never counts less."""
    count = len(text.split())
    if not text.isascii():
        count += len(_SOLITARY.findall(text))
    return max(count, -(-len(text) // CHARACTERS))


def cut_to(text: str, most: int) -> str:
    """The beginning of a text, of at most `most` words. It is cut between words, unless the last word is half of it."""
    end = bisect_right(range(1, min(len(text), most * CHARACTERS) + 1), most, key=lambda n: count_words(text[:n]))
    if end < len(text) and not text[end].isspace():
        end = max((index for index in range(end // 2, end) if text[index].isspace()), default=end)
    return text[:end].rstrip()


# -- Dependent sentences -----------------------------------------------------------------------------------------------

_BACK = re.compile(
    r"""[\s"'“‘(\[*_>-]*(?:
    it|its|it['’]s|he|his|she|her|they|their|them|they['’](?:re|ve)
    |this|that|that['’]s|these|those|such|both|neither|either|the\ (?:former|latter|same|other|others|above)|here|there
    |however|but|and|or|nor|so|yet|also|too|then|thus|hence|therefore|consequently|accordingly|instead|otherwise
    |moreover|furthermore|additionally|besides|likewise|similarly|conversely|nevertheless|nonetheless|still|rather
    |meanwhile|afterwards?|finally|indeed|in\ (?:addition|contrast|particular|other\ words|fact|turn|short|that\ case)
    |in\ (?:this|these|those|such|both)|on\ the\ (?:other\ hand|contrary)|as\ a\ (?:result|consequence)|as\ such
    |for\ (?:example|instance|this|that|these|those)|because\ of\ (?:this|that|these)|after\ (?:this|that)
    |at\ (?:this|that)|with\ (?:this|that|these|those)|to\ do\ (?:so|this|that)|if\ (?:so|not|this|that)
    |once\ (?:this|that)|secondly|thirdly|another|even\ so|unlike\ (?:this|that)
    )(?![\w'’-])""",
    re.IGNORECASE | re.VERBOSE,
)


def goes_back(sentence: str) -> bool:
    """Return whether a sentence begins with a word that refers to what was said before."""
    return _BACK.match(sentence) is not None


def announces(sentence: str) -> bool:
    """Return whether a sentence ends with a colon, that is, announces the next one."""
    return sentence.rstrip().rstrip("*_\"'”’").endswith((":", "："))
