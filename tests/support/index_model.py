"""An index that is written to while many ask it, beside a model of it: a mapping of ids to texts.

Each answer must be what the model says before the write or after it, never a mixture; a reader that has seen the new
state never sees the old one again; and once the write has returned, everybody sees the new one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from small import small_vectors

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.options import Mode

WORDS = ("ship", "bread", "planet", "rose", "violin", "judge")
IDS = tuple("abcdefgh")
TIMES = 3  # that each reader asks during a write
Answers = list[list[list[str]]]
questions = st.tuples(st.sampled_from(WORDS), st.sampled_from(["lexical", "dense"]))
texts = st.dictionaries(
    st.sampled_from(IDS), st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True), min_size=1
)


def text_of(words: list[str], number: int) -> str:
    return f"The {' and the '.join(words)} of number {number}."


class Crowd:
    """Readers of an index: threads that share it, threads with it open for themselves, and processes."""

    def __init__(self, threads: int, processes: int) -> None:
        self._pool = ThreadPoolExecutor(threads + processes)
        self._threads = threads
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__]
        self._processes = [
            subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(processes)
        ]
        self._opened: list[Index] = []
        self.answers = 0

    def turn_to(self, path: Path) -> None:
        self.turn_away()
        shared = Index.open(path)
        own = [Index.open(path) for _ in range(self._threads // 2)]
        self._opened = [*own, *[shared] * (self._threads - len(own))]

    def turn_away(self) -> None:
        for index in self._opened:
            index.close()
        self._opened = []

    def ask(self, path: Path, word: str, mode: Mode, times: int) -> list[Future[Answers]]:
        """Let all ask the same so many times, from now on: for each reader its answers, in order."""
        self.answers += times * (len(self._opened) + len(self._processes))
        asked = [self._pool.submit(_ask, index, word, mode, times) for index in self._opened]
        question = json.dumps([str(path), word, mode, times])
        return [*asked, *[self._pool.submit(_told, process, question) for process in self._processes]]

    def close(self) -> None:
        self.turn_away()
        self._pool.shutdown()
        for process in self._processes:
            assert process.stdin
            assert process.stdout
            process.stdin.close()
            process.stdout.close()
            process.wait()


def _ask(index: Index, word: str, mode: Mode, times: int) -> Answers:
    return [documents_of(index, word, mode) for _ in range(times)]


def _told(process: subprocess.Popen[str], question: str) -> Answers:
    assert process.stdin
    assert process.stdout
    process.stdin.write(question + "\n")
    process.stdin.flush()
    answers: Answers = json.loads(process.stdout.readline())
    return answers


class AskedWhileWritten(RuleBasedStateMachine):
    """Random writes, each with a random question that everybody asks meanwhile."""

    crowd: ClassVar[Crowd]

    @initialize()
    def create(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "index"
        self.index = Index.create(self.path, vectors=small_vectors(Path(self.folder.name)))
        self.model: dict[str, tuple[list[str], str]] = {}
        self.number = 0
        self.crowd.turn_to(self.path)

    @rule(texts=texts, question=questions)
    def add(self, texts: dict[str, list[str]], question: tuple[str, Mode]) -> None:
        self.number += 1
        after = self.model | {id_: (words, text_of(words, self.number)) for id_, words in texts.items()}
        given = [Text(id_, after[id_][1]) for id_ in texts]
        self.write(lambda: self.index.add(given), after, question)

    @rule(ids=st.sets(st.sampled_from(IDS), min_size=1), question=questions)
    def remove(self, ids: set[str], question: tuple[str, Mode]) -> None:
        after = {id_: text for id_, text in self.model.items() if id_ not in ids}
        self.write(lambda: self.index.remove_texts(ids), after, question)

    @rule(how=st.sampled_from(["refit", "rebuild"]), question=questions)
    def make_anew(self, how: str, question: tuple[str, Mode]) -> None:
        self.write(getattr(self.index, how), self.model, question)

    def write(
        self, write: Callable[[], object], after: dict[str, tuple[list[str], str]], question: tuple[str, Mode]
    ) -> None:
        word, mode = question
        old, new = _answer(self.model, word, mode), _answer(after, word, mode)
        asked = self.crowd.ask(self.path, word, mode, TIMES)
        write()
        self.model = after
        for answers in [reader.result() for reader in asked]:
            assert all(answer in (old, new) for answer in answers), (answers, old, new)
            assert old == new or answers == sorted(answers, key=lambda answer: answer == new), "an earlier state again"
        for reader in self.crowd.ask(self.path, word, mode, 1):
            assert reader.result() == [new]

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.crowd.turn_away()
            assert self.index.verify() == []
            self.index.close()
            self.folder.cleanup()


def _answer(model: dict[str, tuple[list[str], str]], word: str, mode: Mode) -> list[list[str]]:
    return sorted([id_, text] for id_, (words, text) in model.items() if mode == "dense" or word in words)


def documents_of(index: Index, word: str, mode: Mode) -> list[list[str]]:
    """What an index answers to a word: the ids of documents and their passages, in the order of the ids."""
    hits = index.search(word, 100, mode=mode, duplicates=True)
    return sorted([hit.document, hit.passage] for hit in hits)


def main() -> None:
    """A process of the crowd: a question a line, as JSON (an index, a word, a mode, how often), and its answers."""
    index: Index | None = None
    for line in sys.stdin:
        path, word, mode, times = json.loads(line)
        if index is None or str(index.path) != path:
            if index is not None:
                index.close()
            index = Index.open(path)
        print(json.dumps([documents_of(index, word, mode) for _ in range(times)]), flush=True)


if __name__ == "__main__":
    main()
