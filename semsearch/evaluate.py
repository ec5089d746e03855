"""Ask your own questions (golden questions) and report at which rank their expected answers are found.

A file has a JSON object a line: a query and its answers, with or without grades. An answer is written as

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
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from semsearch.errors import SourceError, UsageError
from semsearch.index import Index
from semsearch.results.documents import DocumentInfo
from semsearch.results.hits import Hit
from semsearch.results.options import RANKING, Mode, SearchOptions
from semsearch.system.durable import write_durably
from semsearch.text.tokens import words

if TYPE_CHECKING:
    from semsearch.searchable import Searchable

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
    """A question, what answers it with the grade of each, and the line that it first stands on."""

    query: str
    answers: Mapping[ExpectedAnswer, float]
    line: int


@dataclass(frozen=True, slots=True)
class GoldenFile:
    """The questions of a file, whether any of their answers has a grade, and what is wrong with its lines."""

    questions: Sequence[GoldenQuestion]
    is_graded: bool
    problems: Sequence[str]  # each names the file and the line

    @classmethod
    def read(cls, path: Path) -> GoldenFile:
        """Read a file. Raises SourceError if it cannot be read."""
        try:
            lines = path.read_bytes().decode("utf-8-sig").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(f"{path} cannot be read: {error}; give another file, in UTF-8") from error
        questions: dict[str, GoldenQuestion] = {}
        problems, is_graded = list[str](), False
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                query, answers, has_grades = _parse(line)
            except UsageError as error:
                problems.append(f"{path}, line {number}: {error}")
                continue
            is_graded = is_graded or has_grades
            before = questions.get(query, GoldenQuestion(query, {}, number))
            questions[query] = GoldenQuestion(query, {**before.answers, **answers}, before.line)
        if not questions and not problems:
            problems.append(f'{path} is empty; expected lines such as {{"query": "...", "answers": ["notes/a.md"]}}')
        return cls(tuple(questions.values()), is_graded, tuple(problems))


def _parse(line: str) -> tuple[str, dict[ExpectedAnswer, float], bool]:
    """The query of a line, its answers with their grades, and whether these were given. Raises UsageError."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or values.keys() != {"query", "answers"}:
        raise _wrong("a JSON object with the keys query and answers", line)
    query, answers = values["query"], values["answers"]
    if not isinstance(query, str) or not words(query):
        raise _wrong("a query with words in it", query)
    has_grades = isinstance(answers, dict)
    grades = answers if has_grades else dict.fromkeys(answers, 1) if isinstance(answers, list) else {}
    if not grades or not all(isinstance(written, str) and written.strip() for written in grades):
        raise _wrong('answers such as ["notes/a.md"], or with grades, {"notes/a.md": 2}', answers)
    for written, grade in grades.items():
        if isinstance(grade, bool) or not isinstance(grade, int | float) or not 0 < grade < float("inf"):
            raise _wrong(f"a grade above zero for {written}", grade)
    return query, {ExpectedAnswer.read(written.strip()): float(grade) for written, grade in grades.items()}, has_grades


def _wrong(expected: str, value: Any) -> UsageError:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return UsageError(f"expected {expected}, found {text if len(text) <= 60 else text[:60] + '…'!r}")


DEPTH = 10  # hits that are considered
HITS_AT = (1, 3, 5, 10)
MEASURES = (*(f"hit@{k}" for k in HITS_AT), "mrr@10", "ndcg@10")


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question as it was answered: the rank of the first hit that answers, None if none of the first ten does."""

    query: str
    line: int  # of the file
    rank: int | None
    ndcg: float

    @classmethod
    def of(
        cls, query: str, line: int, answers: Mapping[ExpectedAnswer, float], hits: Sequence[Hit]
    ) -> AnsweredQuestion:
        """Look for the answers among hits, each by the first hit that is it."""
        gains = dict[int, float]()  # by rank: a hit may be several answers, and counts as the best of them
        for answer, grade in answers.items():
            rank = next((rank for rank, hit in enumerate(hits[:DEPTH], start=1) if answer.is_in(hit)), None)
            if rank is not None:
                gains[rank] = max(grade, gains.get(rank, 0.0))
        ideal = sorted(answers.values(), reverse=True)[:DEPTH]
        best = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal, start=1))
        gain = sum(grade / math.log2(rank + 1) for rank, grade in gains.items())
        return cls(query, line, min(gains, default=None), gain / best)


@dataclass(frozen=True, slots=True)
class GoldenMode:
    """The figures of a mode, by the names in MEASURES; each question; and its rank in the last run."""

    mode: Mode
    figures: Mapping[str, float]  # ndcg@10 only where there are grades
    questions: Sequence[AnsweredQuestion]
    last: Mapping[str, int | None]  # the ranks of the last run, by question

    @property
    def better(self) -> list[AnsweredQuestion]:
        """The questions whose answer comes earlier than in the last run."""
        return [question for question in self.questions if _later(self.last, question) > (question.rank or math.inf)]

    @property
    def worse(self) -> list[AnsweredQuestion]:
        """The questions whose answer comes later than in the last run."""
        return [question for question in self.questions if _later(self.last, question) < (question.rank or math.inf)]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        changed = {
            name: [{"query": one.query, "rank": one.rank, "was": self.last[one.query]} for one in questions]
            for name, questions in (("better", self.better), ("worse", self.worse))
        }
        questions = [{"query": one.query, "line": one.line, "rank": one.rank} for one in self.questions]
        figures = {name: round(value, 6) for name, value in self.figures.items()}
        return {"mode": self.mode, **figures, **changed, "questions": questions}


def _later(last: Mapping[str, int | None], question: AnsweredQuestion) -> float:
    """The rank of a question in the last run; the present one, if it was not asked."""
    return last.get(question.query, question.rank) or math.inf


@dataclass(frozen=True, slots=True)
class GoldenReport:
    """The report on a file of questions."""

    path: str
    modes: Sequence[GoldenMode]
    warnings: Sequence[str]  # such as an answer that is no document of the index

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        return {"file": self.path, "modes": [mode.to_dict() for mode in self.modes], "warnings": [*self.warnings]}


def figures_of(questions: Sequence[AnsweredQuestion], *, is_graded: bool) -> dict[str, float]:
    """The figures of questions by the ranks of their answers, and by their nDCG where there are grades."""
    ranks = [question.rank or math.inf for question in questions]
    figures = {f"hit@{k}": fmean([rank <= k for rank in ranks]) for k in HITS_AT}
    figures["mrr@10"] = fmean([1 / rank for rank in ranks])
    return {**figures, "ndcg@10": fmean([question.ndcg for question in questions])} if is_graded else figures


# -- The run -----------------------------------------------------------------------------------------------------------

NAME = "golden-runs.json"  # beside the index: of each file and mode, the ranks of the last run


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
    golden = GoldenFile.read(Path(path))
    if golden.problems:
        raise SourceError("\n".join(golden.problems))
    file = os.path.realpath(path)
    runs = _read_runs(index.path / NAME) if isinstance(index, Index) else {}
    last = runs.get(file, {})
    reports = []
    for mode in modes:
        questions = []
        for done, question in enumerate(golden.questions):
            if progress is not None:
                progress(f"asking, {mode}", done, len(golden.questions))
            hits = index.search(question.query, options=SearchOptions(DEPTH, mode))
            questions.append(AnsweredQuestion.of(question.query, question.line, question.answers, hits))
        figures = figures_of(questions, is_graded=golden.is_graded)
        reports.append(GoldenMode(mode, figures, questions, last.get(mode, {})))
    if isinstance(index, Index):
        ranks = {report.mode: {question.query: question.rank for question in report.questions} for report in reports}
        _write_runs(index.path / NAME, {**runs, file: {**last, **ranks}})
    return GoldenReport(str(path), reports, [*_unknown_paths(golden, index)] if isinstance(index, Index) else [])


def _read_runs(path: Path) -> dict[str, Any]:
    """The ranks that are kept, by file, mode and question; none if there are none. Raises SourceError."""
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))
        return {
            file: {
                mode: {query: rank for query, rank in ranks.items() if rank is None or isinstance(rank, int)}
                for mode, ranks in modes.items()
            }
            for file, modes in runs.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError, AttributeError) as error:
        raise SourceError(f"{path} cannot be read as a record of runs ({error}); remove it") from error


def _write_runs(path: Path, runs: Mapping[str, Any]) -> None:
    text = json.dumps(runs, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    try:
        write_durably(path, lambda write: write(text))
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror or error}") from error


def _unknown_paths(golden: GoldenFile, index: Index) -> Iterator[str]:
    """A warning for each answer whose path no document has: it can never be found."""
    paths = [*chain.from_iterable(map(paths_of, index))]
    for question in golden.questions:
        for answer in question.answers:
            if not any(names(answer.path, path) or names(answer.written, path) for path in paths):
                yield f"line {question.line}: the index has no document {answer.path}"
