"""MSRP's pairs as groups of paraphrases: White et al. 2015, section 4.1.

Sentences that were judged to be paraphrases are of one group, and so are those that a chain of such pairs joins, in the
training and the test pairs together. Groups of fewer than three are left out. So made, they are 274 groups of 859
sentences; the paper says 273 of the same 859.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from semsearch.errors import SourceError
from semsearch_research.datasets.made import Made
from semsearch_research.datasets.originals import Original

_PATH = "paraphrase/msrp_groups3.tsv"
_LEAST = 3  # sentences of a group


class Msrp:
    """msr_paraphrase_train.txt and msr_paraphrase_test.txt: quality, two ids and two sentences, between tabs."""

    def __init__(self) -> None:
        self._splits: set[str] = set()
        self._texts: dict[str, str] = {}
        self._group: dict[str, str] = {}  # a sentence's id to that of another of its group, or its own
        self._origin = ""

    def wants(self, name: str) -> bool:
        """Return whether it is one of the two files."""
        return re.fullmatch(r"(.*/)?msr_paraphrase_(train|test)\.txt", name) is not None

    def take(self, original: Original) -> None:
        """Join the sentences of each pair that has the quality 1."""
        if original.base in self._splits:
            return
        for number, line in enumerate(original.lines(), 1):
            cells = [cell.strip() for cell in line.split("\t")]
            if number == 1 and cells[0] == "Quality":
                continue
            if len(cells) != 5 or cells[0] not in ("0", "1") or not all(cells):
                raise SourceError(
                    f"{original.name}, line {number}: expected a quality of 0 or 1, two ids and two sentences, found "
                    f"{line[:60]!r}"
                )
            quality, one, two, *texts = cells
            self._texts |= dict(zip((one, two), texts, strict=True))
            if quality == "1":
                self._group[self._first(one)] = self._first(two)
        self._splits.add(original.base)
        self._origin = original.name

    def made(self) -> Iterator[Made | str]:
        """Yield the groups, if both files were there."""
        if len(self._splits) == 1:
            missing = {"msr_paraphrase_train.txt", "msr_paraphrase_test.txt"} - self._splits
            yield f"{self._origin}: the groups are of both files, and there is no {missing.pop()}"
        elif self._splits:
            groups: dict[str, list[str]] = {}
            for sentence in sorted(self._texts):
                groups.setdefault(self._first(sentence), []).append(sentence)
            large = sorted((group for group in groups.values() if len(group) >= _LEAST), key=lambda group: -len(group))
            rows = (
                f"msrp{number}\t{sentence}\t{self._texts[sentence]}"
                for number, group in enumerate(large, 1)
                for sentence in group
            )
            yield Made(_PATH, tuple(rows), self._origin)

    def _first(self, sentence: str) -> str:
        """The sentence that stands for a sentence's group."""
        while (other := self._group.setdefault(sentence, sentence)) != sentence:
            self._group[sentence] = self._group[other]  # half of the way, so that no chain grows long
            sentence = self._group[sentence]
        return sentence
