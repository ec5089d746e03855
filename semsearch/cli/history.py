"""The history: the questions that were asked at a terminal, and those that were saved under a name.

One file in the user's data folder, a line of JSON for each question, which only the user can read. All but the newest
thousand are dropped, and damaged lines are skipped. What programs ask is not written. A question is data: it is asked
again as its words and those options of `query` that say what is searched, by no shell.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

import typer
from filelock import FileLock, Timeout

from semsearch.cli.configuration import configuration_of
from semsearch.errors import UsageError
from semsearch.system.clock import now
from semsearch.system.locations import data_folder, has_password

MOST = 1000  # questions, besides saved ones
_LONGEST = 2000  # characters of a question or of its options: what is longer is a text, and is not kept
_LARGEST = 1 << 26  # bytes of a file that is read
_KEPT_OPTIONS = (  # parameters of `query` by which a question is asked again: what is searched, and how
    *("k", "index", "mode", "filters", "context", "every", "min_score", "per_document", "duplicates", "boosts"),
    *("syntax", "rerank", "rerank_seconds", "indexes", "server", "vectors"),
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question that was asked, or saved under a name."""

    at: str  # when it was asked or saved: UTC, ISO 8601
    query: str
    options: tuple[str, ...] = ()  # of `query`, as they are typed
    hits: int = 0
    first: str = ""  # path and line of the first hit
    name: str = ""  # of a saved one

    @property
    def arguments(self) -> list[str]:
        """The arguments of `query` that ask it again."""
        return [*self.options, "--", self.query]


@dataclass(frozen=True, slots=True)
class History:
    """The questions of the file, oldest first, and the number of damaged lines, which are left out."""

    questions: Sequence[Question] = ()
    damaged: int = 0

    @property
    def asked(self) -> list[Question]:
        """The questions that were asked, the newest first, each once."""
        newest: dict[tuple[str, tuple[str, ...]], Question] = {}
        for question in reversed(self.questions):
            if not question.name:
                newest.setdefault((question.query, question.options), question)
        return list(newest.values())[:MOST]

    @property
    def saved(self) -> dict[str, Question]:
        """The saved questions by name, in the order of names."""
        return {
            question.name: question
            for question in sorted(self.questions, key=lambda question: question.name)
            if question.name
        }

    def find(self, word: str) -> Question:
        """The saved question of a name, or that of a number: 1 is the newest. Raises UsageError if there is none."""
        if word.isdecimal():
            asked = self.asked
            if 0 < (number := int(word)) <= len(asked):
                return asked[number - 1]
            raise UsageError(f"there is no question {word} in the history, only {len(asked):,}; see: semsearch history")
        if word not in self.saved:
            names = ", ".join(self.saved) or "none is"
            raise UsageError(f"no question is saved as {word!r}; saved: {names}")
        return self.saved[word]


def question_of(called: typer.Context, query: str, *, hits: int = 0, first: str = "") -> Question:
    """A question asked now, with the options that its command line gave."""
    options: list[str] = []
    for parameter in called.command.params:
        source = called.get_parameter_source(parameter.name or "")
        if parameter.name in _KEPT_OPTIONS and source is not None and source.name == "COMMANDLINE":
            value = called.params[parameter.name]
            for item in value if isinstance(value, list | tuple) else [value]:
                options += [parameter.opts[0]] if item is True else [parameter.opts[0], str(item)]
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now()))
    return Question(at, query, tuple(options), hits, first)


def is_on() -> bool:
    """Whether questions are kept: unless the user's configuration says otherwise."""
    return configuration_of().values.get("history.enabled") is not False


def remember(question: Question) -> None:
    """Add a question that was asked, unless it is long or has a password; without an error: the answer was given."""
    words = (question.query, *question.options)
    if is_on() and sum(map(len, words)) <= _LONGEST and not any(map(has_password, words)):
        with suppress(UsageError), _locked():
            history = read_history()
            asked = [old for old in history.questions if not old.name]
            _write([*history.saved.values(), *asked[-MOST + 1 :], question])


def earlier_queries() -> list[str]:
    """The questions to complete from, the newest first, saved ones last; none if none are kept now."""
    if is_on():
        with suppress(UsageError):
            history = read_history()
            return [question.query for question in [*history.asked, *history.saved.values()]]
    return []


def save(question: Question, name: str) -> None:
    """Save a question under a name, in place of one that has it. Raises UsageError."""
    if not name.replace("-", "_").replace(".", "_").isidentifier():
        raise UsageError(f"{name!r} is not a name for a question; use letters, digits, - and _, such as 'keys'")
    with _locked():
        others = [other for other in read_history().questions if other.name != name]
        _write([*others, replace(question, name=name)])


def delete(words: Sequence[str]) -> None:
    """Delete questions, by number or name. Raises UsageError."""
    with _locked():
        history = read_history()
        gone = {(question.name, question.query, question.options) for question in map(history.find, words)}
        _write([old for old in history.questions if (old.name, old.query, old.options) not in gone])


def clear() -> None:
    """Delete all questions but the saved ones. Raises UsageError."""
    with _locked():
        _write(list(read_history().saved.values()))


# -- The file ----------------------------------------------------------------------------------------------------------


def history_file() -> Path:
    """The file of the history. It need not exist."""
    return data_folder() / "history.jsonl"


def read_history() -> History:
    """Read the file; without one the history is empty. Raises UsageError if it cannot be read."""
    try:
        with history_file().open("rb") as file:
            data = file.read(_LARGEST)
    except FileNotFoundError:
        return History()
    except OSError as error:
        raise UsageError(f"cannot read {history_file()}: {error.strerror}") from None
    lines = [line for line in data.split(b"\n") if line.strip()]
    questions = [question for line in lines if (question := _question_in(line)) is not None]
    return History(questions, len(lines) - len(questions))


def _question_in(line: bytes) -> Question | None:
    """The question of a line; None if it is damaged."""
    try:
        fields = json.loads(line)
        question = Question(**{**fields, "options": tuple(fields["options"])})
        texts = (question.at, question.query, question.first, question.name, *question.options)
        if all(isinstance(text, str) for text in texts) and type(question.hits) is int:
            datetime.fromisoformat(question.at)
            return question
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def _write(questions: Sequence[Question]) -> None:
    """Replace the file. The caller holds the lock."""
    temporary = history_file().with_suffix(".tmp")
    temporary.unlink(missing_ok=True)
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:  # noqa: PTH123
        file.writelines(f"{json.dumps(asdict(question))}\n" for question in questions)
    temporary.replace(history_file())


@contextmanager
def _locked() -> Iterator[None]:
    """Hold the lock of the file, which processes take in turn. Raises UsageError if it cannot be written."""
    file = history_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(file.with_suffix(".lock"), timeout=5):
            yield
    except (OSError, Timeout) as error:
        raise UsageError(f"cannot write {file}: {getattr(error, 'strerror', None) or error}") from None
