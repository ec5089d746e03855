"""Sentences that cannot stand alone: those that refer to the one before, and those that announce the next. English.

A passage that begins with "It" or "However" has lost what it speaks of; a list has lost its point without the line that
ends in a colon. A sentence that refers back is known by its first words: a pronoun, a demonstrative, or a connective.
"""

from __future__ import annotations

import re

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
