"""Questions with their answers, as lines of JSON:

    {"query": "how do I rotate the keys?", "answers": ["notes/keys.md", "notes/report.pdf page 3"]}
    {"query": "what is a lease?", "answers": {"notes/leases.md#Leases": 3, "notes/glossary.md": 1}}

The second form has grades: the larger, the better the answer. A query that comes again has the answers of all its
lines, so that a file may be appended to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semsearch.errors import SourceError
from semsearch.evaluate.golden.expected_answers import ExpectedAnswer
from semsearch.evaluate.lines import FileLine, numbered_lines
from semsearch.text.tokens import words

_KEYS = ("query", "answers")


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
        found: dict[str, GoldenQuestion] = {}
        problems, is_graded = list[str](), False
        for line in numbered_lines(path):
            try:
                question = _question(line)
            except SourceError as error:
                problems.append(str(error))
                continue
            is_graded = is_graded or isinstance(line.values["answers"], Mapping)
            before = found.get(question.query, question)
            found[question.query] = GoldenQuestion(question.query, {**before.answers, **question.answers}, before.line)
        if not found and not problems:
            problems.append(f'{path} is empty; expected lines such as {{"query": "...", "answers": ["notes/a.md"]}}')
        return cls(tuple(found.values()), is_graded, tuple(problems))


def append_answer(path: Path, query: str, answer: ExpectedAnswer) -> None:
    """Append a question with one answer to a file, which is made if there is none. Raises SourceError."""
    line = json.dumps({"query": query, "answers": [answer.written]}, ensure_ascii=False)
    try:
        with path.open("a+b") as file:
            file.seek(0, 2)
            if file.tell():
                file.seek(-1, 2)
                line = line if file.read(1) == b"\n" else f"\n{line}"
            file.write(f"{line}\n".encode("utf-8", "replace"))
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror or error}; give another file") from error


def _question(line: FileLine) -> GoldenQuestion:
    values = line.values
    unknown = [key for key in values if key not in _KEYS]
    if unknown:
        raise line.wrong("the keys query and answers only", unknown[0])
    query = values.get("query")
    if not isinstance(query, str) or not words(query):
        raise line.wrong("a query with words in it", json.dumps(query, ensure_ascii=False))
    return GoldenQuestion(query, dict(_answers(line, values.get("answers"))), line.number)


def _answers(line: FileLine, given: Any) -> Iterator[tuple[ExpectedAnswer, float]]:
    graded = given if isinstance(given, Mapping) else dict.fromkeys(given, 1) if _are_texts(given) else {}
    if not graded:
        expected = 'answers such as ["notes/a.md"], or with grades, {"notes/a.md": 2}'
        raise line.wrong(expected, json.dumps(given, ensure_ascii=False))
    for written, grade in graded.items():
        if not written.strip():
            raise line.wrong("the path of a document as an answer", written)
        if isinstance(grade, bool) or not isinstance(grade, int | float) or not 0 < grade < float("inf"):
            raise line.wrong(f"a grade above zero for {written}", json.dumps(grade))
        yield ExpectedAnswer.read(written.strip()), float(grade)


def _are_texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(each, str) for each in given)
