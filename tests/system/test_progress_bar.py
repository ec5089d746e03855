"""Progress is drawn where somebody looks: on a terminal, in a notebook, nowhere else."""

from __future__ import annotations

import io
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from semsearch.system.progress_bar import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Notebook:
    """What a notebook's `display` is given, as IPython has it."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, content: dict[str, str], *, raw: bool, display_id: bool) -> Notebook:
        assert raw
        assert display_id
        self.shown.append(content["text/html"])
        return self

    def update(self, content: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown[-1:] = [content["text/html"]]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    found = Notebook()
    ipython: Any = ModuleType("IPython")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    shown: Any = ModuleType("IPython.display")
    shown.display = found.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    return found


def test_a_terminal_has_a_line_that_is_gone_at_the_end() -> None:
    terminal = Terminal()
    with progress_bar(screen=terminal) as show:
        show("embedding", 6, 24)
        assert terminal.getvalue().endswith("embedding [######..................] 6/24")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_what_comes_too_fast_for_eyes_is_left_out() -> None:
    terminal = Terminal()
    with progress_bar(screen=terminal, clock=lambda: 100.0) as show:
        for done in range(1001):
            show("embedding", done, 1000)
        show("writing", 0, 0)
    assert terminal.getvalue().count("embedding") == 2  # the first and the last
    assert "1,000/1,000" in terminal.getvalue()
    assert "writing" in terminal.getvalue()


def test_a_notebook_has_a_bar_that_is_drawn_in_place(notebook: Notebook) -> None:
    with progress_bar() as show:
        show("reading <notes>", 1, 3)
        show("reading <notes>", 3, 3)
    assert notebook.shown == ['<progress value="3" max="3"></progress> reading &lt;notes&gt; 3/3']


def test_nothing_is_drawn_unless_it_is_wanted(notebook: Notebook) -> None:
    terminal = Terminal()
    with progress_bar(False, screen=terminal) as show:
        show("embedding", 1, 2)
    assert terminal.getvalue() == ""
    assert notebook.shown == []


def test_nothing_is_drawn_where_nobody_looks() -> None:
    screen = io.StringIO()
    with progress_bar(screen=screen) as show:
        show("embedding", 1, 2)
    assert screen.getvalue() == ""
