"""Tables of figures on a terminal and in a pipe."""

from __future__ import annotations

import re

import pytest
from console import on_terminal

from semsearch_research.command_line import print_blocks
from semsearch_research.evaluate.table import Bold, Table

WIDE = Table(["task", *(f"a long heading {n}" for n in range(6))], [[name, *"123456"] for name in ("one", "two")])


def test_a_table_is_cut_into_such_as_fit_each_with_its_labels() -> None:
    parts = list(WIDE.parts(60))
    assert [list(part.header) for part in parts] == [
        ["task", "a long heading 0", "a long heading 1", "a long heading 2"],
        ["task", "a long heading 3", "a long heading 4", "a long heading 5"],
    ]
    assert list(parts[1].rows[1]) == ["two", "4", "5", "6"]
    assert [len(part.header) for part in WIDE.parts(1)] == [2] * 6  # a column is never cut


def test_a_pipe_has_whole_tables_without_colours(capsys: pytest.CaptureFixture[str]) -> None:
    print_blocks(["What it is.", WIDE, Table(["", "said"], [[Bold("x"), "[bold]no markup[/]"], ["y", "a\nb\x1b[31m"]])])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "What it is."
    assert lines[2].split("  ") == ["task", *(f"a long heading {n}" for n in range(6))]
    assert lines[-2:] == ["x  [bold]no markup[/]", "y  a b [31m"]


def test_a_terminal_has_tables_that_fit_it() -> None:
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", on_terminal("evaluate", "weights", NO_COLOR="1"))
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert "word2vec, t = 1e-05" in shown
