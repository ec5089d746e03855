"""Help texts: usual options first, the others in panels; short, and without what takes long to import."""

from __future__ import annotations

import pytest
from console import semsearch


def _headings(out: str) -> list[str]:
    return [line[:-1] for line in out.splitlines() if line.endswith(":") and not line.startswith((" ", "Usage"))]


@pytest.mark.parametrize(
    ("command", "panels"),
    [
        ("query", ["Ranking", "Index", "Output", "Golden answers"]),
        ("similar", ["Ranking", "Index", "Output"]),
        ("context", ["Ranking", "Index"]),
        ("index", ["Index", "Tables and records", "Embedding", "Vector search", "Files and speed"]),
        ("serve", ["Access", "Ranking", "Index"]),
    ],
)
def test_usual_options_come_first_and_the_others_in_panels(command: str, panels: list[str]) -> None:
    shown = semsearch(command, "--help")
    assert _headings(shown.out) == [*(["Arguments"] if command != "serve" else []), "Options", *panels]
    usual = shown.out.partition("Options:\n")[2].partition(f"\n\n{panels[0]}:")[0]
    assert len([line for line in usual.splitlines() if line.startswith("  -")]) <= 12
    assert "-h, --help" in usual


def test_a_command_with_few_options_has_no_panels() -> None:
    assert _headings(semsearch("verify", "--help").out) == ["Options"]


def test_meanings_stand_in_one_column() -> None:
    lines = semsearch("query", "--help").lines
    columns = {
        len(line) - len(line.lstrip(" -").partition("  ")[2].lstrip()) for line in lines if line.startswith("  -")
    }
    assert len(columns) == 1
