"""The reference has all that the code has: commands, options, variables, exit statuses, and the keys of hits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console import index_docs, semsearch, work_in, write_docs
from guide import ROOT, read
from reference_page import page

from semsearch.cli.main import COMMANDS, STATUSES
from semsearch.word_vectors.table import VectorTable

PAGE = read("docs/reference.md")
SOURCES = sorted((ROOT / "semsearch").rglob("*.py"))


def section(heading: str) -> str:
    """The part of the reference under a heading."""
    return PAGE.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]


def test_the_page_is_what_the_code_gives() -> None:
    assert page(PAGE) == PAGE, "run: python tests/support/reference_page.py"


def test_every_variable_of_ours_is_in_the_page() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in SOURCES)
    assert set(re.findall(r"\bSEMSEARCH_[A-Z_]*[A-Z]\b", code)) <= set(re.findall(r"`(SEMSEARCH_\w+)`", PAGE))


def test_every_exit_status_is_in_the_table() -> None:
    table = PAGE.partition("## Exit status")[2].partition("\n## ")[0]
    assert set(map(int, re.findall(r"^\| (\d+) \|", table, re.MULTILINE))) == set(STATUSES)


def test_every_key_of_a_hit_is_in_the_page(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_docs(tmp_path)
    index_docs(tmp_path, small_vectors)
    work_in(tmp_path, monkeypatch)
    for hit in semsearch("query", "ship", "--context", "1", "--json").json["hits"]:
        assert not [key for key in hit if f"`{key}`" not in section("Hit")]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_listed_with_the_first_line_of_its_help(command: str) -> None:
    assert COMMANDS[command] in " ".join(semsearch(command, "--help").out.split())
