"""Twitter'15 of the SIF paper, which is the test set of SemEval-2015 Task 1 (PIT-2015, Xu et al.): test.data.

A line has seven cells: the number and the name of a topic, two sentences, a score from 0 to 5 by an expert, and both
sentences with tags. Those of train.data and dev.data have votes of five people in place of a score, and are no part of
the paper's table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from semsearch.errors import SourceError
from semsearch.evaluate.file_lines import as_number
from semsearch_research.datasets.made import Made
from semsearch_research.datasets.originals import Original


class Twitter:
    """The pairs of test.data with their scores."""

    _PATH: Final = "sts/twitter15.test.tsv"
    _HIGHEST: Final = 5

    def __init__(self) -> None:
        self._made: list[Made] = []

    def wants(self, name: str) -> bool:
        """Return whether it is called so."""
        return re.fullmatch(r"(.*/)?test\.data", name) is not None

    def take(self, original: Original) -> None:
        """Take score and sentences of each line."""
        rows = []
        for number, line in enumerate(original.lines(), 1):
            if not line.strip():
                continue
            cells = [" ".join(cell.split()) for cell in line.split("\t")]
            score = as_number(cells[4]) if len(cells) > 4 else None
            if score is None or not 0 <= score <= self._HIGHEST or not (cells[2] and cells[3]):
                raise SourceError(
                    f"{original.name}, line {number}: expected a topic, its name, two sentences and a score from 0 to "
                    f"{self._HIGHEST}, between tabs, found {line[:60]!r}"
                )
            rows.append("\t".join([cells[4], cells[2], cells[3]]))
        self._made.append(Made(self._PATH, tuple(rows), original.name))

    def made(self) -> Iterator[Made]:
        """Yield what was taken."""
        yield from self._made
