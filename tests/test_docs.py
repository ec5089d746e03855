"""The guide: its commands can be run as they stand there, one after the other."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from console import semsearch, work_in

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [DOCS / "getting-started.md", DOCS / "embedding.md"]


def commands(page: Path) -> list[list[str]]:
    """The lines of a page's shell blocks."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]


def test_the_commands_of_the_guide_can_be_run_page_after_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work_in(tmp_path, monkeypatch)
    (tmp_path / "docs").mkdir()
    for page in PAGES:
        shutil.copy(page, tmp_path / "docs")
    for page in PAGES:
        for program, *arguments in commands(page):
            if program == "semsearch":
                result = semsearch(*arguments)
                assert (result.status, result.err) == (0, ""), arguments


def test_the_environment_is_activated_before_semsearch_is_called() -> None:
    first = [program for program, *_ in commands(PAGES[0])]
    assert [".", ".venv/bin/activate"] in commands(PAGES[0])[: first.index("semsearch")]
