"""Targets of fuzzing take their seeds: so that fuzz.py still runs when it is wanted."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent)]

for package in ("uvicorn", "docx", "pptx", "openpyxl", "nbformat", "reportlab", "pypdfium2"):
    pytest.importorskip(package)

from fuzzing.catalogue import TARGETS
from fuzzing.findings import shown_by

from semsearch.errors import SemsearchError

_FEW = 3  # seeds
_HERE = (
    "configuration",
    "ignore-rules",
    "word-vectors",
    "vector-table",
    "words",
    "sentences",
    "md",
    "docx",
    "pdf",
    "mcp",
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", _HERE)
def test_a_target_takes_its_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    run = TARGETS[name].prepare(tmp_path)
    seeds = list(TARGETS[name].seeds())[:_FEW]
    assert seeds
    for seed in seeds:
        with suppress(SemsearchError):  # some of a table's files are cut
            run(seed)


def test_what_a_target_shows_is_told_with_its_place() -> None:
    def run(data: bytes) -> None:
        raise KeyError(data)

    assert (shown_by(run, b"a") or "").startswith("KeyError test_fuzz_targets.py run")
