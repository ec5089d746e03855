"""Ask your own questions (golden questions) and report at which rank their expected answers are found.

A file has a JSON object a line: a query and its answers. An answer is written as

    notes/guide.md                     any passage of the document
    notes/guide.md#Bread               a passage under that heading
    notes/guide.md:12                  the passage that has the line
    notes/report.pdf page 3            a passage on the page; also p. 3
    notes/talk.pptx slide 3            a passage at the place, in the document's own terms

A document is named as hits show it, by its absolute path, or by the end of its path; a text that a program added by its
id. The ranks of a run are kept, so that the next one reports what has changed.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

from semsearch.errors import SourceError, UsageError
from semsearch.index import Index
from semsearch.results.documents import DocumentInfo
from semsearch.results.hits import Hit
from semsearch.results.options import RANKING, Mode, SearchOptions
from semsearch.searchable import Searchable
from semsearch.system.durable import write_durably
from semsearch.system.locations import usable_path
from semsearch.system.source_files import opened_input
from semsearch.text.tokens import words

_LINE = re.compile(r"(.+):(\d{1,18})(?:-\d+)?")
_HEADING = re.compile(r"(.*\S)#(\S.*)")
_PAGE = re.compile(r"(.+?) (?:page|p\.) ?(\d{1,18})")
_PLACE = re.compile(r"(.+\.\w{1,8}) (\S.*)")


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """A document, or a part of it: a heading, a line, a page or a place. `written` is how it was written down."""

    written: str
    path: str
    heading: str | None = None
    line: int | None = None
    page: int | None = None
    place: str | None = None

    @classmethod
    def read(cls, written: str) -> ExpectedAnswer:
        """Parse an answer as it is written in a file. What names no part is the path of a document."""
        if match := _LINE.fullmatch(written):
            return cls(written, match[1], line=int(match[2]))
        if match := _HEADING.fullmatch(written):
            return cls(written, match[1], heading=match[2].strip())
        if match := _PAGE.fullmatch(written):
            return cls(written, match[1], page=int(match[2]))
        if match := _PLACE.fullmatch(written):
            return cls(written, match[1], place=match[2])
        return cls(written, written)

    def is_in(self, hit: Hit) -> bool:
        """Whether a hit is of this document, and of this part of it."""
        paths = paths_of(hit)
        if not any(names(self.path, path) for path in paths):
            return any(names(self.written, path) for path in paths)  # a path that looks as if it named a part
        if self.line is not None:
            return _first_line(hit) <= self.line <= _first_line(hit) + hit.passage.count("\n")
        if self.heading is not None:
            return self.heading.casefold() in (heading.casefold() for heading in hit.headings)
        if self.page is not None:
            return hit.page == self.page
        return self.place is None or (hit.place or "").casefold().startswith(self.place.casefold())


def names(written: str, path: str) -> bool:
    """Whether a path is what was written, or ends with it."""
    written, path = (text.replace("\\", "/").removeprefix("./") for text in (written, path))
    return path == written or path.endswith(f"/{written}")


def paths_of(document: Hit | DocumentInfo) -> tuple[str, ...]:
    """The paths of a document: as it is shown, and absolute; or the id of a text that a program added."""
    return document.path, f"{document.root}/{document.document}" if document.root else document.document


def _first_line(hit: Hit) -> int:
    """The line that a hit's passage begins on; a hit says that of its sentence."""
    return hit.line - hit.passage[: max(hit.passage.find(hit.sentence), 0)].count("\n")


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """A question, what answers it, and the line that it first stands on."""

    query: str
    answers: tuple[ExpectedAnswer, ...]
    line: int


def read_questions(path: Path) -> list[GoldenQuestion]:
    """Read a file of questions. Raises SourceError if it cannot be read, with a line for each bad line of it."""
    try:
        with opened_input(path) as file:
            lines = file.read().decode("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", error)
        raise SourceError(f"{path} cannot be read: {reason}; give another file, in UTF-8") from error
    questions: dict[str, GoldenQuestion] = {}
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            query, answers = _parse(line)
        except UsageError as error:
            problems.append(f"{path}, line {number}: {error}")
            continue
        before = questions.get(query, GoldenQuestion(query, (), number))
        questions[query] = GoldenQuestion(query, before.answers + answers, before.line)
    if not questions and not problems:
        problems.append(f'{path} is empty; expected lines such as {{"query": "...", "answers": ["notes/a.md"]}}')
    if problems:
        raise SourceError("\n".join(problems))
    return [*questions.values()]


def _parse(line: str) -> tuple[str, tuple[ExpectedAnswer, ...]]:
    """The query of a line, and its answers. Raises UsageError."""
    try:
        values = json.loads(line)
        query, answers = values["query"], values["answers"]
    except (ValueError, RecursionError, LookupError, TypeError):
        raise _wrong("a JSON object with the keys query and answers", line) from None
    if not isinstance(query, str) or not words(query):
        raise _wrong("a query with words in it", query)
    if not isinstance(answers, list) or not answers or not all(isinstance(one, str) and one.strip() for one in answers):
        raise _wrong('answers such as ["notes/a.md"]', answers)
    return query, tuple(ExpectedAnswer.read(written.strip()) for written in answers)


def _wrong(expected: str, value: Any) -> UsageError:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return UsageError(f"expected {expected}, found {text if len(text) <= 60 else text[:60] + '…'!r}")


# -- The run -----------------------------------------------------------------------------------------------------------

DEPTH = 10  # hits that are considered
HITS_AT = (1, 3, 5, 10)
NAME = "golden-runs.json"  # beside the index: of each file and mode, the ranks of the last run


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question as it was answered: the rank of the first hit that answers, None if none of the first ten does."""

    query: str
    line: int  # of the file
    rank: int | None
    was: int | None  # its rank in the last run; if it was not asked then, that of this one

    @property
    def change(self) -> float:
        """Below zero if the answer comes earlier than in the last run, above it if later."""
        rank, was = (rank or DEPTH + 1 for rank in (self.rank, self.was))
        return rank - was


@dataclass(frozen=True, slots=True)
class GoldenMode:
    """The figures of a mode, by their names, and each question."""

    mode: Mode
    figures: Mapping[str, float]
    questions: Sequence[AnsweredQuestion]

    @property
    def better(self) -> list[AnsweredQuestion]:
        """The questions whose answer comes earlier than in the last run."""
        return [question for question in self.questions if question.change < 0]

    @property
    def worse(self) -> list[AnsweredQuestion]:
        """The questions whose answer comes later than in the last run."""
        return [question for question in self.questions if question.change > 0]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        changed = {
            name: [{"query": one.query, "rank": one.rank, "was": one.was} for one in questions]
            for name, questions in (("better", self.better), ("worse", self.worse))
        }
        questions = [{"query": one.query, "line": one.line, "rank": one.rank} for one in self.questions]
        figures = {name: round(value, 6) for name, value in self.figures.items()}
        return {"mode": self.mode, **figures, **changed, "questions": questions}


@dataclass(frozen=True, slots=True)
class GoldenReport:
    """The report on a file of questions."""

    path: str
    modes: Sequence[GoldenMode]
    warnings: Sequence[str]  # such as an answer that is no document of the index

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        return {"file": self.path, "modes": [mode.to_dict() for mode in self.modes], "warnings": [*self.warnings]}


def evaluate_golden(
    path: str | Path,
    index: Searchable,
    *,
    modes: Sequence[Mode] = ("hybrid",),
    progress: Callable[[str, int, int], None] | None = None,
) -> GoldenReport:
    """Ask the questions of a file (semsearch.evaluate) and report where their answers stand.

    The ranks are kept beside an index here, and those that have changed since the run before are reported. Raises
    SourceError, with a line for each bad line of the file; UsageError for an unknown mode.
    """
    for mode in modes:
        if mode not in RANKING:
            raise UsageError(f"there is no mode {mode!r}; expected {', '.join(RANKING)}")
    if not isinstance(index, Searchable):
        raise UsageError(f"questions are asked of an index, as Index.open opens it, not of {index!r}")
    questions = read_questions(usable_path(path))
    file = os.path.realpath(path)
    runs = _read_runs(index.path / NAME) if isinstance(index, Index) else {}
    last = runs.get(file, {})
    reports = []
    for mode in modes:
        answered = []
        for done, question in enumerate(questions):
            if progress is not None:
                progress(f"asking, {mode}", done, len(questions))
            hits = index.search(question.query, options=SearchOptions(DEPTH, mode))
            ranks = (hit.rank for hit in hits if any(answer.is_in(hit) for answer in question.answers))
            rank = next(ranks, None)
            was = last.get(mode, {}).get(question.query, rank)
            answered.append(AnsweredQuestion(question.query, question.line, rank, was))
        reports.append(GoldenMode(mode, figures_of([one.rank for one in answered]), answered))
    if not isinstance(index, Index):
        return GoldenReport(str(path), reports, [])
    new = {report.mode: {question.query: question.rank for question in report.questions} for report in reports}
    text = json.dumps({**runs, file: {**last, **new}}, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    with suppress(OSError):  # a folder that cannot be written to: the next run has nothing to compare with
        write_durably(index.path / NAME, lambda write: write(text))
    return GoldenReport(str(path), reports, [*_unknown_paths(questions, index)])


def figures_of(ranks: Sequence[int | None]) -> dict[str, float]:
    """The figures of questions by the ranks of their answers."""
    known = [rank or math.inf for rank in ranks]
    figures = {f"hit@{k}": fmean(rank <= k for rank in known) for k in HITS_AT}
    return {**figures, f"mrr@{DEPTH}": fmean(1 / rank for rank in known)}


def _read_runs(path: Path) -> dict[str, dict[str, dict[str, int | None]]]:
    """The ranks that are kept, by file, mode and question; none if there are none, or the file is damaged."""
    import msgspec  # heavy, and the command line loads this module for its help

    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, dict[str, int | None]]])
    except (OSError, msgspec.DecodeError, RecursionError):
        return {}


def _unknown_paths(questions: Sequence[GoldenQuestion], index: Index) -> Iterator[str]:
    """A warning for each answer whose path no document has: it can never be found."""
    paths = [*chain.from_iterable(map(paths_of, index))]
    for question in questions:
        for answer in question.answers:
            if not any(names(answer.path, path) or names(answer.written, path) for path in paths):
                yield f"line {question.line}: the index has no document {answer.path}"
