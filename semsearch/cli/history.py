"""The history: the questions that were asked at a terminal, and those that were saved under a name.

One file in the user's data folder, a line of JSON for each question, which only the user can read. Processes write to
it under a lock of the operating system. All but the newest thousand are dropped, and damaged lines are skipped. What
programs ask, and what is asked with `history.enabled = false`, is not written. A question is data: it is asked again as
its words and those options of `query` that say what is searched, by no shell.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from semsearch.cli.configured_defaults import configuration_of
from semsearch.cli.declared import Call
from semsearch.errors import UsageError
from semsearch.system.clock import now
from semsearch.system.locations import data_folder, has_password

MOST = 1000  # questions, besides saved ones
OPTIONS = (  # parameters of `query` by which a question is asked again: what is searched, and how
    *("k", "index", "mode", "filters", "context", "every", "min_score", "per_document", "duplicates", "boosts"),
    *("syntax", "rerank", "rerank_seconds", "indexes", "server", "vectors"),
)
_SLACK = 100  # questions over the most, after which older ones are dropped from the file
_LONGEST = 2000  # characters of a question or of its options: what is longer is a text, and is not kept
_LARGEST = 1 << 26  # bytes of a file that is read; one of the longest questions has an eighth
_ON_COMMAND_LINE = "COMMANDLINE"  # the source of an option's value, as click names it


@dataclass(frozen=True, slots=True)
class Question:
    """A question that was asked, or saved under a name: that one was perhaps never asked, and has no hits then."""

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

    def is_same(self, other: Question) -> bool:
        """Whether another has the same words and options."""
        return (self.query, self.options) == (other.query, other.options)


@dataclass(frozen=True, slots=True)
class History:
    """The questions of the file, oldest first, and the number of damaged lines, which are left out."""

    questions: Sequence[Question] = ()
    damaged: int = 0

    @property
    def asked(self) -> list[Question]:
        """The questions that were asked, the newest first, each once."""
        newest: dict[tuple[str, tuple[str, ...]], Question] = {}
        for each in reversed(self.questions):
            if not each.name:
                newest.setdefault((each.query, each.options), each)
        return list(newest.values())[:MOST]

    @property
    def saved(self) -> dict[str, Question]:
        """The saved questions by name, in the order of names."""
        return {each.name: each for each in sorted(self.questions, key=lambda each: each.name) if each.name}

    def find(self, word: str) -> Question:
        """The saved question of a name, or that of a number: 1 is the newest. Raises UsageError if there is none."""
        if word.isdecimal():
            asked = self.asked
            if 0 < (number := int(word)) <= len(asked):
                return asked[number - 1]
            raise UsageError(f"there is no question {word} in the history, only {len(asked):,}; see: semsearch history")
        if (found := self.saved.get(word)) is None:
            names = ", ".join(self.saved) or "none is"
            raise UsageError(f"no question is saved as {word!r}; saved: {names}")
        return found


def history_file() -> Path:
    """The file of the history. It need not exist."""
    return data_folder() / "history.jsonl"


def is_on() -> bool:
    """Whether questions are kept: unless the user's configuration says otherwise."""
    configured = configuration_of()
    return configured is None or configured.of("history").get("enabled") is not False


# -- Questions ---------------------------------------------------------------------------------------------------------


def question_of(called: Any, query: str, *, hits: int = 0, first: str = "", name: str = "") -> Question:
    """A question asked now, with the options that its command line gave, `called` being a `Call` or a context."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now()))
    return Question(at, query, tuple(_typed(called)), hits, first, name)


def given_options(called: Any) -> list[str]:
    """The names of the parameters that the command line gave to a command."""
    sources = {each: called.get_parameter_source(each) for each in called.params}
    return [each for each, source in sources.items() if source is not None and source.name == _ON_COMMAND_LINE]


def _typed(called: Any) -> Iterator[str]:
    """The kept options of a command as words of a command line."""
    if isinstance(called, Call):
        flags, values, given = called.flags, called.given, {*called.given}
    else:
        flags = {each.name: each.opts[0] for each in called.command.params}
        values, given = called.params, {*given_options(called)}
    for name, flag in flags.items():
        if name in given.intersection(OPTIONS):
            value = values[name]
            for each in value if isinstance(value, list | tuple) else [value]:
                yield from [flag] if each is True else [flag, str(each)]


def remember(question: Question) -> None:
    """Add a question that was asked. It is not kept if it is long or has a password; a file that cannot be written is
    no error: the answer has been given."""
    words = (question.query, *question.options)
    if is_on() and sum(map(len, words)) <= _LONGEST and not any(map(has_password, words)):
        with suppress(OSError, UsageError):
            _append(question)


def earlier_queries() -> list[str]:
    """The questions to complete from, the newest first, saved ones last; none if none are kept now."""
    if not is_on():
        return []
    with suppress(UsageError):
        found = read_history()
        return [each.query for each in [*found.asked, *found.saved.values()]]
    return []


# -- The file ----------------------------------------------------------------------------------------------------------


def read_history() -> History:
    """Read the file; without one the history is empty. Raises UsageError if it cannot be read."""
    try:
        with history_file().open("rb") as file:
            return _history_in(_content(file.fileno()))
    except FileNotFoundError:
        return History()
    except OSError as error:
        raise UsageError(f"cannot read {history_file()}: {error.strerror}") from None


def change_history(change: Callable[[History], Sequence[Question]]) -> None:
    """Replace the questions by those that a function makes of them. Raises UsageError if they cannot be written."""
    try:
        with _locked() as file:
            _replace(file, change(_history_in(_content(file))))
    except OSError as error:
        raise UsageError(f"cannot write {history_file()}: {error.strerror or error}") from None


def save(question: Question) -> None:
    """Save a question under its name, in place of one that has it."""
    change_history(lambda found: [*(each for each in found.questions if each.name != question.name), question])


def _content(file: int) -> bytes:
    """The whole file, which is no larger than people's questions make it."""
    return os.read(file, min(os.fstat(file).st_size, _LARGEST))  # a buffer of the most would be made at once


def _history_in(data: bytes) -> History:
    lines = [line for line in data.split(b"\n") if line.strip()]
    questions = [found for line in lines if (found := _question_in(line)) is not None]
    return History(questions, len(lines) - len(questions))


def _question_in(line: bytes) -> Question | None:
    """The question of a line; None if it is damaged."""
    try:
        found = json.loads(line)
        if isinstance(found, Mapping) and isinstance(options := found["options"], list):
            made = Question(**{**found, "options": tuple(options)})
            texts = (made.at, made.query, made.first, made.name, *made.options)
            if all(isinstance(each, str) for each in texts) and type(made.hits) is int:
                datetime.fromisoformat(made.at)
                return made
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def _line_of(question: Question) -> bytes:
    return json.dumps(asdict(question)).encode("ascii") + b"\n"


def _append(question: Question) -> None:
    with _locked() as file:
        data = _content(file)
        if data.count(b"\n") >= MOST + _SLACK:
            found = _history_in(data)
            asked = [each for each in found.questions if not each.name]
            _replace(file, [*found.saved.values(), *asked[-MOST + 1 :], question])
        else:  # a line that a crash has cut off stays a line of its own
            _write(file, (b"\n" if data and not data.endswith(b"\n") else b"") + _line_of(question))


def _replace(file: int, questions: Sequence[Question]) -> None:
    """Write all questions over the old ones: a crash leaves old and new lines, at most one of them damaged."""
    os.lseek(file, 0, os.SEEK_SET)
    data = b"".join(map(_line_of, questions))
    _write(file, data)
    os.ftruncate(file, len(data))


def _write(file: int, data: bytes) -> None:
    while data:  # a write may be a partial one
        data = data[os.write(file, data) :]


_PATIENCE, _PAUSE = 100, 0.01  # tries to lock, and seconds between two: a writer needs a thousandth of one


@contextmanager
def _locked() -> Iterator[int]:
    """The descriptor of the file, which is made if it is missing, locked for this process. Raises OSError."""
    path = history_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        if os.name != "nt":
            os.fchmod(file, 0o600)
        for left in reversed(range(_PATIENCE)):
            try:
                _lock(file)
                break
            except OSError:
                if not left:
                    raise
                time.sleep(_PAUSE)
        yield file
    finally:
        os.close(file)  # which releases the lock


def _lock(file: int) -> None:
    """Lock the file for this process, or raise OSError at once. Not by filelock, whose import takes longer."""
    if os.name == "nt":
        import msvcrt  # exists there alone

        os.lseek(file, 1 << 30, os.SEEK_SET)  # a byte after all others, which may then still be read
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        os.lseek(file, 0, os.SEEK_SET)
    else:
        import fcntl  # does not exist on Windows

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def named(question: Question, name: str) -> Question:
    """The question under a name. Raises UsageError for a name that could be a number or an option."""
    if not name.isidentifier() and not name.replace("-", "_").replace(".", "_").isidentifier():
        raise UsageError(f"{name!r} is not a name for a question; use letters, digits, - and _, such as 'keys'")
    return replace(question, name=name)
