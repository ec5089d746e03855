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

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

from semsearch.errors import SourceError, UsageError
from semsearch.evaluate import names, paths_of
from semsearch.index import Index
from semsearch.results.hits import Hit, Verdict
from semsearch.results.options import Mode, SearchOptions
from semsearch_research.evaluate.file_lines import FileLine, numbered_lines
from semsearch_research.evaluate.inputs import Progress

if TYPE_CHECKING:
    from semsearch.searchable import Searchable

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

    def is_in(self, text: str) -> bool:
        """Whether a text has one of the answers."""
        plain = _plain(text)
        return any(answer in plain for answer in self.answers)

    def is_answered_by(self, hit: Hit) -> bool:
        """Whether a hit is of a right document; of a question that names none, whether its passage has an answer."""
        if self.paths:
            return any(part in path for part in self.paths for path in paths_of(hit))
        return self.is_of(hit) if self.document else self.is_in(hit.passage)

    def is_of(self, hit: Hit) -> bool:
        """Whether a hit is of the document that is named."""
        return any(names(self.document, path) for path in paths_of(hit))


def read_questions(path: Path) -> tuple[list[AnswerQuestion], dict[str, str]]:
    """The questions of a file, and the texts that it has itself, by their ids. Raises SourceError for a bad line."""
    questions, texts = list[AnswerQuestion](), dict[str, str]()
    for line in numbered_lines(path):
        values = line.values
        try:
            if "questions" in values:
                id_ = str(values.get("paragraph", line.number))
                questions += [_question(line, fields, id_) for fields in values["questions"]]
                texts[id_] = values["text"]
            else:
                questions.append(_question(line, values, values.get("document", "")))
        except (AttributeError, KeyError, TypeError):
            raise line.wrong('a line such as {"query": "...", "answers": ["..."]}') from None
    if not questions or (texts and any(question.document not in texts for question in questions)):
        what = "questions both with texts and without; put them into two files" if questions else "no questions"
        raise SourceError(f"{path} has {what}")
    return questions, texts


def _question(line: FileLine, fields: Mapping[str, Any], document: str) -> AnswerQuestion:
    answers = fields["answers"] if "answers" in fields else fields["answer"]
    texts = [_plain(answer) for answer in ([answers] if isinstance(answers, str) else answers)]
    query = fields["query"] if "query" in fields else fields["question"]
    return AnswerQuestion(query, texts, document, line.number, tuple(fields.get("paths", ())), fields.get("kind", ""))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


# -- What was found ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """A question, the verdict on it, whether its first hit is right, and whether a sentence has the answer that is
    quoted: of the first hit, and of the best one of the right document, None if none is named."""

    question: AnswerQuestion
    verdict: Verdict
    is_first: bool
    is_quoted: bool
    is_quoted_given: bool | None
    quote: str  # the sentence of the first hit; "" without a hit
    is_in_five: bool  # whether the right document is among the first five hits
    is_stated: bool  # whether the sentence shown at its first hit there has the answer


@dataclass(frozen=True, slots=True)
class AnswersOfMode:
    """The answers in one mode."""

    mode: Mode
    questions: Sequence[QuotedAnswer]

    @property
    def figures(self) -> dict[str, float | None]:
        """Shares: `first` hits that are right, those whose sentence also has the answer (`quoted`, of all questions;
        `quoted_of_first`, of the right ones), and sentences with the answer `given` the right document."""
        questions = [answer for answer in self.questions if answer.question.answers]
        first = [answer for answer in questions if answer.is_first]
        return {
            "first": _share([answer.is_first for answer in questions]),
            "quoted": _share([answer.is_first and answer.is_quoted for answer in questions]),
            "quoted_of_first": _share([answer.is_quoted for answer in first]),
            "given": _share([given for answer in questions if (given := answer.is_quoted_given) is not None]),
        }

    @property
    def verdicts(self) -> dict[str, dict[Verdict, int]]:
        """How many questions have each verdict: of those whose first hit is right, or wrong, and without an answer."""
        counts = {row: dict.fromkeys(get_args(Verdict), 0) for row in ("right", "wrong", "none")}
        for answer in self.questions:
            row = "none" if not answer.question.answers else "right" if answer.is_first else "wrong"
            counts[row][answer.verdict] += 1
        return counts

    @property
    def kinds(self) -> dict[str, dict[str, float | None]]:
        """By the kind of facts: how many `questions` have an answer, the shares of those whose right document is
        `first` and `in_five`, and of the latter the share whose fact is `stated` in the sentence shown."""
        by_kind: dict[str, list[QuotedAnswer]] = {}
        for answer in self.questions:
            if answer.question.kind and answer.question.answers:
                by_kind.setdefault(answer.question.kind, []).append(answer)
        return {kind: _facts(answers) for kind, answers in by_kind.items()}

    @property
    def all_facts(self) -> dict[str, float | None]:
        """The same of all questions that have an answer, whatever their kind."""
        return _facts([answer for answer in self.questions if answer.question.answers])

    @property
    def misses(self) -> list[QuotedAnswer]:
        """The questions whose first hit is right, but quotes another sentence."""
        return [answer for answer in self.questions if answer.is_first and not answer.is_quoted]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        misses = [
            {"query": miss.question.query, "line": miss.question.line, "quote": miss.quote} for miss in self.misses
        ]
        kinds = {"kinds": self.kinds} if self.kinds else {}
        counts = {"mode": self.mode, "questions": len(self.questions)}
        return {**counts, **self.figures, **kinds, "verdicts": self.verdicts, "misses": misses}


def _facts(answers: Sequence[QuotedAnswer]) -> dict[str, float | None]:
    return {
        "questions": len(answers),
        "first": _share([answer.is_first for answer in answers]),
        "in_five": _share([answer.is_in_five for answer in answers]),
        "stated": _share([answer.is_stated for answer in answers if answer.is_in_five]),
    }


def _share(values: Sequence[bool]) -> float | None:
    return round(sum(values) / len(values), 6) if values else None


@dataclass(frozen=True, slots=True)
class AnswersReport:
    """The report on a file of questions with the texts of their answers."""

    path: str
    modes: Sequence[AnswersOfMode]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        return {"file": self.path, "modes": [mode.to_dict() for mode in self.modes]}


def evaluate_answers(
    path: Path,
    index: Searchable | None = None,
    *,
    modes: Sequence[Mode] = ("hybrid",),
    progress: Progress | None = None,
) -> AnswersReport:
    """Ask the questions of a file and report whether what is quoted has the answers.

    A file with texts is asked in an index of these, made for the measurement. Raises SourceError for a bad line of the
    file; UsageError without an index for other files, and with one for a file with texts.
    """
    questions, texts = read_questions(path)
    if texts and index is not None:
        raise UsageError(f"{path} has the texts to search itself; leave out the index")
    if not texts and index is None:
        raise UsageError(f"{path} has questions but no texts; name the index to ask")
    with (
        TemporaryDirectory(prefix="semsearch-") as folder,
        Index.create(Path(folder) / "answers") if index is None else nullcontext(index) as asked,
    ):
        if isinstance(asked, Index) and index is None:
            asked.add([*texts.items()])
        answers = [AnswersOfMode(mode, tuple(_asked(questions, asked, mode, progress))) for mode in modes]
    return AnswersReport(str(path), answers)


def _asked(
    questions: Sequence[AnswerQuestion], index: Searchable, mode: Mode, progress: Progress | None
) -> Iterator[QuotedAnswer]:
    options = SearchOptions(_HITS, mode, syntax="plain")
    for number, question in enumerate(questions):
        if progress is not None:
            progress(f"asking, {mode}", number, len(questions))
        hits = index.search(question.query, options=options)
        right = [question.is_answered_by(hit) for hit in hits]
        quote = hits[0].sentence if hits else ""
        is_given = None
        if question.document and hits and question.is_of(hits[0]):
            is_given = question.is_in(quote)
        elif question.document:
            path = "".join(f"[{char}]" if char in "*?[" else char for char in question.document)
            only = SearchOptions(1, mode, filters=(f"path={path}",), syntax="plain")
            is_given = any(question.is_in(hit.sentence) for hit in index.search(question.query, options=only))
        yield QuotedAnswer(
            question,
            hits.verdict or "not here",
            is_first=bool(right[:1] and right[0]),
            is_quoted=question.is_in(quote),
            is_quoted_given=is_given,
            quote=quote,
            is_in_five=any(right),
            is_stated=any(right) and question.is_in(hits[right.index(True)].sentence),
        )
