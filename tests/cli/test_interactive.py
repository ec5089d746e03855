"""The interactive search: hits as one types, the passage of the chosen one, and what the keys do."""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from console import INDEX, semsearch
from typing_at_screen import (
    CTRL_C,
    CTRL_R,
    CTRL_U,
    DOWN,
    ENTER,
    ESCAPE,
    PAGE_DOWN,
    READ_ON,
    RIGHT,
    TAB,
    UP,
    Typist,
    at_screen,
)

from semsearch.cli import interactive
from semsearch.cli.commands import interactive_command
from semsearch.cli.interactive import passage_lines, place_lines, row
from semsearch.cli.terminal import query_pattern
from semsearch.index import Index
from semsearch.results.hits import Hit
from semsearch.system.locations import data_folder

pytestmark = pytest.mark.usefixtures("here")

PASTED = "\x1b[200~in the\noven\n\x1b[201~"
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.fixture
def captain(folder: Path) -> Hit:
    with Index.open(folder / INDEX) as index:
        return index.search("captain ship", k=1)[0]


def test_hits_come_as_one_types_and_the_passage_of_the_first_is_shown() -> None:
    async def script(typist: Typist) -> None:
        await typist.see("Esc quit")
        typist.type("captain")
        await typist.see("docs/guide.md:10")
        typist.type(CTRL_U, "bread ", PASTED)
        await typist.see("> bread in the oven ")
        await typist.wait(lambda: "docs/guide.md:14" in typist.lines)
        place = typist.lines.index("docs/guide.md:14")
        assert typist.lines[place + 1] == "The guide › Bread"
        assert typist.lines.index("The bread is from the oven. Flour and butter in the dough.") > place
        typist.type(ESCAPE)

    at_screen(Path(INDEX), script, rows=40)


def test_arrows_choose_and_the_preview_follows() -> None:
    async def script(typist: Typist) -> None:
        await typist.see("docs/guide.md:10")
        first = typist.chosen
        typist.type(UP)
        typist.type(DOWN)
        await typist.wait(lambda: typist.chosen.startswith("> 2"))
        typist.type(PAGE_DOWN, PAGE_DOWN)
        await typist.wait(lambda: typist.search.chosen == len(typist.search.answer.hits) - 1)
        place = typist.chosen.split()[3]
        await typist.wait(lambda: any(line.startswith(place) for line in typist.lines))
        typist.type(UP, UP, UP, UP)
        await typist.wait(lambda: typist.chosen == first)
        typist.type(CTRL_C)

    at_screen(Path(INDEX), script, text="captain bread violin judge")


def test_enter_opens_the_chosen_place_and_what_comes_of_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[str, int]] = []

    def open_hit(hit: Hit, _: object) -> str:
        opened.append((hit.path, hit.line))
        return "vim exited with status 3"

    monkeypatch.setattr(interactive, "show_hit", open_hit)

    async def script(typist: Typist) -> None:
        await typist.see("docs/guide.md:14")
        typist.type(ENTER)
        await typist.see("vim exited with status 3")
        typist.type(" butter")
        await typist.see("> flour butter ", "Esc quit")
        typist.type(ESCAPE)

    at_screen(Path(INDEX), script, text="flour")
    assert opened == [("docs/guide.md", 14)]


def test_questions_of_opened_hits_and_the_last_are_kept_and_offered_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(interactive, "show_hit", lambda *_: "it was opened")
    history = tmp_path / "data" / "questions"

    async def first(typist: Typist) -> None:
        typist.type("captain")
        await typist.see("> captain", "docs/guide.md:10")
        await typist.wait(lambda: typist.search.is_answered)
        typist.type(ENTER)
        await typist.see("it was opened")
        typist.type(CTRL_U, "violin")
        await typist.see("> violin", "docs/more/notes.txt:1")
        typist.type(TAB)
        await typist.see("· dense")
        await typist.wait(lambda: typist.search.is_answered)
        typist.type(ESCAPE)

    async def second(typist: Typist) -> None:
        await typist.see("Esc quit")
        typist.type("cap")
        await typist.see("> captain")
        assert typist.search.typed.text == "cap"  # it is only offered
        typist.type(RIGHT)
        await typist.wait(lambda: typist.search.typed.text == "captain")
        typist.type(CTRL_U)
        for text in ("violin", "captain"):
            typist.type(CTRL_R)
            await typist.wait(lambda text=text: typist.search.typed.text == text)
        typist.type(ESCAPE)

    at_screen(Path(INDEX), first, history=history)
    if os.name != "nt":
        assert history.stat().st_mode & 0o777 == 0o600
    at_screen(Path(INDEX), second, history=history)


def test_the_preview_can_be_read_on_and_stops_at_its_ends() -> None:
    async def script(typist: Typist) -> None:
        await typist.wait(lambda: any(line.strip() == "docs/guide.md:10" for line in typist.lines))  # the preview's
        await typist.see("docs/guide.md:10")
        typist.type(READ_ON * 9)
        await typist.wait(lambda: typist.search.scrolled == 0)  # the whole passage is there
        typist.type(ESCAPE)

    at_screen(Path(INDEX), script, text="captain", rows=12)


def test_every_width_shows_hits_and_place_and_a_new_one_is_taken_at_once() -> None:
    async def script(typist: Typist) -> None:
        for columns, rows in ((60, 24), (80, 24), (200, 50), (109, 12), (60, 8)):
            typist.resize(columns, rows)
            places = (2,) if columns >= 110 else (1, 1) if rows >= 12 else (1,)
            await typist.wait(
                lambda places=places: (
                    tuple(line.count("docs/guide.md:10") for line in typist.lines if "docs/guide.md:10" in line)
                    == places
                )
            )
            assert "Esc quit" in typist.lines[-1]
        typist.type(ESCAPE)

    at_screen(Path(INDEX), script, text="captain ship")


def test_a_bug_ends_the_search_with_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(interactive.InteractiveSearch, "search", fail)

    async def script(_: Typist) -> None:
        return

    with pytest.raises(ZeroDivisionError, match="a bug"):
        at_screen(Path(INDEX), script)


def test_nothing_of_a_document_is_obeyed_and_a_row_is_as_wide_as_its_place(captain: Hit) -> None:
    evil = "\x1b]0;x\x07\u202e\x9b31m"
    hit = replace(
        captain,
        path=f"docs/{evil}.md",
        title=evil,
        headings=(evil,),
        sentence=f"The captain {evil}",
        passage=f"Before.\n\tThe captain {evil} after",
    )
    asked = query_pattern("captain")
    for width in (20, 60, 200):
        rows = row(hit, asked, best=1.0, width=width, is_chosen=True)
        passage, _ = passage_lines(hit, asked, width=width)
        assert [line.cell_len for line in rows] == [width, width]
        for line in (*rows, *place_lines(hit, width=width), *passage):
            assert not CONTROL.search(line.plain)
            assert line.cell_len <= max(width, 22)  # the last part of a path is not divided


def test_the_best_sentence_is_set_off_in_its_passage(captain: Hit) -> None:
    lines, best = passage_lines(captain, query_pattern("captain"), width=200)
    line = lines[best]
    bold = [line.plain[span.start : span.end] for span in line.spans]
    assert bold == [captain.sentence, "captain"]
    assert place_lines(captain, width=200)[0].plain == "docs/guide.md:10"


def test_semsearch_alone_is_the_interactive_search_only_with_a_terminal_and_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert semsearch().status == 2
    assert "Usage:" in semsearch().out  # this is no terminal
    assert "needs a terminal" in semsearch("interactive").err
    monkeypatch.setattr(interactive_command, "on_terminal", lambda: True)
    assert interactive_command.interactive_is_offered()
    monkeypatch.setenv("SEMSEARCH_INDEXES", str(tmp_path))
    assert not interactive_command.interactive_is_offered()
    assert "no index in" in semsearch("interactive").err


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_on_a_terminal_one_types_opens_and_ends(folder: Path, tmp_path: Path) -> None:
    import fcntl
    import pty
    import struct
    import termios

    editor = tmp_path / "vim"
    editor.write_text('#!/bin/sh\necho "$@" > "$0.was-given"\necho EDITED\n', encoding="utf-8")
    editor.chmod(0o755)
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", "VISUAL": str(editor)}
    process = subprocess.Popen(
        [sys.executable, "-m", "semsearch"], cwd=folder, env=environment, stdin=inside, stdout=inside, stderr=inside
    )
    os.close(inside)
    seen = b""

    def until(text: bytes) -> None:
        nonlocal seen
        while text not in seen:
            assert select.select([outside], [], [], 60)[0], f"no {text!r} came after {seen!r}"
            seen += os.read(outside, 4096)
        seen = seen.partition(text)[2]

    with process, contextlib.ExitStack() as at_the_end:
        at_the_end.callback(process.kill)
        until(b"Esc quit")
        os.write(outside, b"flour butter")
        until(b"dough")
        os.write(outside, b"\r")
        until(b"EDITED")
        until(b"dough")
        os.write(outside, b"\x1b")
        assert process.wait(60) == 0
    os.close(outside)
    given = Path(f"{editor}.was-given").read_text(encoding="utf-8")
    assert given == f"+14 -- {folder / 'docs' / 'guide.md'}\n"
    assert "+flour butter" in (data_folder() / "questions").read_text(encoding="utf-8").splitlines()
