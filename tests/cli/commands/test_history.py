"""`semsearch history`: what is kept of the questions of a person, and what is never kept."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from console import on_terminal, semsearch

from semsearch.cli import history
from semsearch.cli.configuration import use_configuration, users_file
from semsearch.cli.history import Question, history_file, read_history, remember

pytestmark = pytest.mark.usefixtures("here")
ESCAPE = "\x1b]0;owned\x07\x1b[31m"


@pytest.fixture(autouse=True)
def _no_configuration() -> None:
    """No command has run in this process, whose configuration would count."""
    use_configuration(None)


def question(text: str, *options: str) -> Question:
    return Question("2026-01-02T03:04:05Z", text, options, 1, "docs/guide.md:10")


def queries() -> list[str]:
    return [each.query for each in read_history().asked]


def test_what_is_asked_at_a_terminal_is_kept_with_its_options_and_first_hit() -> None:
    on_terminal("query", "the captain", "-k", "1", "--filter", "docs/")
    on_terminal("query", "bread", "and", "flour", "--open", "9")  # is an error after the answer
    on_terminal("query", "zebra quagga", "--format", "json")
    found = semsearch("history", "--json").json
    assert [(each["number"], each["query"], each["options"]) for each in found] == [
        (1, "zebra quagga", []),
        (2, "the captain", ["-k", "1", "--filter", "docs/"]),
    ]
    assert (found[1]["hits"], found[1]["first"]) == (1, "docs/guide.md:10")
    listed = semsearch("history").lines
    assert re.fullmatch(
        r"2  \d{4}-\d\d-\d\d \d\d:\d\d  1  the captain -k 1 --filter docs/ → docs/guide.md:10", listed[1]
    )
    assert semsearch("history", "-k", "1").lines == listed[:1]


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
def test_only_the_user_can_read_the_file() -> None:
    history_file().parent.mkdir(parents=True, exist_ok=True)
    history_file().write_text("")
    history_file().chmod(0o644)
    remember(question("the captain"))
    assert history_file().stat().st_mode & 0o777 == 0o600


def test_what_programs_ask_is_not_kept() -> None:
    assert semsearch("query", "the captain").status == 0
    assert semsearch("query", "-", stdin="the captain\n").status == 0
    assert not history_file().exists()


@pytest.mark.parametrize("how", ["file", "variable"])
def test_it_can_be_turned_off(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "file":
        users_file().parent.mkdir(parents=True, exist_ok=True)
        users_file().write_text("[history]\nenabled = false\n")
    else:
        monkeypatch.setenv("SEMSEARCH_HISTORY_ENABLED", "false")
    on_terminal("query", "the captain")
    assert not history_file().exists()
    assert "questions are not kept now" in semsearch("history").err


def test_a_project_cannot_turn_it_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "semsearch.toml").write_text("[history]\nenabled = true\n")
    done = semsearch("history")
    assert done.status == 2
    assert "history.enabled is allowed in your own configuration only" in done.err


def test_a_question_is_asked_again_with_its_options_and_others() -> None:
    remember(question("captain", "-k", "1", "--mode", "lexical"))
    again = semsearch("history", "run", "1")
    assert (again.status, again.err) == (0, "")
    assert again.out == semsearch("query", "captain", "-k", "1", "-m", "lexical").out
    found = semsearch("history", "run", "1", "--json").json
    assert (found["mode"], len(found["hits"])) == ("lexical", 1)


def test_the_configuration_counts_when_a_question_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    remember(question("captain"))
    monkeypatch.setenv("SEMSEARCH_SEARCH_MODE", "dense")
    assert semsearch("history", "run", "1", "--json").json["mode"] == "dense"


def test_questions_are_saved_under_names_and_stay() -> None:
    remember(question("-wave captain"))
    remember(question("captain", "-k", "1"))
    assert semsearch("history", "save", "ship").status == 0
    assert semsearch("history", "save", "odd", "2").status == 0
    assert semsearch("history", "clear").err.strip().endswith("semsearch history delete odd ship")
    found = semsearch("history", "--json").json
    assert {each["name"]: (each["number"], each["query"], each["options"]) for each in found} == {
        "odd": (None, "-wave captain", []),
        "ship": (None, "captain", ["-k", "1"]),
    }
    assert semsearch("history", "run", "ship", "--format", "paths").lines == ["docs/guide.md"]
    assert semsearch("history", "run", "odd", "--json").json["query"] == "-wave captain"
    remember(question("bread"))
    assert semsearch("history", "save", "ship").status == 0  # in place of the one of that name
    assert semsearch("history", "delete", "odd").status == 0
    assert [(name, each.query) for name, each in read_history().saved.items()] == [("ship", "bread")]


def test_a_number_deletes_every_time_that_a_question_was_asked() -> None:
    for text in ("captain", "bread", "captain"):
        remember(question(text))
    assert queries() == ["captain", "bread"]
    assert semsearch("history", "save", "ship", "1").status == 0
    assert semsearch("history", "delete", "1").status == 0
    assert queries() == ["bread"]
    assert list(read_history().saved) == ["ship"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "1"), "there is no question 1 in the history, only 0"),
        (("run", "keys"), "no question is saved as 'keys'; saved: none is"),
        (("delete", "0"), "there is no question 0"),
        (("save", "keys"), "there is no question 1"),
    ],
)
def test_what_cannot_be_meant_is_one_line(words: tuple[str, ...], said: str) -> None:
    done = semsearch("history", *words)
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert said in done.err


@pytest.mark.parametrize("name", ["12", "a b"])
def test_a_name_is_no_number(name: str) -> None:
    remember(question("captain"))
    assert "is not a name for a question" in semsearch("history", "save", name).err


def test_damaged_lines_are_skipped_with_a_word() -> None:
    remember(question("captain"))
    whole = history_file().read_bytes()
    bad = [b"{", b"7", b"[]", b"\xff\xfe", b"[" * 5000, whole.replace(b'"hits": 1', b'"hits": true').strip()]
    bad += [whole.replace(b"2026", b"soon").strip(), whole.replace(b'"options": []', b'"options": [3]').strip()]
    history_file().write_bytes(whole + b"\n".join(bad) + b"\n" + whole[:20])
    done = semsearch("history")
    assert queries() == ["captain"]
    assert "skipped 9 damaged lines of " in done.err


def test_escapes_are_shown_harmlessly_and_are_not_in_the_file() -> None:
    remember(question(f"captain {ESCAPE}", "--filter", ESCAPE))
    assert b"\x1b" not in history_file().read_bytes()
    done = semsearch("history")
    assert not any(each in done.out for each in "\x1b\x07")
    assert "owned" in done.out


def test_texts_and_passwords_are_not_kept() -> None:
    remember(question("captain " * 1000))
    remember(question("captain", "--server", "https://ada:secret@example.org"))
    assert not history_file().exists()


def test_it_is_bounded_and_keeps_what_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST", 20)
    history.save(question("saved long ago"), "old")
    for number in range(100):
        remember(question(f"question {number}"))
    assert queries() == [f"question {number}" for number in reversed(range(80, 100))]
    assert list(read_history().saved) == ["old"]
    assert len(history_file().read_text().splitlines()) == 21


def test_many_processes_and_threads_write_without_a_loss() -> None:
    program = (
        "import sys; from semsearch.cli.history import *\n"
        "for n in range(40): remember(Question('2026-01-02T03:04:05Z', f'{sys.argv[1]} {n}'))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen([sys.executable, "-c", program, f"process {each}"], env=environment) for each in "abc"]
    threads = [threading.Thread(target=lambda: history.save(question("x"), "x")) for _ in range(20)]
    for each in threads:
        each.start()
    assert [process.wait() for process in running] == [0, 0, 0]
    for each in threads:
        each.join()
    lines = [json.loads(line) for line in history_file().read_text().splitlines()]
    assert sum(line["name"] == "" for line in lines) == 120
    assert sum(line["name"] == "x" for line in lines) == 1


def test_a_folder_that_cannot_be_written_costs_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SEMSEARCH_HOME", str(tmp_path / "file" / "below"))
    remember(question("captain"))
    assert "cannot write " in semsearch("history", "clear").err
