"""A section of the papers' report: a heading, the command of an experiment, its tables, a hand-written note."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from semsearch_research.evaluate.table import Block
from semsearch_research.papers_report import PapersReport


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the report. `of` names the field of PapersReport that it is about; if that is empty, it is left out.

    `command` follows `semsearch evaluate`, with the word vectors that were used: with all of them, with each on a line
    of its own, or with the first; without a command, none is shown. `also` is a further one, with no word vectors
    named, for what else the section has. `says` is a paragraph before the blocks, `note` the name of the passage at the
    end. A section without a title continues the one before.
    """

    of: str
    note: str = ""
    title: str = ""
    command: str | Callable[[PapersReport], str] = ""
    also: Callable[[PapersReport], str] = lambda _: ""
    vectors: Literal["all", "each", "first", "none"] = "first"
    says: str | Callable[[PapersReport], str] = ""
    blocks: Callable[[Any, PapersReport], Iterable[Block]] = lambda _found, _report: ()

    def commands(self, report: PapersReport) -> Iterator[str]:
        """The commands that give the section's figures."""
        command = self.command if isinstance(self.command, str) else self.command(report)
        each = ["" if one.name == "english" else f" --vectors {one.name}" for one in report.vectors]
        together = "".join(f" --vectors {one.name}" for one in report.vectors)
        options = {"all": [together if any(each) else ""], "each": each, "first": each[:1], "none": [""]}
        if command:
            yield from (f"semsearch evaluate {command}{option}" for option in options[self.vectors])
        if also := self.also(report):
            yield f"semsearch evaluate {also}"
