"""TOML as Python reads it, except keys of thousands of parts, whose memory and time grow quadratically.

A configuration, and the front matter of a page, may be hostile.
"""

from __future__ import annotations

import re
from typing import Any

_MOST_PARTS = 100  # of a key
_TEXT = re.compile(r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")  # in a line
_ENDS = re.compile(r"[=,{}\[\]#\n]")


def read_toml(text: str) -> dict[str, Any]:
    """Read a text of TOML. Raises ValueError for invalid TOML and for a key of more than a hundred parts."""
    import tomllib  # most commands find no file to read

    if text.count(".") > _MOST_PARTS:
        without_texts = _TEXT.sub("", text)
        if any(key.count(".") > _MOST_PARTS for key in _ENDS.split(without_texts)):
            raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    return tomllib.loads(text)
