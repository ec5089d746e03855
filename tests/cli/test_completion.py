"""What the shell completes, as its scripts ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from semsearch.cli.main import app

pytestmark = pytest.mark.usefixtures("here")


def completed(line: str) -> list[str]:
    """What is offered for the last word of a line, which may be empty."""
    environment = {"_SEMSEARCH_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    done = CliRunner().invoke(app, [], env=environment, prog_name="semsearch", catch_exceptions=False)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("semsearch simi", ["similar"]),
        ("semsearch query --index ", ["docs"]),
        ("semsearch query -i d", ["docs"]),
        ("semsearch query -i x", []),
        ("semsearch status -i ", ["docs"]),
        ("semsearch query --format n", ["null"]),
    ],
)
def test_the_shell_is_offered_what_can_follow(line: str, offered: list[str]) -> None:
    assert completed(line) == offered


@pytest.mark.parametrize("line", ["semsearch query -i ", "semsearch status "])
def test_where_there_is_no_index_nothing_is_offered_or_said(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert completed(line) == []
