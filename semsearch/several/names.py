"""The names of several indexes: those of their folders, with as much of the path as makes them different. Pure."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

Named = TypeVar("Named", bound=Path | str)


def names_of(folders: Sequence[Named]) -> dict[str, Named]:
    """Name folders, in their order; one that is given twice is named once. `a/docs` and `b/docs` need two parts.

    A text is a URI, and is named by its parts too.
    """
    places: dict[str, Named] = {}
    for folder in folders:
        places.setdefault(folder if isinstance(folder, str) else os.path.realpath(folder), folder)
    parts = 1
    while True:
        names = {place: "/".join(Path(place).parts[-parts:]) for place in places}
        if max(Counter(names.values()).values(), default=1) == 1:
            return {names[place]: folder for place, folder in places.items()}
        parts += 1
