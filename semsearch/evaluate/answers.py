"""Measure whether the sentence that a hit quotes has the answer, on questions with the texts of their answers, and
whether the verdict on each is right.

A file has a JSON object a line: a question, what answers it, and perhaps the document that does, as hits show it:

    {"query": "how often are the keys rotated?", "answers": ["every 90 days"], "document": "notes/keys.md"}

or a fact, with parts of the paths of the right documents, and how these state it (prose, list, code):

    {"question": "on which port does it listen?", "answer": ["7878"], "paths": ["server.md"], "kind": "prose"}

or, as in XQuAD (Artetxe et al. 2020), a text with its questions, which is then searched among the texts of the file:

    {"paragraph": 7, "text": "The keys are ...", "questions": [{"id": "a", "question": "...", "answer": "..."}]}

A question with an empty list has no answer: its verdict ought to be "not here". A sentence has an answer if it contains
its text, whatever the case and the white space. The first hit is right if it is of the document; of a question that
names none, if its passage has an answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

from semsearch.errors import SourceError, UsageError
from semsearch.evaluate.file_lines import FileLine, numbered_lines
from semsearch.evaluate.golden import names, paths_of
from semsearch.index import Index
from semsearch.results.hits import Hit, Verdict
from semsearch.results.options import Mode, SearchOptions
from semsearch.text.tokens import words

if TYPE_CHECKING:
    from semsearch.searchable import Searchable

_AT_ONCE = 64  # questions
_HITS = 5  # that are asked for: a right document is looked for among them


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """A question, the texts of its answers, the document that has them ("" if none is named), and its line."""

    query: str
    answers: Sequence[str]
    document: str
    line: int
    paths: Sequence[str] = ()  # of a fact: parts of the paths of the right documents, instead of one document
    kind: str = ""  # of a fact: how documents state it, such as prose, list or code


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """The questions of a file, and the texts that it has itself, by their ids."""

    questions: Sequence[AnswerQuestion]
    texts: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> AnswerFile:
        """Read a file. Raises SourceError with a line for each bad line, and for a file without questions."""
        questions, texts, problems = list[AnswerQuestion](), dict[str, str](), list[str]()
        for line in numbered_lines(path):
            try:
                values = line.values
                if "questions" in values:
                    id_, text = str(values.get("paragraph", line.number)), values.get("text")
                    if not isinstance(text, str) or not words(text) or id_ in texts:
                        raise line.wrong("a text with words and a paragraph of its own", json.dumps(text))
                    questions += [_question(line, fields, id_) for fields in _sequence(line, values["questions"])]
                    texts[id_] = text
                else:
                    questions.append(_question(line, values, values.get("document", "")))
            except SourceError as error:
                problems.append(str(error))
        if not questions and not problems:
            problems.append(f'{path} has no questions; expected lines such as {{"query": "...", "answers": ["..."]}}')
        if texts and any(question.document not in texts for question in questions):
            problems.append(f"{path} has questions both with texts and without; put them into two files")
        if problems:
            raise SourceError("\n".join(problems))
        return cls(questions, texts)


def _question(line: FileLine, values: Any, document: Any) -> AnswerQuestion:
    fields = values if isinstance(values, Mapping) else {}
    query = fields.get("query", fields.get("question"))
    answers = fields.get("answers", fields.get("answer"))
    answers = [answers] if isinstance(answers, str) else answers
    if not isinstance(query, str) or not words(query):
        raise line.wrong("a query with words in it", json.dumps(query, ensure_ascii=False))
    if not isinstance(document, str):
        raise line.wrong("a document as hits show it", json.dumps(document))
    texts = [_plain(answer) if isinstance(answer, str) else "" for answer in _sequence(line, answers)]
    if not all(texts):
        raise line.wrong(
            'answers such as ["every 90 days"], or [] for a question without one',
            json.dumps(answers, ensure_ascii=False),
        )
    paths, kind = _sequence(line, fields.get("paths", [])), fields.get("kind", "")
    if not all(isinstance(part, str) and part for part in [*paths, kind or "none"]):
        raise line.wrong('paths such as ["keys.md"] and a kind such as "list"', json.dumps([paths, kind]))
    return AnswerQuestion(query, texts, document, line.number, paths, kind)


def _sequence(line: FileLine, values: Any) -> Sequence[Any]:
    if not isinstance(values, list):
        raise line.wrong("a list", json.dumps(values, ensure_ascii=False))
    return values


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


# -- What was found ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """A question, the verdict on it, whether its first hit is right, and whether a sentence has the answer that is
    quoted: of the first hit, and of the best one of the right document, None if none is named."""

    query: str
    line: int
    is_first: bool
    is_quoted: bool
    is_quoted_given: bool | None
    quote: str  # the sentence of the first hit; "" without a hit
    has_answer: bool = True  # whether the file has one
    verdict: Verdict = "not here"
    kind: str = ""
    is_in_five: bool = False  # whether the right document is among the first five hits
    is_stated: bool = False  # whether the sentence shown at its first hit there has the answer


@dataclass(frozen=True, slots=True)
class AnswersOfMode:
    """The answers in one mode."""

    mode: Mode
    questions: Sequence[QuotedAnswer]

    @property
    def figures(self) -> dict[str, float | None]:
        """Shares: `first` hits that are right, those whose sentence also has the answer (`quoted`, of all questions;
        `quoted_of_first`, of the right ones), and sentences with the answer `given` the right document."""
        questions = [question for question in self.questions if question.has_answer]
        first = [question for question in questions if question.is_first]
        quoted_given = [question.is_quoted_given for question in questions if question.is_quoted_given is not None]
        quoted = sum(question.is_quoted for question in first)
        return {
            "first": len(first) / len(questions) if questions else None,
            "quoted": quoted / len(questions) if questions else None,
            "quoted_of_first": quoted / len(first) if first else None,
            "given": sum(quoted_given) / len(quoted_given) if quoted_given else None,
        }

    @property
    def verdicts(self) -> dict[str, dict[Verdict, int]]:
        """How many questions have each verdict: of those whose first hit is right, or wrong, and without an answer."""
        counts = {row: dict.fromkeys(get_args(Verdict), 0) for row in ("right", "wrong", "none")}
        for question in self.questions:
            row = "none" if not question.has_answer else "right" if question.is_first else "wrong"
            counts[row][question.verdict] += 1
        return counts

    @property
    def kinds(self) -> dict[str, dict[str, float | None]]:
        """By the kind of facts: how many `questions` have an answer, the shares of those whose right document is
        `first` and `in_five`, and of the latter the share whose fact is `stated` in the sentence shown."""
        kinds = dict.fromkeys(question.kind for question in self.questions if question.kind and question.has_answer)
        return {kind: _facts([one for one in self.questions if one.kind == kind and one.has_answer]) for kind in kinds}

    @property
    def all_facts(self) -> dict[str, float | None]:
        """The same of all questions that have an answer, whatever their kind."""
        return _facts([question for question in self.questions if question.has_answer])

    @property
    def misses(self) -> list[QuotedAnswer]:
        """The questions whose first hit is right, but quotes another sentence."""
        return [question for question in self.questions if question.is_first and not question.is_quoted]


def _facts(questions: Sequence[QuotedAnswer]) -> dict[str, float | None]:
    in_five = [question.is_stated for question in questions if question.is_in_five]
    return {
        "questions": len(questions),
        "first": sum(question.is_first for question in questions) / max(len(questions), 1),
        "in_five": len(in_five) / max(len(questions), 1),
        "stated": sum(in_five) / len(in_five) if in_five else None,
    }


@dataclass(frozen=True, slots=True)
class AnswersReport:
    """The report on a file of questions with the texts of their answers."""

    path: str
    modes: Sequence[AnswersOfMode]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        return {"file": self.path, "modes": [_as_dict(mode) for mode in self.modes]}


def _as_dict(mode: AnswersOfMode) -> dict[str, Any]:
    figures = _rounded(mode.figures)
    kinds = {"kinds": {kind: _rounded(facts) for kind, facts in mode.kinds.items()}} if mode.kinds else {}
    misses = [{"query": question.query, "line": question.line, "quote": question.quote} for question in mode.misses]
    verdicts = mode.verdicts
    return {
        **{"mode": mode.mode, "questions": len(mode.questions), **figures},
        **kinds,
        **{"verdicts": verdicts, "misses": misses},
    }


def _rounded(figures: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: None if value is None else round(value, 6) for name, value in figures.items()}


def evaluate_answers(
    path: str | Path,
    index: Searchable | None = None,
    *,
    modes: Sequence[Mode] = ("hybrid",),
    progress: Callable[[str, int, int], None] | None = None,
) -> AnswersReport:
    """Ask the questions of a file (semsearch.evaluate.answers) and report whether what is quoted has the answers.

    A file with texts is asked in an index of these, made for the measurement. Raises SourceError, with a line for each
    bad line of the file; UsageError without an index for other files, and with one for a file with texts.
    """
    file = AnswerFile.read(Path(path))
    if file.texts and index is not None:
        raise UsageError(f"{path} has the texts to search itself; leave out the index")
    if not file.texts and index is None:
        raise UsageError(f"{path} has questions but no texts; name the index to ask")
    with _of_texts(file.texts) if index is None else _as_it_is(index) as asked:
        modes_answered = [AnswersOfMode(mode, tuple(_asked(file, asked, mode, progress))) for mode in modes]
    return AnswersReport(str(path), tuple(modes_answered))


@contextmanager
def _of_texts(texts: Mapping[str, str]) -> Iterator[Searchable]:
    with TemporaryDirectory(prefix="semsearch-") as folder, Index.create(Path(folder) / "answers") as index:
        index.add([*texts.items()])
        yield index


@contextmanager
def _as_it_is(index: Searchable) -> Iterator[Searchable]:
    yield index


def _asked(
    file: AnswerFile, index: Searchable, mode: Mode, progress: Callable[[str, int, int], None] | None
) -> Iterator[QuotedAnswer]:
    options = SearchOptions(_HITS, mode, syntax="plain")
    for start in range(0, len(file.questions), _AT_ONCE):
        some = file.questions[start : start + _AT_ONCE]
        if progress is not None:
            progress(f"asking, {mode}", start, len(file.questions))
        for question, hits in zip(
            some, index.search_many([question.query for question in some], options=options), strict=True
        ):
            first = hits[0] if hits else None
            is_given = None
            if question.document and first is not None and _is_of(question, first):
                is_given = _has(first.sentence, question)
            elif question.document:
                only = SearchOptions(1, mode, filters=(f"path={_literal(question.document)}",), syntax="plain")
                is_given = any(_has(hit.sentence, question) for hit in index.search(question.query, options=only))
            right = [_is_right(question, hit) for hit in hits]
            is_first, stated = bool(right[:1] and right[0]), hits[right.index(True)].sentence if any(right) else ""
            quote = "" if first is None else first.sentence
            yield QuotedAnswer(
                *(question.query, question.line, is_first, _has(quote, question), is_given, quote),
                has_answer=bool(question.answers),
                verdict=hits.verdict or "not here",
                kind=question.kind,
                is_in_five=any(right),
                is_stated=_has(stated, question),
            )


def _is_right(question: AnswerQuestion, hit: Hit) -> bool:
    """Whether a hit is of a right document; of a question that names none, whether its passage has an answer."""
    if question.paths:
        return any(part in path for part in question.paths for path in paths_of(hit))
    return _is_of(question, hit) if question.document else _has(hit.passage, question)


def _is_of(question: AnswerQuestion, hit: Hit) -> bool:
    return any(names(question.document, path) for path in paths_of(hit))


def _has(text: str, question: AnswerQuestion) -> bool:
    plain = _plain(text)
    return any(answer in plain for answer in question.answers)


def _literal(path: str) -> str:
    """A path as a filter that has no wildcards."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)
